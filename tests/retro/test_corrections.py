"""Corrections: what a person's words say against what an agent just did, as far as rules may be sure of it."""

from __future__ import annotations

import pytest
from benchmarks.corpora.corrections import exchanges, is_held_out
from benchmarks.corrections import hits, measure
from tests.harvest.rules_talk import Turn, heard

from flywheel.harvest.rules.corrections import FLOOR
from flywheel.model import Category, ClaimType, Role


@pytest.mark.parametrize("held_out", [False, True])
def test_corrections_are_found_in_both_halves(held_out: bool) -> None:
    """Of 146 labelled exchanges: what becomes a candidate at once is right, and most corrections are seen."""
    half = [one for one in exchanges() if is_held_out(one) is held_out]
    found = measure(half, lambda one: hits(one, FLOOR))
    assert len(half) > 60
    assert found["precision"] >= 0.97 and found["recall"] >= 0.85


def test_a_correction_becomes_a_convention_at_once() -> None:
    """Where no cue marks the words: verbatim, with the act that they are about as a second receipt."""
    (draft,) = heard(
        ("user", "Add retries to the client."),
        ("call", "sed -i s/x/y/ src/http.py"),
        ("result", ""),
        ("assistant", "It retries three times on any error."),
        ("user", "No, retries belong into the transport."),
    ).drafts
    assert (draft.category, draft.type, draft.role) == (Category.CONVENTIONS, ClaimType.DECISION, Role.USER)
    assert draft.tags == ("corrects",)
    assert [quote.quote for quote in draft.points[0].quotes] == [
        "No, retries belong into the transport.",
        "It retries three times on any error.",
    ]


def test_a_statement_that_also_corrects_keeps_its_shelf() -> None:
    """It counts for more, and cites the act."""
    said: Turn = ("user", "No. Never push to main, always open a pull request.")
    (alone,) = heard(said).drafts
    (draft,) = heard(("user", "Publish it."), ("call", "git push origin main"), ("result", "ok"), said).drafts
    assert (draft.category, draft.key) == (alone.category, alone.key)
    assert draft.score > alone.score and draft.tags[0] == "corrects"
    assert [quote.quote for quote in draft.points[0].quotes][1:] == ["git push origin main"]


@pytest.mark.parametrize(
    "turns",
    [
        [("user", "No, we use pnpm here, not npm.")],  # nothing was done yet
        [("user", "Install it."), ("assistant", "Shall I use npm?"), ("user", "No, use pnpm, not npm.")],
        [("user", "x"), ("call", "npm i"), ("result", ""), ("user", "> No, pnpm, not npm.\n\nWho said so?")],
        [("user", "x"), ("call", "npm i"), ("result", ""), ("user", "No, use pnpm here, not npm. " + "z " * 1000)],
    ],
)  # fmt: skip
def test_what_answers_quotes_or_is_pasted_corrects_nothing(turns: list[Turn]) -> None:
    """Only a person's own words after an agent's own act."""
    assert not [draft for draft in heard(*turns).drafts if "corrects" in draft.tags]


@pytest.mark.parametrize(
    ("said", "corrects"),
    [
        ("that is not what I meant, I want it per customer", True),
        ("I told you twice: no new dependencies", True),
        ("this breaks the API, the field must stay optional", True),
        ("you can't do that, the table is shared with billing", True),
        ("actually the timeout should be 30 seconds, not 10", True),
        ("that's overkill, a simple dict is enough", True),
        ("Actually that works, thanks.", False),
        ("Actually we have a meeting, go on without me", False),
        ("This breaks on Windows, can you have a look?", False),
        ("That's too complex for me, explain it.", False),
        ("You can't reproduce it? Try with the big file.", False),
        ("The customer wants no more mails.", False),
        ("This is unnecessary work for you, I know, but do it.", False),
    ],
)
def test_corrections_in_many_wordings(said: str, corrects: bool) -> None:
    """What turns down an act and says what is right; no trouble, thanks, question or errand."""
    turns: list[Turn] = [("user", "Sort the list."), ("call", "sed -i s/x/y/ src/a.py"), ("result", "")]
    turns += [("assistant", "I sorted the list in src/a.py by date."), ("user", said)]
    assert any("corrects" in draft.tags for draft in heard(*turns).drafts) is corrects


def test_a_subagent_is_corrected_by_nobody() -> None:
    """Its prompts are its parent agent's."""
    turns: list[Turn] = [("user", "x"), ("call", "npm i"), ("result", ""), ("user", "No, we use pnpm here, not npm.")]
    assert not heard(*turns, subagent=True).drafts
