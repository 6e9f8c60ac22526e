"""What instruction files and skills bring to a prompt: what it is about, and nothing to small talk."""

from __future__ import annotations

from pathlib import Path

import pytest

from flywheel.context.conventions import ConventionsSource
from flywheel.context.skills import SkillsSource
from flywheel.text.redact import Redactor

from .conftest import MakeAsk

TESTS = "# Tests\nRun the whole suite with `make test` before every commit. Write a unit test for every bug.\n"
BILLING = "# Billing\nInvoices are rounded to cents. The worker retries a failed payment three times.\n"
RELEASE = "---\nname: release\ndescription: Bump the version, write the changelog, push the tag\n---\n"


@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        ("run the tests", ""),
        ("commit and push, please", ""),
        ("Thanks, that was a great test", ""),
        ("How do I write a unit test in Go?", ""),
        ("write a unit test for the parser", ""),
        ("convert this to cents", ""),
        ("Which command runs the whole test suite?", "tests"),
        ("fix billing", "billing"),
        ("make the worker retry a payment only once", "billing"),
        ("Which payment does the worker retry?", "billing"),
        ("Which payment provider insures our harbour crane?", ""),
        ("make a release", "release"),
        ("push it again", ""),
    ],
)
def test_a_prompt_gets_the_sections_and_skills_that_it_is_about(
    tmp_path: Path, make_ask: MakeAsk, prompt: str, told: str
) -> None:
    """A heading or a name that it uses, or two of its words; not one word of many, nor what every prompt has."""
    root = tmp_path / "repo"
    (root / ".gemini/skills/release").mkdir(parents=True)
    (root / "AGENTS.md").write_text(TESTS + BILLING)
    (root / ".gemini/skills/release/SKILL.md").write_text(RELEASE)
    ask = make_ask(query=prompt)
    pieces = [*ConventionsSource(Redactor(), None).offer(ask), *SkillsSource(Redactor(), None).offer(ask)]
    found = " ".join(piece.levels[-1].text for piece in pieces).lower()
    assert [name for name in ("tests", "billing", "release") if f"] {name}" in found] == ([told] if told else [])


@pytest.mark.parametrize("prompt", ["push it again", "How do I write a unit test in Go?"])
def test_a_person_who_asks_memory_hears_what_is_near(tmp_path: Path, make_ask: MakeAsk, prompt: str) -> None:
    """The same words, asked without a session of an agent, still find what has some of them."""
    root = tmp_path / "repo"
    root.mkdir(exist_ok=True)
    (root / "AGENTS.md").write_text("# Git\nNever push to main again.\n\n" + TESTS)
    assert ConventionsSource(Redactor(), None).offer(make_ask(query=prompt, session=""))
    assert not ConventionsSource(Redactor(), None).offer(make_ask(query=prompt))
