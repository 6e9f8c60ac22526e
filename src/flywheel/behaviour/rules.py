"""What a session does to a belief; pure, and documented with its tables in docs/behaviour.md."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from math import log
from typing import Final

from flywheel.behaviour.decay import LEAST_EASE, MOST_EASE, DecayStrategy, days_between, moved_ease
from flywheel.model import Belief, Clean, Micros, ProjectId, evidence_id


class Category(StrEnum):
    """What sort of habit a belief is about."""

    AFFINITY = "tool_affinity"
    AVOIDANCE = "tool_avoidance"
    ENTITY = "entity_frequency"
    DOMAIN = "domain_preference"
    FAILURE = "failure_pattern"


NEW: Final = 0.5
"""Confidence of a new belief."""

GAIN: Final = 0.2
"""The part of what is missing to 1 that a session of very many observations adds, and of what is there that it takes.
"""

TYPICAL: Final = 0.15
"""The gain of a session of three observations: what is taken for those of a belief's past that is not kept."""

FLOOR: Final = 0.1
"""A belief whose confidence is below is deleted."""

HABIT_CONFIDENCE: Final = 0.3
HABIT_SESSIONS: Final = 2
"""What a briefing speaks of: at least this confidence, from at least so many sessions, or pinned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What one session says about one belief: how much speaks for it and against it, and when it last did."""

    project_id: ProjectId
    category: Category
    name: Clean
    favour: int
    against: int
    at: Micros

    @property
    def quality(self) -> int:
        """5 without anything against it, 4 up to a fifth, 3 while more speaks for it, else 2: SM-2's grades."""
        if not self.against:
            return 5
        if self.favour > self.against:
            return 4 if self.favour >= 4 * self.against else 3
        return 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A belief, and its confidence now."""

    belief: Belief
    confidence: float

    @property
    def strength(self) -> float:
        """Confidence × reinforcement: what beliefs are ranked by."""
        return self.confidence * self.belief.reinforced


def belief_id(identity: str, project_id: str, category: str, name: str) -> str:
    """The id of a belief: the same whenever it is formed."""
    return evidence_id("belief", identity, project_id, category, name)


def lifetime(decay: DecayStrategy) -> float:
    """Days after which any belief that nothing bears out is gone: one of confidence 1 and the greatest ease.

    ln(`FLOOR`) / ln(what is left after a day): 112.2 for adaptive, 44.9 for exponential decay.
    """
    return log(FLOOR) / log(decay.left(1.0, MOST_EASE))


def weight_of_session(observations: int) -> float:
    """n / (n + 1): how much a session counts by its observations; 0 to below 1."""
    return observations / (observations + 1)


def confidence_at(belief: Belief, now: int, decay: DecayStrategy) -> float:
    """The confidence of a belief at a time; that of a pinned one does not fade."""
    if belief.pinned:
        return belief.confidence
    return belief.confidence * decay.left(days_between(belief.updated_at, now), belief.ease)


class Course:
    """What becomes of one belief, session by session. ``belief`` is the one that there is; None where there is none."""

    __slots__ = (
        "_before", "_decay", "_first", "_identity", "_moved", "at", "belief", "confidence", "ease", "reinforced",
        "seen",
    )  # fmt: skip

    def __init__(self, identity: str, belief: Belief | None, decay: DecayStrategy) -> None:
        self._identity, self._decay, self._moved = identity, decay, False
        self._first: Evidence | None = None  # what formed it, where there was none
        self._before: Course | None = None  # what was before there was the belief, and is heard of late
        self.belief = belief
        self.confidence, self.ease, self.reinforced = 0.0, LEAST_EASE, 0
        self.at = self.seen = Micros(0)
        if belief is not None:
            self.confidence, self.ease, self.reinforced = belief.confidence, belief.ease, belief.reinforced
            self.at, self.seen = belief.updated_at, belief.last_seen

    def hear(self, evidence: Evidence) -> bool:
        """Let a session have its say; whether it had any.

        Where there is no belief, or it has faded below the floor by then, one that holds forms it at `NEW`, and another
        says nothing. Else c is what decay has left at the later of both times, and becomes c + G × (1 − c) where the
        session bears it out, else c × (1 − G), with G = `GAIN` × n / (n + 1), and n the observations that outweigh the
        others. Of a session that comes late G is times what decay and the sessions since have left of it (see
        `_left_since`); one from before there was the belief changes what the belief began with (see `_fold`).
        """
        if self.belief is not None and not self.belief.pinned and evidence.at < self.belief.created_at:
            self._before = self._before or Course(self._identity, None, self._decay)
            return self._before.hear(evidence)
        self._fold()
        holds = evidence.favour > evidence.against
        confidence = self._at(evidence.at)
        if confidence < FLOOR and not self._pinned:
            if holds:
                self._form(evidence)
            return holds
        at = Micros(max(self.at, evidence.at))
        gain = GAIN * weight_of_session(evidence.favour if holds else evidence.against)
        if at > evidence.at:
            gain *= self._left_since(evidence.at)
        self.confidence = confidence + gain * (1 - confidence) if holds else confidence * (1 - gain)
        self.ease = moved_ease(self.ease, evidence.quality)
        self.reinforced += holds
        self.at, self.seen, self._moved = at, Micros(max(self.seen, evidence.at)), True
        return True

    def end(self) -> Belief | None:
        """The belief after all that was heard; None where there is none."""
        self._fold()
        belief = self.belief
        if self._first is not None:
            belief = _born(self._identity, self._first)
        if belief is None or not self._moved:
            return belief
        return replace(
            belief,
            confidence=self.confidence,
            ease=self.ease,
            reinforced=self.reinforced,
            weight=self.confidence * self.reinforced,
            updated_at=self.at,
            last_seen=self.seen,
        )

    def _left_since(self, at: int) -> float:
        """What is left by now of what a session added at a time: of decay, and of the sessions since.

        How many they were is not kept: as many of those that bore the belief out as the time since is of its life.
        """
        left = self._decay.left(days_between(at, self.at), self.ease)
        began = self._first.at if self._first is not None else self.belief.created_at if self.belief else self.at
        part = (self.at - at) / (self.at - began) if self.at > began else 0.0
        return left * float((1 - TYPICAL) ** (part * max(self.reinforced - 1, 0)))

    def _fold(self) -> None:
        """Begin with what was before, where that was still alive, instead of with a new belief's confidence.

        What a session or decay leaves of a confidence c is a × c + b; so a difference at the beginning is one at the
        end, times what is left of it since.
        """
        old, belief, self._before = self._before, self.belief, None
        if old is None or belief is None or old._first is None:
            return
        began = old._at(belief.created_at)
        if began < FLOOR:
            return
        begins = began + TYPICAL * (1 - began)
        self.confidence += (begins - NEW) * self._left_since(belief.created_at)
        self.confidence = min(max(self.confidence, 0.0), 1.0)
        self.ease = min(self.ease + old.ease - LEAST_EASE, MOST_EASE)
        self.reinforced += old.reinforced
        self.belief, self._moved = replace(belief, created_at=old._first.at), True

    @property
    def _pinned(self) -> bool:
        return self._first is None and self.belief is not None and self.belief.pinned

    def _at(self, at: int) -> float:
        """The confidence at a time, or at that of the last session where that is later; 0 where there is no belief."""
        if self._pinned or at <= self.at:
            return self.confidence
        return self.confidence * self._decay.left(days_between(self.at, at), self.ease)

    def _form(self, evidence: Evidence) -> None:
        self._first, self._moved = evidence, True
        self.confidence, self.ease, self.reinforced = NEW, LEAST_EASE, 1
        self.at = self.seen = evidence.at


def _born(identity: str, evidence: Evidence) -> Belief:
    return Belief(
        id=belief_id(identity, evidence.project_id, evidence.category, evidence.name),
        identity=identity,
        project_id=evidence.project_id,
        category=evidence.category.value,
        name=evidence.name,
        confidence=NEW,
        ease=LEAST_EASE,
        reinforced=1,
        created_at=evidence.at,
        updated_at=evidence.at,
        last_seen=evidence.at,
    )


def faded(belief: Belief, now: Micros, decay: DecayStrategy) -> Belief | None:
    """The belief with its confidence as of now; None when it is gone."""
    if belief.pinned or now <= belief.updated_at:
        return belief
    confidence = confidence_at(belief, now, decay)
    return weighed(replace(belief, confidence=confidence, updated_at=now)) if confidence >= FLOOR else None


def weighed(belief: Belief) -> Belief:
    """With its weight, by which the store finds the strongest."""
    return replace(belief, weight=belief.confidence * belief.reinforced)


def ranked(beliefs: Iterable[Belief], now: int, decay: DecayStrategy) -> list[Held]:
    """Beliefs by strength, pinned ones first; of two on the same thing (a merged project) the stronger one."""
    held = [Held(belief=one, confidence=confidence_at(one, now, decay)) for one in beliefs]
    kept = [one for one in held if one.belief.pinned or one.confidence >= FLOOR]
    kept.sort(key=lambda one: (not one.belief.pinned, -one.strength, one.belief.category, one.belief.name))
    first: dict[tuple[str, str], Held] = {}
    for one in kept:
        first.setdefault((one.belief.category, one.belief.name), one)
    return list(first.values())
