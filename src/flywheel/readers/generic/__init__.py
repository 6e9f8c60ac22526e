"""Conversations as plain JSON, whoever wrote them: a document, or a conversation or a message a line (FORMATS §9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from flywheel.model import Micros
from flywheel.readers.fields import TEXT_CAP, text_of
from flywheel.readers.generic.check import is_conversation, is_message
from flywheel.readers.generic.parse import parse
from flywheel.readers.generic.state import State, load
from flywheel.readers.seam import Carry, Parsed, Place, Record, SourceKind, Usual

_FOLDERS: Final = frozenset({"conversations", "transcripts", "chats"})
_WORDS: Final = ("conversation", "transcript", "chat")


class GenericReader(Usual):
    """The reader of one JSON document: an object with ``messages``, a list of messages, or a list of such objects."""

    name: str = "generic"
    agent: str = "generic"
    source: SourceKind = SourceKind.DOCUMENT
    endings: Sequence[str] = (".json",)

    def roots(self, home: str, env: Mapping[str, str]) -> Sequence[str]:
        """None: a person names the file."""
        return ()

    def place(self, parts: Sequence[str]) -> Place | None:
        """A file that is called a conversation, or lies in a folder of such; of others only the records tell."""
        if not parts or not parts[-1].endswith(tuple(self.endings)):
            return None
        name = parts[-1].lower()
        named = any(word in name for word in _WORDS) or not _FOLDERS.isdisjoint(parts[-2:-1])
        return Place() if named else None

    def recognises(self, record: Record, session: str = "") -> bool:
        """A message, or an object with messages."""
        return is_message(record) or is_conversation(record)

    def start(self, place: Place, *, at: Micros, sidecar: Record | None = None, block_chars: int = TEXT_CAP) -> Carry:
        """The carry before a file's first record."""
        return State(at=at, again=place.again, block=block_chars).dump()

    def parse(self, carry: Carry, records: Sequence[Record]) -> Parsed:
        """Drafts and facts of the whole document."""
        return parse(load(carry), records, complete=True)

    def session_of(self, carry: Carry) -> str:
        """The conversation that was read last."""
        return text_of(carry.get("session"))


class GenericLinesReader(GenericReader):
    """The reader of JSON lines: a conversation each, or a message each.

    A conversation without messages is the head of those that follow it.
    """

    name: str = "generic-lines"
    source: SourceKind = SourceKind.LINES
    endings: Sequence[str] = (".jsonl", ".ndjson")
    heads: Sequence[str] = ("role", "messages", "title", "id", "content")

    def parse(self, carry: Carry, records: Sequence[Record]) -> Parsed:
        """Drafts and facts of the next lines."""
        return parse(load(carry), records, complete=False)
