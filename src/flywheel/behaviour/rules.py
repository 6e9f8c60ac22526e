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

    __slots__ = ("_decay", "_first", "_identity", "_moved", "at", "belief", "confidence", "ease", "reinforced", "seen")

    def __init__(self, identity: str, belief: Belief | None, decay: DecayStrategy) -> None:
        self._identity, self._decay, self._moved = identity, decay, False
        self._first: Evidence | None = None  # what formed it, where there was none
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
        session bears it out, else c × (1 − G), with G = `GAIN` × n / (n + 1) × what decay leaves of a session that
        comes late, and n the observations that outweigh the others.
        """
        holds = evidence.favour > evidence.against
        confidence = self._at(evidence.at)
        if confidence < FLOOR and not self._pinned:
            if holds:
                self._form(evidence)
            return holds
        at = Micros(max(self.at, evidence.at))
        gain = GAIN * weight_of_session(evidence.favour if holds else evidence.against)
        if at > evidence.at:
            gain *= self._decay.left(days_between(evidence.at, at), self.ease)
        self.confidence = confidence + gain * (1 - confidence) if holds else confidence * (1 - gain)
        self.ease = moved_ease(self.ease, evidence.quality)
        self.reinforced += holds
        self.at, self.seen, self._moved = at, Micros(max(self.seen, evidence.at)), True
        return True

    def end(self) -> Belief | None:
        """The belief after all that was heard; None where there is none."""
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
