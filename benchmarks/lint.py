"""Linting a project of many pages, its tree rendered and in order. Floor: reading its pages and hashing them.

Every page has two claims of a conversation and an edge to another page, as in `benchmarks.render`.
"""

from __future__ import annotations

import hashlib
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from benchmarks.render import deps_of, memory, plant, render_due, tree_of
from flywheel.knowledge.linting.keeping import ALL
from flywheel.store.connect import connect
from flywheel.tree import record
from flywheel.tree.linting import worker

ENTRIES: Final = 10_000
"""Pages."""


def run(data: Path | None, n: int | None) -> dict[str, Any]:
    """Render ``n`` pages (`ENTRIES` unless given), then look at all of them.

    ``seconds`` of a lint and how many of them it computed (``cpu_seconds``), ``peak_mb`` (10^6 bytes of resident memory
    that it added) and how much it found.
    """
    count = n or ENTRIES
    with tempfile.TemporaryDirectory(prefix="flywheel-lint-", dir=data) as folder:
        db = connect("sqlite", Path(folder))
        plant(db, random.Random(7), count)
        deps = deps_of(db, Path(folder))
        tree = tree_of(db, deps)
        render_due(tree, deps, record.ALL, [""])
        print(f"{count} pages rendered", file=sys.stderr)
        before, began, used = memory(), time.perf_counter(), time.process_time()
        found = worker.lint(tree, deps, sort=ALL, began=db.clock())
        seconds, cpu, peak = time.perf_counter() - began, time.process_time() - used, memory() - before
        floor = _floor(tree.root / "wiki")
        db.close()
    return {
        "results": {
            "seconds": round(seconds, 2),
            "cpu_seconds": round(cpu, 2),
            "peak_mb": round(peak, 1),
            "found": dict(found),
        },
        "floor": {"seconds": round(floor, 2)},
        "n": count,
    }


def _floor(folder: Path) -> float:
    """Seconds to read every page and hash it."""
    began = time.perf_counter()
    for path in folder.rglob("*.md"):
        hashlib.sha256(path.read_bytes()).hexdigest()
    return time.perf_counter() - began
