"""Pages that rest on other pages: they are as fresh as those read as they did when they were filed.

The tie is an anchor of kind "page": its target is the other page's id, its hash how that read.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from flywheel.knowledge import freshness
from flywheel.knowledge.states import RULES
from flywheel.model import Anchor, Clean, Entry, EntryId, Micros, Status, digest
from flywheel.store import Tx
from flywheel.store.mapper import find, get, insert_many
from flywheel.text.compose import cite, dated, fixed, join, reworded

PAGE: Final = "page"

_FADED: Final = (Status.REJECTED, Status.SUPERSEDED)
_OTHERWISE: Final = fixed("what it was filed back from reads otherwise since")


def rest_on(tx: Tx, entry: Entry, sources: Iterable[EntryId], now: Micros) -> int:
    """Tie a page to the pages that it comes from; how many ties are new."""
    found = [source for id in sources if (source := get(tx, Entry, id=id)) is not None]
    return insert_many(tx, [_tie(entry, source, now) for source in found]) if found else 0


def _tie(entry: Entry, source: Entry, now: Micros) -> Anchor:
    id = reworded(source.id, source.title or fixed("page"))
    return Anchor(
        project_id=entry.project_id,
        entry_id=entry.id,
        kind=PAGE,
        name=id,
        target=id,
        hash=_reads(source),
        created_at=now,
        based_at=now,
    )


def _reads(entry: Entry) -> str:
    return digest("\0".join((str(entry.status in _FADED), entry.summary, entry.body)))


def source_changed(tx: Tx, source: Entry, now: Micros) -> None:
    """A page has changed: those that rest on it are stale unless it reads as it did. Idempotent."""
    rows = find(
        tx,
        Anchor,
        "WHERE project_id = :project AND kind = :kind AND target = :id",
        project=source.project_id,
        kind=PAGE,
        id=source.id,
    )
    for row in rows:
        note = _note(source, now) if row.hash != _reads(source) else fixed("")
        if bool(note) is bool(row.note):
            continue
        _write(tx, row, note, row.hash, row.based_at)
        held = get(tx, Entry, id=row.entry_id)
        if held is not None:
            freshness.settle(tx, held, actor=RULES, now=now)


def _note(source: Entry, now: Micros) -> Clean:
    return join([_OTHERWISE, join([dated(now), fixed(":")], ""), cite(source.short)])


def taken_anew(tx: Tx, entry_id: EntryId, now: Micros) -> None:
    """A person has read again what a page rests on: it is tied to that as it reads now."""
    for row in find(tx, Anchor, "WHERE entry_id = :id AND kind = :kind", id=entry_id, kind=PAGE):
        source = get(tx, Entry, id=row.target)
        if source is None:
            tx.run("DELETE FROM anchor WHERE entry_id = :id AND kind = :kind AND name = :name", id=entry_id, kind=PAGE,
                   name=row.name)  # fmt: skip
        else:
            _write(tx, row, fixed(""), _reads(source), now)


def _write(tx: Tx, row: Anchor, note: Clean, hash: str, at: Micros) -> None:
    tx.run(
        "UPDATE anchor SET note = :note, hash = :hash, based_at = :at WHERE entry_id = :id AND kind = :kind"
        " AND name = :name",
        note=note,
        hash=hash,
        at=at,
        id=row.entry_id,
        kind=PAGE,
        name=row.name,
    )
