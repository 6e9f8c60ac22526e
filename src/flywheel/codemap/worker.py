"""The AST-sync worker: one job per checkout brings its symbols and module edges up to date."""

from __future__ import annotations

import atexit
import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import orjson

from flywheel.codemap.pool import ParserPool
from flywheel.codemap.rows import Place
from flywheel.codemap.sync import Report, Sync
from flywheel.config import CodeConfig
from flywheel.jobs import queue
from flywheel.jobs.worker import Deps
from flywheel.model import Job, Micros, ProjectId, Setting
from flywheel.projects.queries import resolve, revisit
from flywheel.store import Tx, mapper

KIND: Final = "sync"
"""The key of a job is the checkout's real path; its payload may name changed ``paths`` within it."""

MOST_PATHS: Final = 200
"""Changed paths that are looked at one by one; more of them mean a sweep of the whole checkout."""

_VERSION: Final = 4  # raise it when the same code gives other rows; a changed query file is noticed by itself


def run(job: Job, deps: Deps) -> None:
    """Bring one checkout up to date: the paths that the payload names, or all of it."""
    paths = _paths(job.payload)
    if paths:
        paths = [path.removeprefix(f"{job.key}/") for path in paths]
    project = (resolve if paths else revisit)(deps.db, job.key, deps.now())
    sync_checkout(job.key, project.id, deps, parser_pool(deps.config.code), paths)


def sync_checkout(
    root: str, project: ProjectId, deps: Deps, pool: ParserPool, paths: Sequence[str] | None = None
) -> Report:
    """Sync ``root``, an absolute real path; only the relative ``paths`` when they are given.

    A checkout that another version of the code map indexed is read anew as a whole. Raises Stopped when the process is
    told to stop; what was done until then stays.
    """
    name, now = f"codemap:{root}", fingerprint()
    with deps.db.read() as tx:
        made_by = mapper.get(tx, Setting, name=name)
    current = made_by is not None and made_by.value == now
    sync = Sync(Place(project, root), deps, pool, anew=made_by is not None and not current, version=now)
    if current and paths and len(paths) <= MOST_PATHS:
        return sync.touch(paths)
    report = sync.sweep()
    if not current:
        with deps.db.write(bulk=True) as tx:
            mapper.upsert(tx, Setting(name=name, value=now))
    return report


def enqueue_sync(tx: Tx, *, checkout: str, project_id: ProjectId, now: Micros, paths: Sequence[str] = ()) -> None:
    """Ask for a sync of changed ``paths`` (relative), or of the whole checkout when none are named.

    Paths that wait for their turn already are kept; a sweep that waits stays one.
    """
    row = tx.one("SELECT payload, state FROM job WHERE kind = :kind AND key = :key", kind=KIND, key=checkout)
    wanted = set(paths)
    if row is not None and wanted:
        before = _paths(orjson.loads(row[0])) if isinstance(row[0], str) else _paths(row[0])
        wanted = wanted | set(before) if before else set()
    payload = {"paths": sorted(wanted)} if 0 < len(wanted) <= MOST_PATHS else {}
    queue.enqueue(tx, kind=KIND, key=checkout, project_id=project_id, now=now, payload=payload)


def _paths(payload: Mapping[str, Any]) -> list[str] | None:
    named = payload.get("paths")
    return [path for path in named if isinstance(path, str)] if isinstance(named, list) else None


@cache
def fingerprint() -> str:
    """Names what the code map's rows depend on besides the code: our version and the query files."""
    code = hashlib.blake2b(b"%d" % _VERSION, digest_size=16)
    for file in sorted((Path(__file__).parent / "grammar").glob("*.scm")):
        code.update(file.name.encode() + b"\0" + file.read_bytes())
    return code.hexdigest()


@cache
def _pool(size: int, seconds: float) -> ParserPool:
    pool = ParserPool(size, seconds)
    atexit.register(pool.close)
    return pool


def parser_pool(config: CodeConfig) -> ParserPool:
    """The process's parser pool; its processes stay for the next job and end with this process."""
    return _pool(config.parsers, config.parse_seconds)
