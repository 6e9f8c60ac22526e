"""GitHub Copilot CLI: where its sessions are, and their events to drafts (FORMATS §6)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from flywheel.model import Micros
from flywheel.readers.copilot.events import is_known, parse
from flywheel.readers.copilot.ledger import START
from flywheel.readers.copilot.state import fresh, load
from flywheel.readers.fields import TEXT_CAP, mapping_of, native
from flywheel.readers.seam import END, Carry, Parsed, Place, Record, SourceKind, Usual

_ROOT: Final = "session-state"
_EVENTS: Final = "events.jsonl"
_FLAT: Final = re.compile(r"([\w-][\w.-]{0,120})\.jsonl", re.ASCII)
_ABOUT: Final = "workspace.yaml"


class CopilotReader(Usual):
    """The reader of Copilot CLI's event logs."""

    name: str = "copilot"
    agent: str = "copilot"
    source: SourceKind = SourceKind.LINES
    depth: int = 1
    heads: Sequence[str] = ("type", "data", "id", "timestamp", "parentId", "agentId")

    def roots(self, home: str, env: Mapping[str, str]) -> Sequence[str]:
        """``$COPILOT_HOME/session-state``, or ``~/.copilot/session-state``."""
        return (f"{(env.get('COPILOT_HOME') or f'{home}/.copilot').rstrip('/')}/{_ROOT}",)

    def place(self, parts: Sequence[str]) -> Place | None:
        """``<id>/events.jsonl``, and the flat ``<id>.jsonl`` of old clients. The events know the id better."""
        folders, name = list(parts[:-1]), parts[-1] if parts else ""
        if name == _EVENTS and folders[-2:-1] == [_ROOT]:
            return Place(session=native(folders[-1]), sidecar=_ABOUT)
        flat = _FLAT.fullmatch(name)
        return Place(session=flat[1]) if flat is not None and folders[-1:] == [_ROOT] else None

    def recognises(self, record: Record, session: str = "") -> bool:
        """A known kind in the envelope of every event; the start of a session only of that one."""
        kind = record.get("type")
        if not isinstance(kind, str) or not is_known(kind) or not isinstance(record.get("data"), dict):
            return False
        if not native(record.get("id")) or "timestamp" not in record:
            return False
        return kind != START or session in ("", mapping_of(record["data"]).get("sessionId"))

    def start(self, place: Place, *, at: Micros, sidecar: Record | None = None, block_chars: int = TEXT_CAP) -> Carry:
        """The carry before the first event."""
        return fresh(place, at, sidecar or {}, block_chars).dump()

    def parse(self, carry: Carry, records: Sequence[Record]) -> Parsed:
        """Drafts, facts and retractions of the next events."""
        return parse(carry, records)

    def session_of(self, carry: Carry) -> str:
        """The id that the start of the session gave; "" before it."""
        state = load(carry)
        return state.session if state.named else ""

    def span(self, carry: Carry) -> tuple[int, int]:
        """All ordinals of the session: a rewind cuts the log off, and it is all there is."""
        return 0, END
