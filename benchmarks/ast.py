"""The code index: a cold sync of a whole tree against parsing alone on one core, and one changed file."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

from flywheel.app.indexing import PACE
from flywheel.codemap.languages import language_of, load
from flywheel.codemap.pool import ParserPool, cpu_seconds
from flywheel.codemap.worker import sync_checkout
from flywheel.config import Config
from flywheel.index.follow import step
from flywheel.index.pacing import Pace
from flywheel.index.text import TextFollower
from flywheel.jobs.worker import Deps
from flywheel.model import Micros, Project, ProjectId, SourceFile
from flywheel.store import mapper
from flywheel.store.connect import connect
from flywheel.text.redact import Redactor

ROUNDS: Final = 3
EDITS: Final = 25
LISTEN: Final = 0.05
"""Seconds between two looks at a feed that brings nothing."""


def run(data: Path | None, n: int | None) -> dict[str, Any]:
    """Index ``data`` (CPython's own ``Lib`` when None), at most ``n`` files of it; the results' unit is in their names.

    ``ratio`` is the time until rows and full text are all in over the floor: tree-sitter alone parsing the same files
    one after the other in the same run. The full text is written by a process of its own beside the sync, as in the
    product; ``rows_ratio`` is until the rows are in, ``text_s`` how much later the full text is. ``work_ratio``: the
    processor time of all processes over the floor's; half of it is what two cores could reach, and other work on the
    machine does not lengthen it. ``incremental_ms`` is one changed file, from the start of its sync to its committed
    rows.
    """
    ratios, floors, colds, edits, texts, works, shares = [], [], [], [], [], [], []
    with tempfile.TemporaryDirectory(prefix="flywheel-ast-") as temporary:
        base = Path(temporary).resolve()
        files = _copy(data or Path(sysconfig.get_paths()["stdlib"]), base / "checkout", n)
        ctags = _ctags(base / "checkout")
        _say(f"{len(files)} files, {sum(file.stat().st_size for file in files) / 1e6:.1f} MB")
        for number in range(ROUNDS):
            with _indexer(base / f"data{number}") as (deps, pool, project), _follower(deps.data) as text:
                start, began = time.perf_counter(), time.process_time()
                report = sync_checkout(str(base / "checkout"), project, deps, pool)
                colds.append(time.perf_counter() - start)
                followed = text.finish()
                texts.append(time.perf_counter() - start - colds[-1])
                parsed = sum(cpu_seconds(pid) or 0.0 for pid in pool.pids())
                rows = time.process_time() - began
                with deps.db.read() as tx:
                    indexed = mapper.find(tx, SourceFile, "WHERE state = 'indexed'")
                began = time.process_time()
                floors.append(_parse_only([base / "checkout" / row.path for row in indexed]))
                floor = time.process_time() - began
                shares.append((parsed / floor, rows / floor, followed / floor))
                works.append(sum(shares[-1]))
                ratios.append((colds[-1] + texts[-1]) / floors[-1])
                told = f"cold {colds[-1]:.2f} s, full text {texts[-1]:.2f} s later, parsing alone {floors[-1]:.2f} s"
                _say(f"{told}, {report.symbols} symbols, work {works[-1]:.2f} of parsing alone")
                edits += _edit(base / "checkout", [row.path for row in indexed], deps, pool, project)
    return {
        "results": {
            "ratio": round(statistics.median(ratios), 3),
            "rows_ratio": round(statistics.median(cold / floor for cold, floor in zip(colds, floors, strict=True)), 3),
            "work_ratio": round(statistics.median(works), 3),
            **{
                f"work_{name}": round(statistics.median(some), 3)
                for name, some in zip(("parsers", "rows", "text"), zip(*shares, strict=True), strict=True)
            },
            "text_s": round(statistics.median(texts), 3),
            "incremental_ms": round(statistics.median(edits), 2),
            "incremental_p95_ms": round(statistics.quantiles(edits, n=20)[-1], 2),
            "cold_s": round(statistics.median(colds), 3),
        },
        "floor": {"parse_s": round(statistics.median(floors), 3), "ctags_s": ctags},
        "n": len(files),
    }


def _copy(source: Path, target: Path, n: int | None) -> Sequence[Path]:
    """The source files below ``source`` without installed packages, as a checkout of their own."""
    found = sorted(
        path for path in source.rglob("*")
        if language_of(path.name) and path.is_file() and "site-packages" not in path.relative_to(source).parts
    )  # fmt: skip
    chosen = found[:: max(1, len(found) // n)][:n] if n else found
    copies = []
    for path in chosen:
        copy = target / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
        copies.append(copy)
    return copies


@contextmanager
def _indexer(data: Path) -> Iterator[tuple[Deps, ParserPool, Any]]:
    """A fresh store, fresh parser processes, and a project."""
    data.mkdir(mode=0o700)
    config = Config()
    db = connect("", data)
    pool = ParserPool(config.code.parsers, config.code.parse_seconds)
    redact = Redactor()
    project = Project(
        id=ProjectId("bench"), key=redact.text("path:bench"), name=redact.text("bench"), root=redact.text(""),
        created_at=_now(),
    )  # fmt: skip
    try:
        with db.write() as tx:
            mapper.insert(tx, project)
        yield (
            Deps(db=db, config=config, data=data, redact=redact, now=_now, stopping=lambda: False, beat=lambda _: None),
            pool,
            project.id,
        )
    finally:
        pool.close()
        db.close()


class _Following:
    """The text index's own process."""

    def __init__(self, data: Path) -> None:
        spawn = multiprocessing.get_context("spawn")
        self._ours, theirs = spawn.Pipe()
        self.process = spawn.Process(target=_follow, args=(data, theirs), daemon=True)
        self.process.start()
        self._ours.recv()

    def finish(self) -> float:
        """Wait until everything that is in the store now is findable; the processor seconds that it all took."""
        self._ours.send(None)
        return float(self._ours.recv())


@contextmanager
def _follower(data: Path) -> Iterator[_Following]:
    following = _Following(data)
    try:
        yield following
    finally:
        following.process.kill()
        following.process.join()


def _follow(data: Path, told: Connection) -> None:
    """Follow the change feed at the product's pace, looking where the product is woken; once told, until it is up."""
    db, config = connect("", data), Config().index
    follower = TextFollower(data / "text", heap=config.heap_mb << 20, tool_chars=config.tool_chars)
    told.send(None)
    began = time.process_time()
    pace, idle = Pace(db, follower, PACE), 0.0
    while not told.poll(max(idle, left := pace.left(time.monotonic()))):
        now, idle = time.monotonic(), 0.0
        if left == 0:
            done = step(db, follower)
            if done:
                pace.worked(now)
            idle = 0.0 if done else LISTEN
    while step(db, follower):
        pass
    follower.close()
    told.send(time.process_time() - began)
    db.close()


def _ctags(root: Path) -> float | None:
    """Seconds of ``ctags -R``; None where there is no such program."""
    if shutil.which("ctags") is None:
        return None
    start = time.perf_counter()
    subprocess.run(("ctags", "-R", "-f", os.devnull, str(root)), check=True, stdin=subprocess.DEVNULL)
    return round(time.perf_counter() - start, 3)


def _parse_only(files: Sequence[Path]) -> float:
    """Seconds that tree-sitter takes for these files, read beforehand, in this thread."""
    sources: Mapping[Path, bytes] = {file: file.read_bytes() for file in files}
    parsers = {name: load(name)[0] for name in {language_of(file.name) for file in files}}
    start = time.perf_counter()
    for file, source in sources.items():
        parsers[language_of(file.name)].parse(source)
    return time.perf_counter() - start


def _edit(root: Path, paths: Sequence[str], deps: Deps, pool: ParserPool, project: Any) -> list[float]:
    """Milliseconds of syncs, each after one file got one line more."""
    took = []
    chosen = paths[:: max(1, len(paths) // EDITS)][:EDITS]
    for number, path in enumerate(chosen):
        with (root / path).open("ab") as file:
            file.write(b"\ndef flywheel_added_%d(): return 1\n" % number if path.endswith(".py") else b"\n\n")
        start = time.perf_counter()
        sync_checkout(str(root), project, deps, pool, [path])
        took.append((time.perf_counter() - start) * 1000)
    return took


def _now() -> Micros:
    return Micros(time.time_ns() // 1000)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
