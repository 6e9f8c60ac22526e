"""Finds the folder of a session whose transcript names it only by a hash or a slug of its path."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

from flywheel.readers import SessionFacts
from flywheel.store import Tx

_PATHS: Final = "SELECT path, project_id FROM project_path ORDER BY path LIMIT 20000"
_ODD: Final = re.compile(r"[^A-Za-z0-9]+")
_LOOKS: Final = 400  # folders that are listed for one slug at most


def _hashed(path: str, name: str) -> str:
    return hashlib.new(name, path.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()


def slug_of(path: str) -> str:
    """A path with every run of what is neither letter nor digit as one ``-``: many paths have the same."""
    return _ODD.sub("-", path).strip("-").lower()


NAMED: Final[tuple[tuple[str, Callable[[str], str]], ...]] = (
    ("project_hash", partial(_hashed, name="sha256")),
    ("folder_md5", partial(_hashed, name="md5")),
    ("folder_slug", slug_of),
)
"""Key in `SessionFacts.extra` → what it is of the folder's path; the surest first."""


def hints_of(facts: SessionFacts) -> tuple[str, ...]:
    """What the facts say of the folder, as they say it; () when they say nothing."""
    return tuple(value for key, _ in NAMED if isinstance(value := facts.extra.get(key), str) and value)


def known_folder(tx: Tx, facts: SessionFacts) -> str:
    """The folder that the facts name by a hash or a slug, if it was once resolved to a project; else "".

    A slug that fits folders of several projects fits none.
    """
    wanted = [(hint, of) for key, of in NAMED if (hint := _hint(facts, key))]
    if not wanted:
        return ""
    rows = [(str(path), str(project)) for path, project in tx.all(_PATHS)]
    for hint, of in wanted:
        fits = [(path, project) for path, project in rows if of(path) == hint]
        if len({project for _, project in fits}) == 1:
            return fits[0][0]
    return ""


def folder_on_disk(facts: SessionFacts, top: str = "/") -> str:
    """The one folder below ``top`` whose path has the slug that the facts name; "" when there is none, or several.

    Only folders whose names fit the slug are listed, `_LOOKS` at most; links are not followed.
    """
    slug = _hint(facts, "folder_slug")
    if not slug or len(slug) > 1000:
        return ""
    found = list(_below(top, slug.split("-"), iter(range(_LOOKS))))
    return found[0] if len(found) == 1 else ""


def _hint(facts: SessionFacts, key: str) -> str:
    value = facts.extra.get(key)
    if not isinstance(value, str):
        return ""
    return slug_of(value) if key == "folder_slug" else value.lower()


def _below(folder: str, parts: list[str], budget: Iterator[int]) -> Iterator[str]:
    """Folders below ``folder`` whose names together make the parts."""
    if next(budget, None) is None:
        return
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError:
        return
    for name in names:
        own = slug_of(name).split("-")
        if own == [""] or own != parts[: len(own)]:
            continue
        path = str(Path(folder, name))
        if len(own) == len(parts):
            yield path
        else:
            yield from _below(path, parts[len(own) :], budget)
