"""How far everything is: one read of the store's counts, and what needs a person."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from flywheel.api import Status
from flywheel.app import catching_up
from flywheel.app.modelling import describe_llm
from flywheel.app.models import describe
from flywheel.app.parts import Parts, wall_clock
from flywheel.codemap.queries import states
from flywheel.harvest.refused import rejections
from flywheel.jobs import queue
from flywheel.model import FileState, Micros
from flywheel.store import Tx

COUNTED: Mapping[str, str] = {
    "projects": "SELECT count(*) FROM project WHERE id <> 'global' AND alias_of IS NULL",
    "sessions": "SELECT count(*) FROM session",
    "messages": "SELECT count(*) FROM message",
    "entries": "SELECT count(*) FROM entry WHERE status <> 'candidate'",
    "candidates": "SELECT count(*) FROM entry WHERE status = 'candidate'",
    "symbols": "SELECT count(*) FROM symbol",
}

_WRONG: Final = (
    "SELECT p.id, p.name, COUNT(*) FROM lint_finding f JOIN project p ON p.id = f.project_id WHERE f.severity = 'error'"
    " GROUP BY p.id, p.name ORDER BY p.name, p.id LIMIT 5"
)

LEAST_FREE: Final = 8 << 20
"""Bytes below which a disk counts as full."""


def make_status(
    parts: Parts,
    *,
    version: str,
    pid: int,
    started_at: Micros,
    behind: Mapping[str, int],
    workers: Sequence[Mapping[str, object]],
    hooks: Sequence[str],
) -> Status:
    """The daemon's account of itself."""
    now = parts.db.clock()
    with parts.db.read() as tx:
        files, lines, bad, unknown = _files(tx)
        rows = {name: int(tx.all(sql)[0][0]) for name, sql in COUNTED.items()}
        jobs = queue.counts(tx)
        code = states(tx)
        refused = rejections(tx)
        wrong = tx.all(_WRONG)
        model, stuck = describe_llm(tx, parts, now)
        history = catching_up.progress(tx, wall_clock(), parts.config.behaviour.decay)
        failed = tx.all("SELECT path, error FROM transcript_file WHERE state = 'failed' ORDER BY path LIMIT 5")
    embedder = f"{describe(parts)}; of code {parts.code_model()[1]}"
    problems = [*parts.db.notices, *_disk(parts.data), *hooks]
    problems += stuck
    problems += [f"transcript {path} was not read: {error}" for path, error in failed]
    problems += [f"lint found errors in {name} ({n}); see: flywheel lint --project {id}" for id, name, n in wrong]
    if jobs.get("dead"):
        problems.append(f"{jobs['dead']} jobs are dead; see: flywheel jobs list --state dead, then: jobs retry all")
    return Status(
        version=version,
        pid=pid,
        store=parts.db.describe(),
        started_at=started_at,
        files=files,
        lines=lines,
        bad_lines=bad,
        unknown=unknown,
        rows=rows,
        jobs=jobs,
        behind=behind,
        workers=workers,
        embedder=embedder,
        code=code,
        llm=model,
        history=history,
        refused=dict(sorted(refused.items(), key=lambda pair: -pair[1])),
        problems=problems,
    )


def _disk(data: Path) -> list[str]:
    """What to do when the data folder's disk is as good as full."""
    left = shutil.disk_usage(data).free
    if left >= LEAST_FREE:
        return []
    return [f"{left >> 20} MB are left on the disk of {data}: nothing more is kept until some space is freed"]


def _files(tx: Tx) -> tuple[dict[str, int], int, int, dict[str, int]]:
    """Files by state (``seen`` is all of them), lines, bad lines, and unknown record kinds, the most frequent first."""
    import orjson

    states = {state.value: 0 for state in FileState}
    lines = bad = 0
    for state, count, some, wrong in tx.all(
        "SELECT state, count(*), SUM(lines), SUM(bad_lines) FROM transcript_file GROUP BY state"
    ):
        states[state] = int(count)
        lines, bad = lines + int(some), bad + int(wrong)
    waiting = states.pop("seen")
    found = {"seen": waiting + sum(states.values()), **states}
    unknown: dict[str, int] = {}
    for (text,) in tx.all("SELECT unknown FROM transcript_file WHERE unknown <> '{}'"):
        for kind, count in orjson.loads(text).items():
            unknown[kind] = unknown.get(kind, 0) + int(count)
    return found, lines, bad, dict(sorted(unknown.items(), key=lambda pair: -pair[1]))
