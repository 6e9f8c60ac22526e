"""The gather job: the digests of a project and of its threads, from those of its sessions."""

from __future__ import annotations

from typing import Final

from flywheel.digests import LONG
from flywheel.digests.gathering import KNOWN, Past, digest_project, digest_thread
from flywheel.digests.kept import digests_of, lines_of, worded
from flywheel.digests.queries import (
    RULES_VERSION,
    kept_mark,
    looks_of,
    ordinals,
    past_of,
    project_past,
    standing_of,
    thread_parts,
)
from flywheel.digests.worker import SESSION, keep
from flywheel.errors import NotFound
from flywheel.jobs.kinds import GATHER, GATHER_MODEL, RETRO_MODEL_DELAY
from flywheel.jobs.queue import enqueue
from flywheel.jobs.worker import Deps
from flywheel.model import Job, Micros, ProjectId, digest
from flywheel.projects.queries import family
from flywheel.store import Db, Tx

KIND: Final = GATHER
"""Job kind; the key is the project's id, never an alias."""

PROJECT: Final = "project"

THREAD: Final = "thread"

THREADS: Final = 40
"""Threads of a project that have a digest, the latest."""

Part = tuple[str, int, int]


def run(job: Job, deps: Deps) -> None:
    """Write the digests of a project and of its latest threads where something changed; twice equals once."""
    project = ProjectId(job.key)
    try:
        with deps.db.read() as tx:
            kin = family(tx, project)
            threads = thread_parts(tx, kin, THREADS)
    except NotFound:  # forgotten meanwhile
        return
    _write_project(deps.db, project, kin, deps.now())
    for thread, parts in threads.items():
        deps.beat("summing up threads")
        _write_thread(deps.db, project, thread, parts, deps.now())
    if deps.config.llm.retro:
        with deps.db.write() as tx:
            enqueue(tx, kind=GATHER_MODEL, key=project, project_id=project, now=deps.now(), delay=RETRO_MODEL_DELAY)


def _write_project(db: Db, project: ProjectId, kin: list[ProjectId], now: Micros) -> None:
    with db.read() as tx:
        past, standing = project_past(tx, kin), standing_of(tx, kin, KNOWN[LONG])
        mark = digest(repr((RULES_VERSION, past, standing)))
        if mark == kept_mark(tx, PROJECT, project):
            return
    written = digest_project(past, standing)
    with db.write() as tx:
        if digest(repr((RULES_VERSION, project_past(tx, kin), standing_of(tx, kin, KNOWN[LONG])))) == mark:
            keep(tx, PROJECT, project, project, written, mark, now)


def _write_thread(db: Db, project: ProjectId, thread: str, parts: list[Part], now: Micros) -> None:
    with db.read() as tx:
        past = _thread_past(tx, parts)
        mark = digest(repr((RULES_VERSION, past)))
        if not past or mark == kept_mark(tx, THREAD, thread):
            return
    written = digest_thread(past)
    with db.write() as tx:
        if digest(repr((RULES_VERSION, _thread_past(tx, parts)))) == mark:
            keep(tx, THREAD, thread, project, written, mark, now)


def _thread_past(tx: Tx, parts: list[Part]) -> list[Past]:
    """The thread's sessions, each with those lines of its digest that lie in the thread's stretches."""
    sessions = list(dict.fromkeys(session for session, _, _ in parts))
    looks = looks_of(tx, sessions)
    found: list[Past] = []
    for kept in digests_of(tx, SESSION, sessions, LONG):
        lines = [line for line in lines_of(kept) if line.ids and line.ids[0].startswith("message:")]
        at = ordinals(tx, [line.ids[0].removeprefix("message:") for line in lines])
        stretches = [(start, stop) for session, start, stop in parts if session == kept.owner_id]
        within = [
            line
            for line in lines
            if any(start <= at.get(line.ids[0].removeprefix("message:"), -1) <= stop for start, stop in stretches)
        ]
        if kept.owner_id in looks:
            found.append(past_of(looks[kept.owner_id], worded(within)))
    return found
