"""What a retrospective is made of: points with the spans that they rest on, and counters that stay small."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from flywheel.harvest.rules.values import Quote
from flywheel.model import Clean, EntryId

ATTEMPTED: Final = "attempted"
WRONG: Final = "wrong"
REPEATED: Final = "repeated"
KNOWN: Final = "known"
NEW: Final = "new"
OPEN: Final = "open"
"""The sections of a retrospective."""

TOLD: Final = "told"
UNTOLD: Final = "untold"
LATER: Final = "later"
"""Of what memory had: it was in a briefing of the session; it was not; it was said before, but memory read it later."""

MOST: Final = 12
"""Points of one kind that are kept."""

DISTINCT: Final = 2000
"""Different names of one sort that are counted in a session; what comes after them is not."""

CITED: Final = 160
"""Characters of a call or a line that are quoted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One thing that a retrospective says. ``text`` is "" where an entry says it."""

    section: str
    kind: str
    subject: Clean  # what it has in common with other sessions: a command, a path, a tool
    text: Clean = Clean("")
    times: int = 1
    cost: int = 0  # tool calls that it took
    cites: Sequence[Quote] = ()
    entry_id: EntryId | None = None
    told: str = ""


@dataclass(slots=True)
class Tally:
    """Counts names, of the first `DISTINCT` different ones."""

    counts: Counter[str] = field(default_factory=Counter)

    def add(self, name: str) -> bool:
        """Count one; whether it is among those that are counted."""
        if name not in self.counts and len(self.counts) >= DISTINCT:
            return False
        self.counts[name] += 1
        return True

    def __getitem__(self, name: str) -> int:
        return self.counts[name]

    def often(self, least: int) -> list[tuple[str, int]]:
        """The names counted so often or oftener, the most first, at most `MOST`."""
        return [(name, count) for name, count in self.counts.most_common(MOST) if count >= least]
