"""What past use does to an item's place: the average stands still, and nothing moves further than a near-tie."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flywheel.search.usefulness import BOUND, MEAN, mean_use, use_factor

SHARES = st.floats(0.01, 0.99)


@pytest.mark.parametrize(
    ("used", "shown", "mean", "factor"),
    [
        (0, 0, 0.25, 1.0),  # new: where the average stands
        (1, 4, 0.25, 1.0),  # as good as the average
        (4, 4, 0.25, 1.025),  # half of the way
        (0, 4, 0.25, 0.975),
        (0, 1, 0.25, 0.99),
        (1, 1, 0.25, 1.01),
        (9, 10, 0.9, 1.0),  # where all is used, use is nothing special
    ],
)
def test_a_prior_keeps_new_items_at_the_average(used: int, shown: int, mean: float, factor: float) -> None:
    """Few showings move little, many move up to the bound."""
    assert use_factor(used, shown, mean) == pytest.approx(factor)


@given(used=st.integers(0, 10_000), vain=st.integers(0, 10_000), mean=SHARES)
def test_the_lift_is_bounded_and_use_never_lowers(used: int, vain: int, mean: float) -> None:
    """At most 5 % either way; one more use lifts, one more showing in vain does not."""
    factor = use_factor(used, used + vain, mean)
    assert 1 - BOUND <= factor <= 1 + BOUND
    assert use_factor(used + 1, used + vain + 1, mean) >= factor >= use_factor(used, used + vain + 1, mean)


def test_the_average_is_that_of_the_company() -> None:
    """Where nothing was shown it is supposed; what was shown in vain does not outrank what is new."""
    assert mean_use([]) == mean_use([(0, 0), (0, 0)]) == MEAN
    assert mean_use([(90, 100), (80, 100)]) > 0.8
    mean = mean_use([(0, 10), (0, 10)])
    assert use_factor(0, 10, mean) < use_factor(0, 0, mean) == 1
