"""Issues of Django: which files have to change, asked of the release before, with nothing but the issue's text."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from benchmarks.conversations import Floor, percent
from benchmarks.topology import RELEASES, _release

FIRST: Final = 10
CUTS: Final = (1, 5, 10)

Issue = Mapping[str, Any]
Find = Callable[[str], list[str]]


def run(data: Path | None, n: int | None) -> dict[str, Any]:
    """The first ``n`` issues (all unless given) of ``data/instances.jsonl``; recall of the files at 1, 5 and 10, in %.

    Every release is synced and indexed by the product and asked through its verb ``code(files=True)``; wheels come from
    PyPI and are kept in the system's temporary folder. The settings were chosen on every other issue, from the first
    on (``even_``); on the rest (``odd_``) nothing was. The floor is full text over whole files (FTS5, stemmed).
    """
    if data is None:
        raise SystemExit("swe_loc needs --data FOLDER with instances.jsonl")
    issues = [json.loads(line) for line in (data / "instances.jsonl").read_text("utf-8").splitlines()][:n]
    by_version: dict[str, list[tuple[int, Issue]]] = defaultdict(list)
    for number, issue in enumerate(issues):
        by_version[issue["version"]].append((number, issue))
    ours: dict[int, list[float]] = {}
    plain: dict[int, list[float]] = {}
    took: list[float] = []
    for version, some in sorted(by_version.items()):
        tree = _release(RELEASES[RELEASES.index(version) - 1])
        floor = Floor([(str(path.relative_to(tree)), "", path.read_text("utf-8", "replace")) for path in _code(tree)])
        with _indexed(tree) as find:
            for number, issue in some:
                start = time.perf_counter()
                found = find(issue["problem_statement"])
                took.append(time.perf_counter() - start)
                ours[number] = _recalls(found, issue["gold_files"])
                plain[number] = _recalls(floor.search(issue["problem_statement"])[:FIRST], issue["gold_files"])
        print(f"{version}: {len(some)} issues, so far {_shares(ours)}", file=sys.stderr, flush=True)
    halves = {f"{name}_": {k: v for k, v in ours.items() if k % 2 == at} for at, name in enumerate(("even", "odd"))}
    results = _shares(ours)
    for name, half in halves.items():
        results |= _shares(half, name) if half else {}
    results["ask_ms"] = round(sorted(took)[len(took) // 2] * 1000, 1)
    return {"results": results, "floor": _shares(plain), "n": len(issues)}


def _recalls(found: Sequence[str], gold: Sequence[str]) -> list[float]:
    return [len(set(found[:cut]) & set(gold)) / len(gold) for cut in CUTS]


def _shares(recalls: Mapping[int, Sequence[float]], prefix: str = "") -> dict[str, float]:
    return {f"{prefix}file_at_{cut}": percent([found[at] for found in recalls.values()]) for at, cut in enumerate(CUTS)}


def _code(tree: Path) -> list[Path]:
    return sorted(path for path in tree.rglob("*.py") if path.is_file())


@contextmanager
def _indexed(tree: Path) -> Iterator[Find]:
    """The tree in a fresh store, synced and indexed; without embeddings, which this answer does not use."""
    from flywheel import app
    from flywheel.codemap.worker import enqueue_sync
    from flywheel.config import Config, EmbedConfig, locate
    from flywheel.projects.queries import resolve

    with tempfile.TemporaryDirectory(prefix="flywheel-swe-") as folder:
        home = Path(folder).resolve() / "home"
        config = Config(embed=EmbedConfig(model="none", code="none"))
        parts = app.open_parts(config, locate({"FLYWHEEL_HOME": str(home)}, home), {}, home)
        project = resolve(parts.db, str(tree), app.wall_clock()).id
        with parts.db.write() as tx:
            enqueue_sync(tx, checkout=str(tree), project_id=project, now=app.wall_clock())
        app.settle_all(parts)
        house = app.App(parts)
        try:
            yield lambda text: [
                one.path for one in house.code(query=text, files=True, cwd=str(tree), limit=FIRST).files
            ]
        finally:
            house.close()
            parts.close()
