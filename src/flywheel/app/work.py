"""Which lanes have work, and running it: by a lane's process, or all of it here and now."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from flywheel.app.parts import HARVEST, LANES, WORKERS, Parts
from flywheel.jobs import queue
from flywheel.jobs.worker import Handler, Outcome, run_one

if TYPE_CHECKING:
    from flywheel.app.reading import Readers


def handler_of(kind: str, parts: Parts) -> Handler:
    """The handler of a job kind; harvesting slows down when the indexes fall behind."""
    if kind != HARVEST:
        return WORKERS[kind]
    from flywheel.app.pace import seconds_behind
    from flywheel.harvest import worker as harvest_worker

    return partial(harvest_worker.run, indexes_behind=seconds_behind(parts))


def lanes_with_work(parts: Parts, readers: Readers) -> list[str]:
    """The lanes whose process should run now."""
    now = parts.db.clock()
    due: list[str] = []
    with parts.db.read() as tx:
        for name, kinds in LANES.items():
            at = queue.next_due(tx, kinds=kinds, now=now) if kinds else None
            if at is not None and at <= now:
                due.append(name)
    if any(readers.behind().values()):
        due.append("index")
    return due


def settle_all(parts: Parts) -> int:
    """Run every job that is due and bring the indexes up to date, in this process; how many jobs ran.

    For tests and benchmarks, and for a machine without processes to spare.
    """
    ran = 0
    deps = parts.deps(lambda: False, lambda doing: None)
    kinds = [kind for lane in LANES.values() for kind in lane]
    while job := queue.claim(parts.db, kinds=kinds, owner="here", lease=600.0):
        outcome = run_one(job, WORKERS[job.kind], deps)
        ran += outcome is Outcome.DONE
    from flywheel.app.indexing import Indexer

    indexer = Indexer(parts)
    try:
        while indexer.step():
            pass
    finally:
        indexer.close()
    return ran
