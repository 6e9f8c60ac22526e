"""A user whose agents wrote odd files: files are made, harvested by the real worker, and looked at in the store."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import pytest
from tests.harvest.harvesting import NOW, make_deps

from flywheel.config import Config, HarvestConfig
from flywheel.harvest import worker
from flywheel.harvest.discover import Whereabouts, discover, sweep
from flywheel.jobs import queue
from flywheel.jobs.worker import run_one
from flywheel.model import Message, MessageKind, Micros, Session, TranscriptFile
from flywheel.store import Db, mapper

MAIN: Final = "11111111-1111-4111-8111-111111111111"
OTHER: Final = "22222222-2222-4222-8222-222222222222"
LONG_AGO: Final = (NOW - 3_600_000_000) * 1000  # nanoseconds


@dataclass(slots=True)
class Faults:
    """A home folder and a store."""

    db: Db
    data: Path
    home: Path
    line_mb: int = 1
    env: dict[str, str] = field(default_factory=dict)

    def write(self, path: str, content: bytes | str, *, old: bool = True) -> Path:
        """A file in the home, last written an hour ago, or just now."""
        target = self.home / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content)
        if old:
            os.utime(target, ns=(LONG_AGO, LONG_AGO))
        return target

    def claude(self, *lines: bytes, session: str = MAIN, old: bool = True) -> Path:
        """A Claude Code transcript with these lines."""
        return self.write(f".claude/projects/-w-app/{session}.jsonl", b"".join(lines), old=old)

    def harvest(self, now: Micros = NOW) -> None:
        """Look at the disk and read whatever changed, as the daemon does."""
        looked = discover(Whereabouts(home=str(self.home), env=self.env))
        sweep(self.db, looked, now)
        config = Config(harvest=HarvestConfig(sync_code=False, line_mb=self.line_mb))
        while job := queue.claim(self.db, kinds=[worker.KIND], owner="test", lease=60):
            run_one(job, worker.run, replace(make_deps(self.db, self.data, config=config), now=lambda: now))

    def messages(self, *kinds: MessageKind) -> list[Message]:
        """What stands: stored and not taken back; of these kinds, or of every kind."""
        with self.db.read() as tx:
            gone = {id for (id,) in tx.all("SELECT message_id FROM retraction")}
            found = mapper.find(tx, Message, "ORDER BY session_id, ordinal, id")
        return [one for one in found if one.id not in gone and (not kinds or one.kind in kinds)]

    def said(self) -> list[str]:
        """Prompts and replies that stand, in their order."""
        return [one.text for one in self.messages(MessageKind.PROMPT, MessageKind.REPLY)]

    def taken_back(self) -> list[str]:
        """Texts of what is stored and was taken back."""
        with self.db.read() as tx:
            sql = "SELECT m.text FROM message m JOIN retraction r ON r.message_id = m.id ORDER BY m.ordinal"
            return [text for (text,) in tx.all(sql)]

    def sessions(self) -> dict[str, Session]:
        """Sessions by native id."""
        with self.db.read() as tx:
            return {one.native_id: one for one in mapper.find(tx, Session)}

    def file(self, path: Path) -> TranscriptFile:
        """What became of a file."""
        with self.db.read() as tx:
            found = mapper.get(tx, TranscriptFile, path=os.path.realpath(path))
        assert found is not None
        return found


@pytest.fixture
def faults(sqlite_db: Db, data: Path, tmp_path: Path) -> Faults:
    """An empty home."""
    home = tmp_path / "home"
    home.mkdir()
    return Faults(sqlite_db, data, home)


def record(uuid: str, text: str = "", **more: Any) -> dict[str, Any]:
    """A prompt of Claude Code's, typed at a time that its uuid does not tell."""
    return {
        "type": "user", "uuid": uuid, "parentUuid": None, "sessionId": MAIN, "cwd": "/w/app", "version": "2.1.300",
        "timestamp": "2026-03-02T09:00:00Z", "message": {"role": "user", "content": text or f"Say {uuid}."}, **more,
    }  # fmt: skip


def line(uuid: str, text: str = "", **more: Any) -> bytes:
    """The record as a line."""
    return json.dumps(record(uuid, text, **more)).encode() + b"\n"


def reply(uuid: str, *blocks: Mapping[str, Any], **more: Any) -> bytes:
    """A line of the assistant's side."""
    message = {"id": f"msg_{uuid}", "role": "assistant", "model": "claude-x", "content": list(blocks), **more}
    about = record(uuid) | {"type": "assistant", "message": message}
    return json.dumps(about).encode() + b"\n"


def text(words: str) -> dict[str, Any]:
    """A text block."""
    return {"type": "text", "text": words}
