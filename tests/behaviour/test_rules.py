"""What sessions do to a belief: the tables of docs/behaviour.md to six digits, and the laws."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flywheel.behaviour.decay import STRATEGIES, AdaptiveDecay, DecayStrategy, ExponentialDecay
from flywheel.behaviour.rules import (
    FLOOR,
    Category,
    Course,
    Evidence,
    confidence_at,
    faded,
    ranked,
)
from flywheel.model import Belief, Clean, Micros

from .noting import DAY, NOW, P, belief

Step = tuple[float, int, int]
"""Days since the session before, observations for it, against it."""

TABLE: list[tuple[DecayStrategy, list[Step], list[tuple[float, float]]]] = [
    (
        AdaptiveDecay(),
        [(0, 1, 0), (0, 1, 0), (0, 1, 0), (0, 1, 0)],
        [(0.5, 1.3), (0.55, 1.4), (0.595, 1.5), (0.6355, 1.6)],
    ),
    (
        AdaptiveDecay(),
        [(0, 1, 0), (1, 3, 0), (1, 3, 0), (7, 9, 0)],
        [(0.5, 1.3), (0.558558, 1.4), (0.607694, 1.5), (0.572231, 1.6)],
    ),
    (
        ExponentialDecay(),
        [(0, 1, 0), (1, 3, 0), (1, 3, 0), (7, 9, 0)],
        [(0.5, 1.3), (0.55375, 1.4), (0.597153, 1.5), (0.521952, 1.6)],
    ),
    (
        AdaptiveDecay(),
        [(0, 1, 0), (2, 8, 2), (2, 3, 1), (2, 1, 4)],
        [(0.5, 1.3), (0.557694, 1.3), (0.58807, 1.3), (0.456496, 1.3)],
    ),
]


def after_session(identity: str, belief: Belief | None, evidence: Evidence, decay: DecayStrategy) -> Belief | None:
    """The belief after one session more; see `Course.hear`."""
    course = Course(identity, belief, decay)
    course.hear(evidence)
    return course.end()


def says(at: float, favour: int = 1, against: int = 0) -> Evidence:
    """What a session says so many days after the first."""
    time = Micros(int(NOW + at * DAY))
    return Evidence(
        project_id=P, category=Category.AFFINITY, name=Clean("tool:Edit"), favour=favour, against=against, at=time
    )


@pytest.mark.parametrize(("decay", "steps", "expected"), TABLE)
def test_sessions_move_confidence(decay: DecayStrategy, steps: list[Step], expected: list[tuple[float, float]]) -> None:
    """Confidence and ease after each session of the documented rows."""
    now, found, one = 0.0, [], None
    for days, favour, against in steps:
        now += days
        one = after_session("u1", one, says(now, favour, against), decay)
        assert one is not None
        found.append((one.confidence, one.ease))
    assert found == [pytest.approx(pair, abs=5e-7) for pair in expected]
    assert one is not None and one.reinforced == sum(favour > against for _, favour, against in steps)


def test_a_late_session_counts_by_what_decay_leaves_of_it() -> None:
    """One that is heard of ten days after it was adds less, and the belief's time does not go back."""
    before = belief(Category.AFFINITY, "tool:Edit", confidence=0.5, sessions=1)
    after = after_session("u1", before, says(-10), AdaptiveDecay())
    assert after is not None
    assert after.confidence == pytest.approx(0.533699, abs=5e-7)
    assert (after.updated_at, after.last_seen) == (NOW, NOW)


def test_what_does_not_hold_forms_nothing() -> None:
    """A draw and a majority against make no belief; a session for it makes one at 0.5."""
    decay = AdaptiveDecay()
    assert after_session("u1", None, says(0, 1, 1), decay) is None is after_session("u1", None, says(0, 1, 2), decay)
    one = after_session("u1", None, says(0, 2, 1), decay)
    assert one is not None and (one.confidence, one.ease, one.reinforced, one.weight) == (0.5, 1.3, 1, 0.5)


def test_what_faded_below_the_floor_is_formed_anew() -> None:
    """A session after that does not lift what is gone: it begins again, and one against it changes nothing."""
    old = belief(Category.AFFINITY, "tool:Edit", confidence=0.5, sessions=9, at=NOW - 60 * DAY)
    assert confidence_at(old, NOW, AdaptiveDecay()) < FLOOR
    again = after_session("u1", old, says(0), AdaptiveDecay())
    assert again is not None and (again.confidence, again.reinforced) == (0.5, 1)
    assert after_session("u1", old, says(0, 0, 3), AdaptiveDecay()) is old
    kept = after_session("u1", replace(old, pinned=True), says(0), AdaptiveDecay())
    assert kept is not None and kept.reinforced == 10


def test_a_belief_goes_below_the_floor_unless_it_is_pinned() -> None:
    """0.5 at the least ease lasts for about 40 days; pinned it neither fades nor goes."""
    one = belief(Category.ENTITY, "file:a.py", confidence=0.5, sessions=1)
    assert faded(one, Micros(NOW + 40 * DAY), AdaptiveDecay()) is not None
    assert faded(one, Micros(NOW + 41 * DAY), AdaptiveDecay()) is None
    pinned = replace(one, pinned=True)
    assert faded(pinned, Micros(NOW + 999 * DAY), AdaptiveDecay()) == pinned
    assert faded(one, Micros(NOW - DAY), AdaptiveDecay()) == one


def test_beliefs_rank_by_confidence_times_reinforcement() -> None:
    """Pinned ones come first, what is gone is left out, and of a merged project's twins the stronger one stays."""
    weak, strong = belief(Category.DOMAIN, "task:fix", sessions=2), belief(Category.DOMAIN, "task:test", sessions=9)
    twin = belief(Category.DOMAIN, "task:test", sessions=3, project="other")
    pinned = belief(Category.DOMAIN, "task:explain", confidence=0.2, sessions=1, pinned=True)
    gone = belief(Category.DOMAIN, "task:build", at=NOW - 90 * DAY)
    order = ranked([weak, gone, twin, strong, pinned], NOW, AdaptiveDecay())
    assert [one.belief for one in order] == [pinned, strong, weak]


steps = st.lists(st.tuples(st.floats(0, 400), st.integers(0, 9), st.integers(0, 9)), max_size=30)


@given(steps, st.sampled_from(list(STRATEGIES.values())))
def test_confidence_stays_between_0_and_1(history: list[Step], decay: DecayStrategy) -> None:
    """Whatever sessions say and in whatever order they come."""
    one: Belief | None = belief(Category.AFFINITY, "tool:Edit", confidence=1.0)
    for days, favour, against in history:
        one = after_session("u1", one, says(days, favour, against), decay)
        if one is not None:
            assert 0.0 <= one.confidence <= 1.0 and 1.3 <= one.ease <= 2.5


@given(st.floats(0, 1), st.integers(1, 10**6), st.integers(1, 10**6))
def test_a_session_that_bears_it_out_never_weakens(confidence: float, few: int, many: int) -> None:
    """And more observations never add less."""
    low, high = sorted((few, many))
    before = belief(Category.AFFINITY, "tool:Edit", confidence=confidence, pinned=True)
    one, other = (after_session("u1", before, says(0, count), AdaptiveDecay()) for count in (low, high))
    assert one is not None and other is not None
    assert confidence <= one.confidence <= other.confidence <= 1.0
