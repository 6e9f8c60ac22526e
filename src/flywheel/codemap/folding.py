"""Each definition once: a project's work trees have rows of their own, and most of them say the same."""

from __future__ import annotations

from collections.abc import Sequence

from flywheel.model import Symbol, evidence_id
from flywheel.store import Tx, mapper
from flywheel.store.chunks import chunks


def fold(tx: Tx, found: Sequence[Symbol], here: str) -> list[tuple[Symbol, Symbol]]:
    """Each definition of ``found`` once, in their order: as it was found first, and as it is to be shown.

    Shown is the row of the checkout ``here`` where that has the definition, else that of the checkout whose path comes
    first.
    """
    groups: dict[tuple[str, ...], list[Symbol]] = {}
    for symbol in found:
        key = (symbol.project_id, symbol.path, symbol.qualified, symbol.kind, str(symbol.ordinal))
        groups.setdefault(key, []).append(symbol)
    ids = {key: evidence_id("symbol", here, *key[1:]) for key in groups}
    mine = _rows(tx, list(ids.values())) if here else {}
    roots = _roots(tx, [some for some in groups.values() if len(some) > 1])
    return [
        (some[0], mine.get(ids[key]) or min(some, key=lambda one: roots.get(one.file_id, "")))
        for key, some in groups.items()
    ]


def _rows(tx: Tx, ids: Sequence[str]) -> dict[str, Symbol]:
    return {row.id: row for some in chunks(ids) for row in mapper.find(tx, Symbol, "WHERE id IN :ids", ids=some)}


def _roots(tx: Tx, groups: Sequence[Sequence[Symbol]]) -> dict[str, str]:
    """File id → checkout."""
    files = sorted({symbol.file_id for some in groups for symbol in some})
    sql = "SELECT id, checkout FROM source_file WHERE id IN :ids"
    return {id: checkout for some in chunks(files) for id, checkout in tx.all(sql, ids=some)}
