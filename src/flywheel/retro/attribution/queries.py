"""The SQL of attribution: what a session was told, how long its messages are, and what is kept of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from flywheel.model import Attribution, Course, Discovery, Entry, Feedback, Injection, Kind, Session, SessionId
from flywheel.retro.attribution.items import TEXT, Item, item_of
from flywheel.retro.attribution.watching import HARMS
from flywheel.store import Tx
from flywheel.store.chunks import chunks
from flywheel.store.discoveries import names_of, said_id, settle
from flywheel.store.mapper import find, insert_many, upsert, upsert_many

TOOL = "tool"
"""The event of what our own tools showed, which no briefing brought."""


def items_of(tx: Tx, ledger: Sequence[Injection]) -> list[Item]:
    """The injected items whose use can be told, each with what gives it away."""
    first: dict[str, Injection] = {}
    for row in ledger:
        first.setdefault(row.item_id, row)
    found: list[Item] = []
    for kind, read in _READ.items():
        ids = [row.item_id for row in first.values() if row.item_kind == kind]
        for chunk in chunks(ids):
            found += read(tx, {id: first[id] for id in chunk})
    return sorted(found, key=lambda item: (item.at, item.id))


def _entries(tx: Tx, told: Mapping[str, Injection]) -> Iterator[Item]:
    names: dict[str, dict[str, list[str]]] = {"file": {}, "symbol": {}}
    sql = "SELECT entry_id, kind, name FROM entry_link WHERE entry_id IN :ids AND kind IN ('file', 'symbol')"
    for id, kind, name in tx.all(sql, ids=list(told)):
        names[kind].setdefault(id, []).append(name)
    for id, short, title, summary in tx.all(
        "SELECT id, short, title, summary FROM entry WHERE id IN :ids", ids=[*told]
    ):
        text = title if summary.startswith(title) else f"{title}. {summary}"
        yield item_of(
            id=id, kind="entry", at=told[id].created_at, short=short, text=text, files=names["file"].get(id, ()),
            symbols=names["symbol"].get(id, ()),
        )  # fmt: skip


def _symbols(tx: Tx, told: Mapping[str, Injection]) -> Iterator[Item]:
    for id, name, path in tx.all("SELECT id, qualified, path FROM symbol WHERE id IN :ids", ids=[*told]):
        yield item_of(
            id=id, kind="symbol", at=told[id].created_at, short=id[:6], text="", files=(path,), symbols=(name,)
        )


def _documents(tx: Tx, told: Mapping[str, Injection]) -> Iterator[Item]:
    for id, path, title in tx.all("SELECT id, path, title FROM document WHERE id IN :ids", ids=[*told]):
        yield item_of(id=id, kind="document", at=told[id].created_at, short=id[:6], text=title, files=(path,))


def _messages(tx: Tx, told: Mapping[str, Injection]) -> Iterator[Item]:
    sql = f"SELECT id, substr(text, 1, {TEXT}) FROM message WHERE id IN :ids"
    for id, text in tx.all(sql, ids=[*told]):
        yield item_of(id=id, kind="message", at=told[id].created_at, short=id[:6], text=text)


_READ = {"entry": _entries, "symbol": _symbols, "document": _documents, "message": _messages}


def lengths(tx: Tx, ids: Sequence[str]) -> dict[str, int]:
    """How many characters these messages have."""
    return {id: int(chars) for id, chars in tx.all("SELECT id, length(text) FROM message WHERE id IN :ids", ids=[*ids])}


def compactions(tx: Tx, session: SessionId) -> list[int]:
    """When a session's conversation was summarised, after which it no longer has what it was told."""
    sql = "SELECT created_at FROM message WHERE session_id = :session AND kind = 'summary' ORDER BY created_at"
    return [int(at) for (at,) in tx.all(sql, session=session)]


def mark_used(tx: Tx, session: Session, values: Mapping[str, bool]) -> None:
    """Write into the ledger whether items were used, in one statement for each 500."""
    for chunk in chunks(sorted(values)):
        tx.run(
            "UPDATE injection SET used = CASE WHEN item_id IN :taken THEN 1 ELSE 0 END"
            " WHERE native_session = :native AND agent = :agent AND item_id IN :ids",
            taken=[id for id in chunk if values[id]],
            native=session.native_id,
            agent=session.agent,
            ids=chunk,
        )


def keep_signs(tx: Tx, session: Session, rows: Sequence[Attribution], feedback: Mapping[str, Feedback]) -> None:
    """Keep a session's signs in place of those that were known; ``feedback`` by the id of the one that it says.

    What was called wrong is feedback like an agent's own; when the words are gone, so is the feedback.
    """
    before = find(tx, Attribution, "WHERE session_id = :id ORDER BY item_id, signal", id=session.id)
    after = sorted(rows, key=lambda row: (row.item_id, row.signal))
    if before != after:
        tx.run("DELETE FROM attribution WHERE session_id = :id", id=session.id)
        insert_many(tx, after)
    withdrawn = {_said(row) for row in before if row.signal in HARMS} - set(feedback)
    for chunk in chunks(sorted(withdrawn)):
        tx.run("DELETE FROM feedback WHERE id IN :ids", ids=chunk)
    new = {one.target_id for one in feedback.values() if insert_many(tx, [one])}
    _changed(tx, new | {row.item_id for row in before if _said(row) in withdrawn})


def _said(row: Attribution) -> str:
    return said_id(row.session_id, row.item_id, row.signal)


def _changed(tx: Tx, items: Collection[str]) -> None:
    """Briefings with these entries are made anew."""
    for chunk in chunks(sorted(items)):
        for entry in find(tx, Entry, "WHERE id IN :ids ORDER BY id", ids=chunk):
            tx.changed(Kind.ENTRY, entry.id, entry.project_id)


def keep_course(tx: Tx, course: Course) -> None:
    """Keep what a session spent, over what was known of it."""
    if find(tx, Course, "WHERE session_id = :id", id=course.session_id) != [course]:
        upsert(tx, course)


def keep_discoveries(tx: Tx, session: Session, rows: Iterable[Discovery]) -> None:
    """Keep what a session found out or was told, in place of what was known; who was first is settled anew."""
    after = {(row.kind, row.name): row for row in rows}
    found = find(tx, Discovery, "WHERE session_id = :id ORDER BY kind, name", id=session.id)
    before = {(row.kind, row.name): row for row in found}
    if {key: _as_told(row) for key, row in before.items()} == {key: _as_told(row) for key, row in after.items()}:
        return
    touched = names_of(tx, "session_id", [session.id])
    tx.run("DELETE FROM discovery WHERE session_id = :id", id=session.id)
    upsert_many(tx, after.values())
    settle(tx, [*touched, *names_of(tx, "session_id", [session.id])])


def _as_told(row: Discovery) -> tuple[object, ...]:
    """All of it but whether somebody was first, which is settled in the store."""
    return (row.told, row.tokens, row.calls, row.message_id, row.created_at, row.project_id)
