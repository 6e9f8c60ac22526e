"""The store of Cursor's CLI: one database for each chat, with the results of tools that its transcripts lack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import unquote_to_bytes

import orjson

from flywheel.model import Micros
from flywheel.readers.cursor import places
from flywheel.readers.cursor.ledger import Ledger
from flywheel.readers.cursor.state import State, dump, fresh, load
from flywheel.readers.cursor.store_sql import CHAT, MESSAGE, TURN
from flywheel.readers.cursor.tools import result_of
from flywheel.readers.fields import TEXT_CAP, clip, kind_name, list_of, mapping_of, micros_of, native, text_of, true
from flywheel.readers.seam import Carry, Parsed, Place, Record, Restored, Retracted, RowQuery, SourceKind, Usual

_IMAGES: Final = frozenset({"image", "file"})
_FILE: Final = b"file://"
_UNNAMED: Final = ("", "New Agent", "New Chat", "Untitled")
_ID: Final = 16  # digits of a digest that tell messages of one chat apart
_NOTED: Final = 256  # messages that can be taken back by what they were stored under


class CursorStoreReader(Usual):
    """The reader of ``store.db``. Its session and its messages are those of the transcript of the same chat."""

    name: str = "cursor-store"
    agent: str = "cursor"
    source: SourceKind = SourceKind.SQLITE
    depth: int = 2

    def roots(self, home: str, env: Mapping[str, str]) -> Sequence[str]:
        """The folder of the chats."""
        return places.chats(home, env)

    def place(self, parts: Sequence[str]) -> Place | None:
        """A chat's store, below the MD5 of the folder that it was held in; newer clients say more in ``meta.json``."""
        return places.store(parts)

    def queries(self, tables: Mapping[str, Sequence[str]]) -> Sequence[RowQuery]:
        """Facts, messages, and what was taken back; nothing of another database."""
        blobs, meta = tables.get("blobs", ()), tables.get("meta", ())
        return (CHAT, MESSAGE, TURN) if {"id", "data"} <= {*blobs} and {"key", "value"} <= {*meta} else ()

    def recognises(self, record: Record, session: str = "") -> bool:
        """A row of one of the queries."""
        return record.get("table") in ("chat", "message", "turn") and ("root" in record or "live" in record)

    def start(self, place: Place, *, at: Micros, sidecar: Record | None = None, block_chars: int = TEXT_CAP) -> Carry:
        """The carry before the first row."""
        return dump(fresh(place, at, block_chars, sidecar))

    def parse(self, carry: Carry, records: Sequence[Record]) -> Parsed:
        """Drafts, facts and retractions of the next rows."""
        ledger = Ledger(load(carry))
        for record in records:
            table = record.get("table")
            if table == "message":
                _message(ledger, record)
            elif table == "chat":
                _chat(ledger, record)
            elif table == "turn":
                _turn(ledger, record)
            else:
                ledger.count(kind_name(table))
        return ledger.close()

    def session_of(self, carry: Carry) -> str:
        """The chat that the path names."""
        return text_of(carry.get("session"))


def _chat(on: Ledger, record: Record) -> None:
    """What the store says of itself."""
    state, about = on.state, _json(record.get("value"))
    state.session = state.session or native(about.get("agentId"))
    name = clip(" ".join(text_of(about.get("name")).split()), 120)
    state.title = state.title if name in _UNNAMED else name
    state.model = state.model or text_of(about.get("lastUsedModel"))[:120] or text_of(about.get("model"))[:120]
    state.cwd = state.cwd or (text_of(about.get("workspacePath")) or _folder(text_of(record.get("folder"))))[:4096]
    began = micros_of(about.get("createdAt"))
    on.date(began if state.count == 0 else None)


def _message(on: Ledger, record: Record) -> None:
    """One message; one that the latest root does not hold was taken back."""
    state = on.state
    before = len(on.drafts)
    message = _json(record.get("value"))
    if not message:
        on.count("message.unreadable")
        return
    _say(on, message)
    if len(on.drafts) == before:
        return
    keys = [draft.key for draft in on.drafts[before:]]
    state.noted[text_of(record.get("id"))[:_ID]] = [key[1:] for key in keys]
    if len(state.noted) > _NOTED:
        del state.noted[next(iter(state.noted))]
    if not record.get("live"):
        on.retracted.append(Retracted(reason="rewound", session=state.session, keys=keys, at=state.at))


