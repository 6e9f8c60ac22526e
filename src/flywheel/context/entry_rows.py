"""The SQL of the entries source. Each statement asks by ids, or looks once into an index for what is newest."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from flywheel.context.ask import Ask, newest_of, shorten
from flywheel.model import SERVED, EdgeKind, EntryId, Micros, Status
from flywheel.search.banners import USUAL, Facts, banner
from flywheel.search.limits import limits_of
from flywheel.search.queries import called_wrong
from flywheel.store import Row, Tx
from flywheel.text.compose import current

LINKED: Final = 24
"""How many entries that speak of the files at hand, and of the words, are looked at."""

LOOKED: Final = 400
"""How many entries about the subjects of candidates are looked at for confirmed ones."""

RIVALS: Final = 12
"""How many of those are taken."""

PINNED: Final = 24
"""How many pinned entries are looked at."""

_COLUMNS: Final = (
    "id, short, category, type, status, subject, title, summary, evidence, updated_at, last_confirmed, project_id, "
    "scope, pinned, review_by, stale_reason"
)


class EntryRow(NamedTuple):
    """An entry as far as ranking needs it. Many are made for one briefing, so a tuple."""

    id: EntryId
    short: str
    category: str
    type: str
    status: Status
    subject: str
    title: str
    summary: str
    evidence: int
    at: Micros  # when it was last confirmed, or else rewritten
    linked: bool  # speaks of a file or a word at hand
    scope: str = ""  # the part of the project that it is limited to
    pinned: bool = False
    confirmed: Micros | None = None  # when a person last did
    review_by: Micros | None = None
    stale_reason: str = ""
    project: str = ""

    @property
    def unreviewed(self) -> bool:
        """Whether nobody ever confirmed it, be what it rests on as it was, disputed, or not."""
        fell = self.status in (Status.STALE, Status.DISPUTED)
        return self.status is Status.CANDIDATE or (fell and self.confirmed is None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Details:
    """What is shown of an entry besides."""

    body: str = ""
    said_at: Micros | None = None  # the newest of its claims


def newest(tx: Tx, ask: Ask, many: Mapping[Status, int], linked: Collection[str]) -> list[EntryRow]:
    """The newest entries of each project, so many of each status, in one statement."""
    parts = [
        newest_of("entry", _COLUMNS, "updated_at", len(ask.projects), limit, f"status = '{status.value}'")
        for status, limit in many.items()
    ]
    params = {f"p{number}": project for number, project in enumerate(ask.projects)}
    return [_decode(row, linked) for row in tx.all(" UNION ALL ".join(parts), **params)]


def pinned(tx: Tx, ask: Ask, statuses: Collection[Status]) -> list[EntryRow]:
    """The entries that a person pinned, the newest first."""
    rows = tx.all(
        f"SELECT {_COLUMNS} FROM entry WHERE project_id IN :projects AND pinned = 1 ORDER BY updated_at DESC, id"
        " LIMIT :many",
        projects=list(ask.projects),
        many=PINNED,
    )
    return [_decode(row, ()) for row in rows if row[4] in statuses]


def named(
    tx: Tx, ask: Ask, ids: Sequence[str], statuses: Collection[Status], linked: Collection[str] = ()
) -> list[EntryRow]:
    """Those of these entries that are served to the asking project.

    The hard filters are applied here: in the statement they would lead SQLite to an index of the whole project.
    """
    if not ids:
        return []
    rows = tx.all(f"SELECT {_COLUMNS} FROM entry WHERE id IN :ids", ids=list(ids))
    return [_decode(row, linked) for row in rows if row[4] in statuses and row[11] in ask.projects]


def linked_to(tx: Tx, ask: Ask) -> frozenset[str]:
    """Ids of entries that speak of a changed or touched file, by path or name, or of a cue as their subject."""
    files = [*ask.git.changed[:20], *ask.git.touched[:20]]
    names = list(dict.fromkeys([*files, *(file.rpartition("/")[2] for file in files)]))
    words = sorted(ask.cues, key=lambda word: (-ask.cues[word], word))[:24]
    wanted = {kind: list(values) for kind, values in (("file", names), ("subject", words)) if values}
    if not wanted:
        return frozenset()
    one = "SELECT entry_id FROM entry_link WHERE project_id IN :projects AND kind = '{0}' AND name IN :{0} LIMIT {1}"
    parts = [f"SELECT * FROM ({one.format(kind, LINKED)}) AS part" for kind in wanted]
    return frozenset(row[0] for row in tx.all(" UNION ALL ".join(parts), projects=list(ask.projects), **wanted))


def confirmed_about(tx: Tx, ask: Ask, subjects: Collection[str]) -> list[EntryRow]:
    """Confirmed entries with these very subjects."""
    if not subjects:
        return []
    columns = ", ".join(f"e.{column}" for column in _COLUMNS.split(", "))
    rows = tx.all(
        f"SELECT {columns} FROM (SELECT entry_id, name FROM entry_link WHERE project_id IN :projects "
        "AND kind = 'subject' AND name IN :subjects LIMIT :some) AS l CROSS JOIN entry e "
        "WHERE e.id = l.entry_id AND (e.status = 'confirmed' OR (e.status = 'stale' AND e.last_confirmed IS NOT NULL))"
        " AND e.subject = l.name LIMIT :many",
        projects=list(ask.projects),
        subjects=sorted(subjects),
        some=LOOKED,
        many=RIVALS,
    )
    return [_decode(row, ()) for row in rows if row[11] in ask.projects]


def details(tx: Tx, ids: Sequence[EntryId]) -> dict[str, Details]:
    """What holds of each entry's body, and when it was last said, by its claims."""
    if not ids:
        return {}
    sql = (
        "SELECT e.id, SUBSTR(e.body, 1, 2000), (SELECT MAX(c.said_at) FROM claim c WHERE c.entry_id = e.id) "
        "FROM entry e WHERE e.id IN :ids"
    )
    return {id: Details(body=current(body), said_at=at) for id, body, at in tx.all(sql, ids=list(ids))}


