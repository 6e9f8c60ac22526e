"""A small opencode for the tests: it writes both generations of its tables as the real one does, updating in place."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tests.readers.specimens import FIXTURES

from flywheel.harvest.sources import reading
from flywheel.harvest.tail import Cursor
from flywheel.model import Micros
from flywheel.readers import Carry, Draft, Parsed, Place, Restored
from flywheel.readers.opencode import OpencodeReader

START: Final = 1_772_442_000_000
"""Milliseconds: when the first thing happens."""

READER: Final = OpencodeReader()
_SCRIPTS: Final = FIXTURES / "opencode" / "opencode"


def tables(name: str, begin: str, end: str) -> str:
    """The part of a fixture's script that makes tables."""
    script = (_SCRIPTS / f"{name}.db.sql").read_text()
    start = script.index(begin)
    return script[start : script.index(end, start)]


V1: Final = tables("opencode", "CREATE TABLE project", "INSERT")
V2: Final = tables("opencode-beta", "CREATE TABLE session_v2", "CREATE TABLE kv")


class Opencode:
    """A database that its owner keeps open, in WAL mode."""

    def __init__(self, path: Path, script: str = V1) -> None:
        self.path, self.now = path, START
        self.db = sqlite3.connect(path, isolation_level=None)
        self.db.execute("PRAGMA journal_mode = WAL")
        self.db.execute("PRAGMA wal_autocheckpoint = 0")
        self.db.executescript(script)

    def tick(self, ms: int = 1000) -> int:
        """A later time."""
        self.now += ms
        return self.now

    def insert(self, table: str, **values: object) -> None:
        """A row."""
        names = ", ".join(f'"{name}"' for name in values)
        marks = ", ".join("?" * len(values))
        self.db.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", list(map(_column, values.values())))

    def update(self, table: str, id: str, **values: object) -> None:
        """Change a row in place."""
        values = {"time_updated": self.tick(), **values}
        names = ", ".join(f'"{name}" = ?' for name in values)
        self.db.execute(f"UPDATE {table} SET {names} WHERE id = ?", [*map(_column, values.values()), id])

    def session(self, id: str, table: str = "session", **values: object) -> str:
        """A session; its id."""
        at = self.tick()
        usual = {
            "project_id": "p", "slug": "calm-tide", "directory": "/home/dev/tides", "title": "Tides",
            "version": "1.18.33", "time_created": at, "time_updated": at,
        }  # fmt: skip
        self.insert(table, id=id, **{**usual, **values})
        return id

    def message(self, id: str, session: str, role: str, *, done: bool = True, **data: object) -> str:
        """A message of the first generation; its id."""
        at = self.tick()
        time = {"created": at, "completed": at + 5} if done and role == "assistant" else {"created": at}
        about = {"role": role, "time": time, **data}
        self.insert("message", id=id, session_id=session, time_created=at, time_updated=at, data=about)
        return id

    def part(self, id: str, message: str, data: object) -> str:
        """A part of a message, whose session was worked in; its id."""
        at = self.tick()
        (session,) = self.db.execute("SELECT session_id FROM message WHERE id = ?", [message]).fetchone()
        row = {"message_id": message, "session_id": session, "time_created": at, "time_updated": at, "data": data}
        self.insert("part", id=id, **row)
        self.db.execute("UPDATE session SET time_updated = ? WHERE id = ?", [at, session])
        return id

    def said(self, id: str, session: str, role: str, text: str) -> str:
        """A message with one finished text."""
        time = {"start": self.now, "end": self.now + 1}
        self.message(id, session, role)
        self.part(f"prt{id[3:]}", id, {"type": "text", "text": text, "time": time})
        return id

    def second(self, id: str, session: str, type: str, seq: int, data: Mapping[str, Any]) -> str:
        """A message of the second generation; its id."""
        at = self.tick()
        body = {**data, "time": {"created": at, **data.get("time", {})}}
        row = {"session_id": session, "type": type, "seq": seq, "time_created": at, "time_updated": at}
        self.insert("session_message", id=id, **row, data=body)
        return id

    def close(self) -> None:
        """As the owner leaves it: the last one to close empties the WAL."""
        self.db.close()


def _column(value: object) -> object:
    return json.dumps(value, separators=(",", ":")) if isinstance(value, dict) else value


class Pass:
    """Reads a database again and again, as the harvest does, and keeps what stands."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._cursor = Cursor()
        self._marks: dict[str, Any] = {}
        self._carry: Carry = READER.start(Place(), at=Micros(1))
        self.texts: dict[tuple[str, ...], str] = {}  # of everything ever given, by key
        self.gone: set[tuple[str, ...]] = set()
        self.ordinals: dict[tuple[str, ...], int] = {}
        self.rows = 0

    def __call__(self) -> Parsed:
        """Read what is new."""
        parsed = READER.parse(self._carry, [])
        with reading(
            str(self._path), READER, cursor=self._cursor, marks=self._marks, recognise=READER.recognises, settled=0
        ) as file:
            for chunk in file.chunks:
                carry: Carry = json.loads(json.dumps(parsed.carry))
                parsed = parsed.then(READER.parse(carry, chunk.records))
                self._cursor, self._marks = chunk.cursor, dict(chunk.marks)
                self.rows += len(chunk.records)
        self._carry = parsed.carry
        for draft in parsed.drafts:
            self._take(draft)
        for item in parsed.retracted:
            keys = {tuple(key) for key in item.keys}
            self.gone = self.gone - keys if isinstance(item, Restored) else self.gone | keys
        return parsed

    def _take(self, draft: Draft) -> None:
        if draft.key not in self.texts:  # a copy is dropped
            self.texts[draft.key] = draft.text
            self.ordinals[draft.key] = draft.ordinal

    @property
    def stands(self) -> list[str]:
        """The texts that hold, in the order of the conversation."""
        live = [key for key in self.texts if key not in self.gone]
        return [self.texts[key] for key in sorted(live, key=lambda key: self.ordinals[key])]
