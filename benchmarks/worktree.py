"""A second work tree of a project: seconds, processor time and bytes against the first one's."""

from __future__ import annotations

import shutil
import sysconfig
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from benchmarks.ast import _follower, _indexer, _say
from benchmarks.rename import _python
from flywheel.codemap.pool import ParserPool, cpu_seconds
from flywheel.codemap.worker import sync_checkout
from flywheel.jobs.worker import Deps

FILES: Final = 2000
CHANGED: Final = 50
"""Every so manieth file has a definition more in the second tree."""


def run(data: Path | None, n: int | None) -> dict[str, Any]:
    """Two trees of ``n`` Python files of the packages in ``data`` (the installed ones when None), a fiftieth different.

    ``second_s`` and ``second_work_s``: seconds, and processor seconds of all processes, until rows and full text of the
    second tree are in; the floor is the same of the first. ``store_mb`` and ``text_mb`` are what each tree adds.
    """
    with tempfile.TemporaryDirectory(prefix="flywheel-worktree-") as temporary:
        base = Path(temporary).resolve()
        count = _trees(data or Path(sysconfig.get_paths()["purelib"]), base, n or FILES)
        told = []
        with _indexer(base / "data") as (deps, pool, project):
            for name in ("first", "second"):
                before = _bytes(deps.data)
                began, start = _work(pool), time.perf_counter()
                with _follower(deps.data) as text:
                    report = sync_checkout(str(base / name), project, deps, pool)
                    work = text.finish() + _work(pool) - began
                took = time.perf_counter() - start
                deps.db.scrub()  # empties the write-ahead log
                grown = [(after - was) / 1e6 for was, after in zip(before, _bytes(deps.data), strict=True)]
                told.append((took, work, *grown, report.copied, _rows(deps, base / name)))
                _say(f"{name}: {took:.1f} s, {work:.1f} s of work, {report.copied} files copied, MB {grown}")
    first, second = told
    return {
        "results": {
            "second_s": round(second[0], 2), "second_work_s": round(second[1], 2),
            "time_ratio": round(second[0] / first[0], 3), "work_ratio": round(second[1] / first[1], 3),
            "store_mb": [round(first[2], 1), round(second[2], 1)], "text_mb": [round(first[3], 1), round(second[3], 1)],
            "copied": second[4], "symbols": [first[5], second[5]],
        },
        "floor": {"first_s": round(first[0], 2), "first_work_s": round(first[1], 2)},
        "n": count,
    }  # fmt: skip


def _trees(packages: Path, base: Path, wanted: int) -> int:
    """Two copies of the files; how many."""
    found = [file for package in sorted(packages.iterdir()) if package.is_dir() for file in sorted(_python(package))]
    for number, file in enumerate(found[:wanted]):
        for name in ("first", "second"):
            copy = base / name / file.relative_to(packages)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
        if number % CHANGED == 0:
            with copy.open("a") as end:
                end.write(f"\n\ndef otter_number_{number}():\n    return {number}\n")
    return len(found[:wanted])


def _work(pool: ParserPool) -> float:
    return time.process_time() + sum(cpu_seconds(pid) or 0.0 for pid in pool.pids())


def _bytes(data: Path) -> tuple[int, int]:
    """Of the store and of the text index."""
    text = sum(file.stat().st_size for file in (data / "text").rglob("*") if file.is_file())
    return sum(file.stat().st_size for file in data.glob("*.db*")), text


def _rows(deps: Deps, root: Path) -> int:
    sql = "SELECT COUNT(*) FROM symbol WHERE file_id IN (SELECT id FROM source_file WHERE checkout = :root)"
    with deps.db.read() as tx:
        row = tx.one(sql, root=str(root))
    return int(row[0]) if row else 0
