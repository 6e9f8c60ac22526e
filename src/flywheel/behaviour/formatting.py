"""Beliefs as the section of a briefing: profile, then groups, the strongest first, within a budget; pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from flywheel.behaviour.profile import of_category, profile_of, telling
from flywheel.behaviour.rules import Category, Held

BUDGET: Final = 300
"""Tokens, unless the settings say otherwise."""

EACH: Final = 8
"""Names of one group at most."""

GROUPS: Final[Sequence[tuple[str, Category]]] = (
    ("Tools and commands", Category.AFFINITY),
    ("Avoided", Category.AVOIDANCE),
    ("Often touched", Category.ENTITY),
    ("Focus", Category.DOMAIN),
    ("Known to fail", Category.FAILURE),
)
"""Groups in the order in which they are written."""


def section(held: Sequence[Held], budget: int, count: Callable[[str], int]) -> str:
    """The section's lines, of at most ``budget`` tokens as ``count`` counts them; "" when nothing passes or fits.

    ``held`` stands strongest first. A name goes in whole or not at all: room is given round by round, so that each
    group has its strongest before any has its second.
    """
    known = telling(held)
    profile = profile_of(known)
    names = {category: of_category(known, category)[:EACH] for _, category in GROUPS}
    head = profile if profile and count(profile) <= budget else ""
    taken: dict[Category, list[str]] = {category: [] for _, category in GROUPS}
    full: set[Category] = set()
    for number in range(EACH):
        for _, category in GROUPS:
            if category in full or number >= len(names[category]):
                continue
            tried = {**taken, category: [*taken[category], names[category][number]]}
            if count(_written(head, tried)) <= budget:
                taken = tried
            else:
                full.add(category)
    return _written(head, taken)


def _written(head: str, taken: dict[Category, list[str]]) -> str:
    lines = [head] if head else []
    lines += [f"- {title}: {', '.join(taken[category])}" for title, category in GROUPS if taken[category]]
    return "\n".join(lines)
