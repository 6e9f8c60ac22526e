"""From names to edges: which files a file most likely uses, and how much each definition is used. Pure.

Names are compared, not types. That they mean something is told as aider's map tells it: a name of several words counts
more, a private one less, one that many files define next to nothing; and one that most files use says little (idf).
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from heapq import nsmallest
from typing import Final

Pair = tuple[str, str]
"""Path, name."""

AMBIGUOUS: Final = 5
"""Definitions of a name past which a use of it leads nowhere."""

MOST: Final = 24
"""Files that one file is led to; measured, more of them rank no better."""

LEAST: Final = 0.05
"""Weight below which one file is not led to another."""

PRIVATE, TELLING = 0.1, 3.0
"""How much a name counts that begins with an underscore, and one of several words."""

PLAIN: Final = 0.1
"""How much of a use is believed of a name that may as well be a variable's: one word in small letters, when the file
does not import what defines it."""

_SEVERAL: Final = re.compile(r"(?=.{8}).*?(?:[^_]_[^_]|[a-z0-9][A-Z])")
_PLAIN: Final = re.compile(r"[a-z0-9]+")
_KIN: Final = {
    "typescript": "javascript", "tsx": "javascript", "c-header": "c", "cpp": "c", "kotlin": "java", "scala": "java",
}  # fmt: skip


@dataclass(slots=True, kw_only=True)
class Uses:
    """What came of it."""

    edges: dict[str, dict[str, float]] = field(default_factory=dict)  # path → module that it uses → weight
    used: dict[Pair, tuple[int, float]] = field(
        default_factory=dict
    )  # definition → files that may mean it, their shares


def kin_of(language: str) -> str:
    """The languages that use each other's definitions, as one of them."""
    return _KIN.get(language, language)


def is_telling(name: str) -> bool:
    """Whether a name is worth showing by itself: no private one, of several words or a type's of five letters."""
    several = _SEVERAL.match(name) is not None
    return not name.startswith("_") and (several or (len(name) > 4 and name[0].isupper() and not name.isupper()))


def weight_of(name: str, users: int, files: int) -> float:
    """What one use of a name says when ``users`` of the ``files`` use it: between 0 and `TELLING`."""
    kind = (PRIVATE if name.startswith("_") else 1.0) * (TELLING if _SEVERAL.match(name) else 1.0)
    return kind * math.log(1 + files / users) / math.log(1 + files)


def usage(
    kin: Mapping[str, str],
    definitions: Iterable[Pair],
    names: Iterable[tuple[str, Sequence[str]]],
    imports: Mapping[str, AbstractSet[str]],
    node_of: Callable[[str], str],
) -> Uses:
    """``kin``: path → which languages belong together; ``names``: path and the names that it uses and does not define.

    Of several definitions of a name, those are meant that the file imports (``imports``: path → nodes, see `node_of`),
    else all of them, each a little.
    """
    known = list(definitions)
    defined = _defined(kin, known)
    spelled = {path: sorted(defined.get(kin[path], set()).intersection(some)) for path, some in sorted(names)}
    users = Counter((kin[path], name) for path, some in spelled.items() for name in some)
    files = Counter(kin[path] for path in spelled)
    worth = {(own, name): weight_of(name, count, files[own]) for (own, name), count in users.items()}
    where = _places(kin, known, worth.keys(), node_of)
    found = Uses()
    shares: defaultdict[tuple[str, str, str], list[float]] = defaultdict(list)
    for path, some in spelled.items():
        own, imported, out = kin[path], imports.get(path, frozenset()), defaultdict[str, float](float)
        for name in some:
            meant, part = _meant(name, where[own, name].keys(), imported)
            for node in meant:
                out[node] += worth[own, name] * part
                shares[own, name, node].append(part)
        out.pop(node_of(path), None)
        if out:
            found.edges[path] = _best(out)
    for (own, name, node), parts in shares.items():
        for path in where[own, name][node]:
            found.used[path, name] = len(parts), sum(parts)
    return found


def usage_of(
    path: str, users: Mapping[str, int], files: int, where: Mapping[str, AbstractSet[str]], imported: AbstractSet[str]
) -> dict[str, float]:
    """Which modules one file uses, by its names: module → weight, as `usage` has it.

    ``users``: name → how many of the ``files`` of its kin use it; ``where``: name → modules that define it.
    """
    out = defaultdict[str, float](float)
    for name in sorted(where):
        if not name.startswith("__"):
            meant, part = _meant(name, where[name], imported)
            for node in meant:
                out[node] += weight_of(name, users[name], files) * part
    out.pop(path, None)
    return _best(out)


def _meant(name: str, places: AbstractSet[str], imported: AbstractSet[str]) -> tuple[AbstractSet[str], float]:
    """The modules that a use of a name may mean, and how much of it each gets."""
    led = places & imported
    meant = led or places
    if len(meant) > AMBIGUOUS:
        return frozenset(), 0.0
    return meant, (1.0 if led or not _PLAIN.fullmatch(name) else PLAIN) / max(1, len(meant))


def _best(out: Mapping[str, float]) -> dict[str, float]:
    best = nsmallest(MOST, out.items(), key=lambda item: (-round(item[1], 3), item[0]))
    return {target: round(weight, 3) for target, weight in best if weight >= LEAST}


def _defined(kin: Mapping[str, str], definitions: Iterable[Pair]) -> dict[str, set[str]]:
    """Kin → the names that it defines, without those that every other file defines (``__init__``)."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for path, name in definitions:
        found[kin[path]].add(name)
    return {own: {name for name in names if not name.startswith("__")} for own, names in found.items()}


def _places(
    kin: Mapping[str, str], definitions: Iterable[Pair], wanted: AbstractSet[Pair], node_of: Callable[[str], str]
) -> dict[Pair, dict[str, list[str]]]:
    """(kin, name) → module → the files of it that define the name."""
    where: dict[Pair, dict[str, list[str]]] = {}
    for path, name in definitions:
        if (kin[path], name) in wanted:
            where.setdefault((kin[path], name), {}).setdefault(node_of(path), []).append(path)
    return where
