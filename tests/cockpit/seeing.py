"""Pages as the cockpit sees them, made up."""

from __future__ import annotations

from typing import Any

from flywheel.api import Cockpit, CockpitLine, Factors
from flywheel.cockpit.rules import Judged
from flywheel.cockpit.value import Seen
from flywheel.model import Category, ClaimType, Micros, Status
from flywheel.tree.page import DAY

NOW = Micros(20_000 * DAY)


def seen(**given: Any) -> Seen:
    """A candidate that a user said once, today."""
    base: dict[str, Any] = {
        "id": "e1", "status": Status.CANDIDATE, "type": ClaimType.FACT, "category": Category.KNOWLEDGE, "at": NOW,
        "said": True,
    }  # fmt: skip
    return Seen(**(base | given))


def judged(**given: Any) -> Judged:
    """The same, with what its dates come to."""
    dates = {name: given.pop(name) for name in ("put_off", "overdue", "ageing", "due") if name in given}
    return Judged(seen=seen(**given), **dates)


def line(**given: Any) -> CockpitLine:
    """One line."""
    base: dict[str, Any] = {
        "section": "unconfirmed", "type": "fact", "status": "candidate", "title": "Mail leaves at noon",
        "text": "said once, on 2024-10-04", "link": "wiki/knowledge/mail-leaves-at-noon.md", "id": "e1",
        "short": "0000a1", "next": "flywheel confirm 0000a1", "sources": ("5a1b2c",), "source_count": 1,
        "factors": Factors(urgency=1, consequence=2, uncertainty=2, leverage=1), "score": 4,
    }  # fmt: skip
    return CockpitLine(**(base | given))


def cockpit(*lines: CockpitLine, **given: Any) -> Cockpit:
    """A cockpit with these lines."""
    base: dict[str, Any] = {
        "project": "harbour", "project_id": "p", "root": "/data/tree/harbour-1", "generated_at": NOW,
        "last_confirmed": Micros(NOW - DAY), "pages": 40, "unverified": 12, "lines": lines,
    }  # fmt: skip
    return Cockpit(**(base | given))
