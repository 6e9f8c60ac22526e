"""Sums, medians and shares of sessions, and that too few give no number."""

from __future__ import annotations

import pytest
from tests.retro.effects import DAY, MONDAY, counted

from flywheel.retro.effect_rules import LEAST_ITEMS, LEAST_SESSIONS, by_name, by_week, middle, row_of, share


@pytest.mark.parametrize(
    ("values", "value", "n"),
    [
        ([], None, 0),
        ([10] * (LEAST_SESSIONS - 1), None, LEAST_SESSIONS - 1),
        ([1, 2, 3, 4, 100], 3.0, 5),
        ([1, 2, 3, 4, 100, None, None], 3.0, 5),
        ([1, 2, 3, 4, 5, 6], 3.5, 6),
    ],
)
def test_a_median_needs_enough_sessions(values: list[int | None], value: float | None, n: int) -> None:
    """Sessions without a useful edit are not counted."""
    found = middle(values)
    assert (found.value, found.n) == (value, n)


def test_a_share_needs_enough_items() -> None:
    """Below the least there is no share, but always how many there were."""
    assert (share(3, LEAST_ITEMS - 1).value, share(3, LEAST_ITEMS - 1).n) == (None, LEAST_ITEMS - 1)
    assert share(5, LEAST_ITEMS).value == 5 / LEAST_ITEMS


def test_a_figure_says_how_far_off_it_may_be() -> None:
    """A median by order statistics, a share by Wilson's interval: wide where little is known, narrow where much is."""
    few, some, many = (middle(range(n)) for n in (5, 20, 400))
    assert [(one.low, one.high) for one in (few, some)] == [(0.0, 4.0), (5.0, 14.0)]
    assert many.low is not None and many.high is not None and many.high - many.low < 45
    low, high = share(10, 40).low, share(10, 40).high
    assert (round(low or 0, 3), round(high or 0, 3)) == (0.142, 0.402)
    assert share(0, 20).low == 0.0 and share(20, 20).high == pytest.approx(1.0) and middle([1]).low is None


def test_a_row_sums_its_sessions() -> None:
    """Shares are over all items of all sessions, not means of sessions' shares."""
    some = [counted(n, shown=4, used=n % 2, injected=5, injected_tokens=100, avoided=1, saved_tokens=50, repeated=1)
            for n in range(10)]  # fmt: skip
    row = row_of("all", [*some, counted(11)])
    assert (row.sessions, row.briefed, row.injected_tokens, row.saved_tokens, row.avoided) == (11, 10, 1000, 500, 10)
    assert (row.used.value, row.used.n, row.repeated.value) == (5 / 40, 40, 10 / 50)
    assert (row.saved_per_injected.value, row.saved_per_injected.n) == (0.5, 10)


def test_weeks_begin_on_monday() -> None:
    """In order, those without sessions left out."""
    rows = by_week([counted(1, at=MONDAY + 7 * DAY), counted(2, at=MONDAY - 1), counted(3, at=MONDAY)])
    assert [(row.name, row.sessions) for row in rows] == [("2026-11-23", 1), ("2026-11-30", 1), ("2026-12-07", 1)]


def test_the_busiest_comes_first() -> None:
    """By sessions, then by name."""
    rows = by_name([counted(1, agent="b"), counted(2, agent="a"), counted(3, agent="c"), counted(4, agent="c")],
                   lambda one: one.agent)  # fmt: skip
    assert [row.name for row in rows] == ["c", "a", "b"]
