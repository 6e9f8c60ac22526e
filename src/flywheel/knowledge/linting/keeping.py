"""Asking for a lint, and its findings in the store: replaced as a whole by each run of their checks, and counted."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from flywheel.jobs import queue
from flywheel.knowledge.linting.values import Severity
from flywheel.model import LintFinding, Micros, ProjectId
from flywheel.store import Tx
from flywheel.store.json import dump, load
from flywheel.store.mapper import find, insert_many

KIND: Final = "lint"
"""Job kind; the key is the project's id, with ``ci`` behind it for the checks that fail a build."""

KEPT: Final = 200
"""Findings of one check that are kept; how many there were is kept of all."""

CI: Final = "ci"
ALL: Final = "all"
"""The two sorts of a run: the checks that fail a build, or every one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """The last run of one sort: when it began and ended, and how much each check found."""

    began: Micros
    at: Micros
    counts: Mapping[str, int]


def ask(tx: Tx, project: ProjectId, now: Micros, *, ci: bool = False) -> None:
    """Have a project linted. ``project`` is no alias."""
    queue.enqueue(tx, kind=KIND, key=job_key(project, ci=ci), project_id=project, now=now)


def job_key(project: ProjectId, *, ci: bool) -> str:
    """The key of the job that lints a project."""
    return f"{project} {CI}" if ci else project


def is_due(ran: Ran | None, now: datetime, hour: int) -> bool:
    """Whether a project is to be linted now: once a day from ``hour`` on, local time as ``now`` is; below 0 never."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    return 0 <= hour <= now.hour and (ran is None or ran.at < midnight.timestamp() * 1e6)


def keep(
    tx: Tx, project: ProjectId, sort: str, findings: Sequence[LintFinding], checks: Collection[str], ran: Ran
) -> None:
    """Put the findings of these checks in the place of what they had found before."""
    tx.run(
        "DELETE FROM lint_finding WHERE project_id = :project AND check_name IN :names",
        project=project,
        names=sorted(checks),
    )
    insert_many(tx, findings)
    tx.run(
        "INSERT INTO setting (name, value) VALUES (:name, :value)"
        " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        name=_name(project, sort),
        value=dump({"began": ran.began, "at": ran.at, "counts": dict(ran.counts)}),
    )


def last(tx: Tx, project: ProjectId, sort: str) -> Ran | None:
    """The last run of this sort; None when there was none."""
    row = tx.one("SELECT value FROM setting WHERE name = :name", name=_name(project, sort))
    if row is None:
        return None
    value = load(row[0])
    return Ran(began=Micros(value["began"]), at=Micros(value["at"]), counts=value["counts"])


def kept(tx: Tx, project: ProjectId, checks: Collection[str]) -> list[LintFinding]:
    """The findings of these checks: errors first, then by check and place."""
    tail = "WHERE project_id = :project AND check_name IN :names"
    found = find(tx, LintFinding, tail, project=project, names=sorted(checks))
    return sorted(found, key=lambda one: (one.severity, one.check_name, one.place, one.message))


def counted(tx: Tx, projects: Sequence[ProjectId]) -> Mapping[str, int]:
    """How many findings of each severity are kept of these projects."""
    rows = tx.all(
        "SELECT severity, COUNT(*) FROM lint_finding WHERE project_id IN :projects GROUP BY severity", projects=projects
    )
    found = {severity: int(count) for severity, count in rows}
    return {severity.value: found.get(severity.value, 0) for severity in Severity}


def forget(tx: Tx, project: ProjectId) -> None:
    """Nothing is known of this project: it was merged into another one."""
    tx.run("DELETE FROM lint_finding WHERE project_id = :project", project=project)


def _name(project: ProjectId, sort: str) -> str:
    return f"lint:{project}" if sort == ALL else f"lint:{project}:{sort}"
