"""Linting on request: the job is enqueued and waited for, because no thread of the daemon looks at everything."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from flywheel.api import LintFix, LintFixes, LintItem, LintReport
from flywheel.app.parts import Parts
from flywheel.app.trees import project_of
from flywheel.app.waiting import wait_for
from flywheel.errors import Unavailable
from flywheel.knowledge.linting import keeping
from flywheel.knowledge.linting.checks import BY_NAME, ORDER, names_of
from flywheel.knowledge.linting.keeping import ALL, CI, Ran
from flywheel.knowledge.linting.values import Severity
from flywheel.model import Job, JobState, LintFinding, Project, ProjectId
from flywheel.store.mapper import get

PATIENCE: Final = 60.0
"""Seconds that a verb waits for a lint."""


def lint(parts: Parts, project_id: ProjectId, poke: Callable[[], None], *, ci: bool) -> LintReport:
    """Have a project linted now, and what was found. Raises Unavailable."""
    project = project_of(parts, project_id)
    ran = _run(parts, project, poke, ci=ci)
    checks = names_of(ci=ci)
    with parts.db.read() as tx:
        kept = sorted(keeping.kept(tx, project.id, checks), key=lambda one: (one.severity, ORDER[one.check_name]))
    counts = {name: count for name, count in ran.counts.items() if name in checks}
    return LintReport(
        project=project.name,
        at=ran.at,
        ci=ci,
        errors=_total(ran, Severity.ERROR),
        warnings=_total(ran, Severity.WARNING),
        findings=[_item(one) for one in kept],
        counts=counts,
    )


def fixes(
    parts: Parts, project_id: ProjectId, poke: Callable[[], None], *, apply: bool, only: Sequence[str]
) -> LintFixes:
    """The safe fixes of what is found now; made, if told so. Raises Unavailable."""
    from flywheel.tree.linting import mending

    project = project_of(parts, project_id)
    ran = _run(parts, project, poke, ci=False)
    with parts.db.read() as tx:
        kept = keeping.kept(tx, project.id, names_of(ci=False))
    bench = mending.Bench(parts.db, parts.data, project, parts.redact, parts.db.clock())
    planned = [one for one in mending.plan(bench, kept) if not only or one.fix.id in only]
    if apply and planned:
        mending.apply(bench, planned)
        ran = _run(parts, project, poke, ci=False)
    return _fixes(project, [one.fix for one in planned], ran, applied=apply)


def _fixes(project: Project, some: Sequence[LintFix], ran: Ran, *, applied: bool) -> LintFixes:
    return LintFixes(
        project=project.name,
        applied=applied,
        fixes=some,
        errors=_total(ran, Severity.ERROR),
        warnings=_total(ran, Severity.WARNING),
    )


def _run(parts: Parts, project: Project, poke: Callable[[], None], *, ci: bool) -> Ran:
    """Have the job run, and wait for one that began after now."""
    asked = parts.db.clock()
    with parts.db.write() as tx:
        keeping.ask(tx, project.id, asked, ci=ci)
    poke()

    job: Job | None = None

    def look() -> Ran | None:
        nonlocal job
        with parts.db.read() as tx:
            ran = keeping.last(tx, project.id, CI if ci else ALL)
            job = get(tx, Job, kind=keeping.KIND, key=keeping.job_key(project.id, ci=ci))
        if job is not None and job.state is JobState.DEAD and job.updated_at >= asked:
            raise Unavailable(f"{project.name} cannot be linted: {job.error}; mend that and lint again")
        return ran if ran is not None and ran.began >= asked else None

    ran = wait_for(look, PATIENCE)
    if ran is not None:
        return ran
    if job is not None and job.error:
        raise Unavailable(f"{project.name} cannot be linted: {job.error}; it is tried again", again_seconds=10)
    raise Unavailable(
        f"{project.name} is still being linted; ask again in a moment, or see: flywheel jobs list", again_seconds=10
    )


def _total(ran: Ran, severity: Severity) -> int:
    return sum(count for name, count in ran.counts.items() if BY_NAME[name].severity is severity)


def _item(one: LintFinding) -> LintItem:
    return LintItem(
        check=one.check_name,
        severity=one.severity,
        place=one.place,
        message=one.message,
        remedy=one.remedy,
        kind=one.target_kind,
        id=one.target_id,
        fixable=one.check_name in BY_NAME and bool(BY_NAME[one.check_name].fix),
    )
