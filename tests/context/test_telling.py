"""Which lines are worth their place, and that a briefing tells a sentence once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from flywheel.config import Config, ContextConfig
from flywheel.context.assemble import Assembler
from flywheel.context.telling import Told, says
from flywheel.digests import LONG, SHORT
from flywheel.model import Clean, ProjectId, Retrospective, Status
from flywheel.projects.queries import resolve
from flywheel.store import Db
from flywheel.store.mapper import insert_many

from .conftest import NOW
from .rows import entry, session, store
from .test_assemble import Nothing
from .test_digest_levels import digest

CAUSE = "The cause is that the broker runs without persistence."
NEXT = "We keep the messages in a table instead."
TASK = "Orders that customers have paid for must never get lost on the way to the warehouse."


@pytest.mark.parametrize(
    ("text", "repeated"),
    [
        (CAUSE, True),
        ("the cause is that the broker runs, without persistence", True),
        ("So the cause is that the broker runs without persistence", True),
        ("The cause is that the broker runs without persistence on port 6379.", False),
        ("The cause is not that the broker runs without persistence.", False),
        ("The broker runs.", False),
        ("Write to the ledger first.", False),
        ("Never write to the ledger first.", True),
        ("", False),
    ],
)
def test_a_sentence_is_a_repetition_when_nothing_is_added_and_nothing_denied(text: str, repeated: bool) -> None:
    """Small words at its ends do not count; a number, a denial or another word does."""
    told = Told([f"- [fw:abc123] Broker: {CAUSE} (hypothesis, unconfirmed)", "Never write to the ledger first."])
    assert told.repeats(text) is repeated
    assert not Told([]).repeats(text)


@pytest.mark.parametrize(
    ("text", "something"),
    [("Good catch.", False), ("Makes sense.", False), ("Great, that fixed it.", False), ("Put it in cents.", True)],
)
def test_an_assent_says_nothing(text: str, something: bool) -> None:
    """Who assents to what is told, or is not, takes up room only."""
    assert says(text) is something


@pytest.fixture
def project(sqlite_db: Db, tmp_path: Path) -> ProjectId:
    """A project with one summed-up session whose cause and task are entries as well."""
    root = tmp_path / "shop"
    root.mkdir()
    own = resolve(sqlite_db, str(root), NOW).id
    one = replace(session("s1", days=3), project_id=own)
    look = Retrospective(
        session_id=one.id, project_id=own, task=Clean(TASK), outcome="done", turns=1, tool_calls=9, tool_errors=2,
        created_at=NOW, updated_at=one.last_at,
    )  # fmt: skip
    lines: list[tuple[str, str, list[str]]] = [
        ("agent", f"Answered: {CAUSE}", []),
        ("agent", NEXT, []),
        ("user", "Asked: Good catch.", []),
    ]
    kept = [replace(digest(one.id, length, lines), project_id=own) for length in (LONG, SHORT)]
    store(sqlite_db, one, look)
    with sqlite_db.write() as tx:
        insert_many(tx, kept)
    return own


@pytest.fixture
def assembler(sqlite_db: Db) -> Iterator[Assembler]:
    """The real sources."""
    made = Assembler(sqlite_db, Nothing(), Config(context=ContextConfig(deadline_ms=10_000)), lambda: NOW)
    yield made
    made.close()


def test_what_an_entry_tells_is_not_told_again_below_a_session(
    sqlite_db: Db, tmp_path: Path, project: ProjectId, assembler: Assembler
) -> None:
    """Once, with the entry's id; the session's next words are still said to be an answer."""
    held = entry("Broker", project=project, summary=CAUSE, status=Status.CANDIDATE)
    store(sqlite_db, held)
    text = assembler.assemble(cwd=str(tmp_path / "shop")).text
    assert text.count("runs without persistence") == 1 and f"[fw:{held.short}] Broker: {CAUSE}" in text
    assert f"    Answered: {NEXT}" in text


def test_what_no_entry_tells_stays_where_it_was_said(
    sqlite_db: Db, tmp_path: Path, project: ProjectId, assembler: Assembler
) -> None:
    """A rejected entry is not told, so its sentence is; an assent is not; few failed calls of what was done are not."""
    store(sqlite_db, entry("Broker", project=project, summary=CAUSE, status=Status.REJECTED))
    text = assembler.assemble(cwd=str(tmp_path / "shop")).text
    assert f"    Answered: {CAUSE}\n    {NEXT}" in text and f"] {TASK} (" in text
    assert "Good catch" not in text and "failed" not in text


def test_a_task_that_is_an_entry_is_told_shortly(
    sqlite_db: Db, tmp_path: Path, project: ProjectId, assembler: Assembler
) -> None:
    """The session keeps a name that tells what it was about, and its own id."""
    store(sqlite_db, entry(TASK, project=project, summary=TASK))
    text = assembler.assemble(cwd=str(tmp_path / "shop")).text
    assert text.count(TASK) == 1 and "] Orders that customers have paid for must never… (" in text
