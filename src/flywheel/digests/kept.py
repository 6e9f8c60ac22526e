"""Digests as they are kept: reading them, and their lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from flywheel.digests.picking import SPEAKERS, Line
from flywheel.model import Digest
from flywheel.store import Tx
from flywheel.store.mapper import find
from flywheel.text.compose import span
from flywheel.text.words import terms


def digests_of(tx: Tx, kind: str, ids: Sequence[str], length: str = "") -> list[Digest]:
    """The digests of these owners, of one length when it is named."""
    if not ids:
        return []
    only = " AND length = :length" if length else ""
    where = f"WHERE owner_kind = :kind AND owner_id IN :ids{only} ORDER BY owner_id, length"
    return find(tx, Digest, where, kind=kind, ids=list(ids), **({"length": length} if length else {}))


def lines_of(kept: Digest) -> list[Line]:
    """A digest's lines as they were before they were written down, without the speakers' marks; see `worded`."""
    lines: list[Line] = []
    at = 0
    for number, (text, source) in enumerate(zip(kept.text.split("\n"), kept.sources, strict=False)):
        kind = str(source.get("kind", ""))
        mark = f"{SPEAKERS[kind]} " if kind in SPEAKERS else ""
        skip = len(mark) if mark and text.startswith(mark) and (not lines or lines[-1].kind != kind) else 0
        said = span(kept.text, at + skip, at + len(text))
        ids = source.get("ids")
        told = tuple(map(str, ids)) if isinstance(ids, (list, tuple)) else ()
        lines.append(Line(kind=kind, text=said, ids=told, place=(number,)))
        at += len(text) + 1
    return lines


def worded(lines: Sequence[Line]) -> list[Line]:
    """The same with their words, for who picks among them; who only shows them does without."""
    return [replace(line, words=frozenset(terms(line.text))) for line in lines]
