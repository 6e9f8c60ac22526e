"""What past use does to an item's place: a Beta prior, so that new items stand where the average stands. Pure.

It breaks near-ties and no more; it never touches a status, and it confirms nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

BOUND: Final = 0.05
"""Part of a score by which past use lifts or lowers at most."""

STRENGTH: Final = 4.0
"""Showings that the prior is worth: so many must speak before an item's own share outweighs the average."""

MEAN: Final = 0.25
"""Share of use that is supposed where nothing is known, with the weight of `STRENGTH` showings. No data backs it."""

HARM: Final = 3
"""Showings without use that a session which called an item wrong or stale counts as, until a person looked."""


def mean_use(known: Iterable[tuple[int, int]]) -> float:
    """The share of use among items that compete for a place, from their (used, shown); `MEAN` when none was shown."""
    used, shown = MEAN * STRENGTH, STRENGTH
    for times, of in known:
        used, shown = used + times, shown + of
    return used / shown


def use_factor(used: int, shown: int, mean: float) -> float:
    """1 for what was never shown, at most 1 + `BOUND`, at least 1 - `BOUND`.

    The posterior mean of Beta(STRENGTH × mean, STRENGTH × (1 - mean)) after ``used`` of ``shown``, as the part of the
    way from ``mean`` (0 to 1, both exclusive) to 1 or to 0 that it has gone.
    """
    expected = (used + STRENGTH * mean) / (shown + STRENGTH)
    way = (expected - mean) / ((1 - mean) if expected > mean else mean)
    return 1 + BOUND * way
