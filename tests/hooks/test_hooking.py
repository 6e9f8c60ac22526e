"""What the daemon does after a hook was answered, with a store and no other process."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson
import pytest

from flywheel.app.hooking import ENDINGS, Hooking
from flywheel.app.parts import RETRO, Parts
from flywheel.config import Config, Places
from flywheel.context.assemble import Assembler
from flywheel.jobs import queue
from flywheel.model import Micros, Session
from flywheel.projects.queries import resolve
from flywheel.readers import session_id
from flywheel.store import Db, mapper
from flywheel.text.redact import Redactor

ID = session_id("claude", "s1")


@pytest.fixture
def hooks(db: Db, tmp_path: Path) -> Iterator[Hooking]:
    """The hook entry over each store; nothing is assembled here."""
    places = Places(config=tmp_path / "flywheel.toml", data=tmp_path / "data", run=tmp_path)
    parts = Parts(config=Config(), places=places, env={}, home=tmp_path, db=db, redact=Redactor())
    assembler = Assembler(db, NotImplemented, parts.config, lambda: Micros(0), sources=[])
    made = Hooking(parts, assembler, lambda: None)
    yield made
    made.close()
    assembler.close()


def end(hooks: Hooking, session: str = "s1") -> None:
    """What Claude Code sends when a session is over."""
    payload = {"session_id": session, "hook_event_name": "SessionEnd", "reason": "other", "cwd": "/nowhere"}
    assert hooks.answer("claude", "SessionEnd", orjson.dumps(payload)) == b""


def harvested(db: Db, folder: Path) -> None:
    """The session's row, as the harvest job writes it."""
    now = db.clock()
    project = resolve(db, str(folder), now).id
    with db.write() as tx:
        row = Session(id=ID, project_id=project, agent="claude", native_id="s1", started_at=now, last_at=now)
        mapper.insert(tx, row)


def until(check: Callable[[], bool]) -> None:
    """Look again until ``check`` is true, for a few seconds."""
    patience = time.monotonic() + 60
    while not check():
        assert time.monotonic() < patience, "it never came"
        time.sleep(0.02)


def ended(db: Db) -> bool:
    """Whether the session has its end, and its retrospective is asked for."""
    with db.read() as tx:
        row = mapper.get(tx, Session, id=ID)
        jobs = [job for job in queue.listing(tx) if job.kind == RETRO and job.key == ID]
    return row is not None and row.ended_at is not None and bool(jobs)


def test_a_known_session_ends(hooks: Hooking, db: Db, tmp_path: Path) -> None:
    """The end of a session whose transcript was read before is noted, and the look back is asked for."""
    harvested(db, tmp_path)
    end(hooks)
    until(lambda: ended(db))


def test_an_end_waits_for_its_session(hooks: Hooking, db: Db, tmp_path: Path) -> None:
    """A session of one prompt is over before its transcript was ever read: its end is noted as soon as it is known."""
    end(hooks)
    until(lambda: ID in hooks._endings)
    harvested(db, tmp_path)
    until(lambda: ended(db) and not hooks._endings)


def test_ends_of_sessions_that_never_began_are_bounded(hooks: Hooking, db: Db, tmp_path: Path) -> None:
    """Hundreds of ends without a session, as `claude mcp list` sends them, are given up from the oldest on."""
    for number in range(ENDINGS + 20):
        end(hooks, f"none-{number}")
    end(hooks)
    until(lambda: ID in hooks._endings)
    assert len(hooks._endings) <= ENDINGS
    harvested(db, tmp_path)
    until(lambda: ended(db))
