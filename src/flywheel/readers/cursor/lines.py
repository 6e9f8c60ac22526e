"""Cursor's agent transcripts: one message a line, without ids, times or the results of tools (FORMATS §5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from flywheel.model import Micros
from flywheel.readers.cursor import places
from flywheel.readers.cursor.ledger import Ledger
from flywheel.readers.cursor.state import dump, fresh, load
from flywheel.readers.cursor.tools import result_of
from flywheel.readers.fields import TEXT_CAP, kind_name, list_of, mapping_of, native, text_of
from flywheel.readers.seam import Carry, Parsed, Place, Record, SourceKind, Usual

_QUIET: Final = frozenset({"metadata", "turn_started"})
_FOREIGN: Final = frozenset({"type", "id", "uuid", "sessionId", "parentUuid", "payload"})
_IMAGES: Final = frozenset({"image", "file", "document"})


class CursorReader(Usual):
    """The reader of the JSONL transcripts that both the editor's agent and the CLI write."""

    name: str = "cursor"
    agent: str = "cursor"
    source: SourceKind = SourceKind.LINES
    depth: int = 4
    heads: Sequence[str] = ("role", "type")

    def roots(self, home: str, env: Mapping[str, str]) -> Sequence[str]:
        """The folders of the projects, each named by a slug of its path."""
        return places.projects(home, env)

    def place(self, parts: Sequence[str]) -> Place | None:
        """Conversations and their subagents, in folders of their own or (older) side by side."""
        return places.transcript(parts, ".jsonl")

    def recognises(self, record: Record, session: str = "") -> bool:
        """A message with a role and nothing that other agents' messages have, or the end of a turn."""
        if record.get("role") in ("user", "assistant"):
            return isinstance(record.get("message"), dict) and _FOREIGN.isdisjoint(record)
        return record.get("type") == "turn_ended" and isinstance(record.get("status"), str)

    def start(self, place: Place, *, at: Micros, sidecar: Record | None = None, block_chars: int = TEXT_CAP) -> Carry:
        """The carry before a file's first line."""
        return dump(fresh(place, at, block_chars))

    def parse(self, carry: Carry, records: Sequence[Record]) -> Parsed:
        """Drafts and facts of the next lines."""
        ledger = Ledger(load(carry))
        for record in records:
            _line(ledger, record)
        return ledger.close()

    def session_of(self, carry: Carry) -> str:
        """The conversation that the path names."""
        return text_of(carry.get("session"))


def _line(on: Ledger, record: Record) -> None:
    role, kind = record.get("role"), record.get("type")
    if role == "user" or role == "assistant":
        message = record.get("message")
        content = message.get("content") if isinstance(message, dict) else record.get("content")
        (_user if role == "user" else _assistant)(on, content)
    elif kind == "turn_ended":
        status, error = native(record.get("status")), record.get("error")
        if status in ("aborted", "error"):
            on.notice(status, text_of(error) or text_of(mapping_of(error).get("message")))
        else:
            on.date(None)
    elif role is None and text_of(kind) in _QUIET:
        on.date(None)
    else:
        on.count(kind_name(role if isinstance(role, str) else kind))


def _user(on: Ledger, content: object) -> None:
    if isinstance(content, str):
        on.user(content)
        return
    texts, images = [], 0
    for block in list_of(content):
        fields = mapping_of(block)
        kind = text_of(fields.get("type"))
        if kind == "text":
            texts.append(text_of(fields.get("text")))
        elif kind == "tool_result":
            _result(on, fields)
        elif kind in _IMAGES:
            images += 1
        else:
            on.count(f"user.{kind_name(kind)}")
    if texts or images:
        on.user("\n".join(texts), images)


def _assistant(on: Ledger, content: object) -> None:
    if isinstance(content, str):
        on.assistant([content], [], [])
        return
    texts: list[str] = []
    thinking: list[str] = []
    calls: list[tuple[str, str, object]] = []
    results: list[Mapping[str, Any]] = []
    for block in content if isinstance(content, list) else ():
        fields = block if isinstance(block, dict) else {}
        kind = fields.get("type")
        if kind == "text":
            texts.append(text_of(fields.get("text")))
        elif kind == "tool_use":
            calls.append((native(fields.get("id")), text_of(fields.get("name")), fields.get("input")))
        elif kind == "thinking":
            thinking.append(text_of(fields.get("thinking")) or text_of(fields.get("text")))
        elif kind == "tool_result":
            results.append(fields)
        else:
            on.count(f"assistant.{kind_name(kind)}")
    on.assistant(texts, thinking, calls)
    for given in results:
        _result(on, given)


def _result(on: Ledger, fields: Mapping[str, Any]) -> None:
    call_id, name = native(fields.get("tool_use_id")), text_of(fields.get("name"))
    tool = on.tool(call_id) or name
    on.result(call_id, name, result_of(tool, fields))
