"""Which lanes have work, and running it: by a lane's process, or all of it here and now."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from flywheel.app.parts import HARVEST, LANES, LINT, RENDER, WEIGH, WORKERS, Parts
from flywheel.jobs import queue
from flywheel.jobs.worker import Handler, Outcome, run_one

if TYPE_CHECKING:
    from flywheel.app.reading import Readers
    from flywheel.model import Micros, Project
    from flywheel.store import Db

TREES: Final = "tree"
"""The lane that renders memory trees."""


def handler_of(kind: str, parts: Parts) -> Handler:
    """The handler of a job kind.

    Harvesting slows down when the indexes fall behind; rendering takes in what somebody drops into a tree.
    """
    if kind in (RENDER, LINT):
        return _renderer(kind, parts)
    if kind != HARVEST:
        return WORKERS[kind]
    from flywheel.app.pace import seconds_behind
    from flywheel.harvest import worker as harvest_worker

    return partial(harvest_worker.run, indexes_behind=seconds_behind(parts))


def _renderer(kind: str, parts: Parts) -> Handler:
    """Rendering, or the lint, which has the tree rendered first."""
    from flywheel.cockpit.worker import draw
    from flywheel.tree.naming import COCKPIT

    def ingest(project: Project, name: str, data: bytes, written: Micros) -> str:
        from flywheel.app.adding import take_in

        return take_in(parts, project.id, name, data, written).id

    def cockpit(db: Db, project: Project, now: Micros) -> str:
        return draw(db, parts.data, project, now)

    if kind == LINT:
        from flywheel.tree.linting.worker import run
    else:
        from flywheel.tree.worker import run
    return partial(run, ingest=ingest, extras={COCKPIT: cockpit})


def lanes_with_work(parts: Parts, readers: Readers) -> list[str]:
    """The lanes whose process should run now."""
    now = parts.db.clock()
    due: list[str] = []
    with parts.db.read() as tx:
        for name, kinds in LANES.items():
            at = queue.next_due(tx, kinds=kinds, now=now) if kinds else None
            if at is not None and at <= now:
                due.append(name)
    if any(readers.behind().values()) or readers.unfinished():
        due.append("index")
    return due


def settle_all(parts: Parts, *, trees: bool = False) -> int:
    """Run every job that is due and bring the indexes up to date, in this process; how many jobs ran.

    With ``trees`` the memory trees as well, at once. For tests and benchmarks, and for a machine without processes to
    spare.
    """
    ran = _run_due(parts, [kind for name, lane in LANES.items() if name != TREES for kind in lane])
    ran += _run_now(parts, WEIGH)
    _index(parts)
    if trees:
        ran += sum(_run_now(parts, kind) for kind in LANES[TREES])
    return ran


def _run_now(parts: Parts, kind: str) -> int:
    """Run the jobs of a kind that would wait a moment."""
    with parts.db.write() as tx:
        tx.run("UPDATE job SET run_after = 0 WHERE kind = :kind AND state = 'queued'", kind=kind)
    return _run_due(parts, [kind])


def _run_due(parts: Parts, kinds: Sequence[str]) -> int:
    ran = 0
    deps = parts.deps(lambda: False, lambda doing: None)
    while job := queue.claim(parts.db, kinds=kinds, owner="here", lease=600.0):
        handler = handler_of(job.kind, parts) if job.kind in (RENDER, LINT) else WORKERS[job.kind]
        ran += run_one(job, handler, deps) is Outcome.DONE
    return ran


def _index(parts: Parts) -> None:
    from flywheel.app.indexing import Indexer

    indexer = Indexer(parts)
    try:
        while indexer.step():
            pass
    finally:
        indexer.close()
