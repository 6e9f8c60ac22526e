"""Gemini CLI: where its chats are, and its logs and documents to drafts (FORMATS §3)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from flywheel.model import Micros
from flywheel.readers.fields import TEXT_CAP, native, text_of
from flywheel.readers.gemini.ledger import Ledger, type_of
from flywheel.readers.gemini.messages import TYPES
from flywheel.readers.gemini.replay import replay
from flywheel.readers.gemini.state import fresh, load
from flywheel.readers.seam import Carry, Parsed, Place, Record, Retracted, SourceKind, Usual

_SESSION: Final = re.compile(r"session-[\w.-]*?(\.jsonl|\.json)", re.ASCII)
_CHILD: Final = re.compile(r"([\w-][\w.-]{0,120}?)(\.jsonl|\.json)", re.ASCII)
_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_CHATS: Final = "chats"
_ROOT: Final = "tmp"
_MARKER: Final = ".project_root"
_PROJECTS: Final = "projects.json"


class GeminiReader(Usual):
    """The reader of the logs that Gemini CLI writes since 0.40."""

    name: str = "gemini"
    agent: str = "gemini"
    source: SourceKind = SourceKind.LINES
    depth: int = 3
    suffix: str = ".jsonl"
    heads: Sequence[str] = ("id", "$set", "$rewindTo", "sessionId", "timestamp", "type")

    def roots(self, home: str, env: Mapping[str, str]) -> Sequence[str]:
        """``$GEMINI_CLI_HOME/.gemini/tmp``, or ``~/.gemini/tmp``."""
        return (f"{(env.get('GEMINI_CLI_HOME') or home).rstrip('/')}/.gemini/{_ROOT}",)

    def place(self, parts: Sequence[str]) -> Place | None:
        """``<id>/chats/session-*``, and the subagents in ``<id>/chats/<parent>``; both with the project's path above.

        The client writes that path beside the chats; older ones did not, but later ones list every project.
        """
        folders, name = list(parts[:-1]), parts[-1] if parts else ""
        found = _SESSION.fullmatch(name)
        if found is not None and folders[-1:] == [_CHATS]:
            return self._placed(found[1], Place(session=name.removesuffix(found[1])), up=1)
        child = _CHILD.fullmatch(name)
        if child is None or folders[-2:-1] != [_CHATS]:
            return None
        parent = folders[-1]
        if not (_UUID.fullmatch(parent) or folders[-4:-3] == [_ROOT]):
            return None
        return self._placed(child[2], Place(session=child[1], parent=parent, child=True), up=2)

    def _placed(self, suffix: str, place: Place, up: int) -> Place | None:
        if suffix != self.suffix:
            return None
        return Place(
            session=place.session,
            parent=place.parent,
            child=place.child,
            sidecar=f"{'../' * up}{_MARKER}",
            listing=f"{'../' * (up + 2)}{_PROJECTS}",
        )

    def recognises(self, record: Record, session: str = "") -> bool:
        """A message, a change of the metadata, a rewind, or the head of a session: that one when it is given."""
        if native(record.get("id")):
            return type_of(record) in TYPES and "timestamp" in record and "content" in record
        if isinstance(record.get("$set"), dict) or isinstance(record.get("$rewindTo"), str):
            return len(record) == 1
        named = record.get("sessionId")
        return isinstance(named, str) and isinstance(record.get("projectHash"), str) and session in ("", named)

    def start(self, place: Place, *, at: Micros, sidecar: Record | None = None, block_chars: int = TEXT_CAP) -> Carry:
        """The carry before the first record."""
        return fresh(place, at, sidecar or {}, block_chars).dump()

    def parse(self, carry: Carry, records: Sequence[Record]) -> Parsed:
        """Drafts, facts and retractions of the next records."""
        return self._read(carry, records).close()

    def session_of(self, carry: Carry) -> str:
        """The id that the log itself names; "" before it did."""
        return text_of(carry.get("session")) if carry.get("named") else ""

    @staticmethod
    def _read(carry: Carry, records: Sequence[Record]) -> Ledger:
        ledger = Ledger(load(carry))
        for record in records:
            replay(ledger, record)
        return ledger


class GeminiDocumentReader(GeminiReader):
    """The reader of the documents that Gemini CLI wrote before: one a session, rewritten on every change."""

    name: str = "gemini-json"
    source: SourceKind = SourceKind.DOCUMENT
    suffix: str = ".json"

    def recognises(self, record: Record, session: str = "") -> bool:
        """A whole session, or a record of a log."""
        return super().recognises(record, session)

    def parse(self, carry: Carry, records: Sequence[Record]) -> Parsed:
        """A whole document; what stood in its places before and is not there now was taken back.

        A log that went on from it has the places after, and keeps them.
        """
        ledger = self._read(carry, records)
        state, keys = ledger.state, tuple(draft.key for draft in ledger.drafts)
        if keys:
            ledger.retracted.append(
                Retracted(
                    reason="replaced", session=state.session, until=state.count, keep=keys, at=Micros(state.at)
                )
            )  # fmt: skip
        return ledger.close()
