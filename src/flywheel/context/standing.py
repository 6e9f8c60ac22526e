"""How a project stands: what its last sessions left open, and what waits for a person. One statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from flywheel.context.ask import newest_of
from flywheel.context.history import OPEN
from flywheel.context.render import LIMIT, Waiting
from flywheel.model import GLOBAL, Micros, ProjectId, Status
from flywheel.store import Tx

LATEST: Final = 30
"""The last retrospectives of a project among which open ends are looked for."""

_COUNT: Final = (
    "(SELECT COUNT(*) FROM (SELECT 1 FROM entry WHERE project_id IN :own AND status = '{}' AND redirect_to IS NULL"
    " AND COALESCE(deferred_until, 0) <= :now LIMIT {}) AS few)"
)
_COUNTS: Final = ", ".join(
    _COUNT.format(status.value, LIMIT) for status in (Status.CANDIDATE, Status.DISPUTED, Status.STALE)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What the last sessions left open, newest first, and how much waits for a person."""

    tasks: tuple[str, ...]
    waiting: Waiting


def read_standing(tx: Tx, family: Sequence[ProjectId], now: Micros) -> Standing:
    """The standing of a project; what waits is counted as its cockpit does: of this project, unless it was put off."""
    latest = newest_of("retrospective", "task, outcome, updated_at", "updated_at", len(family), LATEST)
    rows = tx.all(
        f"SELECT task, {_COUNTS} FROM (SELECT 1) AS one LEFT JOIN (SELECT task FROM ({latest}) AS each "
        "WHERE outcome IN :open ORDER BY updated_at DESC LIMIT 4) AS newest ON 1 = 1",
        own=[project for project in family if project != GLOBAL] or list(family),
        now=now,
        open=list(OPEN),
        **{f"p{number}": project for number, project in enumerate(family)},
    )
    _, candidates, disputed, stale = rows[0]
    return Standing(
        tasks=tuple(row[0] for row in rows if row[0] is not None),
        waiting=Waiting(candidates=candidates, disputed=disputed, stale=stale),
    )
