"""The SQL of search: every hard filter again, and what the order depends on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from flywheel.model import GLOBAL, SERVED, Kind, Micros, ProjectId, Status
from flywheel.search.rules import Facts, Key
from flywheel.search.usefulness import HARM
from flywheel.store import Row, Tx
from flywheel.text.compose import current, dated

CHUNK: Final = 500
"""Ids of one query."""

HELPED: Final = 3
"""Sessions that something helped, past which more do not lift it any further."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What an answer may hold. Empty and None do not filter."""

    projects: Sequence[ProjectId] = ()
    statuses: Sequence[str] = ()  # of entries
    since: Micros | None = None
    until: Micros | None = None  # exclusive
    scopes: Sequence[str] = ()  # of entries: those that hold everywhere, and those limited to these only


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
                id, project, when, role, type, status, session, subject, scope, *more = row
                if filters.scopes and not within(scope, filters.scopes):
                    continue
                found[kind, id] = Facts(
                    key=(kind, id), project=project, at=when, role=role, type=type, status=status, session=session,
                    subject=subject, held=bool(more and more[0]),
                )  # fmt: skip
    return found


def within(scope: str, scopes: Collection[str]) -> bool:
    """Whether what is limited to ``scope`` (parts joined by commas, all of which limit it) holds in these scopes."""
    return all(part.strip() in scopes for part in scope.split(",") if part.strip())


def _facts_of(tx: Tx, kind: Kind, ids: Sequence[str], filters: Filters) -> list[Row]:
    select, when, refused = _FACTS[kind]
    where = ["t.id IN :ids", *refused]
    params: dict[str, object] = {"ids": ids}
    if filters.projects:
        where.append("COALESCE(t.project_id, '') IN :projects")  # the ids lead, and no index of projects
        params["projects"] = list(filters.projects)
    if kind is Kind.DOCUMENT and Status.SUPERSEDED not in filters.statuses:
        where += _TODAYS
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
_CLAIMS: Final = "SELECT 1 FROM citation c JOIN claim k ON k.id = c.claim_id WHERE c.document_id = t.id AND k.status"
_TODAYS: Final = (
    "NOT EXISTS (SELECT 1 FROM document_head h WHERE h.project_id = t.project_id AND h.path = t.path"
    " AND h.document_id <> t.id)",
    f"(NOT EXISTS ({_CLAIMS} = 'superseded') OR EXISTS ({_CLAIMS} NOT IN ('superseded', 'rejected')))",
)
"""Of documents the version that their source has today, unless nothing holds any more of what it said."""

_FACTS: Final[Mapping[Kind, tuple[str, str, tuple[str, ...]]]] = {
    Kind.MESSAGE: (
        "SELECT t.id, t.project_id, t.created_at, t.role, t.kind, '', t.session_id, '', '' FROM message t",
        "t.created_at",
        ("NOT EXISTS (SELECT 1 FROM retraction r WHERE r.message_id = t.id)", _KEPT.format(kind="message")),
    ),
    Kind.ENTRY: (
        "SELECT t.id, t.project_id, t.created_at, '', t.type, t.status, '', t.subject, t.scope,"
        " CASE WHEN t.status = 'confirmed' OR (t.status = 'stale' AND t.last_confirmed IS NOT NULL) THEN 1 ELSE 0 END"
        " FROM entry t",
        "t.created_at",
        (_KEPT.format(kind="entry"),),
    ),
    Kind.DOCUMENT: (
        "SELECT t.id, t.project_id, t.created_at, '', t.kind, '', '', '', '' FROM document t",
        "t.created_at",
        (_KEPT.format(kind="document"),),
    ),
    Kind.SYMBOL: ("SELECT t.id, t.project_id, 0, '', t.kind, '', '', '', '' FROM symbol t", "", ()),
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
    rows = tx.all("SELECT id, title, summary, body, scope, status FROM entry WHERE id IN :ids", ids=ids)
    both = sides(tx, [row[0] for row in rows if row[5] == Status.DISPUTED])
    for id, title, summary, body, scope, _ in rows:
        told = " or ".join(both[id]) if len(both.get(id, ())) > 1 else summary or current(body)
        named = f"{title} (only {scope})" if scope else title
        yield (Kind.ENTRY, id), Full(title=named, text=told)


def _full_documents(tx: Tx, ids: Sequence[str]) -> Iterable[tuple[Key, Full]]:
    lapsed: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for id, start, stop in tx.all(_LAPSED, ids=ids):
        lapsed[id].append((start, stop))
    for id, title, text, path in tx.all("SELECT id, title, text, path FROM document WHERE id IN :ids", ids=ids):
        yield (Kind.DOCUMENT, id), Full(title=title, text=_without(text, lapsed[id]), path=path)


_LAPSED: Final = """
SELECT c.document_id, c.start, c.stop FROM citation c JOIN claim k ON k.id = c.claim_id WHERE c.document_id IN :ids
AND k.status = 'superseded' AND NOT EXISTS (SELECT 1 FROM citation d JOIN claim j ON j.id = d.claim_id
  WHERE d.document_id = c.document_id AND d.start = c.start AND j.status NOT IN ('superseded', 'rejected'))
ORDER BY c.document_id, c.start DESC
"""
"""Spans of documents that say what no longer holds, from the last to the first."""

LAPSED: Final = "[no longer holds]"
"""Stands in a hit for a statement that something else took the place of."""


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    for start, stop in spans:
        text = f"{text[:start]}{LAPSED}{text[stop:]}"
    return text


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
            "SELECT 'entry', entry_id FROM entry_link WHERE project_id IN :projects"
            " AND kind IN ('file', 'symbol', 'error') AND name IN :names"
        )
    if not (parts and names and projects):
        return []
    rows = tx.all(f"{' UNION ALL '.join(parts)} LIMIT 50", projects=list(projects), names=list(names))
    return [(Kind(kind), id) for kind, id in rows]


