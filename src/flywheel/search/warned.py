"""What must be known of hits before they are relied on: pages that are not fresh, code that has changed since."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from flywheel.model import Kind, Micros, ProjectId
from flywheel.search.banners import COLUMNS, USUAL, banner, facts_of
from flywheel.search.limits import limits_of
from flywheel.search.rules import Key
from flywheel.store import Tx
from flywheel.store.chunks import chunks

CHANGED: Final = "CHANGED SINCE IT WAS INDEXED: the place or the signature may be another by now."
GONE: Final = "GONE SINCE IT WAS INDEXED: the file is not there any more."


def warnings_of(tx: Tx, keys: Iterable[Key], now: Micros) -> Mapping[Key, str]:
    """What is to be said of these, where something is: one query for the entries, one for the symbols."""
    ids: dict[Kind, list[str]] = {Kind.ENTRY: [], Kind.SYMBOL: []}
    for kind, id in keys:
        if kind in ids:
            ids[kind].append(id)
    found = {(Kind.ENTRY, id): text for id, text in _entries(tx, ids[Kind.ENTRY], now).items()}
    return found | {(Kind.SYMBOL, id): text for id, text in _symbols(tx, ids[Kind.SYMBOL]).items()}


def _entries(tx: Tx, ids: list[str], now: Micros) -> Mapping[str, str]:
    rows = [
        row
        for some in chunks(ids)
        for row in tx.all(f"SELECT id, project_id, {COLUMNS} FROM entry WHERE id IN :ids", ids=some)
    ]
    limits = limits_of(tx, sorted({ProjectId(row[1]) for row in rows}))
    told = {row[0]: banner(facts_of(row[2:]), limits.get(row[1], USUAL), now) for row in rows}
    return {id: text for id, text in told.items() if text}


def _symbols(tx: Tx, ids: list[str]) -> Mapping[str, str]:
    rows = [
        row
        for some in chunks(ids)
        for row in tx.all(
            "SELECT s.id, f.checkout, f.path, f.size, f.mtime_ns FROM symbol s JOIN source_file f ON f.id = s.file_id"
            " WHERE s.id IN :ids",
            ids=some,
        )
    ]
    told = {id: since(checkout, path, size, mtime) for id, checkout, path, size, mtime in rows}
    return {id: text for id, text in told.items() if text}


def since(checkout: str, path: str, size: int, mtime_ns: int) -> str:
    """What became of an indexed file, by its size and time; "" when it is the same, or its checkout is not here."""
    try:
        facts = Path(checkout, path).stat(follow_symlinks=False)
    except OSError:
        return GONE if os.path.isdir(checkout) else ""
    return "" if (facts.st_size, facts.st_mtime_ns) == (size, mtime_ns) else CHANGED
