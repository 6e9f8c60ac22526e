"""The SQL of the retrospective."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from flywheel.model import Injection, Retrospective, Session, SessionId
from flywheel.retro.usefulness import Item, marks_of
from flywheel.store import Row, Tx
from flywheel.store.mapper import find, get

CHUNK = 500


def load(tx: Tx, session_id: SessionId) -> Retrospective | None:
    """The retrospective of a session; None when none was made yet."""
    return get(tx, Retrospective, session_id=session_id)


def injections(tx: Tx, session: Session) -> list[Injection]:
    """What was put into a session, oldest first."""
    return find(
        tx,
        Injection,
        "WHERE native_session = :native AND agent = :agent ORDER BY created_at, briefing_id, item_id",
        native=session.native_id,
        agent=session.agent,
    )


def marked(tx: Tx, ledger: Sequence[Injection]) -> list[Item]:
    """The injected items whose use can be told, each with what gives it away."""
    first: dict[str, Injection] = {}
    for row in ledger:
        first.setdefault(row.item_id, row)
    marks: dict[str, tuple[str, ...]] = {}
    for kind, read in _MARKS.items():
        ids = [row.item_id for row in first.values() if row.item_kind == kind]
        for start in range(0, len(ids), CHUNK):
            marks |= dict(read(tx, ids[start : start + CHUNK]))
    return [Item(id=id, at=row.created_at, marks=marks[id]) for id, row in first.items() if marks.get(id)]


def _entries(tx: Tx, ids: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    names: dict[str, list[str]] = {}
    sql = "SELECT entry_id, name FROM entry_link WHERE entry_id IN :ids AND kind IN ('file', 'symbol')"
    for id, name in tx.all(sql, ids=ids):
        names.setdefault(id, []).append(name)
    for id, short, title in tx.all("SELECT id, short, title FROM entry WHERE id IN :ids", ids=ids):
        yield id, marks_of(short=short, title=title, names=names.get(id, ()))


def _symbols(tx: Tx, ids: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for id, name, path in tx.all("SELECT id, name, path FROM symbol WHERE id IN :ids", ids=ids):
        yield id, marks_of(short=id[:6], names=(name, path))


def _documents(tx: Tx, ids: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for id, path, title in tx.all("SELECT id, path, title FROM document WHERE id IN :ids", ids=ids):
        yield id, marks_of(short=id[:6], title=title, names=(path,))


def _messages(tx: Tx, ids: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    yield from ((id, marks_of(short=id[:6])) for (id,) in _ids(tx, "message", ids))


def _ids(tx: Tx, table: str, ids: Sequence[str]) -> list[Row]:
    return tx.all(f"SELECT id FROM {table} WHERE id IN :ids", ids=ids)


_MARKS = {"entry": _entries, "symbol": _symbols, "document": _documents, "message": _messages}


def mark_used(tx: Tx, session: Session, values: Mapping[str, bool]) -> int:
    """Write whether items were used, in one statement; how many rows of the ledger changed."""
    if not values:
        return 0
    return tx.run(
        "UPDATE injection SET used = CASE WHEN item_id IN :taken THEN 1 ELSE 0 END"
        " WHERE native_session = :native AND agent = :agent AND item_id IN :ids",
        taken=[id for id, used in values.items() if used],
        native=session.native_id,
        agent=session.agent,
        ids=list(values),
    )
