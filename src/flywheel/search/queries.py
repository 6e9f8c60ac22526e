"""The SQL of search: every hard filter again, and what the order depends on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from flywheel.model import GLOBAL, Kind, Micros, ProjectId
from flywheel.search.rules import Facts, Key
from flywheel.store import Row, Tx

CHUNK: Final = 500
"""Ids of one query."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What an answer may hold. Empty and None do not filter."""

    projects: Sequence[ProjectId] = ()
    statuses: Sequence[str] = ()  # of entries
    since: Micros | None = None
    until: Micros | None = None  # exclusive


@dataclass(frozen=True, slots=True, kw_only=True)
class Full:
    """What a hit shows."""

    title: str
    text: str
    agent: str = ""
    path: str = ""


def read_facts(tx: Tx, keys: Collection[Key], filters: Filters) -> dict[Key, Facts]:
    """The keys that pass every hard filter now, in one statement for each kind that occurs."""
    found: dict[Key, Facts] = {}
    for kind, ids in _by_kind(keys).items():
        for at in range(0, len(ids), CHUNK):
            for row in _facts_of(tx, kind, ids[at : at + CHUNK], filters):
                id, project, when, role, type, status, session = row
                found[kind, id] = Facts(
                    key=(kind, id), project=project, at=when, role=role, type=type, status=status, session=session
                )
    return found


def _facts_of(tx: Tx, kind: Kind, ids: Sequence[str], filters: Filters) -> list[Row]:
    select, when, refused = _FACTS[kind]
    where = ["t.id IN :ids", *refused]
    params: dict[str, object] = {"ids": ids}
    if filters.projects:
        where.append("COALESCE(t.project_id, '') IN :projects")  # the ids lead, and no index of projects
        params["projects"] = list(filters.projects)
    if kind is Kind.ENTRY and filters.statuses:
        where.append("COALESCE(t.status, '') IN :statuses")
        params["statuses"] = list(filters.statuses)
    if when and filters.since is not None:
        where.append(f"{when} >= :since")
        params["since"] = filters.since
    if when and filters.until is not None:
        where.append(f"{when} < :until")
        params["until"] = filters.until
    return tx.all(f"{select} WHERE {' AND '.join(where)}", **params)


_KEPT: Final = "NOT EXISTS (SELECT 1 FROM tombstone x WHERE x.kind = '{kind}' AND x.id = t.id)"
_FACTS: Final[Mapping[Kind, tuple[str, str, tuple[str, ...]]]] = {
    Kind.MESSAGE: (
        "SELECT t.id, t.project_id, t.created_at, t.role, t.kind, '', t.session_id FROM message t",
        "t.created_at",
        ("NOT EXISTS (SELECT 1 FROM retraction r WHERE r.message_id = t.id)", _KEPT.format(kind="message")),
    ),
    Kind.ENTRY: (
        "SELECT t.id, t.project_id, t.created_at, '', t.type, t.status, '' FROM entry t",
        "t.created_at",
        (_KEPT.format(kind="entry"),),
    ),
    Kind.DOCUMENT: (
        "SELECT t.id, t.project_id, t.created_at, '', t.kind, '', '' FROM document t",
        "t.created_at",
        (_KEPT.format(kind="document"),),
    ),
    Kind.SYMBOL: ("SELECT t.id, t.project_id, 0, '', t.kind, '', '' FROM symbol t", "", ()),
}


def read_full(tx: Tx, keys: Collection[Key]) -> dict[Key, Full]:
    """What hits show. The keys went through `read_facts` in the same transaction."""
    found: dict[Key, Full] = {}
    for kind, ids in _by_kind(keys).items():
        for at in range(0, len(ids), CHUNK):
            found.update(_FULL[kind](tx, ids[at : at + CHUNK]))
    return found


def _full_messages(tx: Tx, ids: Sequence[str]) -> Iterable[tuple[Key, Full]]:
    rows = tx.all(
        "SELECT m.id, m.text, COALESCE(s.title, ''), COALESCE(s.agent, '') FROM message m"
        " LEFT JOIN session s ON s.id = m.session_id WHERE m.id IN :ids",
        ids=ids,
    )
    for id, text, title, agent in rows:
        yield (Kind.MESSAGE, id), Full(title=title, text=text, agent=agent)


def _full_entries(tx: Tx, ids: Sequence[str]) -> Iterable[tuple[Key, Full]]:
    for id, title, summary, body in tx.all("SELECT id, title, summary, body FROM entry WHERE id IN :ids", ids=ids):
        yield (Kind.ENTRY, id), Full(title=title, text=summary or body)


