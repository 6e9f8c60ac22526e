"""Claude Code: where its transcripts are, and its records to drafts (FORMATS §1)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from flywheel.model import Micros
from flywheel.readers.claude.kinds import CHAIN, SIDE
from flywheel.readers.claude.parse import parse
from flywheel.readers.claude.state import fresh
from flywheel.readers.fields import TEXT_CAP, text_of
from flywheel.readers.seam import Carry, Parsed, Place, Record, SourceKind, Usual

_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_AGENT: Final = re.compile(r"agent-([A-Za-z0-9_-]{1,100})")
_FILE: Final = re.compile(r"(.+?)(?:\.orphaned-[^.]*)?\.jsonl(?:\.orphaned-[^/]*)?")
_NEEDED: Final[Mapping[str, tuple[str, ...]]] = {
    "user": ("uuid", "message"),
    "assistant": ("uuid", "message"),
    "system": ("uuid", "subtype"),
    "attachment": ("uuid", "attachment"),
    "progress": ("uuid", "data"),
    "summary": ("summary", "leafUuid"),
    "file-history-snapshot": ("messageId", "snapshot"),
}
"""Keys without which a record of that type is a fragment, or something nested that looks like a record."""


class ClaudeReader(Usual):
    """The reader of Claude Code's transcripts."""

    name: str = "claude"
    agent: str = "claude"
    source: SourceKind = SourceKind.LINES
    heads: Sequence[str] = (
        "parentUuid", "type", "uuid", "sessionId", "isSidechain", "logicalParentUuid", "timestamp", "message", "cwd",
        "summary", "messageId", "leafUuid", "operation", "attachment", "promptId", "agentId", "userType", "version",
    )  # fmt: skip

    def roots(self, home: str, env: Mapping[str, str]) -> Sequence[str]:
        """``$CLAUDE_CONFIG_DIR/projects``, or ``~/.claude/projects``."""
        return (f"{(env.get('CLAUDE_CONFIG_DIR') or f'{home}/.claude').rstrip('/')}/projects",)

    def place(self, parts: Sequence[str]) -> Place | None:
        """Main files, subagents below ``<session>/subagents`` (nested and of workflows too), and old ones beside."""
        found = _FILE.fullmatch(parts[-1]) if parts else None
        if found is None:
            return None
        stem, folders = found[1], list(parts[:-1])
        if not {"tool-results", "memory", "file-history"}.isdisjoint(folders[-3:]):
            return None
        agent = _AGENT.fullmatch(stem)
        if "subagents" in folders:
            if agent is None:
                return None  # journal.jsonl of a workflow
            above = len(folders) - 2 - folders[::-1].index("subagents")
            parent = folders[above] if above >= 0 and _UUID.fullmatch(folders[above]) else ""
            return Place(session=agent[1], parent=parent, child=True, sidecar=f"{stem}.meta.json")
        if agent is not None:
            return Place(session=agent[1], child=True)
        return Place(session=stem if _UUID.fullmatch(stem) else "")

    def recognises(self, record: Record, session: str = "") -> bool:
        """A known type with the keys that go with it, and the session's own id where the record has one."""
        kind = record.get("type")
        if not isinstance(kind, str) or not (kind in CHAIN or kind in SIDE):
            return False
        needed = _NEEDED.get(kind)
        if needed is None:
            return record.get("sessionId") == session if session else "sessionId" in record
        if not all(key in record for key in needed):
            return False
        return not session or record.get("sessionId", session) == session

    def start(self, place: Place, *, at: Micros, sidecar: Record | None = None, block_chars: int = TEXT_CAP) -> Carry:
        """The carry before a file's first record."""
        return fresh(place, at, sidecar or {}, block_chars).dump()

    def parse(self, carry: Carry, records: Sequence[Record]) -> Parsed:
        """Drafts, facts and retractions of the next records."""
        return parse(carry, records)

    def session_of(self, carry: Carry) -> str:
        """The ``sessionId`` of the last record that had one; "" before the first."""
        return text_of(carry.get("named"))
