"""Importing transcripts, all in: reading, redaction, the store, the jobs that follow, and the indexes that keep up.

Two processes, as in the daemon: one runs the harvest jobs, one follows the change feed into the text and vector
indexes. The clock starts when both are up and stops when both indexes have seen the last change. Floor: reading the
same files and parsing each line with orjson, alone.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import orjson

from benchmarks.transcripts import paths_of, write_corpus

LINES: Final = 40_000
"""Lines of the bar: about 140 MB."""

_MB: Final = 1e6


def run(data: Path | None, n: int | None) -> dict[str, Any]:
    """Import ``n`` generated lines (`LINES` unless given), or the transcripts below ``data``, into a fresh store.

    ``mb_per_s`` (10^6 bytes of transcript), ``ratio`` (time over the floor's), ``peak_mb`` (10^6 bytes, peak resident
    memory of both processes added), ``harvest_mb_per_s`` (until the last file was read), ``rows_per_s``.
    """
    with tempfile.TemporaryDirectory(prefix="flywheel-ingest-") as folder:
        work = Path(folder)
        root = data or work / "projects"
        if data is None:
            corpus = write_corpus(root, _checkouts(work), n or LINES)
            shape = f"text {corpus.message_share:.1%}, tool output {corpus.output_share:.1%} of it"
            print(
                f"{corpus.bytes / _MB:.0f} MB, {corpus.bytes / corpus.lines:.0f} bytes a line, {shape}", file=sys.stderr
            )
        size = sum(path.stat().st_size for path in paths_of(root)) / _MB
        lines, floor = _floor(root)
        measured = _import(root, work / "home")
    seconds = measured["seconds"]
    return {
        "results": {
            "mb_per_s": round(size / seconds, 2),
            "ratio": round(seconds / floor, 2),
            "peak_mb": round(measured["peak"] / _MB, 1),
            "harvest_mb_per_s": round(size / measured["harvest_seconds"], 2),
            "rows_per_s": round(measured["rows"] / seconds),
        },
        "floor": {"mb_per_s": round(size / floor, 2)},
        "n": lines,
    }


def _checkouts(work: Path) -> list[str]:
    """Folders that the sessions were held in."""
    folders = [work / "code" / name for name in ("harbour", "tides", "lighthouse", "ferry")]
    for folder in folders:
        folder.mkdir(parents=True)
    return [str(folder) for folder in folders]


def _floor(root: Path) -> tuple[int, float]:
    """How many lines there are, and the seconds to read and parse them, the better of two."""
    best, lines = float("inf"), 0
    for _ in range(2):
        lines, began = 0, time.perf_counter()
        for path in paths_of(root):
            for line in path.read_bytes().split(b"\n"):
                if line:
                    orjson.loads(line)
                    lines += 1
        best = min(best, time.perf_counter() - began)
    return lines, best


def _import(root: Path, home: Path) -> dict[str, float]:
    """Enqueue everything below ``root``, run both processes to the end, and measure."""
    from flywheel import app
    from flywheel.harvest.discover import locate, sweep

    parts = _parts(home)
    sweep(parts.db, locate(str(root)), app.wall_clock())
    with _Child("index", home) as index, _Child("harvest", home) as harvest:
        began = time.perf_counter()
        harvest.tell("go")
        index.tell("go")
        harvested = harvest.hear()
        harvest_seconds = time.perf_counter() - began
        index.tell("finish")
        indexed = index.hear()
        seconds = time.perf_counter() - began
    with parts.db.read() as tx:
        (rows,) = tx.one("SELECT COUNT(*) FROM message") or (0,)
        dead = tx.all("SELECT key, error FROM job WHERE state = 'dead' OR error <> ''")
    parts.close()
    if dead:
        raise RuntimeError(f"jobs failed: {dead[:3]}")
    for name, told in (("harvest", harvested), ("index", indexed)):
        print(f"{name}: peak {told['peak'] / _MB:.0f} MB, {told['cpu']:.1f} s of processor", file=sys.stderr)
    peak = harvested["peak"] + indexed["peak"]
    return {"seconds": seconds, "harvest_seconds": harvest_seconds, "peak": peak, "rows": rows}


class _Child:
    """One of the two processes: waits for words on its input, answers one JSON object a word."""

    def __init__(self, lane: str, home: Path) -> None:
        command = [sys.executable, "-m", "benchmarks.ingest", lane, str(home)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.hear()  # that it is up

    def __enter__(self) -> _Child:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def tell(self, word: str) -> None:
        """Say one word."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{word}\n")
        self._process.stdin.flush()

    def hear(self) -> dict[str, float]:
        """Its next answer."""
        assert self._process.stdout is not None
        answer: dict[str, float] = orjson.loads(self._process.stdout.readline())
        return answer


def _parts(home: Path) -> Any:
    from flywheel import app
    from flywheel.config import Config, locate

    return app.open_parts(Config(), locate({"FLYWHEEL_HOME": str(home)}, home), {}, home)


def _answer(**extra: float) -> None:
    """Memory and processor time so far, on standard output."""
    import resource

    usage = resource.getrusage(resource.RUSAGE_SELF)
    status = Path("/proc/self/status").read_text()  # the resource module's figure counts the parent's memory, too
    peak = next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM"))
    facts = {"peak": peak, "cpu": usage.ru_utime + usage.ru_stime, **extra}
    print(orjson.dumps(facts).decode(), flush=True)


def harvest_lane(home: Path) -> None:
    """Run every harvest job."""
    from flywheel import app
    from flywheel.harvest.worker import KIND
    from flywheel.jobs import queue
    from flywheel.jobs.worker import run_one

    parts = _parts(home)
    deps = parts.deps(lambda: False, lambda doing: None)
    _answer()
    sys.stdin.readline()
    handler = app.handler_of(KIND, parts)
    while job := queue.claim(parts.db, kinds=[KIND], owner="benchmark", lease=600.0):
        run_one(job, handler, deps)
    _answer()
    sys.stdin.readline()


def index_lane(home: Path) -> None:
    """Follow the change feed until told to finish and nothing is left."""
    import threading

    from flywheel import app

    parts = _parts(home)
    indexer = app.Indexer(parts, pace=app.PACE)
    _answer()
    sys.stdin.readline()
    finish = threading.Event()

    def listen() -> None:
        sys.stdin.readline()
        finish.set()

    threading.Thread(target=listen, daemon=True).start()
    while not _caught_up(parts, indexer, finish.is_set()):
        parts.db.wait(0.05)
    _answer()
    threading.Event().wait()


def _caught_up(parts: Any, indexer: Any, finishing: bool) -> bool:
    """One step; whether everything is indexed and nothing more comes."""
    while indexer.step():
        pass
    head = parts.db.head()
    return finishing and all(follower.watermark()[1] >= head for follower in indexer.followers)


if __name__ == "__main__":
    {"harvest": harvest_lane, "index": index_lane}[sys.argv[1]](Path(sys.argv[2]))
