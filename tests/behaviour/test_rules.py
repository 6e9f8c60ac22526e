"""What sessions do to a belief: the tables of docs/behaviour.md to six digits, and the laws."""

from __future__ import annotations

import random
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
    before = replace(before, created_at=Micros(NOW - 20 * DAY))
    after = after_session("u1", before, says(-10), AdaptiveDecay())
    assert after is not None
    assert after.confidence == pytest.approx(0.533699, abs=5e-7)
    assert (after.updated_at, after.last_seen) == (NOW, NOW)
    more = after_session("u1", replace(before, reinforced=5), says(-10), AdaptiveDecay())  # about two came since
    assert more is not None and more.confidence == pytest.approx(0.524347, abs=5e-7)


def test_a_session_from_before_a_belief_changes_what_it_began_with() -> None:
    """As if it had been there: less than a new belief's confidence where decay left little; nothing where it left none.

    A belief of today, and a session of 10 days ago: 0.5 × 0.95 ^ (10 / 1.3) = 0.336987, and a session lifts that.
    """
    before = belief(Category.AFFINITY, "tool:Edit", confidence=0.5, sessions=1)
    after = after_session("u1", before, says(-10), AdaptiveDecay())
    assert after is not None and after.confidence == pytest.approx(0.436439, abs=5e-7)
    assert (after.reinforced, after.created_at, after.last_seen) == (2, NOW - 10 * DAY, NOW)
    long_ago = after_session("u1", before, says(-90), AdaptiveDecay())
    assert long_ago is not None and (long_ago.confidence, long_ago.reinforced) == (0.5, 1)


@pytest.mark.parametrize(("name", "bound"), [("adaptive", 0.06), ("exponential", 0.03)])
def test_beliefs_that_hear_their_past_late_come_near_to_those_that_lived_it(name: str, bound: float) -> None:
    """A week was observed before an older history came: confidence is off by so much on average."""
    decay, chance = STRATEGIES[name], random.Random(3)
    apart: list[float] = []
    for _ in range(300):
        days = sorted((chance.uniform(0, 60) for _ in range(chance.randint(4, 30))), reverse=True)
        some = [says(-day, *((0, 2) if chance.random() < 0.1 else (chance.randint(1, 6), 0))) for day in days]
        whole, week = Course("u1", None, decay), Course("u1", None, decay)
        for one in some:
            whole.hear(one)
        for one in [one for one in some if one.at >= NOW - 7 * DAY]:
            week.hear(one)
        made = week.end()
        known = faded(made, NOW, decay) if made is not None else None
        late = Course("u1", known, decay)
        for one in some:
            if known is None or one.at < NOW - 7 * DAY:
                late.hear(one)
        lived, heard = whole.end(), late.end()
        if lived is not None and confidence_at(lived, NOW, decay) >= FLOOR:
            apart.append(abs(confidence_at(lived, NOW, decay) - (confidence_at(heard, NOW, decay) if heard else 0.0)))
    assert len(apart) > 100 and sum(apart) / len(apart) < bound


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
