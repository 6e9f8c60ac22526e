"""Finding definitions in a project of a million: real ones of installed packages, many times over."""

from __future__ import annotations

import random
import re
import statistics
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from benchmarks.rename import _copy
from benchmarks.transcripts import vocabulary
from flywheel.model import Kind, ProjectId, SourceFile, Symbol, evidence_id
from flywheel.store import Db
from flywheel.store.mapper import find, insert_many
from flywheel.text.compose import reworded

SYMBOLS: Final = 1_000_000
ASKED: Final = 300
"""Questions of each sort."""

ROWS: Final = 2000
"""Symbols of one transaction."""

_PLAIN: Final = re.compile(r"[a-z]{4,}")


def run(data: Path | None, n: int | None) -> dict[str, Any]:
    """``n`` symbols in one project, copies of those of the packages in ``data`` (the installed ones when None).

    Each copy has a word of its own in its names. ``p95_ms`` is over all questions, through the verb ``code`` in
    process: an exact name, the end of a qualified one, words of documentation (full text; the project has no vectors).
    ``cpu_``: processor time of the same questions, which other work on the machine does not lengthen.
    ``index_s`` and ``store_s`` are what writing them took. Floor: reading one row by its id, in the same run.
    """
    from flywheel import app
    from flywheel.config import Config, EmbedConfig, locate

    count = n or SYMBOLS
    with tempfile.TemporaryDirectory(prefix="flywheel-symbols-") as temporary:
        base = Path(temporary).resolve()
        _copy(data or Path(sysconfig.get_paths()["purelib"]), base / "code")
        home = base / "home"
        config = Config(embed=EmbedConfig(model="none", code="none"))
        parts = app.open_parts(config, locate({"FLYWHEEL_HOME": str(home)}, home), {}, home)
        project, found, store_s, index_s = _fill(parts, base / "code", count)
        size = sum(file.stat().st_size for file in home.rglob("*") if file.is_file())
        house = app.App(parts)
        took, floor = _ask(house, parts.db, found, project)
        house.close()
        parts.close()
    results: dict[str, float] = {}
    every = [one for sort, some in took.items() if sort != "cpu" for one in some]
    for sort, times in {**took, "": every}.items():
        name = f"{sort}_" if sort else ""
        results[f"{name}p50_ms"] = round(statistics.median(times), 2)
        results[f"{name}p95_ms"] = round(statistics.quantiles(times, n=20)[-1], 2)
    results |= {"store_s": round(store_s), "index_s": round(index_s), "bytes_per_symbol": round(size / count)}
    return {
        "results": results,
        "floor": {"p95_ms": round(statistics.quantiles(floor, n=20)[-1], 3)},
        "n": {"symbols": count, "questions": len(every)},
    }


def _fill(parts: Any, checkout: Path, count: int) -> tuple[ProjectId, list[Symbol], float, float]:
    """The project, the symbols that are copied, and the seconds that rows and index took."""
    from flywheel.app.indexing import Indexer
    from flywheel.app.work import settle_all
    from flywheel.codemap.worker import enqueue_sync
    from flywheel.projects.queries import resolve

    now = parts.db.clock()
    project = resolve(parts.db, str(checkout), now).id
    with parts.db.write() as tx:
        enqueue_sync(tx, checkout=str(checkout), project_id=project, now=now)
    settle_all(parts)
    with parts.db.read() as tx:
        found = find(tx, Symbol, "ORDER BY path, start_line")
        files = find(tx, SourceFile, "WHERE state = 'indexed'")
    print(f"{len(found)} symbols of {len(files)} files are copied", file=sys.stderr, flush=True)
    start = time.perf_counter()
    made: list[Symbol] = []
    words = vocabulary(random.Random(5), 2000)
    split = [(one, re.split(rf"(?<!\w){re.escape(one.name)}(?!\w)", one.signature)) for one in found]
    for number in range(max(0, count // len(found) - 1)):
        _write(parts.db, _files(files, number), _copies(split, number, words[number]), project)
        made = list(_copies(split[:: max(1, len(found) // 20)], number, words[number])) + made[:2000]
        if number % 10 == 0:
            print(f"{(number + 2) * len(found)} rows, {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    stored = time.perf_counter() - start
    indexer = Indexer(parts)
    while indexer.step():
        pass
    indexer.close()
    return project, [*made, *found], stored, time.perf_counter() - start - stored


def _copies(found: Sequence[tuple[Symbol, list[str]]], number: int, word: str) -> Iterator[Symbol]:
    """Copies with another name; each symbol comes with its signature, split where its name stands."""
    for symbol, parts in found:
        name = f"{symbol.name}_{word}"
        head = symbol.qualified.rpartition(".")[0]
        yield replace(
            symbol,
            id=evidence_id("copy", str(number), symbol.id),
            file_id=evidence_id("copy", str(number), symbol.file_id),
            path=f"{word}/{symbol.path}",
            name=name,
            qualified=f"{head}.{name}".lstrip("."),
            signature=reworded(name.join(parts), symbol.signature),
        )


def _files(files: Sequence[SourceFile], number: int) -> list[SourceFile]:
    return [
        replace(one, id=evidence_id("copy", str(number), one.id), path=f"{number}/{one.path}", checkout=f"/{number}")
        for one in files
    ]


def _write(db: Db, files: Sequence[SourceFile], symbols: Iterator[Symbol], project: ProjectId) -> None:
    with db.write(bulk=True) as tx:
        insert_many(tx, files)
    rows = list(symbols)
    for at in range(0, len(rows), ROWS):
        with db.write(bulk=True) as tx:
            insert_many(tx, rows[at : at + ROWS])
            for row in rows[at : at + ROWS]:
                tx.changed(Kind.SYMBOL, row.id, project)


def _ask(house: Any, db: Db, found: Sequence[Symbol], project: ProjectId) -> tuple[dict[str, list[float]], list[float]]:
    """Milliseconds of each sort of question, and of the floor."""
    rng = random.Random(7)
    told = [symbol for symbol in found if len(_PLAIN.findall(symbol.doc)) >= 5]
    sorts: dict[str, Callable[[], dict[str, str]]] = {
        "name": lambda: {"symbol": rng.choice(found).name},
        "qualified": lambda: {"symbol": ".".join(rng.choice(found).qualified.split(".")[-2:])},
        "words": lambda: {"query": " ".join(rng.sample(_PLAIN.findall(rng.choice(told).doc), 5))},
    }
    house.code(query="warm up the index", project=project)
    took: dict[str, list[float]] = {}
    floor: list[float] = []
    for sort, ask in sorts.items():
        for _ in range(ASKED):
            question = ask()
            start, worked = time.perf_counter(), time.thread_time()
            house.code(**question, project=project)
            took.setdefault("cpu", []).append((time.thread_time() - worked) * 1000)
            took.setdefault(sort, []).append((time.perf_counter() - start) * 1000)
            start = time.perf_counter()
            with db.read() as tx:
                tx.one("SELECT name FROM symbol WHERE id = :id", id=rng.choice(found).id)
            floor.append((time.perf_counter() - start) * 1000)
    return took, floor
