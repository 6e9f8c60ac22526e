"""From hooks and transcripts to a briefing: the whole way of a habit, in process."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.behaviour.noting import seen

from flywheel import app
from flywheel.app.parts import wall_clock
from flywheel.behaviour.identity import local_identity
from flywheel.behaviour.watching import ask
from flywheel.cli.demo import demo_folder
from flywheel.config import Places, parse_config
from flywheel.jobs.queue import listing
from flywheel.model import Identity, Observation
from flywheel.projects.queries import resolve
from flywheel.store import Db
from flywheel.store.mapper import find, get, insert

DAY = 86_400_000_000


@pytest.fixture
def house(tmp_path: Path) -> Iterator[tuple[app.App, app.Parts]]:
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
    yield inside, parts
    inside.close()
    parts.close()


def hurry(db: Db) -> None:
    """What waits for later is due now."""
    with db.write() as tx:
        tx.run("UPDATE job SET run_after = 0 WHERE kind = 'consolidate'")


def test_an_import_becomes_habits(house: tuple[app.App, app.Parts]) -> None:
    """The demo's sessions are observed with the import, become beliefs, and are told to the next session."""
    inside, parts = house
    project, transcripts = demo_folder(parts.data)
    inside.import_path(path=transcripts)
    app.settle_all(parts)
    told = inside.habits(cwd=project)
    assert told.waiting > 20 or told.consolidated_at  # it waits half a minute; a slow machine is past that
    hurry(parts.db)
    app.settle_all(parts)
    found = inside.habits(cwd=project)
    names = {(one.category, one.name): one for one in found.habits}
    make = names["tool_affinity", "command:make check"]
    assert make.reinforced == 3 and make.served and found.waiting == 0 and found.consolidated_at
    assert ("entity_frequency", "file:src/postroom/outbox.py") in names
    assert "`make check`" in found.profile
    text = inside.context(cwd=project).text
    assert "## How you work here" in text and "`make check`" in text
    with parts.db.read() as tx:
        known = get(tx, Identity, id=local_identity())
    assert known is not None and known.result["observations"]
    assert inside.habits_lint(cwd=project).counts.get("vanished", 0) == 1  # the demo's queue.py was removed


def test_a_hook_leaves_observations(house: tuple[app.App, app.Parts], tmp_path: Path) -> None:
    """A tool's run is stored as what it was and what it touched, without waiting for anything."""
    inside, parts = house
    folder = tmp_path / "work"
    folder.mkdir()
    payload = {
        "session_id": "s1", "cwd": str(folder), "hook_event_name": "PostToolUse", "tool_name": "Edit",
        "tool_input": {"file_path": f"{folder}/src/a.py"}, "tool_response": {},
    }  # fmt: skip
    inside.hook(agent="claude", event="PostToolUse", payload=json.dumps(payload).encode())
    inside.hooking.close()
    with parts.db.read() as tx:
        rows = find(tx, Observation, "ORDER BY kind")
        assert [job.key for job in listing(tx) if job.kind == "consolidate"] == [local_identity()]
    assert [(one.kind, one.subject, one.message_id) for one in rows] == [
        ("entity_access", "file:src/a.py", None),
        ("tool_success", "tool:Edit", None),
    ]
    assert {one.identity for one in rows} == {local_identity()}


def test_habits_of_others_are_nobodys_business(house: tuple[app.App, app.Parts], tmp_path: Path) -> None:
    """Their observations and beliefs are neither counted nor shown, whatever they are called."""
    inside, parts = house
    folder = tmp_path / "work"
    folder.mkdir()
    project = resolve(parts.db, str(folder), wall_clock()).id
    theirs = local_identity() + "' OR '1'='1"
    at = time.time_ns() // 1000 - DAY
    with parts.db.write() as tx:
        for number in range(3):
            insert(tx, seen("tool:Edit", identity=theirs, session=f"s{number}", project=project, at=at))
    with parts.db.write() as tx:
        ask(tx, theirs, parts.db.clock())
    app.settle_all(parts)
    with parts.db.read() as tx:
        assert tx.one("SELECT COUNT(*) FROM belief WHERE identity = :id", id=theirs) == (1,)
    found = inside.habits(cwd=str(folder))
    assert (found.total, found.waiting, found.profile) == (0, 0, "")
    assert inside.context(cwd=str(folder)).text == ""
