"""What needs a person, how much, and what is shown of it. Pure; `docs/cockpit.md` has the tables in words.

A line's score is the product of four factors from 0 to 3; a factor of 0 keeps a page off the screen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from flywheel.api import Factors
from flywheel.cockpit.value import Counts, Detail, Moments, Section, Seen
from flywheel.knowledge.thresholds import Thresholds
from flywheel.model import SERVED, Category, ClaimType, Micros, Status
from flywheel.tree.page import DAY, day


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A page at a time: what its dates come to. A threshold has passed at the very moment that it names."""

    seen: Seen
    put_off: bool = False  # a person put its review off, and that time has not come
    overdue: bool = False  # confirmed, for its threshold ago or longer
    ageing: bool = False  # confirmed, for half of its threshold ago or longer
    due: bool = False  # its date of review has come


def judged(seen: Seen, age: int, now: Micros) -> Judged:
    """What the dates of a page come to at ``now``; ``age`` is its shelf's threshold in microseconds."""
    since = seen.last_confirmed or seen.at
    confirmed = seen.status is Status.CONFIRMED
    return Judged(
        seen=seen,
        put_off=seen.deferred_until is not None and seen.deferred_until > now,
        overdue=confirmed and since + age <= now,
        ageing=confirmed and since + age // 2 <= now,
        due=seen.review_by is not None and seen.review_by <= now,
    )


# ---- the factors


def _candidate(one: Judged) -> bool:
    return one.seen.status is Status.CANDIDATE


def _disagree(one: Judged) -> bool:
    return one.seen.status is Status.DISPUTED


def _changed(one: Judged) -> bool:
    return one.seen.status is Status.STALE


def _called(one: Judged) -> bool:
    return bool(one.seen.called)


def _late(one: Judged) -> bool:
    return one.overdue or (one.due and not _candidate(one))


def _leans(one: Judged, sessions: int, pages: int) -> bool:
    return max(one.seen.told, one.seen.evidence) >= sessions or one.seen.needed >= pages


Row = tuple[int, str, Callable[[Judged], bool]]
"""Points, when they are given, and whether that is so."""

URGENCY: Final[Sequence[Row]] = (
    (0, "a person put it off", lambda one: one.put_off),
    (3, "sources disagree", _disagree),
    (3, "an unconfirmed claim says otherwise than a confirmed one", lambda one: one.seen.challenged),
    (3, "it contradicts a confirmed page", lambda one: one.seen.against > 1),
    (3, "an agent called it wrong or stale", _called),
    (2, "what it rests on has changed", _changed),
    (2, "its time is up", _late),
    (2, "something new was said of what is confirmed", lambda one: one.seen.news > 0 and not _candidate(one)),
    (1, "nobody has confirmed it", _candidate),
    (1, "half of a decision's time is over", lambda one: one.ageing and one.seen.type is ClaimType.DECISION),
    (0, "nothing presses", lambda one: True),
)
"""How soon somebody should look; the first row that fits counts, as in the tables below."""

TYPES: Final[Mapping[ClaimType, int]] = {
    ClaimType.DECISION: 2,
    ClaimType.FACT: 2,
    ClaimType.JUDGMENT: 1,
    ClaimType.HYPOTHESIS: 1,
    ClaimType.EXTERNAL: 1,
}
SHELVES: Final[Mapping[Category, int]] = {
    Category.POLICIES: 1,
    Category.ARCHITECTURE: 1,
    Category.CONVENTIONS: 1,
    Category.DECISIONS: 1,
    Category.MISC: -1,
}
"""What it costs when it is wrong: the points of its type and those of its shelf, together."""

UNCERTAINTY: Final[Sequence[Row]] = (
    (3, "sources disagree", _disagree),
    (3, "only an agent or a tool said it", lambda one: _candidate(one) and not one.seen.said),
    (3, "nobody confirmed it, and another page says otherwise", lambda one: _candidate(one) and one.seen.against > 0),
    (2, "what it rests on has changed", _changed),
    (2, "something says otherwise", lambda one: one.seen.challenged or one.seen.against > 0),
    (2, "an agent called it wrong or stale", _called),
    (2, "its time is up", _late),
    (2, "a person or a document said it once", lambda one: _candidate(one) and one.seen.evidence < 2),
    (1, "it was said in several sessions", _candidate),
    (1, "half of its time is over, or something new was said", lambda one: one.ageing or one.seen.news > 0),
    (0, "a person confirmed it, and nothing speaks against it", lambda one: True),
)
"""How little is known about whether it holds."""

LEVERAGE: Final[Sequence[Row]] = (
    (0, "nobody is led to it", lambda one: one.seen.status not in SERVED),
    (3, "pinned", lambda one: one.seen.pinned),
    (3, "told or said in ten sessions, or three pages need it", lambda one: _leans(one, 10, 3)),
    (2, "told or said in three sessions, or a page needs it", lambda one: _leans(one, 3, 1)),
    (1, "little hangs on it yet", lambda one: True),
)
"""How much else hangs on it."""


def points(table: Sequence[Row], one: Judged) -> int:
    """The points of the first row that fits."""
    for number, _, fits in table:
        if fits(one):
            return number
    return 0


