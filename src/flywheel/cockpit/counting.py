"""All pages of a project, counted, and when anything about them changed last: each off an index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from flywheel.cockpit.queries import HELD, OPEN, SINCE
from flywheel.cockpit.value import Counts, Moments
from flywheel.knowledge.states import RULES
from flywheel.knowledge.thresholds import Thresholds
from flywheel.model import Category, ClaimType, Micros, ProjectId, Status
from flywheel.store import Tx
from flywheel.tree.page import DAY


def whole(tx: Tx, projects: Sequence[ProjectId], limits: Thresholds, now: Micros) -> tuple[Counts, Moments]:
    """How the pages of these projects stand, and when that changed last."""
    late, ageing = (_past(tx, projects, limits, now, half=half) for half in (False, True))
    given = {"projects": projects, "now": now}
    came = max(_latest(tx, sql, **given) for sql in _CAME)
    confirmed = max(_latest(tx, sql, projects=projects, **more) for sql, more in _CONFIRMED)
    return _counts(tx, projects, now, late.count), Moments(
        changed=Micros(max(_latest(tx, sql, projects=projects) for sql in _CHANGED)),
        passed=Micros(max(late.passed, ageing.passed, came)),
        confirmed=Micros(confirmed) if confirmed else None,
    )


_CHANGED: Final = (
    "SELECT MAX(created_at) FROM review WHERE project_id IN :projects",
    "SELECT MAX(recorded_at) FROM claim WHERE project_id IN :projects",
    "SELECT MAX(found_at) FROM lint_finding WHERE project_id IN :projects AND severity = 'error'",
)
_CAME: Final = (
    "SELECT MAX(review_by) FROM entry WHERE project_id IN :projects AND review_by IS NOT NULL AND review_by <= :now",
    "SELECT MAX(deferred_until) FROM entry WHERE project_id IN :projects AND deferred_until IS NOT NULL"
    " AND deferred_until <= :now",
)
_CONFIRMED: Final[Sequence[tuple[str, Mapping[str, object]]]] = (
    (
        "SELECT MAX(created_at) FROM review WHERE project_id IN :projects AND new_status = 'confirmed'"
        " AND old_status <> 'confirmed' AND actor <> :rules",
        {"rules": RULES},
    ),
    ("SELECT MAX(last_confirmed) FROM entry WHERE project_id IN :projects AND last_confirmed IS NOT NULL", {}),
)
"""A step to confirmed; and what was confirmed before and read again, which is no step."""


def _latest(tx: Tx, sql: str, **given: object) -> int:
    row = tx.one(sql, **given)
    return int(row[0]) if row is not None and row[0] is not None else 0


def _counts(tx: Tx, projects: Sequence[ProjectId], now: Micros, overdue: int) -> Counts:
    live = [status.value for status in (*OPEN, Status.CONFIRMED)]
    rows = tx.all(_BY_STATE, projects=projects, live=live, now=now)
    errors = tx.one(
        "SELECT COUNT(*) FROM lint_finding WHERE project_id IN :projects AND severity = 'error'", projects=projects
    )
    return Counts(
        open={
            (Status(status), ClaimType(type_)): number - away for status, type_, number, away in rows if status in OPEN
        },
        put_off=sum(away for status, _, _, away in rows if status in OPEN),
        confirmed=sum(number for status, _, number, _ in rows if status not in OPEN),
        overdue=overdue,
        lint_errors=int(errors[0]) if errors else 0,
    )


_BY_STATE: Final = """
SELECT status, type, COUNT(*), SUM(CASE WHEN COALESCE(deferred_until, 0) > :now THEN 1 ELSE 0 END) FROM entry
WHERE project_id IN :projects AND status IN :live AND redirect_to IS NULL GROUP BY status, type
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Past:
    """How many confirmed pages are past a threshold, and which moment of passing was the latest."""

    count: int
    passed: int


def _past(tx: Tx, projects: Sequence[ProjectId], limits: Thresholds, now: Micros, *, half: bool) -> _Past:
    """Confirmed pages past their threshold; with ``half``, decisions past half of it. One look for each shelf."""
    ages = {category: limits.days(category) * DAY // (2 if half else 1) for category in Category}
    parts = [
        f"SELECT '{category.value}', COUNT(*), MAX({SINCE}) FROM entry WHERE project_id IN :projects"
        f" AND category = '{category.value}' AND {HELD} AND {SINCE} <= :before_{category.value}"
        f"{_DECISION if half else ''}"
        for category in Category
    ]
    before = {f"before_{category.value}": now - age for category, age in ages.items()}
    rows = tx.all(" UNION ALL ".join(parts), projects=projects, **before)
    return _Past(
        count=sum(number for _, number, _ in rows),
        passed=max((since + ages[Category(name)] for name, _, since in rows if since is not None), default=0),
    )


_DECISION: Final = " AND type = 'decision'"