def _turn(on: Ledger, record: Record) -> None:
    """A message that the latest root does not hold any more, or holds again."""
    state, what = on.state, record.get("what")
    if what not in ("gone", "back"):
        return
    noted = state.noted.get(text_of(record.get("id"))[:_ID])
    if noted is None:  # it was read long ago
        apart = Ledger(State(session=state.session, child=state.child))
        _say(apart, _json(record.get("value")))
        keys = [draft.key for draft in apart.drafts]
    else:
        keys = [(state.session, *map(str, key)) for key in noted]
    if not keys:
        return
    on.date(None)
    if what == "back":
        on.retracted.append(Restored(session=state.session, keys=keys))
    else:
        on.retracted.append(Retracted(reason="rewound", session=state.session, keys=keys, at=state.at))


def _say(on: Ledger, message: Mapping[str, Any]) -> None:
    role, content = message.get("role"), message.get("content")
    if "createdAt" in message and (at := micros_of(message["createdAt"])) is not None:
        on.date(at)
    if role == "user":
        _user(on, content, summary=true(_options(message).get("isSummary")))
    elif role == "assistant":
        on.state.model = text_of(_options(message).get("modelName"))[:120] or on.state.model
        _assistant(on, content)
    elif role == "tool":
        _results(on, message, content)
    elif role != "system":
        on.count(kind_name(role))


def _options(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """What Cursor itself notes beside a message."""
    return mapping_of(mapping_of(message.get("providerOptions")).get("cursor"))


def _user(on: Ledger, content: object, *, summary: bool) -> None:
    if isinstance(content, str):
        on.user(content, summary=summary)
        return
    texts, images = [], 0
    for part in map(mapping_of, list_of(content)):
        kind = text_of(part.get("type"))
        if kind == "text":
            texts.append(text_of(part.get("text")))
        elif kind in _IMAGES:
            images += 1
        else:
            on.count(f"user.{kind_name(kind)}")
    if texts or images:
        on.user("\n".join(texts), images, summary=summary)


def _assistant(on: Ledger, content: object) -> None:
    if isinstance(content, str):
        on.assistant([content], [], [])
        return
    texts: list[str] = []
    thinking: list[str] = []
    calls: list[tuple[str, str, object]] = []
    for one in list_of(content):
        part = one if isinstance(one, dict) else {}
        kind = part.get("type")
        if kind == "text":
            texts.append(text_of(part.get("text")))
        elif kind == "tool-call":
            arguments = part.get("args", part.get("input"))
            calls.append((native(part.get("toolCallId")), text_of(part.get("toolName")), arguments))
        elif kind == "reasoning" or kind == "thinking":
            thinking.append(text_of(part.get("text")))
        elif kind != "redacted-reasoning" and text_of(kind) not in _IMAGES:
            on.count(f"assistant.{kind_name(kind)}")
    on.assistant(texts, thinking, calls)


def _results(on: Ledger, message: Mapping[str, Any], content: object) -> None:
    parts = [mapping_of(part) for part in list_of(content)]
    beside = message.get("providerOptions") if len(parts) == 1 else None
    for part in parts:
        if part.get("type") != "tool-result":
            on.count(f"tool.{kind_name(part.get('type'))}")
            continue
        call_id, name = native(part.get("toolCallId")), text_of(part.get("toolName"))
        on.result(call_id, name, result_of(on.tool(call_id) or name, part, beside))


def _json(value: object) -> Mapping[str, Any]:
    if not isinstance(value, str):
        return {}
    try:
        return mapping_of(orjson.loads(value))
    except orjson.JSONDecodeError:
        return {}


def _folder(around: str) -> str:
    """The folder in a piece of a root: ``file:///…`` and before it the tag of field 9 (4A) and its length."""
    try:
        data = bytes.fromhex(around)
    except ValueError:
        return ""
    at = data.find(_FILE)
    if at >= 2 and data[at - 2] == 0x4A:
        length = data[at - 1]
    elif at >= 3 and data[at - 3] == 0x4A:
        length = (data[at - 2] & 0x7F) | data[at - 1] << 7
    else:
        return ""
    return unquote_to_bytes(data[at + len(_FILE) : at + length]).decode("utf-8", "replace")
