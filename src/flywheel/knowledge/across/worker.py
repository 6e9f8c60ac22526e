"""The across job: one project against all others, both ways; running it twice equals running it once."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from flywheel.jobs import kinds
from flywheel.jobs.worker import Deps, Stopped
from flywheel.knowledge.across import borrowing, lending
from flywheel.knowledge.across.dependencies import READERS, dependencies_of
from flywheel.model import Job, Met, Micros, Project, ProjectId
from flywheel.store import Db
from flywheel.store.chunks import chunks
from flywheel.store.mapper import find, insert_many

KIND: Final = kinds.ACROSS
"""Job kind; the key is a project's id."""

BATCH: Final = 4
"""Candidates of one transaction, which keeps it within 20 ms."""

LARGEST: Final = 1 << 20
"""Bytes of a manifest that is read."""

MOST: Final = 2000
"""Dependencies of one project."""


def run(job: Job, deps: Deps) -> None:
    """End and remove what fell, then propose what matches. Raises Stopped between two transactions when it must end."""
    with deps.db.read() as tx:
        house = lending.house_of(tx)
    project = house.canonical.get(ProjectId(job.key))
    if project is None:
        return
    deps.beat("comparing projects")
    _keep_dependencies(deps.db, house.rows[project], deps.now())
    others = [one for one in house.families if one != project]
    with deps.db.read() as tx:
        known = borrowing.of_origin(tx, house, project)
        found = lending.loans(tx, house, [project], others) + lending.loans(tx, house, others, [project])
    for some in chunks(known, BATCH):
        with _unless_stopping(deps).write(bulk=True) as tx:
            for one in some:
                borrowing.review(tx, house, one, deps.now())
    for part in chunks(found, BATCH):
        with _unless_stopping(deps).write(bulk=True) as tx:
            for loan in part:
                borrowing.borrow(tx, loan, deps.now())


def _unless_stopping(deps: Deps) -> Db:
    if deps.stopping():
        raise Stopped
    return deps.db


def _keep_dependencies(db: Db, project: Project, now: Micros) -> None:
    """Note what the manifests at the project's root ask for today; what is not asked for any more is no longer met."""
    root = Path(project.root)
    if not project.root or not root.is_absolute() or not os.path.isdir(root):
        return
    names = _dependencies(root)
    with db.read() as tx:
        where = "WHERE project_id = :id AND kind = :kind ORDER BY name"
        before = {one.name for one in find(tx, Met, where, id=project.id, kind=lending.DEPENDENCY)}
    if before == names:
        return
    with db.write(bulk=True) as tx:
        for some in chunks(sorted(before - names)):
            tx.run("DELETE FROM met WHERE project_id = :id AND kind = :kind AND name IN :names",
                   id=project.id, kind=lending.DEPENDENCY, names=list(some))  # fmt: skip
        fresh = sorted(names - before)
        insert_many(tx, [Met(project_id=project.id, kind=lending.DEPENDENCY, name=one, met_at=now) for one in fresh])


def _dependencies(root: Path) -> set[str]:
    found: set[str] = set()
    for name in READERS:
        path = root / name
        try:
            if path.stat().st_size <= LARGEST:
                found |= dependencies_of(name, path.read_text("utf-8", "replace"))
        except OSError:
            continue
    return set(sorted(found)[:MOST])
