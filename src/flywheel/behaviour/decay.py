"""How confidence fades while nothing bears a belief out; pure.

Both strategies compose: what is left after two spans, one after the other, is what is left after both together. So it
does not matter when confidence is written down anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

DAILY: Final = 0.95
"""What is left of confidence after a day."""

LEAST_EASE: Final = 1.3
MOST_EASE: Final = 2.5
"""Bounds of the ease; a new belief has the least, and earns the rest."""

MICROS_A_DAY: Final = 86_400_000_000


class DecayStrategy(Protocol):
    """How much of a confidence is left."""

    def left(self, days: float, ease: float) -> float:
        """The part (0 to 1) that is left after so many days; 1 for none, and for a time that has not come."""


@dataclass(frozen=True, slots=True)
class ExponentialDecay:
    """0.95 ^ days, whatever the ease."""

    daily: float = DAILY

    def left(self, days: float, ease: float) -> float:
        """See `DecayStrategy.left`."""
        return float(self.daily ** max(days, 0.0))


@dataclass(frozen=True, slots=True)
class AdaptiveDecay:
    """0.95 ^ (days / ease): what proved itself again and again fades more slowly."""

    daily: float = DAILY

    def left(self, days: float, ease: float) -> float:
        """See `DecayStrategy.left`."""
        return float(self.daily ** (max(days, 0.0) / min(max(ease, LEAST_EASE), MOST_EASE)))


STRATEGIES: Final[Mapping[str, DecayStrategy]] = {"adaptive": AdaptiveDecay(), "exponential": ExponentialDecay()}
"""By the name in the settings (``behaviour.decay``)."""


def moved_ease(ease: float, quality: int) -> float:
    """The ease after a session of this quality (0 to 5), within its bounds.

    EF' = EF + (0.1 − (5 − q) × (0.08 + (5 − q) × 0.02)), as in SM-2 (P. A. Woźniak, Optimization
    of learning, 1990, §3.2).
    """
    missing = 5 - quality
    return min(max(ease + 0.1 - missing * (0.08 + missing * 0.02), LEAST_EASE), MOST_EASE)


def days_between(earlier: int, later: int) -> float:
    """Days from one time to another (microseconds), negative when it is the other way round."""
    return (later - earlier) / MICROS_A_DAY
