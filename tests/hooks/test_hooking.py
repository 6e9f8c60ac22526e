"""What the daemon does after a hook was answered, with a store and no other process."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import cast

import orjson
import pytest

from flywheel.app.hooking import ENDINGS, Hooking
from flywheel.app.parts import RETRO, Parts
from flywheel.config import Config, Places
from flywheel.context.assemble import Assembler
from flywheel.errors import Unavailable
from flywheel.jobs import queue
from flywheel.model import Micros, Session
from flywheel.projects.queries import resolve
from flywheel.readers import session_id
from flywheel.store import Db, Tx, mapper
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


class Fickle:
    """A store that may be away."""

    def __init__(self, db: Db) -> None:
        self._db = db
        self.away = False
        self.asked = 0

    def __getattr__(self, name: str) -> object:
        return getattr(self._db, name)

    def read(self) -> AbstractContextManager[Tx]:
        """A read transaction. Raises Unavailable while away."""
        return self._there().read()

    def write(self, *, bulk: bool = False) -> AbstractContextManager[Tx]:
        """A write transaction. Raises Unavailable while away."""
        return self._there().write(bulk=bulk)

    def _there(self) -> Db:
        if self.away:
            self.asked += 1
            raise Unavailable("the server does not answer")
        return self._db


@pytest.fixture
def fickle(hooks: Hooking, db: Db) -> Fickle:
    """The store of `hooks`, which may be away."""
    made = Fickle(db)
    hooks._parts.db = cast(Db, made)
    return made


def test_what_comes_while_the_store_is_away_is_done_afterwards(
    hooks: Hooking, fickle: Fickle, db: Db, tmp_path: Path
) -> None:
    """A server is stopped for a minute while a session ends: `status` tells, and the end is noted once it is back."""
    harvested(db, tmp_path)
    fickle.away = True
    end(hooks)
    until(lambda: any("wait for the store" in told for told in hooks.problems()))
    fickle.away = False
    until(lambda: ended(db))
    until(lambda: not hooks.problems())


def test_a_store_that_is_away_is_asked_now_and_then(hooks: Hooking, fickle: Fickle) -> None:
    """Sessions whose end still has to be noted do not make the daemon ask, and log, without a pause."""
    end(hooks)
    until(lambda: ID in hooks._endings)
    fickle.away = True
    until(lambda: fickle.asked >= 2)
    begun, asked = time.monotonic(), fickle.asked
    until(lambda: fickle.asked > asked)
    assert fickle.asked - asked <= 2 + 5 * (time.monotonic() - begun)


def test_closing_does_not_wait_for_a_store_that_is_away(hooks: Hooking, fickle: Fickle) -> None:
    """The daemon ends though its store does not come back."""
    fickle.away = True
    end(hooks)
    until(lambda: bool(hooks.problems()))
    hooks.close()
    assert not hooks._thread.is_alive()