def _full_documents(tx: Tx, ids: Sequence[str]) -> Iterable[tuple[Key, Full]]:
    for id, title, text, path in tx.all("SELECT id, title, text, path FROM document WHERE id IN :ids", ids=ids):
        yield (Kind.DOCUMENT, id), Full(title=title, text=text, path=path)


def _full_symbols(tx: Tx, ids: Sequence[str]) -> Iterable[tuple[Key, Full]]:
    rows = tx.all("SELECT id, qualified, signature, doc, path, start_line FROM symbol WHERE id IN :ids", ids=ids)
    for id, qualified, signature, doc, path, line in rows:
        text = f"{signature}\n{doc}" if doc else signature
        yield (Kind.SYMBOL, id), Full(title=qualified, text=text, path=f"{path}:{line}")


_FULL: Final[Mapping[Kind, Callable[[Tx, Sequence[str]], Iterable[tuple[Key, Full]]]]] = {
    Kind.MESSAGE: _full_messages,
    Kind.ENTRY: _full_entries,
    Kind.DOCUMENT: _full_documents,
    Kind.SYMBOL: _full_symbols,
}


def named(tx: Tx, names: Sequence[str], projects: Sequence[ProjectId], kinds: Collection[Kind]) -> list[Key]:
    """Symbols that have one of these names, and entries that are tied to a file or symbol of that name."""
    parts: list[str] = []
    if Kind.SYMBOL in kinds:
        parts.append("SELECT 'symbol', id FROM symbol WHERE project_id IN :projects AND name IN :names")
    if Kind.ENTRY in kinds:
        parts.append(
            "SELECT 'entry', entry_id FROM entry_link WHERE project_id IN :projects AND kind IN ('file', 'symbol')"
            " AND name IN :names"
        )
    if not (parts and names and projects):
        return []
    rows = tx.all(f"{' UNION ALL '.join(parts)} LIMIT 50", projects=list(projects), names=list(names))
    return [(Kind(kind), id) for kind, id in rows]


def neighbours(tx: Tx, entries: Sequence[str]) -> list[str]:
    """The entries that edges tie to these."""
    if not entries:
        return []
    rows = tx.all(
        "SELECT source_id, target_id FROM edge WHERE source_id IN :ids OR target_id IN :ids LIMIT 100",
        ids=list(entries),
    )
    known = set(entries)
    return list(dict.fromkeys(id for row in rows for id in row if id not in known))


def usefulness(tx: Tx, ids: Sequence[str]) -> dict[str, tuple[int, int]]:
    """For each item that was injected: how often it was used, and how often that is known."""
    rows = tx.all(
        "SELECT item_id, SUM(used), COUNT(used) FROM injection WHERE item_id IN :ids AND used IS NOT NULL"
        " GROUP BY item_id",
        ids=list(ids),
    )
    return {id: (int(used), int(shown)) for id, used, shown in rows}


def overlaps(tx: Tx, entries: Sequence[str], names: Collection[str]) -> dict[str, int]:
    """How many of these files and symbols each entry is tied to."""
    if not (entries and names):
        return {}
    rows = tx.all(
        "SELECT entry_id, COUNT(*) FROM entry_link WHERE entry_id IN :ids AND name IN :names GROUP BY entry_id",
        ids=list(entries),
        names=list(names)[:CHUNK],
    )
    return {id: int(count) for id, count in rows}


def project_names(tx: Tx, projects: Sequence[ProjectId]) -> dict[str, str]:
    """The names of these projects, or of all; the global one has none."""
    where = "WHERE id IN :ids" if projects else ""
    params: dict[str, Any] = {"ids": list(projects)} if projects else {}
    rows = tx.all(f"SELECT id, name FROM project {where}", **params)
    return {id: name for id, name in rows if id != GLOBAL}


def holds_any(tx: Tx, kinds: Collection[Kind], projects: Sequence[ProjectId]) -> bool:
    """Whether the store has anything of these kinds, in these projects or at all. Messages are asked for by session."""
    where = "WHERE project_id IN :projects" if projects else ""
    params: dict[str, Any] = {"projects": list(projects)} if projects else {}
    tables = ["session" if kind is Kind.MESSAGE else kind.value for kind in kinds]
    return any(tx.one(f"SELECT 1 FROM {table} {where} LIMIT 1", **params) for table in tables)


def _by_kind(keys: Collection[Key]) -> Mapping[Kind, list[str]]:
    ids: dict[Kind, list[str]] = defaultdict(list)
    for kind, id in keys:
        ids[kind].append(id)
    return ids