def contradictions(tx: Tx, ids: Sequence[EntryId]) -> dict[str, Sequence[str]]:
    """The served entries that contradict each of these, as they are shown: short id, title, status."""
    if not ids:
        return {}
    sql = (
        "SELECT {0}, e.short, e.title, e.status, e.id FROM edge d JOIN entry e ON e.id = {1} "
        f"WHERE d.kind = '{EdgeKind.CONTRADICTS.value}' AND {{0}} IN :ids"
    )
    halves = [sql.format("d.source_id", "d.target_id"), sql.format("d.target_id", "d.source_id")]
    found: dict[str, list[str]] = {}
    rows = sorted(tx.all(" UNION ALL ".join(halves), ids=list(ids)))
    unsure = [row[4] for row in rows if row[3] == Status.CANDIDATE]
    wrong = called_wrong(tx, unsure)
    for id, short, title, status, other in rows:
        if status in SERVED and other not in wrong:
            said = "unconfirmed" if status == Status.CANDIDATE else status
            text = f"[fw:{short}] “{shorten(title, 100)}” ({said})"
            if len(found.setdefault(id, [])) < 3 and text not in found[id]:
                found[id].append(text)
    return dict(found)


def banners(tx: Tx, ask: Ask, rows: Collection[EntryRow]) -> Mapping[EntryId, str]:
    """What must be known of each before it is relied on; the projects' thresholds are one look into an index."""
    limits = limits_of(tx, ask.projects) if rows else {}
    return {row.id: banner(_page(row), limits.get(row.project, USUAL), ask.now) for row in rows}


def _page(row: EntryRow) -> Facts:
    return Facts(
        status=row.status, type=row.type, category=row.category, updated_at=row.at, last_confirmed=row.confirmed,
        review_by=row.review_by, stale_reason=row.stale_reason,
    )  # fmt: skip


def _decode(row: Row, linked: Collection[str]) -> EntryRow:
    (id, short, category, type_, status, subject, title, summary, evidence, updated, confirmed, project, scope, pinned,
     review, stale) = row  # fmt: skip
    at = updated if confirmed is None else confirmed
    return EntryRow(
        id, short, category, type_, Status(status), subject, title, summary, evidence, at, id in linked, scope,
        bool(pinned), confirmed, review, stale, project,
    )  # fmt: skip
