"""The lint job: the tree is brought up to date, everything is looked at once, and what was found is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from flywheel.jobs import queue
from flywheel.jobs.worker import Deps, Stopped
from flywheel.knowledge.linting import keeping
from flywheel.knowledge.linting.checks import names_of
from flywheel.knowledge.linting.checks import run as run_checks
from flywheel.knowledge.linting.keeping import ALL, CI, KEPT, Ran
from flywheel.knowledge.linting.values import Finding, Rules
from flywheel.model import Job, LintFinding, Micros, Project, ProjectId, Seq, evidence_id
from flywheel.store import Db
from flywheel.store.mapper import get
from flywheel.text.redact import Redactor
from flywheel.tree import record
from flywheel.tree import worker as rendering
from flywheel.tree.follow import TreeFollower
from flywheel.tree.linting.reading import Reading
from flywheel.tree.looking import Ingest
from flywheel.tree.naming import INDEX
from flywheel.tree.render import Extra
from flywheel.tree.tree import Tree
from flywheel.tree.worker import NOTHING, open_tree

KIND: Final = keeping.KIND


def run(job: Job, deps: Deps, *, extras: Mapping[str, Extra] = NOTHING, ingest: Ingest | None = None) -> None:
    """Lint a project; running it again finds the same. Raises Stopped when the process is asked to end.

    ``extras`` and ``ingest`` are those of rendering, which comes first: what is due is no finding.
    """
    id, _, sort = job.key.partition(" ")
    with deps.db.read() as tx:
        project = get(tx, Project, id=ProjectId(id))
    if project is None:
        return
    if project.alias_of is not None:
        with deps.db.write() as tx:
            keeping.forget(tx, project.id)
        return
    began = deps.db.clock()
    tree = open_tree(deps, project)
    tree.begin()
    tree.flush()
    catch_up(deps.db)
    rendering.age(tree, tree.now())
    if _due(tree):
        rendering.run(replace(job, kind=rendering.KIND, key=id), deps, extras=extras, ingest=ingest)
    lint(tree, deps, sort=sort or ALL, began=began)


def _due(tree: Tree) -> bool:
    """Whether anything is to be rendered. Else nothing is, so that what somebody changed in a file is found."""
    with tree.db.read() as tx:
        return record.behind(tx, tree.id) > 0 or record.file_of(tx, tree.id, INDEX) is None


def catch_up(db: Db) -> None:
    """Follow the change feed to its end, so that everything that was written by now is due."""
    follower, feed = TreeFollower(db), db.feed_id()
    while True:
        followed, upto = follower.watermark()
        changes = db.changes(upto if followed == feed else Seq(0))
        if not changes:
            return
        follower.apply(db, changes, feed, changes[-1].seq)


def lint(tree: Tree, deps: Deps, *, sort: str, began: Micros) -> Counter[str]:
    """Look at everything and keep what was found; how much each check found. Raises Stopped."""
    checks = names_of(ci=sort == CI)
    reading = Reading(tree, deps.stopping)
    rules = Rules(limits=tree.limits, now=tree.now())
    counts: Counter[str] = Counter()
    kept = _first(run_checks(reading.values(), rules, checks), counts)
    if reading.stopped:
        raise Stopped
    rows = [_row(tree.id, one, deps.redact, rules.now) for one in kept]
    with deps.db.write() as tx:
        before = keeping.counted(tx, [tree.id])
        keeping.keep(tx, tree.id, sort, rows, checks, Ran(began=began, at=tree.now(), counts=counts))
        if keeping.counted(tx, [tree.id]) != before:  # the cockpit tells how many
            queue.enqueue(tx, kind=rendering.KIND, key=tree.id, project_id=tree.id, now=deps.db.clock())
    return counts


def _first(findings: Iterable[Finding], counts: Counter[str]) -> list[Finding]:
    """The first findings of each check, all of them counted."""
    kept: list[Finding] = []
    for one in findings:
        counts[one.check] += 1
        if counts[one.check] <= KEPT:
            kept.append(one)
    return kept


def _row(project: ProjectId, one: Finding, redact: Redactor, now: Micros) -> LintFinding:
    return LintFinding(
        id=evidence_id("lint", project, one.check, one.kind, one.id, one.place, one.message),
        project_id=project,
        check_name=one.check,
        severity=one.severity.value,
        target_kind=one.kind,
        target_id=one.id,
        place=redact.text(one.place),
        message=redact.text(one.message),
        remedy=redact.text(one.remedy),
        found_at=now,
    )
