"""How much tools and commands are liked, as search takes it: a name and −1 to 1."""

from __future__ import annotations

from collections.abc import Sequence

from flywheel.behaviour.profile import habits
from flywheel.behaviour.rules import Category, Held


def likings(held: Sequence[Held]) -> dict[str, float]:
    """Name of a tool or command in lower case → confidence that it is liked, less confidence that it is avoided."""
    found: dict[str, float] = {}
    for one in habits(held):
        sort, _, name = one.belief.name.partition(":")
        if sort in ("tool", "command") and one.belief.category in (Category.AFFINITY, Category.AVOIDANCE):
            sign = 1 if one.belief.category == Category.AFFINITY else -1
            found[name.lower()] = found.get(name.lower(), 0.0) + sign * one.confidence
    return found
