"""Sums and medians of sessions for `effect`: pure. `docs/effect.md` has the formulae."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import comb, sqrt
from statistics import median
from typing import Final, TypeVar

from flywheel.api import EffectRow, Figure

LEAST_SESSIONS: Final = 5
"""Sessions below which a median, and avoided re-discoveries below which a ratio, says nothing."""

LEAST_ITEMS: Final = 20
"""Items below which a share says nothing."""

Z: Final = 1.96
"""Standard deviations that bound 95 %."""

WEEK: Final = 7 * 86_400_000_000
"""Microseconds."""

Key = TypeVar("Key", int, str)

_MONDAY: Final = 4 * 86_400_000_000  # 1970-01-05


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """A session's course with what it avoided and what it found out again."""

    session: str
    project: str  # its name
    agent: str
    at: int  # microseconds
    edit_tokens: int | None
    edit_calls: int | None
    injected: int
    injected_tokens: int
    shown: int
    used: int
    irrelevant: int
    repeated: int
    wrong: int
    avoided: int = 0
    saved_tokens: int = 0
    rediscovered: int = 0
    rediscovered_tokens: int = 0


def row_of(name: str, sessions: Sequence[Counted]) -> EffectRow:
    """One row of figures."""
    shown = sum(one.shown for one in sessions)
    injected = sum(one.injected for one in sessions)
    tokens = sum(one.injected_tokens for one in sessions)
    saved = sum(one.saved_tokens for one in sessions)
    avoided = sum(one.avoided for one in sessions)
    return EffectRow(
        name=name,
        sessions=len(sessions),
        briefed=sum(one.injected > 0 for one in sessions),
        edit_tokens=middle(one.edit_tokens for one in sessions),
        edit_calls=middle(one.edit_calls for one in sessions),
        used=share(sum(one.used for one in sessions), shown),
        irrelevant=share(sum(one.irrelevant for one in sessions), shown),
        wrong=share(sum(one.wrong for one in sessions), shown),
        repeated=share(sum(one.repeated for one in sessions), injected),
        injected_tokens=tokens,
        saved_tokens=saved,
        avoided=avoided,
        rediscovered=sum(one.rediscovered for one in sessions),
        rediscovered_tokens=sum(one.rediscovered_tokens for one in sessions),
        saved_per_injected=Figure(value=saved / tokens if tokens and avoided >= LEAST_SESSIONS else None, n=avoided),
    )


def middle(values: Iterable[int | None]) -> Figure:
    """The median of those that there are; nothing below `LEAST_SESSIONS`.

    Its bounds are the k-th smallest and the k-th greatest value: with the greatest k for which the median lies outside
    with at most 5 % (binomial, one half); of five values, the least that there may be, all of them (6 %).
    """
    known = sorted(value for value in values if value is not None)
    n = len(known)
    if n < LEAST_SESSIONS:
        return Figure(value=None, n=n)
    outside, k = 1, 1  # ways, of 2 ** n, in which fewer than k values lie below
    while 2 * (outside + comb(n, k)) <= 0.05 * 2**n:
        outside, k = outside + comb(n, k), k + 1
    return Figure(value=float(median(known)), n=n, low=float(known[k - 1]), high=float(known[-k]))


def share(part: int, whole: int) -> Figure:
    """A part of a whole, 0 to 1; nothing below `LEAST_ITEMS`. Its bounds are Wilson's interval, 1927."""
    if whole < LEAST_ITEMS:
        return Figure(value=None, n=whole)
    value, rest = part / whole, Z * Z / whole
    middle_ = (value + rest / 2) / (1 + rest)
    half = Z * sqrt(value * (1 - value) / whole + rest / (4 * whole)) / (1 + rest)
    return Figure(value=value, n=whole, low=max(0.0, middle_ - half), high=min(1.0, middle_ + half))


def by_week(sessions: Iterable[Counted]) -> list[EffectRow]:
    """A row for each week (from Monday, UTC) that has sessions, in order."""
    grouped = _grouped(sessions, lambda one: (one.at - _MONDAY) // WEEK)
    return [row_of(monday(week), grouped[week]) for week in sorted(grouped)]


def by_name(sessions: Iterable[Counted], name: Callable[[Counted], str]) -> list[EffectRow]:
    """A row for each name, the one with most sessions first."""
    grouped = _grouped(sessions, name)
    return [row_of(one, grouped[one]) for one in sorted(grouped, key=lambda one: (-len(grouped[one]), one))]


def monday(week: int) -> str:
    """The first day of the ``week``-th week since 1970-01-05."""
    return (datetime(1970, 1, 5, tzinfo=UTC) + timedelta(weeks=week)).strftime("%Y-%m-%d")


def _grouped(sessions: Iterable[Counted], key: Callable[[Counted], Key]) -> Mapping[Key, list[Counted]]:
    found: defaultdict[Key, list[Counted]] = defaultdict(list)
    for one in sessions:
        found[key(one)].append(one)
    return found
