"""The neighbourhood of files: does it hold the one that has to change? PageRank over uses and imports, over imports
alone, and import distance."""

from __future__ import annotations

import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.ast import _indexer
from flywheel.codemap.charting import imports_of, web_of
from flywheel.codemap.rows import Place
from flywheel.codemap.topology import Web, neighbourhood, pairs_of, steps_from, weave
from flywheel.codemap.weighing import weigh
from flywheel.codemap.worker import sync_checkout
from flywheel.store import Tx

CUTS: Final = (5, 10, 20)

RELEASES: Final = ("2.2", "3.0", "3.1", "3.2", "4.0", "4.1", "4.2", "5.0")
"""Of Django: the issues of a version are asked of the release before it."""

TOGETHER: Final = range(2, 9)
"""Files of a commit that say which belong together; one that touches more is a rename or a reformatting."""

_IDENTIFIER: Final = re.compile(r"\b[A-Za-z_]\w{4,}\b")
_TELLING: Final = re.compile(r"_|[a-z][A-Z]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Files that one begins with, and one that belongs to them."""

    seeds: frozenset[str]
    gold: str
    told: bool = True  # the issue names it, too; one begins without it all the same


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """What is known of one tree."""

    web: Web  # as the product keeps it: imports and uses
    imports: Web
    files: frozenset[str]
    unique: Mapping[str, str]  # name of a definition that only one file has → the file


def run(data: Path | None, n: int | None) -> dict[str, Any]:
    """Hit rates at 5, 10 and 20 in per cent, and milliseconds of one ranking.

    ``results`` are the product's; those called ``imports``, of PageRank over imports alone; ``floor``: import distance.

    ``data`` with an ``instances.jsonl``: issues of Django with the one file that fixed them, over the release before
    (from PyPI, kept in the system's temporary folder). One begins with the files that the issue names, without the one
    that fixed it; ``untold``: of issues that do not name that one. ``data`` with a ``.git``: commits; one begins with
    one file of a commit and looks for each other one. At most ``n`` cases.
    """
    if data is None:
        raise SystemExit("topology needs --data: a folder with instances.jsonl, or a git checkout")
    found = _issues(data / "instances.jsonl") if (data / "instances.jsonl").is_file() else _commits(data)
    cases = [(index, case) for index, some in found for case in some][:n]
    walk, alone, plain = (defaultdict[tuple[int, str], int](int) for _ in range(3))
    untold = sum(not case.told for _, case in cases)
    took = []
    for index, case in cases:
        start = time.thread_time()
        ranked = [near.path for near in neighbourhood(index.web, case.seeds, most=CUTS[-1])]
        took.append((time.thread_time() - start) * 1000)
        over = [near.path for near in neighbourhood(index.imports, case.seeds, most=CUTS[-1])]
        near = by_distance(index.imports, case.seeds)
        for cut in CUTS:
            for hits, order in ((walk, ranked), (alone, over), (plain, near)):
                hits[cut, "at"] += case.gold in order[:cut]
                hits[cut, "untold_at"] += not case.told and case.gold in order[:cut]
    counts = {"at": len(cases), "untold_at": untold}
    return {
        "results": {
            **_shares(walk, counts),
            **{f"imports_{name}": share for name, share in _shares(alone, counts).items()},
            "rank_ms": round(statistics.median(took), 2) if took else None,
        },
        "floor": _shares(plain, counts),
        "n": {"all": len(cases), "untold": untold},
    }


def _shares(hits: Mapping[tuple[int, str], int], counts: Mapping[str, int]) -> dict[str, float]:
    """In per cent, of what there is."""
    return {
        f"{which}_{cut}": round(100 * hits[cut, which] / count, 1)
        for which, count in counts.items()
        for cut in CUTS
        if count
    }


def by_distance(web: Web, seeds: frozenset[str]) -> list[str]:
    """By the edges on the shortest way, and by how many files import it where that is equal: the floor."""
    own = [web.number[seed] for seed in seeds if seed in web.number]
    if not own:
        return []
    steps = steps_from(web, own)
    popular: dict[int, int] = defaultdict(int)
    for target in web.target.tolist():
        popular[target] += 1
    reached = [at for at, step in enumerate(steps.tolist()) if step > 0]
    return [web.nodes[at] for at in sorted(reached, key=lambda at: (steps[at], -popular[at], web.nodes[at]))]


def _issues(file: Path) -> list[tuple[Index, list[Case]]]:
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    by_version: dict[str, list[Any]] = defaultdict(list)
    for row in rows:
        by_version[row["version"]].append(row)
    found = []
    for version, some in sorted(by_version.items()):
        index = _index(_release(RELEASES[RELEASES.index(version) - 1]))
        cases = [
            Case(seeds=named - {gold}, gold=gold, told=gold in named)
            for row in some
            for gold in row["gold_files"]
            if (named := _named(row["problem_statement"], index)) - {gold} and gold in index.files
        ]
        _say(f"{version}: {len(cases)} of {len(some)} issues name other files")
        found.append((index, cases))
    return found


def _release(version: str) -> Path:
    """The unpacked wheel of a release of Django."""
    folder = Path(tempfile.gettempdir()) / "flywheel-bench-django" / version
    if not folder.is_dir():
        with tempfile.TemporaryDirectory() as temporary:
            subprocess.run(
                (sys.executable, "-m", "pip", "download", "-q", "--no-deps", f"Django=={version}", "-d", temporary),
                check=True,
            )
            zipfile.ZipFile(next(Path(temporary).glob("*.whl"))).extractall(folder)
    return folder.resolve()


def _index(tree: Path) -> Index:
    """Through the product's own sync."""
    with (
        tempfile.TemporaryDirectory() as temporary,
        _indexer(Path(temporary).resolve() / "data") as (deps, pool, project),
    ):
        sync_checkout(str(tree), project, deps, pool)
        weigh(Place(project, str(tree)), deps)
        with deps.db.read() as tx:
            imports = weave(*pairs_of(imports_of(tx, str(tree), ())))
            return Index(web=web_of(tx, project), imports=imports, files=_files(tx), unique=_unique(tx))


def _files(tx: Tx) -> frozenset[str]:
    return frozenset(path for (path,) in tx.all("SELECT path FROM source_file WHERE state = 'indexed'"))


def _unique(tx: Tx) -> dict[str, str]:
    rows = tx.all(
        "SELECT name, min(path) FROM symbol WHERE kind IN ('class', 'function', 'method') GROUP BY name"
        " HAVING count(DISTINCT path) = 1"
    )
    return dict(rows)


def _named(text: str, index: Index) -> frozenset[str]:
    """The files that a text names: by path, by dotted module, by a telling name that only one file defines."""
    found = {path for path in re.findall(r"[\w/]+\.py\b", text) if path in index.files}
    for dotted in re.findall(r"\b\w+(?:\.\w+)+", text):
        parts = dotted.split(".")
        for length in range(len(parts), 1, -1):
            stem = "/".join(parts[:length])
            path = next((path for path in (f"{stem}.py", f"{stem}/__init__.py") if path in index.files), None)
            if path:
                found.add(path)
                break
    names = {name for name in _IDENTIFIER.findall(text) if _TELLING.search(name)}
    return frozenset(found | {index.unique[name] for name in names if name in index.unique})


def _commits(checkout: Path) -> list[tuple[Index, list[Case]]]:
    """Files that one commit changed and that are still there."""
    index = _index(checkout.resolve())
    command = ("git", "-C", str(checkout), "log", "--no-merges", "--name-only", "--format=%x00")
    told = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    return [(index, [case for commit in told.split("\0") for case in _pairs(commit.split("\n"), index.imports)])]


def _pairs(paths: Sequence[str], web: Web) -> list[Case]:
    known = sorted({path for path in paths if path in web.number})
    if len(known) not in TOGETHER:
        return []
    return [Case(seeds=frozenset({one}), gold=other) for one in known for other in known if one != other]


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
