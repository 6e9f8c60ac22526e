"""Makes databases like Cursor's, step by step, and reads them the way the harvest does."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

from flywheel.harvest.sources import reading
from flywheel.harvest.tail import Cursor
from flywheel.model import Micros
from flywheel.readers import Draft, Parsed, Place, Reader, Restored

CHAT: Final = "c4a70000-0000-4000-8000-000000000001"
SYSTEM: Final = {"role": "system", "content": "You are careful."}


def asked(text: str) -> dict[str, Any]:
    """A person's words as the client wraps them."""
    return {"role": "user", "content": [{"type": "text", "text": f"<user_query>\n{text}\n</user_query>"}]}


def replied(text: str, *calls: dict[str, Any]) -> dict[str, Any]:
    """A step of the agent."""
    return {"role": "assistant", "content": [{"type": "text", "text": text}, *calls]}


def called(call: str, tool: str, **arguments: object) -> dict[str, Any]:
    """A call within a step."""
    return {"type": "tool-call", "toolCallId": call, "toolName": tool, "args": arguments}


def gave(call: str, tool: str, result: object, **more: object) -> dict[str, Any]:
    """What a call gave."""
    part = {"type": "tool-result", "toolCallId": call, "toolName": tool, "result": result, **more}
    return {"role": "tool", "content": [part]}


def _varint(number: int) -> bytes:
    made = bytearray()
    while number >= 0x80:
        made.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*made, number])


def field(number: int, value: bytes) -> bytes:
    """A protobuf field of bytes."""
    return _varint(number << 3 | 2) + _varint(len(value)) + value


class Chat:
    """A ``store.db`` that its client writes step by step."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._db = sqlite3.connect(path)
        self._db.execute("PRAGMA synchronous = OFF")
        self._db.execute("CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB)")
        self._db.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)")

    def blob(self, value: object) -> str:
        """Store a value under its digest."""
        data = value if isinstance(value, bytes) else json.dumps(value, separators=(",", ":")).encode()
        name = hashlib.sha256(data).hexdigest()
        self._db.execute("INSERT OR IGNORE INTO blobs VALUES (?, ?)", (name, data))
        self._db.commit()
        return name

    def state(self, messages: Sequence[object], archives: Sequence[str] = (), folder: str = "/home/dev/tides") -> bytes:
        """A state that lists these messages."""
        listed = b"".join(field(1, bytes.fromhex(self.blob(message))) for message in messages)
        kept = b"".join(field(13, bytes.fromhex(name)) for name in archives)
        return listed + field(9, f"file://{folder}".encode()) + kept

    def holds(self, *messages: object, archives: Sequence[str] = (), **meta: object) -> None:
        """From here on the chat holds these messages."""
        root = self.blob(self.state(messages, archives))
        about = {"agentId": CHAT, "latestRootBlobId": root, "createdAt": 1784992740000, **meta}
        self._db.execute("INSERT OR REPLACE INTO meta VALUES ('0', ?)", (json.dumps(about).encode().hex(),))
        self._db.commit()

    def archive(self, *messages: object) -> str:
        """What a summary has replaced."""
        return self.blob(b"".join(field(1, bytes.fromhex(self.blob(message))) for message in messages))


class Editor:
    """A ``state.vscdb`` that the editor writes step by step."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._db = sqlite3.connect(path)
        self._db.execute("PRAGMA synchronous = OFF")
        for table in ("ItemTable", "cursorDiskKV"):
            self._db.execute(f"CREATE TABLE {table} (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")

    def put(self, key: str, value: object, table: str = "cursorDiskKV") -> None:
        """Write a value; a mapping as JSON."""
        told = value if isinstance(value, (str, type(None))) else json.dumps(value)
        self._db.execute(f"INSERT INTO {table} VALUES (?, ?)", (key, told))
        self._db.commit()

    def drop(self, key: str) -> None:
        """Delete a value."""
        self._db.execute("DELETE FROM cursorDiskKV WHERE key = ?", (key,))
        self._db.commit()

    def bubble(self, name: str, kind: int, text: str = "", composer: str = CHAT, **more: object) -> None:
        """Write a message: 1 is the person's, 2 the agent's."""
        self.put(f"bubbleId:{composer}:{name}", {"type": kind, "bubbleId": name, "text": text, **more})

    def composer(self, *names: str, composer: str = CHAT, **more: object) -> None:
        """Write a conversation that lists these messages."""
        listed = [{"bubbleId": name, "type": 1 if name.startswith("p") else 2} for name in names]
        about = {"composerId": composer, "createdAt": 1784992740000, "status": "completed", **more}
        self.put(f"composerData:{composer}", {"fullConversationHeadersOnly": listed, **about})


class Follower:
    """Reads a database again and again, each time from where it was left."""

    def __init__(self, reader: Reader, path: Path, place: Place, sidecar: Mapping[str, Any] | None = None) -> None:
        self._reader, self._path = reader, path
        self._cursor, self._marks = Cursor(), dict[str, Any]()
        self._carry = reader.start(place, at=Micros(5), sidecar=sidecar)
        self.live: dict[tuple[str, ...], Draft] = {}
        self.gone: set[tuple[str, ...]] = set()
        self.rows = 0

    def read(self, chunks: int = 10**9) -> Parsed:
        """Whatever is new, or what the first chunks of it hold."""
        whole = Parsed(carry=self._carry)
        self.rows = 0
        with reading(
            str(self._path), self._reader, cursor=self._cursor, marks=self._marks,
            recognise=self._reader.recognises, settled=0,
        ) as file:  # fmt: skip
            for chunk in islice(file.chunks, chunks):
                self.rows += len(chunk.records)
                whole = whole.then(self._reader.parse(whole.carry, chunk.records))
                self._cursor, self._marks = chunk.cursor, dict(chunk.marks)
        self._carry = whole.carry
        for draft in whole.drafts:
            self.live.setdefault(draft.key, draft)
        for item in whole.retracted:
            keys = {tuple(key) for key in item.keys}
            self.gone = self.gone - keys if isinstance(item, Restored) else self.gone | keys
        return whole

    def says(self) -> list[str]:
        """The texts that hold, in their order."""
        held = [draft for key, draft in self.live.items() if key not in self.gone]
        return [draft.text for draft in sorted(held, key=lambda draft: draft.ordinal)]
