"""Which files a question, or the text of an issue, is about: by all their definitions together, and by name."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from flywheel.index.text_query import Bounds
from flywheel.index.text_read import TextReader
from flywheel.index.text_shelf import Group
from flywheel.model import ProjectId, Symbol
from flywheel.store import Tx, mapper
from flywheel.store.chunks import chunks

LONGEST: Final = 4000
"""Characters of a text that are looked at."""

POOL: Final = 500
"""Definitions that speak for their files. On the first half of SWE-bench-Lite's Django issues 1000 change nothing."""

STEMS: Final = 256
"""Words of a text that are looked up; issues are long, and each word tells little."""

FURTHER: Final = 0.7
"""What each further definition of a file counts, against the one before."""

HEADING: Final = 2.0
"""What the words of a text's first line count, against the others. On the first half of the issues (recall@5 and @10,
%): 1 82.5 and 87.7, 1.25 82.5 and 89.5, 1.5 and 2 84.2 and 89.5."""

DEEPEST: Final = 20
"""Definitions of a file that count."""

NAMED: Final = 0.4
"""What a file that the text names by path or module gets, of what the best file's definitions come to."""

SHOWN: Final = 3
"""Definitions that are told of each file."""

_PATH: Final = re.compile(r"[\w./\\-]+\.\w{1,6}\b")
_DOTTED: Final = re.compile(r"\b[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_ANONYMOUS: Final = ("__init__", "index", "mod")


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFile:
    """A file, why it was found, and its best definitions."""

    path: str
    score: float
    named: bool
    definitions: Sequence[Symbol]


def locate_files(
    tx: Tx, text: TextReader, query: str, *, projects: Sequence[ProjectId], checkout: str = "", limit: int = 10
) -> list[FoundFile]:
    """The files that ``query`` is about, best first; those of one work tree, ``checkout`` where it has any."""
    query = query[:LONGEST]
    heading = text.words(query.partition("\n")[0])
    terms = replace(text.terms(query), weights=weights_of(text.words(query), heading), most=STEMS)
    hits = dict(text.search(terms, Group.SYMBOL, Bounds(projects=projects), POOL))
    rows, roots = _definitions(tx, list(hits), projects)
    root = checkout if checkout in roots.values() else _largest(roots)
    by_file: dict[str, list[tuple[float, Symbol]]] = defaultdict(list)
    for symbol in rows:
        if roots[symbol.id] == root:
            by_file[symbol.path].append((hits[symbol.id], symbol))
    for found in by_file.values():
        found.sort(key=lambda pair: (-pair[0], pair[1].start_line))
    paths = _paths(tx, projects, root or checkout)
    ranked = rank_files({path: [hit for hit, _ in found] for path, found in by_file.items()}, named_files(query, paths))
    return [
        FoundFile(path=path, score=score, named=named, definitions=[one for _, one in by_file[path][:SHOWN]])
        for path, score, named in ranked[:limit]
    ]


def weights_of(words: Iterable[str], heading: Collection[str]) -> Mapping[str, float]:
    """What each word of a long text counts: 1 + ln(times), and those of its first line `HEADING` times that."""
    return {
        word: (1.0 + math.log(times)) * (HEADING if word in heading else 1.0) for word, times in Counter(words).items()
    }


def rank_files(hits: Mapping[str, Sequence[float]], named: Collection[str]) -> list[tuple[str, float, bool]]:
    """(path, score, named), best first. ``hits``: the strengths of each file's definitions, best first."""
    scores = {
        path: sum(one * FURTHER**rank for rank, one in enumerate(found[:DEEPEST])) for path, found in hits.items()
    }
    best = max(scores.values(), default=0.0) or 1.0
    for path in named:
        scores[path] = scores.get(path, 0.0) + NAMED * best
    return sorted(
        ((path, score / best, path in named) for path, score in scores.items()), key=lambda one: (-one[1], one[0])
    )


def named_files(text: str, paths: Collection[str]) -> set[str]:
    """Those of ``paths`` that a text names: by path or the end of one, or as a module with dots.

    A name that several files end in names none.
    """
    by_end: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        for end in (*_ends(path), *_ends(_stem(path))):
            by_end[end].append(path)
    found = set()
    for name in (*_spelled(text), *_modules(text, by_end)):
        meant = by_end.get(name) or []
        if len(meant) == 1 or name in paths:
            found.add(name if name in paths else meant[0])
    return found


def _stem(path: str) -> str:
    stem = path.rpartition(".")[0] or path
    head, _, last = stem.rpartition("/")
    return head if last in _ANONYMOUS else stem


def _ends(path: str) -> Iterator[str]:
    """The path and its ends, as long as they have a folder, and the file's own name."""
    while path:
        yield path
        path = path.partition("/")[2]


def _spelled(text: str) -> Iterator[str]:
    """Paths, and their ends: a traceback has those of another machine."""
    for found in _PATH.finditer(text):
        path = found[0].replace("\\", "/").strip("./")
        yield from (end for end in _ends(path) if "/" in end or end == path)


def _modules(text: str, known: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """The longest part of each dotted name that is a module: ``shop.prices.Tag.show`` is in shop/prices."""
    for found in _DOTTED.finditer(text):
        parts = found[0].split(".")
        names = ("/".join(parts[:length]) for length in range(len(parts), 1, -1))
        if (name := next((one for one in names if one in known), None)) is not None:
            yield name


def _definitions(tx: Tx, ids: Sequence[str], projects: Sequence[ProjectId]) -> tuple[list[Symbol], Mapping[str, str]]:
    """The definitions that are there, and the work tree of each."""
    rows: list[Symbol] = []
    roots: dict[str, str] = {}
    sql = (
        f"SELECT f.checkout, {mapper.columns(Symbol, 'symbol')} FROM symbol JOIN source_file f ON f.id = symbol.file_id"
        " WHERE symbol.id IN :ids AND symbol.project_id IN :projects"
    )
    for some in chunks(ids):
        for root, *row in tx.all(sql, ids=some, projects=list(projects)):
            symbol = mapper.decode(Symbol, tuple(row))
            rows.append(symbol)
            roots[symbol.id] = root
    return rows, roots


def _largest(roots: Mapping[str, str]) -> str:
    """The work tree with the most hits."""
    counts = Counter(roots.values())
    return min(counts, key=lambda root: (-counts[root], root), default="")


def _paths(tx: Tx, projects: Sequence[ProjectId], checkout: str) -> set[str]:
    rows = tx.all(
        "SELECT path FROM source_file WHERE project_id IN :projects AND checkout = :checkout AND state = 'indexed'",
        projects=list(projects),
        checkout=checkout,
    )
    return {path for (path,) in rows}