def subjects(tx: Tx, names: Sequence[str], projects: Sequence[ProjectId]) -> list[tuple[str, Key]]:
    """Pages whose subject is one of these names, with the name."""
    if not (names and projects):
        return []
    rows = tx.all(
        "SELECT l.name, l.entry_id FROM entry_link l JOIN entry e ON e.id = l.entry_id WHERE l.project_id IN :projects"
        " AND l.kind = 'subject' AND l.name IN :names AND e.subject = l.name LIMIT 50",
        projects=list(projects),
        names=list(names),
    )
    return [(name, (Kind.ENTRY, id)) for name, id in rows]


def linked(tx: Tx, entries: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """The things that these entries speak of: name → entries."""
    found: dict[str, list[str]] = defaultdict(list)
    sql = "SELECT name, entry_id FROM entry_link WHERE entry_id IN :ids AND kind = 'subject' ORDER BY name, entry_id"
    for name, id in tx.all(sql, ids=list(entries)) if entries else ():
        found[name].append(id)
    return found


def entries_of(tx: Tx, shorts: Sequence[str], projects: Sequence[ProjectId]) -> list[Key]:
    """The entries with these short ids, with or without the marks that they are shown in."""
    wanted = sorted({short.removeprefix("[").removesuffix("]").removeprefix("fw:") for short in shorts})
    if not (wanted and projects):
        return []
    rows = tx.all(
        "SELECT id FROM entry WHERE short IN :shorts AND project_id IN :projects ORDER BY id LIMIT 50",
        shorts=wanted,
        projects=list(projects),
    )
    return [(Kind.ENTRY, id) for (id,) in rows]


def beacons(tx: Tx, names: Sequence[str], projects: Sequence[ProjectId], kinds: Collection[Kind]) -> list[Key]:
    """What beacons of one of these names (as they are compared) lead to: definitions, and the entries tied to them.

    Those whose place is gone lead nowhere until somebody sets them anew.
    """
    if not (names and projects):
        return []
    lit = "b.project_id IN :projects AND b.called IN :names AND b.status <> 'rejected' AND b.gone_at IS NULL"
    params: dict[str, Any] = {"projects": list(projects), "names": list(names)[:CHUNK]}
    found: list[Key] = []
    if Kind.SYMBOL in kinds:
        rows = tx.all(
            "SELECT DISTINCT s.id FROM beacon b JOIN source_file f ON f.project_id IN :projects AND f.path = b.path"
            " JOIN symbol s ON s.file_id = f.id AND (s.qualified = b.qualified AND s.kind = b.kind"
            f" OR b.qualified = '' AND s.kind = 'module') WHERE {lit} ORDER BY s.id LIMIT 20",
            **params,
        )
        found += [(Kind.SYMBOL, id) for (id,) in rows]
    if Kind.ENTRY in kinds:
        rows = tx.all(
            "SELECT DISTINCT l.entry_id FROM beacon b JOIN entry_link l ON l.project_id IN :projects"
            " AND l.kind IN ('file', 'symbol') AND (l.name = b.path AND b.qualified = '' OR l.name = b.qualified"
            " AND b.qualified <> '' OR l.name = b.path || ':' || b.qualified)"
            f" WHERE {lit} ORDER BY l.entry_id LIMIT 20",
            **params,
        )
        found += [(Kind.ENTRY, id) for (id,) in rows]
    return found


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


SIDES: Final = 4
"""Rival statements of one dispute that are shown."""


def sides(tx: Tx, ids: Sequence[str]) -> dict[str, Sequence[str]]:
    """Each disputed entry's rival statements, dated, the newest first: of claims in dispute, else of all that stand."""
    if not ids:
        return {}
    rows = tx.all(
        "SELECT entry_id, value, text, role, said_at, status FROM claim WHERE entry_id IN :ids AND status IN :open"
        " AND attribute <> 'edit' ORDER BY said_at DESC, id",
        ids=list(ids),
        open=[status.value for status in SERVED],
    )
    disputed = [row for row in rows if row[5] == Status.DISPUTED]
    several = {id for id in ids if len({row[1] or row[2] for row in disputed if row[0] == id}) > 1}
    found: dict[str, list[str]] = {}
    for id, value, text, role, at, status in rows:
        if id in several and status != Status.DISPUTED:
            continue
        line = " ".join((value or text).split())
        said = f"“{line if len(line) <= 100 else line[:99] + '…'}” ({role}, {dated(at)})"
        if len(found.setdefault(id, [])) < SIDES and said not in found[id]:
            found[id].append(said)
    return dict(found)


def usefulness(tx: Tx, ids: Sequence[str]) -> dict[str, tuple[int, int]]:
    """For each item: how often it went into a session and was used, and how often that is known.

    A session whose agent said that it helped counts as one more use, up to `HELPED` of them; one that called it wrong
    or stale as `HARM` times in vain, until a person looked.
    """
    rows = tx.all(
        "SELECT item_id, SUM(used), COUNT(used) FROM injection WHERE item_id IN :ids AND used IS NOT NULL"
        " GROUP BY item_id",
        ids=list(ids),
    )
    found = {id: (int(used), int(shown)) for id, used, shown in rows}
    helped = tx.all(
        "SELECT target_id, COUNT(DISTINCT agent || ' ' || native_session) FROM feedback"
        " WHERE target_id IN :ids AND verdict = 'helped' GROUP BY target_id",
        ids=list(ids),
    )
    for id, times in helped:
        used, shown = found.get(id, (0, 0))
        found[id] = (used + min(int(times), HELPED), shown + min(int(times), HELPED))
    harmed = tx.all(
        "SELECT f.target_id, COUNT(DISTINCT f.agent || ' ' || f.native_session) FROM feedback f"
        f" WHERE f.target_id IN :ids AND {_AGAINST} GROUP BY f.target_id",
        ids=list(ids),
    )
    for id, times in harmed:
        used, shown = found.get(id, (0, 0))
        found[id] = (used, shown + HARM * int(times))
    return found


_AGAINST: Final = (
    "f.verdict IN ('wrong', 'stale') AND NOT EXISTS (SELECT 1 FROM review r WHERE r.target_id = f.target_id"
    " AND r.actor <> 'rules' AND r.created_at >= f.created_at)"
)
"""Feedback against something at which no person looked since."""


def held_against(tx: Tx, ids: Sequence[str]) -> dict[str, tuple[str, Micros]]:
    """For each item that agents called wrong or stale and at which no person looked since: (verdict, when).

    The last verdict, but "wrong" before "stale".
    """
    rows = tx.all(
        "SELECT f.target_id, f.verdict, MAX(f.created_at) FROM feedback f"
        f" WHERE f.target_id IN :ids AND {_AGAINST} GROUP BY f.target_id, f.verdict ORDER BY f.verdict",
        ids=list(ids),
    )
    return {id: (verdict, Micros(at)) for id, verdict, at in rows}


def called_wrong(tx: Tx, ids: Sequence[str]) -> set[str]:
    """Those of these items that an agent called wrong and at which no person looked since."""
    return {id for id, (verdict, _) in held_against(tx, ids).items() if verdict == "wrong"} if ids else set()


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


def embedded(tx: Tx, kind: Kind, model: str) -> bool:
    """Whether anything of a kind has a vector of this model."""
    sql = "SELECT 1 FROM embedding WHERE model = :model AND kind = :kind LIMIT 1"
    return tx.one(sql, model=model, kind=kind.value) is not None


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
