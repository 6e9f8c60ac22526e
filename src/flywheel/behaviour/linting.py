"""Reads what the belief lint looks at: beliefs with their confidence now, and which places are gone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from flywheel.behaviour.decay import DecayStrategy
from flywheel.behaviour.lint import Warned, lint
from flywheel.behaviour.queries import every, missing_places
from flywheel.behaviour.rules import Category, Held
from flywheel.model import Micros, ProjectId
from flywheel.store import Tx


def look(tx: Tx, identity: str, projects: Sequence[ProjectId], now: Micros, decay: DecayStrategy) -> list[Warned]:
    """What is wrong with an identity's beliefs about these projects."""
    held = every(tx, identity, projects, now, decay)
    return lint(held, _gone(tx, held))


def projects_of(tx: Tx, identity: str) -> list[ProjectId]:
    """The projects that an identity has beliefs about."""
    rows = tx.all("SELECT DISTINCT project_id FROM belief WHERE identity = :identity ORDER BY 1", identity=identity)
    return [ProjectId(id) for (id,) in rows]


def _gone(tx: Tx, held: Sequence[Held]) -> set[tuple[ProjectId, str]]:
    places: dict[ProjectId, dict[str, list[str]]] = defaultdict(lambda: {"file": [], "symbol": []})
    for one in held:
        sort, _, name = one.belief.name.partition(":")
        if one.belief.category == Category.ENTITY and sort in ("file", "symbol"):
            places[one.belief.project_id][sort].append(name)
    return {
        (project, name)
        for project, names in places.items()
        for name in missing_places(tx, project, names["file"], names["symbol"])
    }
