"""When somebody should look again at what is no fact: a date that follows from its type and its last look."""

from __future__ import annotations

from collections.abc import Sequence

from flywheel.model import ClaimType, Entry, Kind, Micros, ProjectId
from flywheel.search.banners import REVIEW_DAYS, USUAL, Limits
from flywheel.search.limits import keep_limits, limits_of
from flywheel.store import Tx


def review_by(tx: Tx, entry: Entry) -> Micros | None:
    """When to look again at a judgment or hypothesis: so long after it was last confirmed, or else last said."""
    if entry.type.value not in REVIEW_DAYS:
        return None
    limits = limits_of(tx, [entry.project_id]).get(entry.project_id, USUAL)
    return limits.review_by(entry.type.value, entry.last_confirmed or entry.updated_at)


def keep(tx: Tx, projects: Sequence[ProjectId], limits: Limits) -> None:
    """Keep the thresholds of a project and its aliases, and move the dates that follow from them.

    One of its entries counts as changed, so that what was made of them before is made anew.
    """
    for project in projects:
        if not keep_limits(tx, project, limits):
            continue
        for (id,) in tx.all("SELECT id FROM entry WHERE project_id = :project LIMIT 1", project=project):
            tx.changed(Kind.ENTRY, id, project)
        for type in (ClaimType.JUDGMENT, ClaimType.HYPOTHESIS):
            _move(tx, project, type, limits)


def _move(tx: Tx, project: ProjectId, type: ClaimType, limits: Limits) -> None:
    rows = tx.all(
        "SELECT id, COALESCE(last_confirmed, updated_at), review_by FROM entry WHERE project_id = :project"
        " AND type = :type",
        project=project,
        type=type.value,
    )
    wanted = [(id, limits.review_by(type.value, Micros(since)), at) for id, since, at in rows]
    moved = [(id, due) for id, due, at in wanted if due != at]
    if moved:
        tx.many("UPDATE entry SET review_by = :due WHERE id = :id", [{"id": id, "due": due} for id, due in moved])
    for id, _ in moved:
        tx.changed(Kind.ENTRY, id, project)
