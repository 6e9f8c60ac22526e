"""Habits on request: listing, pinning, dropping and linting one identity's beliefs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from flywheel.api import Done, Habit, HabitList, HabitWarning, HabitWarnings
from flywheel.behaviour import linting, pinning, queries
from flywheel.behaviour.decay import STRATEGIES, DecayStrategy
from flywheel.behaviour.profile import habits as sure
from flywheel.behaviour.profile import profile_of
from flywheel.behaviour.rules import Category, Held
from flywheel.errors import BadInput
from flywheel.model import GLOBAL, Belief, Identity, Micros, Project, ProjectId, short_id
from flywheel.store import Tx
from flywheel.store.mapper import get

MOST = 10_000
"""Habits of one answer."""


class Desk:
    """What one identity asks of its habits. ``family``: the ids that a project goes by, its own first."""

    def __init__(self, tx: Tx, identity: str, now: Micros, decay: str) -> None:
        self._tx, self._identity, self._now = tx, identity, now
        self._decay: DecayStrategy = STRATEGIES[decay]

    def listed(self, family: Sequence[ProjectId], category: str, limit: int) -> HabitList:
        """The habits of a project. Raises BadInput."""
        if category and category not in list(Category):
            raise BadInput(f"there is no category {category!r}; categories: {', '.join(Category)}", field="category")
        if not 1 <= limit <= MOST:
            raise BadInput(f"the field 'limit' must be between 1 and {MOST}", field="limit")
        held = queries.every(self._tx, self._identity, _own(family), self._now, self._decay)
        served = {one.belief.id for one in sure(held)}
        wanted = [one for one in held if not category or one.belief.category == category]
        known = get(self._tx, Identity, id=self._identity)
        return HabitList(
            project=self._name(family),
            profile=profile_of(held),
            habits=[_shown(one, one.belief.id in served) for one in wanted[:limit]],
            total=len(wanted),
            waiting=queries.count_waiting(self._tx, self._identity, _own(family)),
            consolidated_at=known.consolidated_at if known else None,
        )

    def pin(self, ids: Sequence[str], off: bool) -> Done:
        """Pin habits, or let them fade again."""
        found = pinning.resolve(self._tx, self._identity, ids)
        for one in found:
            pinning.pin(self._tx, one, not off, self._now, self._decay)
        told = "fades again" if off else "is kept"
        message = "; ".join(f"{one.name} {told}" for one in found)
        return Done(ok=True, message=message, counts={"habits": len(found)})

    def drop(self, ids: Sequence[str]) -> Done:
        """Delete habits for good."""
        found: list[Belief] = pinning.resolve(self._tx, self._identity, ids, gone=True)
        pinning.drop(self._tx, self._identity, found, self._now)
        names = "; ".join(str(one.name) for one in found)
        message = f"{names}: deleted, and not learned again" if found else "deleted already"
        return Done(ok=True, message=message, counts={"habits": len(found)})

    def warned(self, family: Sequence[ProjectId]) -> HabitWarnings:
        """What is wrong with the habits of a project."""
        found = linting.look(self._tx, self._identity, _own(family), self._now, self._decay)
        return HabitWarnings(
            project=self._name(family),
            warnings=[
                HabitWarning(
                    check=one.check, ids=[short_id(id) for id in one.ids], message=one.message, remedy=one.remedy
                )
                for one in found
            ],
            counts=dict(Counter(one.check for one in found)),
        )

    def _name(self, family: Sequence[ProjectId]) -> str:
        project = get(self._tx, Project, id=family[0])
        return project.name if project else ""


def _own(family: Sequence[ProjectId]) -> list[ProjectId]:
    return [id for id in family if id != GLOBAL] or list(family)


def _shown(one: Held, served: bool) -> Habit:
    belief = one.belief
    return Habit(
        id=belief.id,
        short=short_id(belief.id),
        category=belief.category,
        name=belief.name,
        confidence=round(one.confidence, 6),
        reinforced=belief.reinforced,
        strength=round(one.strength, 6),
        pinned=belief.pinned,
        served=served,
        first_seen=belief.created_at,
        last_seen=belief.last_seen,
    )