def consequence(one: Judged) -> int:
    """Type and shelf together, from 0 to 3."""
    return max(0, min(3, TYPES.get(one.seen.type, 1) + SHELVES.get(one.seen.category, 0)))


def factors_of(one: Judged) -> Factors:
    """The four factors of a page."""
    return Factors(
        urgency=points(URGENCY, one),
        consequence=consequence(one),
        uncertainty=points(UNCERTAINTY, one),
        leverage=points(LEVERAGE, one),
    )


def score_of(factors: Factors) -> int:
    """Their product, 0 to 81."""
    return factors.urgency * factors.consequence * factors.uncertainty * factors.leverage


# ---- the order


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A page that needs a person."""

    judged: Judged
    section: Section
    factors: Factors
    score: int


def section_of(one: Judged) -> Section:
    """Where a page stands: what disagrees before what is stale, before what nobody has confirmed."""
    if _disagree(one) or one.seen.challenged:
        return Section.DISPUTES
    if _changed(one) or _late(one):
        return Section.STALE
    return Section.DECISIONS if one.seen.type is ClaimType.DECISION else Section.UNCONFIRMED


def ranked(some: Iterable[Seen], limits: Thresholds, now: Micros) -> list[Ranked]:
    """The pages whose score is not 0, the highest first, then by evidence, the newest, and ids."""
    found = []
    ages = {category: limits.days(category) * DAY for category in Category}
    for seen in some:
        one = judged(seen, ages[seen.category], now)
        factors = factors_of(one)
        if score := score_of(factors):
            found.append(Ranked(judged=one, section=section_of(one), factors=factors, score=score))
    return sorted(
        found, key=lambda one: (-one.score, -one.judged.seen.evidence, -one.judged.seen.at, one.judged.seen.id)
    )


# ---- the whole


def totals(counts: Counts, shown: Iterable[Section]) -> Mapping[str, int]:
    """How many there are in each section; never fewer than are shown."""
    found = dict.fromkeys(Section, 0)
    for (status, type_), number in counts.open.items():
        if status is Status.DISPUTED:
            found[Section.DISPUTES] += number
        elif status is Status.STALE:
            found[Section.STALE] += number
        else:
            found[Section.DECISIONS if type_ is ClaimType.DECISION else Section.UNCONFIRMED] += number
    found[Section.STALE] += counts.overdue
    seen = list(shown)
    return {section.value: number for section in Section if (number := max(found[section], seen.count(section)))}


def unverified(counts: Counts) -> int:
    """Pages that are served although nobody confirmed them, or not for longer than their threshold."""
    return sum(counts.open.values()) + counts.put_off + counts.overdue


def banner(confirmed: Micros | None, counts: Counts, limits: Thresholds, now: Micros) -> str:
    """What stands loudly on top once nobody has confirmed anything for ``freshness-days``; "" before."""
    if confirmed is None:
        return "NEVER CONFIRMED. Nobody has confirmed anything in this project." if unverified(counts) else ""
    if confirmed + limits.freshness_days * DAY > now:
        return ""
    return f"NOT CONFIRMED SINCE {day(confirmed)} (more than {limits.freshness_days} days). Read before you rely on it."


def generated_at(moments: Moments, limits: Thresholds, now: Micros) -> Micros:
    """The latest change in the store, or threshold that passed since: drawn at that time it reads the same."""
    found = [moments.changed, moments.passed]
    if moments.confirmed is not None:
        expires = Micros(moments.confirmed + limits.freshness_days * DAY)
        found += [moments.confirmed, expires] if expires <= now else [moments.confirmed]
    return Micros(max(found))


def next_of(one: Ranked, short: str) -> str:
    """The command to type."""
    status = one.judged.seen.status
    if one.section is Section.DISPUTES or one.judged.seen.news:
        return "flywheel review"
    return f"flywheel confirm {short}" if status is Status.CANDIDATE else f"flywheel show {short}"


def text_of(one: Ranked, detail: Detail, limits: Thresholds) -> str:
    """Why a page stands here, in a few words."""
    seen = one.judged.seen
    if one.section is Section.DISPUTES:
        return " against ".join(detail.values) or "sources of equal weight disagree"
    if seen.against > 1:
        return "contradicts what is confirmed"
    if seen.called:
        return f"an agent called it {seen.called}"
    if seen.status is Status.STALE:
        return detail.reason or "what it rests on has changed"
    if one.judged.overdue:
        since = f"not confirmed since {day(seen.last_confirmed or seen.at)}"
        return f"{since} ({limits.days(seen.category)} days are allowed)"
    if one.judged.due and seen.review_by is not None:
        return f"review was due by {day(seen.review_by)}"
    if seen.news:
        return f"{seen.news} unconfirmed claim{'s' if seen.news > 1 else ''} since it was confirmed"
    if seen.status is Status.CONFIRMED:
        return f"confirmed on {day(seen.last_confirmed or seen.at)}, half of its time is over"
    if detail.summary and detail.summary.rstrip(".") != detail.title.rstrip("."):
        return detail.summary
    often = f"said in {seen.evidence} sessions, last" if seen.evidence > 1 else "said once,"
    return f"{often} on {day(seen.at)}"
