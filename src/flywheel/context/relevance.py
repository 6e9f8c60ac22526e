"""How relevant an entry or a session is at a session's start, when nobody has asked anything yet: pure rules."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from flywheel.context.ask import recency
from flywheel.model import Micros, Status

ENTRY_HALF_LIFE: Final = 45.0
"""Days after which an entry's newness counts half. Its truth does not decay: only its place in the order."""

SESSION_HALF_LIFE: Final = 10.0
"""Days after which a session's newness counts half."""

STANDING: Final[Mapping[Status, float]] = {
    Status.CONFIRMED: 1.0,
    Status.DISPUTED: 1.0,
    Status.CANDIDATE: 0.85,
    Status.STALE: 0.7,
}
"""What an entry's status does to its place."""

DISPUTE: Final = 0.25
"""Added for a dispute: whoever works here should know that a person must decide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryFacts:
    """What the order of entries rests on."""

    status: Status
    weight: float  # of its category
    at: Micros  # when it was last said or confirmed
    evidence: int
    overlap: float  # 0 to 1: how much of the session's cues it speaks of
    linked: bool  # speaks of a file that is being changed, or was just now


def entry_relevance(facts: EntryFacts, now: Micros) -> float:
    """0 to about 1.5: category and status weigh newness, cues, linked files and evidence."""
    told = min(1.0, math.log2(1 + max(1, facts.evidence)) / 4)
    newness = recency(facts.at, now, ENTRY_HALF_LIFE)
    merit = 0.25 + 0.25 * newness + 0.3 * facts.overlap + 0.3 * facts.linked + 0.1 * told
    bonus = DISPUTE if facts.status is Status.DISPUTED else 0.0
    return facts.weight * STANDING.get(facts.status, 0.0) * merit + bonus


def session_relevance(*, at: Micros, now: Micros, open_end: bool, same_branch: bool, overlap: float) -> float:
    """0 to about 1.2: newness, weighted up for what was left open, for the same branch and for shared cues."""
    return 0.5 * recency(at, now, SESSION_HALF_LIFE) + 0.3 * open_end + 0.15 * same_branch + 0.25 * overlap
