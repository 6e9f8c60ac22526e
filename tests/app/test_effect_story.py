"""A session that is told something, uses it, and shows in `effect`: from the hook to the answer, in process."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from flywheel import app
from flywheel.app.parts import RETRO, wall_clock
from flywheel.cli.demo import records
from flywheel.config import Places, parse_config
from flywheel.jobs import queue
from flywheel.model import Attribution, Injection, Micros, Session
from flywheel.readers import session_id
from flywheel.store.mapper import find, get

DAY = 86_400_000_000
FIRST, SECOND = "5f0c2d1e-0001-4a00-8000-0000000000a1", "5f0c2d1e-0002-4a00-8000-0000000000a2"
RULE = "We decided that src/mail/outbox.py must lock its rows with SKIP LOCKED, because two workers sent the same mail."


@pytest.fixture
def house(tmp_path: Path) -> Iterator[app.App]:
    """The product over SQLite, without anything in it."""
    places = Places(config=tmp_path / "f.toml", data=tmp_path / "data", run=tmp_path / "run")
    config = parse_config(
        {
            "context": {"deadline_ms": 10_000},
            "behaviour": {"deadline_ms": 10_000},
            "embed": {"code": "none", "model": "none"},
        }
    )
    parts = app.open_parts(config, places, {}, tmp_path / "user")
    inside = app.App(parts)
    yield inside
    inside.close()
    parts.close()


def transcript(folder: Path, project: Path, session: str, days_ago: int, *turns: Mapping[str, object]) -> None:
    """A transcript of Claude Code."""
    script = {"id": session, "days_ago": days_ago, "branch": "main", "turns": turns}
    lines = [json.dumps(record) + "\n" for record in records(script, str(project), datetime.now(UTC))]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{session}.jsonl").write_text("".join(lines), "utf-8")


def settle(house: app.App, *sessions: str) -> None:
    """Run all jobs, with those that wait for a session to be quiet."""
    app.settle_all(house.parts)
    with house.parts.db.write() as tx:
        for session in sessions:
            row = get(tx, Session, id=session_id("claude", session))
            assert row is not None, session
            queue.enqueue(tx, kind=RETRO, key=row.id, project_id=row.project_id, now=house.parts.db.clock())
    app.settle_all(house.parts)


def test_a_told_item_that_is_used_shows_in_effect(house: app.App, tmp_path: Path) -> None:
    """The first session finds a file out; the second is told of it, edits it without searching, and is spared that."""
    project, logs = tmp_path / "shop", tmp_path / "logs"
    project.mkdir()
    file = str(project / "src/mail/outbox.py")
    edit = {"tool": "Edit", "input": {"file_path": file, "old_string": "a", "new_string": "b"}, "result": "Updated."}
    search = {
        "tool": "Grep", "input": {"pattern": "def claim", "path": str(project)},
        "result": f"{file}:12: def claim(self):\n" + "other/file.py:1: nothing\n" * 30,
    }  # fmt: skip
    transcript(logs, project, FIRST, 3, {"user": "Mails are sent twice. Find out why."}, search, edit, {"user": RULE})
    house.import_path(path=str(logs))
    settle(house, FIRST)
    payload = {"session_id": SECOND, "cwd": str(project), "hook_event_name": "SessionStart", "source": "startup"}
    answer = house.hook(agent="claude", event="SessionStart", payload=json.dumps(payload).encode())
    assert b"SKIP LOCKED" in answer
    house.hooking.close()
    transcript(logs, project, SECOND, -1, {"user": "Two workers collide again."}, edit, {"assistant": "Locked now."})
    house.import_path(path=str(logs))
    settle(house, SECOND)
    with house.parts.db.read() as tx:
        signs = {(row.signal, row.item_id) for row in find(tx, Attribution)}
        used = {row.item_id for row in find(tx, Injection, "WHERE used = 1")}
    assert {sign for sign, _ in signs} == {"touched"} and {id for _, id in signs} == used
    found = house.effect(cwd=str(project), until=Micros(wall_clock() + 2 * DAY))
    assert (found.total.sessions, found.briefed.sessions, found.signals.get("touched")) == (2, 1, len(used))
    assert (found.total.avoided, found.total.rediscovered) == (1, 0)
    assert found.total.saved_tokens > 100 and found.briefed.injected_tokens > 0
    assert found.total.edit_tokens.value is None and found.total.edit_tokens.n == 2  # too few to tell
    assert house.effect(everywhere=True, agent="codex").total.sessions == 0
