"""Imports by path or by package name, for languages whose line in `languages.LANGUAGES` says how. Pure.

What a name means is decided by the end of a file's path: where sources are rooted (``src/main/java``, ``include``,
``lib``) need not be known, and of several files that fit, the nearest is meant.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from flywheel.codemap.captures import Import
from flywheel.codemap.languages import BY_NAME, LANGUAGES, Language, language_of
from flywheel.codemap.layout import Layout

_HERE: Final = re.compile(r"""(?:\$\{[^}]*\}|\$\([^)]*\)|\$\w+|(?:dirname\()?__(?:DIR|FILE)__\)?\s*\.\s*['"]?)/?""")
_UNKNOWN: Final = re.compile(r"[$\n*{}()]| \. ")


def by_path(layout: Layout, source: str, item: Import) -> Iterator[tuple[str, bool]]:
    """A file that is named by its path: C's ``#include``, Ruby's ``require``, a shell's ``source``; or a folder.

    ``<x.h>`` without a folder is the system's. What is put together at run time gives nothing.
    """
    language = BY_NAME[language_of(source)]
    text = item.module.strip("()").strip()
    said = _HERE.sub("", text.strip("\"'<> "), count=1).strip("\"'")
    if not said or _UNKNOWN.search(said):
        return
    beside = posixpath.normpath(posixpath.join(posixpath.dirname(source), said))
    system = text.startswith("<")
    inside = not beside.startswith("..") and not system
    ends = ("", *language.endings)
    found = next((beside + end for end in ends if inside and beside + end in layout.paths), None)
    if found is None and inside and said.startswith(".") and layout.folder(language.name, beside, source) == beside:
        found = beside
    near = said.startswith(".") or item.name == "require_relative"
    if found is None and not near and not (system and "/" not in said):
        found = next(filter(None, (layout.file(said + end, source) for end in ends)), None)
    if found is None and near and inside:
        yield f"./{beside}", True
    else:
        yield found or said, found is None


def by_package(layout: Layout, source: str, item: Import) -> Iterator[tuple[str, bool]]:
    """A class or package by its qualified name: its file, or the folder of its package."""
    language = BY_NAME[language_of(source)]
    if "'" in item.module or '"' in item.module:
        yield from by_path(layout, source, item)
        return
    for name in _names(item, language.separator):
        *parts, last = [part for part in name.split(language.separator) if part] or [""]
        every = last in ("*", "_")
        parts += [] if every else [last]
        found = _package(layout, language, source, parts, whole=every or language.whole)
        yield found or language.separator.join(parts), found is None


def by_module(layout: Layout, source: str, item: Import) -> Iterator[tuple[str, bool]]:
    """A module that is a folder of its own name (Swift)."""
    name = item.module.partition(".")[0]
    found = layout.folder(language_of(source), name, source)
    yield found or name, found is None


def wanted_names(path: str) -> set[str]:
    """The names by which files of languages that import by path or package may have asked for this one."""
    language = BY_NAME.get(language_of(path))
    stem = path[: path.rfind(".")]
    if language is None or language.imports not in ("packages", "paths", "modules"):
        return set()
    if language.imports == "modules":
        return set(path.split("/")[:-1])
    if language.imports == "packages":
        tails = [*_tails(stem), *_tails(posixpath.dirname(path))]
        return {tail.replace("/", language.separator) for tail in tails}
    return {*_tails(path), *_tails(stem), *(f"./{name}" for name in (path, stem, posixpath.dirname(path)))}


def _tails(path: str, most: int = 8) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[start:]) for start in range(max(0, len(parts) - most), len(parts))]


def _names(item: Import, separator: str) -> Iterable[str]:
    """The full names that one import brings: ``import a.b.{C, D => E}`` brings two."""
    head, brace, rest = item.module.removeprefix("import ").partition("{")
    if not brace:
        whole = head if not item.name else f"{head}{separator}{item.name}"
        return [name.strip() for name in whole.split(",")]
    inner = (re.split(r"\s*(?:=>|\bas\b)\s*", name.strip())[0] for name in rest.rstrip("} \n").split(","))
    return [head.strip() + name for name in inner]


def _package(layout: Layout, language: Language, source: str, parts: Sequence[str], *, whole: bool) -> str | None:
    """The file or folder of a name. Unless it is one of a ``whole`` package, its last part may be inside of either.

    Of the first parts, ``language.hidden`` at most need not be folders. One part alone is too little to go by, unless
    the name has no more.
    """
    kin = [one for one in LANGUAGES if (one.imports, one.own) == (language.imports, language.own)]
    for hidden in range(language.hidden + 1):
        rest = parts[hidden:]
        for length in range(len(rest), max(len(rest) - (not whole), min(2, len(parts))) - 1, -1):
            tail = "/".join(rest[:length])
            tried = [layout.file(tail + end, source) for one in kin for end in one.endings]
            tried += [layout.folder(one.name, tail, source) for one in kin]
            found = next(filter(None, tried), None)
            if found:
                return found
    return None
