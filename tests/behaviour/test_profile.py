"""The profile and the section of a briefing: templates, groups, order, and a budget that is never exceeded."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flywheel.behaviour.formatting import section
from flywheel.behaviour.liking import likings
from flywheel.behaviour.profile import profile_of
from flywheel.behaviour.rules import Category
from flywheel.model import Belief
from flywheel.text.tokens import count

from .noting import belief, held

KNOWN = [
    belief(Category.AFFINITY, "command:make test", sessions=9),
    belief(Category.AFFINITY, "tool:Edit", sessions=8),
    belief(Category.AVOIDANCE, "command:npm test", sessions=2),
    belief(Category.ENTITY, "file:src/mail/outbox.py", sessions=6),
    belief(Category.DOMAIN, "language:Python", sessions=8),
    belief(Category.DOMAIN, "area:src/mail", sessions=6),
    belief(Category.DOMAIN, "task:fix", sessions=4),
    belief(Category.FAILURE, "command:pytest: no module named 'toml'", sessions=2),
    belief(Category.AFFINITY, "tool:WebFetch", sessions=7),
    belief(Category.AFFINITY, "command:sed", sessions=9),
    belief(Category.AFFINITY, "command:git status", sessions=9),
]

PROFILE = (
    "Sessions here mostly run `make test`. The work is mostly Python in src/mail. Prompts mostly ask to fix."
    " Avoided here, because it was refused or mostly failed: `npm test`."
    " This rests on what up to 9 sessions did, the last on 2030-03-17."
)

SECTION = f"""{PROFILE}
- Tools and commands: `make test`, `WebFetch`
- Avoided: `npm test`
- Often touched: src/mail/outbox.py
- Focus: Python, src/mail, fix
- Known to fail: `pytest: no module named 'toml'`"""


def test_the_profile_is_made_of_templates() -> None:
    """Five sentences where all is known, the same each time."""
    assert profile_of(held(*KNOWN)) == PROFILE


@pytest.mark.parametrize("some", [[], KNOWN[:1], KNOWN[3:4], KNOWN[:2]])
def test_too_little_makes_no_profile(some: list[Belief]) -> None:
    """With fewer than three sentences there is none."""
    assert profile_of(held(*some)) == ""


def test_a_profile_has_three_to_five_sentences() -> None:
    """Whatever is known."""
    for skipped in range(len(KNOWN)):
        text = profile_of(held(*KNOWN[:skipped], *KNOWN[skipped + 1 :]))
        assert 3 <= len([part for part in text.split(". ") if part]) <= 5


def test_only_what_is_sure_is_spoken_of() -> None:
    """One session, or little confidence, is no habit, nor is what is used everywhere; what a person pinned is."""
    weak = [
        belief(Category.AFFINITY, "tool:Once", sessions=1),
        belief(Category.AFFINITY, "tool:Faint", confidence=0.29),
    ]
    assert section(held(*weak), 300, count) == ""
    pinned = belief(Category.AFFINITY, "tool:Mine", sessions=1, pinned=True)
    assert section(held(pinned, *weak), 300, count) == "- Tools and commands: `Mine`"


def test_the_section_is_grouped() -> None:
    """The profile, then each group with its strongest first."""
    assert section(held(*KNOWN), 300, count) == SECTION
    assert section([], 300, count) == ""


def test_each_group_has_its_strongest_before_any_has_its_second() -> None:
    """With little room a crowd of files does not push the others out."""
    files = [belief(Category.ENTITY, f"file:src/some/long/folder/file_{number}.py", sessions=50) for number in range(9)]
    text = section(held(*files, KNOWN[0], KNOWN[4]), 90, count)
    assert "`make test`" in text and "Python" in text and "file_0.py" in text and "file_8.py" not in text
    assert count(text) <= 90


names = st.text("abc/._ é漢😀", min_size=1, max_size=80)
some = st.lists(
    st.builds(
        belief,
        st.sampled_from(list(Category)),
        st.builds("{}:{}".format, st.sampled_from(["file", "tool", "command", "task", "language", "area"]), names),
        sessions=st.integers(1, 99),
        confidence=st.floats(0.1, 1),
    ),
    max_size=40,
)


@settings(deadline=None, max_examples=60)
@given(some, st.integers(0, 400))
def test_the_budget_is_never_exceeded(known: list[Belief], budget: int) -> None:
    """Whatever the names, and the same input gives the same text."""
    text = section(held(*known), budget, count)
    assert count(text) <= budget
    assert section(held(*known), budget, count) == text


def test_what_is_liked_as_search_takes_it() -> None:
    """Tools and commands by name in lower case; avoided ones below zero, and both at once cancel out."""
    both = [
        belief(Category.AFFINITY, "tool:Grep", confidence=0.7),
        belief(Category.AVOIDANCE, "tool:Grep", confidence=0.7),
    ]
    assert likings(held(*KNOWN, *both)) == {
        "make test": 0.8,
        "edit": 0.8,
        "webfetch": 0.8,
        "git status": 0.8,
        "sed": 0.8,
        "npm test": -0.8,
        "grep": 0.0,
    }
