"""The map of a project's modules: files and imports folded into folders, and how it reads in a briefing."""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from flywheel.codemap.languages import BY_NAME
from flywheel.model import Clean

MOST_FOLDERS: Final = 40
"""Folders that a map has at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """One part of a project: a folder, how much is in it, and what it says that it is for."""

    path: str
    files: int
    languages: Sequence[str]  # most files first
    doc: Clean = Clean("")
    needs: Sequence[tuple[str, int]] = ()  # folder → how many imports lead there, most first
    near: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """Which parts a project has and which need which."""

    files: int = 0
    languages: Sequence[tuple[str, int]] = ()  # language → files, most first
    folders: Sequence[Folder] = ()
    central: Sequence[tuple[str, int]] = ()  # file or package → files that import it, most first
    external: Sequence[tuple[str, int]] = ()  # library → files that import it, most first
    left_out: int = 0  # folders past the limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Modules:
    """The raw material of a topology: files with their language, edges without double ones, docs by path."""

    files: Mapping[str, str]
    edges: Sequence[tuple[str, str, bool]]  # source, target, external
    docs: Mapping[str, Clean] = field(default_factory=dict)


def map_modules(modules: Modules) -> Topology:
    """Fold files into at most `MOST_FOLDERS` folders, the most connected ones first.

    A folder stands for itself and everything below that is not shown on its own.
    """
    places = _places(modules.files)
    known = set(places.values())
    needs: dict[str, Counter[str]] = defaultdict(Counter)
    weight: Counter[str] = Counter()
    central: Counter[str] = Counter()
    external: Counter[str] = Counter()
    for source, target, is_external in modules.edges:
        if is_external:
            library = _library(target, modules.files.get(source, ""))
            external.update([library] if library else ())
            continue
        central[target] += 1
        here, there = places.get(source), places[target] if target in places else _place_of_folder(target, known)
        if here is not None and there is not None and here != there:
            needs[here][there] += 1
            weight.update((here, there))
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for path, place in places.items():
        counts[place][modules.files[path]] += 1
    order = sorted(counts, key=lambda place: (-weight[place], -counts[place].total(), place))
    return Topology(
        files=len(places),
        languages=_most(Counter(modules.files.values()), 6),
        folders=[
            Folder(
                path=place or ".",
                files=counts[place].total(),
                languages=[language for language, _ in _most(counts[place], 3)],
                doc=doc_of(place, modules.docs),
                needs=[(to or ".", count) for to, count in _most(needs[place], 6)],
            )
            for place in order[:MOST_FOLDERS]
        ],
        central=_most(central, 8),
        external=_most(external, 12),
        left_out=max(0, len(order) - MOST_FOLDERS),
    )


def focus(topology: Topology, near: Sequence[str], limit: int) -> Topology:
    """At most ``limit`` folders of a map: those that hold the paths ``near`` first, the others in their order."""
    homes = set()
    for path in near:
        holding = [folder.path for folder in topology.folders if _holds(folder.path, path)]
        homes.update(sorted(holding, key=len)[-1:])
    folders = [replace(folder, near=folder.path in homes) for folder in topology.folders]
    folders.sort(key=lambda folder: not folder.near)
    left_out = topology.left_out + max(0, len(folders) - limit)
    return replace(topology, folders=folders[:limit], left_out=left_out)


def _holds(folder: str, path: str) -> bool:
    return "/" not in path if folder == "." else path == folder or path.startswith(folder + "/")


def _places(files: Iterable[str], most: int = MOST_FOLDERS) -> dict[str, str]:
    """File → the folder that stands for it: the deepest level of folders at which there are at most ``most``."""
    paths = sorted(files)
    chosen: dict[str, str] = {}
    for depth in range(1, 8):
        tried = {path: "/".join(path.split("/")[:-1][:depth]) for path in paths}
        if chosen and len(set(tried.values())) > most:
            break
        chosen = tried
    return chosen


def _place_of_folder(folder: str, known: Container[str]) -> str | None:
    """The place of a target that is a package's folder."""
    while folder not in known:
        if "/" not in folder:
            return "" if "" in known and folder == "." else None
        folder = folder.rpartition("/")[0]
    return folder


def _library(target: str, language: str) -> str:
    """What a project depends on when a file of this language imports ``target``; "" for the language's own library."""
    if target.startswith("."):
        return ""
    if language == "python":
        top = target.partition(".")[0]
        return "" if top in sys.stdlib_module_names else top
    known = BY_NAME.get(language)
    if known is None or (known.own and re.match(known.own, target)):
        return ""
    return known.separator.join(target.split(known.separator)[: known.parts or None])


def doc_of(place: str, docs: Mapping[str, Clean]) -> Clean:
    """What a folder ("" is the top) says that it is for, by the documentation of its files."""
    prefix = f"{place}/" if place else ""
    names = ("__init__.py", "mod.rs", "lib.rs", "main.rs", "doc.go", "index.ts", "index.js", "src/lib.rs")
    found = next((docs[prefix + name] for name in names if prefix + name in docs), None)
    if found is None:
        inside = [path for path in docs if path.startswith(prefix) and path.endswith(".go")]
        found = docs[min(inside)] if inside and "/" not in min(inside).removeprefix(prefix) else Clean("")
    return found


def _most(counter: Counter[str], limit: int) -> list[tuple[str, int]]:
    return sorted(counter.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]


def render_topology(topology: Topology, level: str) -> str:
    """The map as text, for a briefing: level ``title``, ``summary`` or ``body``; "" when there is no code."""
    if not topology.files:
        return ""
    languages = ", ".join(f"{language} {count}" for language, count in topology.languages)
    title = f"{topology.files} source files ({languages}) in {len(topology.folders) + topology.left_out} folders"
    if level == "title":
        return title
    shown = topology.folders if level == "body" else topology.folders[:8]
    lines = [title, *(_folder_line(folder, level) for folder in shown)]
    left = topology.left_out + len(topology.folders) - len(shown)
    if left:
        lines.append(f"- and {left} more folders")
    if topology.central:
        lines.append("Most imported: " + _counted(topology.central if level == "body" else topology.central[:5]))
    if topology.external and level == "body":
        lines.append("Libraries: " + ", ".join(name for name, _ in topology.external))
    return "\n".join(lines)


def _folder_line(folder: Folder, level: str) -> str:
    doc = f": {folder.doc}" if folder.doc and level == "body" else ""
    needs = f" → {_counted(folder.needs if level == 'body' else folder.needs[:3])}" if folder.needs else ""
    return f"- {folder.path} ({folder.files} {'file' if folder.files == 1 else 'files'}){doc}{needs}"


def _counted(pairs: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{name} ({count})" for name, count in pairs)
