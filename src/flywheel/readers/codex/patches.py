"""Patches: the files that one touches and what it changes, from ``apply_patch`` and from completed changes. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from flywheel.readers.fields import clip, mapping_of, text_of

BEGIN: Final = "*** Begin Patch"

_HEADS: Final = ("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ")
_EDITS: Final = 8
_CHARS: Final = 1000
_FILES: Final = 20

Change = tuple[str, str, str]
"""Path, old text, new text."""


def patch_meta(patch: str) -> dict[str, object]:
    """``files`` and ``edits`` of a patch as ``apply_patch`` takes it; anything around it is passed over."""
    files: list[str] = []
    changes: list[Change] = []
    path, lines = "", []
    for line in patch.split("\n"):
        if not line.startswith("*** "):
            lines.append(line)
            continue
        changes += _hunks(path, lines) if path else ()
        lines = []
        head = next((head for head in _HEADS if line.startswith(head)), "")
        if head:
            path = line[len(head) :].strip()
            files.append(path)
        elif line.startswith("*** End Patch"):
            path = ""
    changes += _hunks(path, lines) if path else ()
    return _meta(files, changes)


def changes_meta(changes: object) -> dict[str, object]:
    """``files`` and ``edits`` of completed changes: ``{path: {"type": "add", "content": …}}`` and the older
    ``{path: {"add": {"content": …}}}``."""
    files: list[str] = []
    found: list[Change] = []
    for path, change in list(mapping_of(changes).items())[:_FILES]:
        sort, fields = _change(mapping_of(change))
        files += [path, *filter(None, [text_of(fields.get("move_path"))])]
        if sort == "update":
            found += _hunks(path, text_of(fields.get("unified_diff")).split("\n"))
        elif sort == "add":
            found.append((path, "", text_of(fields.get("content"))))
    return _meta(files, found)


def _change(change: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    sort = text_of(change.get("type"))
    if sort:
        return sort, change
    return next(((name, mapping_of(fields)) for name, fields in change.items()), ("", {}))


def _hunks(path: str, lines: list[str]) -> Iterator[Change]:
    """Old and new text of each hunk."""
    old: list[str] = []
    new: list[str] = []
    for line in [*lines, "@@"]:
        if line.startswith("@@"):
            if old or new:
                yield path, "\n".join(old), "\n".join(new)
            old, new = [], []
        elif line.startswith("-") and not line.startswith("--- "):
            old.append(line[1:])
        elif line.startswith("+") and not line.startswith("+++ "):
            new.append(line[1:])


def _meta(files: list[str], changes: list[Change]) -> dict[str, object]:
    meta: dict[str, object] = {}
    named = list(dict.fromkeys(clip(path, 1000) for path in files if path))[:_FILES]
    if named:
        meta["files"] = named
    edits = [
        {"path": clip(path, 1000), "old": clip(old, _CHARS), "new": clip(new, _CHARS)}
        for path, old, new in changes
        if old or new
    ]
    if edits:
        meta["edits"] = edits[:_EDITS]
    return meta
