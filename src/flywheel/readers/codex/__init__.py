"""Codex (CLI, desktop, editor extensions): where its rollouts are, and their records to drafts (FORMATS §2)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from flywheel.model import Micros
from flywheel.readers.codex.kinds import FLAT_ITEMS
from flywheel.readers.codex.parse import KINDS, is_flat_head, parse
from flywheel.readers.codex.state import Rollout, fresh, span
from flywheel.readers.fields import TEXT_CAP, list_of, mapping_of, text_of
from flywheel.readers.seam import Carry, Parsed, Place, Record, SourceKind, Usual

_ID: Final = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_FILE: Final = re.compile(
    rf"rollout-\d{{4}}-\d\d-\d\dT\d\d-\d\d-\d\d-({_ID})(?:_({_ID}))?\.jsonl(?:\.zst)?", re.IGNORECASE
)
_FOLDERS: Final = ("sessions", "archived_sessions")
_XCODE: Final = "Library/Developer/Xcode/CodingAssistant/codex"
_TEXTS: Final = ("input_text", "output_text")


class CodexReader(Usual):
    """The reader of Codex's rollouts, plain or compressed."""

    name: str = "codex"
    agent: str = "codex"
    source: SourceKind = SourceKind.LINES
    depth: int = 3
    heads: Sequence[str] = ("timestamp", "type", "id", "ordinal", "payload", "record_type")

    def roots(self, home: str, env: Mapping[str, str]) -> Sequence[str]:
        """``sessions`` and ``archived_sessions`` of ``$CODEX_HOME`` or ``~/.codex``, and of the one in Xcode."""
        own = (env.get("CODEX_HOME") or f"{home}/.codex").rstrip("/")
        return tuple(f"{folder}/{name}" for folder in (own, f"{home}/{_XCODE}") for name in _FOLDERS)

    def place(self, parts: Sequence[str]) -> Place | None:
        """``rollout-<time>-<thread>.jsonl``, ``…-<thread>_<rollout>.jsonl`` where a thread goes on, and ``.zst``."""
        found = _FILE.fullmatch(parts[-1]) if parts else None
        return None if found is None else Rollout(session=found[1].lower(), segment=(found[2] or "").lower())

    def recognises(self, record: Record, session: str = "") -> bool:
        """A known kind with its payload (of that thread where it names one), or a bare item of an old client."""
        kind, fields = record.get("type"), record.get("payload")
        if not isinstance(fields, dict):
            return _is_flat(record)
        if not isinstance(kind, str) or kind not in KINDS or not isinstance(record.get("timestamp"), str):
            return False
        if kind in ("event_msg", "response_item") and not isinstance(fields.get("type"), str):
            return False
        named = fields.get("id") if kind == "session_meta" else fields.get("thread_id", session)
        return not session or kind == "session_meta" or named == session

    def start(self, place: Place, *, at: Micros, sidecar: Record | None = None, block_chars: int = TEXT_CAP) -> Carry:
        """The carry before a file's first record."""
        return fresh(place, at, block_chars).dump()

    def parse(self, carry: Carry, records: Sequence[Record]) -> Parsed:
        """Drafts, facts and retractions of the next records."""
        return parse(carry, records)

    def session_of(self, carry: Carry) -> str:
        """The thread's id; "" before it is known."""
        return text_of(carry.get("session"))

    def span(self, carry: Carry) -> tuple[int, int]:
        """The ordinals of the thread's messages that are in this file alone: from, and before."""
        base = int(carry.get("base", 0))
        return base, span(base)


def _is_flat(record: Record) -> bool:
    kind = record.get("type")
    if not isinstance(kind, str) or kind not in FLAT_ITEMS:
        return is_flat_head(record)
    if kind == "message":
        return any(mapping_of(part).get("type") in _TEXTS for part in list_of(record.get("content")))
    return "call_id" in record or "encrypted_content" in record
