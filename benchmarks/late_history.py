"""How near beliefs of a history that is caught up with come to those of one that was observed as it was lived.

Made-up habits of two years: each is met every 1 to 30 days, in one of ten sessions it fails. Compared is the confidence
today of beliefs that live by the whole history: with the sessions within a belief's life only (``horizon``), and with
those heard as late ones by beliefs that a week observed before has made (``late``). The floor is that week alone.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from flywheel.behaviour.decay import MICROS_A_DAY, STRATEGIES, DecayStrategy
from flywheel.behaviour.rules import FLOOR, Category, Course, Evidence, confidence_at, faded, lifetime
from flywheel.model import Belief, Clean, Micros, ProjectId

HISTORIES = 200
HABITS = 40
DAYS = 730.0
WEEK = 7.0
EVERY = (1, 2, 4, 8, 15, 30)
"""Days between two sessions that meet a habit, on average."""

NOW = Micros(10_000 * MICROS_A_DAY)


def run(data: Path | None, n: int | None) -> Mapping[str, Any]:
    """``n`` histories; needs no data."""
    histories = n or HISTORIES
    results: dict[str, Any] = {}
    floor: dict[str, Any] = {}
    for name, decay in STRATEGIES.items():
        chance = random.Random(7)
        habits = [_habit(chance) for _ in range(histories * HABITS)]
        told = [(one, *_compare(one, decay)) for one in habits]
        told = [one for one in told if one[1]]
        results[name] = {
            "living": len(told),
            "horizon": _apart([(whole, cut) for _, whole, cut, _, _ in told]),
            "late": _apart([(whole, late) for _, whole, _, late, _ in told]),
        }
        floor[name] = _apart([(whole, week) for _, whole, _, _, week in told])
    return {"results": results, "floor": floor, "n": histories}


def _habit(chance: random.Random) -> list[Evidence]:
    """What sessions say of one habit, in the order of time."""
    found: list[Evidence] = []
    every, day = chance.choice(EVERY), DAYS
    while (day := day - chance.expovariate(1 / every)) > 0.5:
        count, fails = chance.randint(1, 6), chance.random() < 0.1
        found.append(
            Evidence(
                project_id=ProjectId("p"),
                category=Category.AFFINITY,
                name=Clean("command:make"),
                favour=0 if fails else count,
                against=count if fails else 0,
                at=Micros(NOW - int(day * MICROS_A_DAY)),
            )
        )
    return found


def _compare(habit: Sequence[Evidence], decay: DecayStrategy) -> tuple[float, float, float, float]:
    """Confidence today: by the whole history, by what is within the horizon, heard late, and by the last week alone."""
    within = [one for one in habit if one.at >= NOW - lifetime(decay) * MICROS_A_DAY]
    new = [one for one in within if one.at >= NOW - WEEK * MICROS_A_DAY]
    week = _heard(None, new, decay)
    known = faded(week, NOW, decay) if week is not None else None
    late = _heard(known, within[: len(within) - len(new)], decay)
    held = (_heard(None, habit, decay), _heard(None, within, decay), late, known)
    whole, cut, old, last = (_today(one, decay) for one in held)
    return whole, cut, old, last


def _heard(belief: Belief | None, some: Sequence[Evidence], decay: DecayStrategy) -> Belief | None:
    course = Course("u", belief, decay)
    for one in some:
        course.hear(one)
    return course.end()


def _today(belief: Belief | None, decay: DecayStrategy) -> float:
    """0 for what is gone."""
    confidence = confidence_at(belief, NOW, decay) if belief is not None else 0.0
    return confidence if confidence >= FLOOR else 0.0


def _apart(pairs: Sequence[tuple[float, float]]) -> Mapping[str, float]:
    """How far confidences are apart: on average, for all but a twentieth, and how many beliefs were lost."""
    apart = sorted(abs(one - other) for one, other in pairs)
    return {
        "mean": round(mean(apart), 4),
        "p95": round(apart[int(len(apart) * 0.95)], 4),
        "lost": sum(not other for _, other in pairs),
    }
