"""What the cockpit is made from, as plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from flywheel.model import Category, ClaimType, Micros, Status


class Section(StrEnum):
    """The parts of the cockpit, in their order."""

    DECISIONS = "decisions"
    DISPUTES = "disputes"
    STALE = "stale"
    UNCONFIRMED = "unconfirmed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A page as far as its place depends on it."""

    id: str
    status: Status
    type: ClaimType
    category: Category
    evidence: int = 1  # how many sessions say it
    at: Micros  # when it was last said
    last_confirmed: Micros | None = None
    review_by: Micros | None = None
    deferred_until: Micros | None = None
    pinned: bool = False
    said: bool = False  # a user said it, or a document does; else an agent or a tool
    news: int = 0  # claims of a confirmed page that nobody confirmed
    challenged: bool = False  # one of those gives a confirmed value otherwise
    against: int = 0  # how much it contradicts: 2 for each confirmed page, 1 for each other one that is served
    called: str = ""  # "wrong" or "stale": what an agent called it
    told: int = 0  # how many sessions were told it
    needed: int = 0  # how many pages need it (`prerequisite`)


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """What a line shows of its page."""

    short: str
    title: str
    summary: str
    link: str = ""
    reason: str = ""  # why it is stale, as it was recorded
    values: Sequence[str] = ()  # what stands against each other, each with its state
    sources: Sequence[str] = ()
    source_count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How a project stands, counted over all of its pages."""

    open: Mapping[tuple[Status, ClaimType], int] = field(default_factory=dict)  # pages, what was put off left out
    put_off: int = 0  # unconfirmed pages that were put off
    confirmed: int = 0
    overdue: int = 0  # confirmed, and for longer than their threshold ago
    lint_errors: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Moments:
    """The moments that the cockpit reflects."""

    changed: Micros = Micros(0)  # the latest change in the store
    passed: Micros = Micros(0)  # the latest threshold that has passed
    confirmed: Micros | None = None  # the latest confirmation by a person
