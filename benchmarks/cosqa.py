"""CoSQA: which function answers what people type into a search box."""

from __future__ import annotations

import contextlib
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.conversations import Floor, percent, read_lines

FIRST: Final = 10
"""Functions of an answer."""

Question = Mapping[str, Any]


def run(data: Path | None, n: int | None) -> dict[str, Any]:
    """The first ``n`` questions (all unless given) of ``data/queries_dev.jsonl`` over ``data/codes.jsonl``.

    Every function is a file of one checkout, which the product syncs, indexes and searches by itself. In percent: the
    mean reciprocal rank among the first ten hits (0 further down) and how often the function is among them; both also
    over the second half of the questions, of which nothing was tuned (``rest_``). The floor is plain full text.
    """
    if data is None:
        raise SystemExit("cosqa needs --data FOLDER with codes.jsonl and queries_dev.jsonl")
    codes = {str(one["id"]): str(one["code"]) for one in read_lines(data / "codes.jsonl")}
    questions = read_lines(data / "queries_dev.jsonl")[:n]
    plain = Floor([(id, "", code) for id, code in codes.items()])
    with checked_in(codes) as find:
        results = _measure(questions, find)
    return {
        "results": results,
        "floor": _measure(questions, lambda question: plain.search(question)[:FIRST]),
        "n": len(questions),
    }


@contextlib.contextmanager
def checked_in(codes: Mapping[str, str]) -> Iterator[Callable[[str], list[str]]]:
    """A store that holds the functions; gives the ids of those that a question finds, best first."""
    with (
        tempfile.TemporaryDirectory(prefix="flywheel-cosqa-") as folder,
        opened(Path(folder).resolve(), codes) as (searcher, project),
    ):
        _wait_for_model(searcher, project)

        def find(question: str) -> list[str]:
            answer = searcher.search(query=question, projects=[project], kinds=("symbol",), limit=FIRST)
            unwanted = [note for note in answer.notes if "full text only" in note]
            if unwanted:
                raise RuntimeError(unwanted[0])
            return list(dict.fromkeys(Path(hit.path).name.partition(".")[0] for hit in answer.hits))

        yield find


@contextlib.contextmanager
def opened(work: Path, codes: Mapping[str, str]) -> Iterator[tuple[Any, Any]]:
    """The searcher and the project of a checkout with these functions, synced and indexed below ``work``."""
    from flywheel import app
    from flywheel.codemap.worker import enqueue_sync
    from flywheel.config import Config, locate
    from flywheel.projects.queries import resolve

    home, checkout = work / "home", work / "code"
    if not checkout.is_dir():
        checkout.mkdir()
        for id, code in codes.items():
            (checkout / f"{id}.py").write_text(code + "\n", encoding="utf-8")
    parts = app.open_parts(Config(), locate({"FLYWHEEL_HOME": str(home)}, home), {}, home)
    project = resolve(parts.db, str(checkout), app.wall_clock()).id
    with parts.db.write() as tx:
        enqueue_sync(tx, checkout=str(checkout), project_id=project, now=app.wall_clock())
    start = time.monotonic()
    app.settle_all(parts)
    with parts.db.read() as tx:
        ((symbols,),) = tx.all("SELECT count(*) FROM symbol")
        ((vectors,),) = tx.all("SELECT count(*) FROM embedding WHERE kind = 'symbol'")
    print(f"{symbols} symbols, {vectors} vectors in {time.monotonic() - start:.0f} s", file=sys.stderr)
    readers = app.open_readers(parts)
    yield readers.searcher, project
    readers.close()
    parts.close()


def _wait_for_model(searcher: Any, project: Any) -> None:
    for _ in range(600):
        notes = searcher.search(query="start", projects=[project], kinds=("symbol",)).notes
        if not any("starting" in note for note in notes):
            return
        time.sleep(0.1)


def _measure(questions: Sequence[Question], find: Callable[[str], list[str]]) -> dict[str, float]:
    ranks = []
    for one in questions:
        found = find(one["query"])[:FIRST]
        gold = str(one["gold"])
        ranks.append(found.index(gold) + 1 if gold in found else 0)
    rest = ranks[len(ranks) // 2 :]
    return {
        "mrr": percent([1 / rank if rank else 0.0 for rank in ranks]),
        "recall_at_10": percent([float(rank > 0) for rank in ranks]),
        "rest_mrr": percent([1 / rank if rank else 0.0 for rank in rest]),
        "rest_recall_at_10": percent([float(rank > 0) for rank in rest]),
    }
