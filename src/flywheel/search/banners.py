"""What must be said of a page wherever it is shown: one function for pages, hits, briefings and answers. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from flywheel.model import SERVED, Micros, Status
from flywheel.text.compose import dated

FRESH_DAYS: Final = 90
"""For how many days a confirmation counts, unless a tree's AGENTS.md says otherwise."""

REVIEW_DAYS: Final[Mapping[str, int]] = {"judgment": 180, "hypothesis": 30}
"""After how many days somebody should look again at what is no fact, by type."""

DAY: Final = 86_400_000_000
"""Microseconds."""


class Page(Protocol):
    """What a banner depends on; an `Entry` is one."""

    @property
    def status(self) -> Status:
        """Its state."""

    @property
    def type(self) -> str:
        """Claim type."""

    @property
    def category(self) -> str:
        """Its shelf."""

    @property
    def updated_at(self) -> Micros:
        """When it was last said."""

    @property
    def last_confirmed(self) -> Micros | None:
        """When a person last confirmed it."""

    @property
    def review_by(self) -> Micros | None:
        """When somebody should look at it again."""

    @property
    def stale_reason(self) -> str:
        """What has changed of that which it rests on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """A `Page` as columns of the store."""

    status: Status
    type: str
    category: str
    updated_at: Micros
    last_confirmed: Micros | None
    review_by: Micros | None
    stale_reason: str


COLUMNS: Final = "status, type, category, updated_at, last_confirmed, review_by, stale_reason"
"""The columns of an entry that `facts_of` takes."""


def facts_of(row: Sequence[object]) -> Facts:
    """From the values of `COLUMNS`."""
    status, type_, category, updated, confirmed, review, reason = row
    return Facts(
        status=Status(str(status)),
        type=str(type_),
        category=str(category),
        updated_at=Micros(int(str(updated))),
        last_confirmed=_micros(confirmed),
        review_by=_micros(review),
        stale_reason=str(reason),
    )


def _micros(value: object) -> Micros | None:
    return None if value is None else Micros(int(str(value)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """A project's thresholds in days: of freshness by category ("" for the others), of review by type."""

    fresh: Mapping[str, int] = field(default_factory=dict)
    review: Mapping[str, int] = field(default_factory=lambda: REVIEW_DAYS)

    def days(self, category: str) -> int:
        """For how long a confirmation counts on this shelf."""
        return self.fresh.get(category, self.fresh.get("", FRESH_DAYS))

    def expires(self, page: Page) -> int:
        """When a page passes its threshold, in microseconds."""
        return (page.last_confirmed or page.updated_at) + self.days(page.category) * DAY

    def review_by(self, type: str, since: Micros) -> Micros | None:
        """When to look again at something of this type that was last said or confirmed then; None for others."""
        days = self.review.get(type)
        return None if days is None else Micros(since + days * DAY)


USUAL: Final = Limits()


@dataclass(frozen=True, slots=True)
class Notice:
    """One banner: ``kind`` is what it is about (stale, disputed, overdue, review)."""

    kind: str
    head: str
    text: str


def notices(page: Page, limits: Limits, now: Micros) -> Iterator[Notice]:
    """What is to be said of a page, the gravest first. Pure."""
    since = (
        f"it was last confirmed on {dated(page.last_confirmed)}" if page.last_confirmed else "nobody has confirmed it"
    )
    if page.status is Status.DISPUTED:
        text = "Sources of equal weight disagree, and a person has not decided yet: both stand."
        yield Notice("disputed", "Disputed.", text)
    if page.status is Status.STALE or (page.stale_reason and page.status in SERVED):
        what = page.stale_reason or "What it rests on has changed"
        yield Notice("stale", "Stale?", f"{what}. Read that again before you rely on it; {since}.")
    if page.status in SERVED and limits.expires(page) <= now:
        days = limits.days(page.category)
        ever = page.last_confirmed or (page.updated_at if page.status is Status.CONFIRMED else None)
        never = f"NEVER CONFIRMED, AND LAST SAID ON {dated(page.updated_at)}"
        head = f"NOT CONFIRMED SINCE {dated(ever)}" if ever else never
        yield Notice("overdue", head, f"(more than {days} days). Read its sources again before you rely on it.")
    if page.status in SERVED and page.review_by is not None and page.review_by <= now:
        text = f"Somebody should look at this {page.type.replace('_', ' ')} again."
        yield Notice("review", f"REVIEW WAS DUE BY {dated(page.review_by)}.", text)


def banner(page: Page, limits: Limits, now: Micros) -> str:
    """The same on one line, for hits, briefings and answers; "" where nothing is to be said."""
    found = list(notices(page, limits, now))
    stale = any(one.kind == "stale" for one in found)
    shown = [one for one in found if one.kind != "overdue" or not stale]
    return " ".join(f"{_PLAIN.get(one.kind, one.head)} {one.text}" for one in shown)


_PLAIN: Final = {"stale": "STALE:", "disputed": "DISPUTED:"}
