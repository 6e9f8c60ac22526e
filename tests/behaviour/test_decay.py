"""How confidence fades: the tables of docs/behaviour.md, and the laws of both strategies."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flywheel.behaviour.decay import STRATEGIES, AdaptiveDecay, DecayStrategy, ExponentialDecay, moved_ease

EXPONENTIAL = [(-3, 1.0), (0, 1.0), (0.5, 0.974679), (1, 0.95), (7, 0.698337), (30, 0.214639), (365, 0.0)]
ADAPTIVE = [
    (10, 1.3, 0.673974),
    (10, 1.9, 0.763406),
    (10, 2.5, 0.814506),
    (30, 2.5, 0.540360),
    (100, 2.5, 0.128512),
    (365, 2.5, 0.000559),
    (10, 0.5, 0.673974),
    (10, 9.0, 0.814506),
]
EASE = [
    (1.9, 5, 2.0),
    (1.9, 4, 1.9),
    (1.9, 3, 1.76),
    (1.9, 2, 1.58),
    (1.9, 1, 1.36),
    (1.9, 0, 1.3),
    (2.45, 5, 2.5),
    (1.3, 2, 1.3),
]

strategies = st.sampled_from(list(STRATEGIES.values()))
days = st.floats(0, 5000)
eases = st.floats(1.3, 2.5)


@pytest.mark.parametrize(("after", "left"), EXPONENTIAL)
def test_exponential_decay(after: float, left: float) -> None:
    """0.95 a day, whatever the ease; a time that has not come takes nothing."""
    assert ExponentialDecay().left(after, 2.5) == pytest.approx(left, abs=5e-7)


@pytest.mark.parametrize(("after", "ease", "left"), ADAPTIVE)
def test_adaptive_decay(after: float, ease: float, left: float) -> None:
    """0.95 ^ (days / ease), with the ease within its bounds."""
    assert AdaptiveDecay().left(after, ease) == pytest.approx(left, abs=5e-7)


@pytest.mark.parametrize(("before", "quality", "after"), EASE)
def test_the_ease_moves_as_in_sm_2(before: float, quality: int, after: float) -> None:
    """Each grade has its step, and the bounds hold."""
    assert moved_ease(before, quality) == pytest.approx(after, abs=5e-7)


@given(strategies, days, days, eases)
def test_decay_is_monotone(decay: DecayStrategy, one: float, other: float, ease: float) -> None:
    """More days never leave more; what is left is between 0 and 1."""
    earlier, later = sorted((one, other))
    assert 0.0 <= decay.left(later, ease) <= decay.left(earlier, ease) <= 1.0


@given(strategies, st.floats(0, 500), st.floats(0, 500), eases)
def test_decay_composes(decay: DecayStrategy, one: float, other: float, ease: float) -> None:
    """Two spans one after the other are one span: when confidence is written down anew does not matter."""
    both = decay.left(one, ease) * decay.left(other, ease)
    assert both == pytest.approx(decay.left(one + other, ease), rel=1e-9, abs=1e-12)


@given(days, eases, eases)
def test_more_ease_fades_more_slowly(after: float, one: float, other: float) -> None:
    """What proved itself more often is never the first to go."""
    less, more = sorted((one, other))
    assert AdaptiveDecay().left(after, less) <= AdaptiveDecay().left(after, more)
