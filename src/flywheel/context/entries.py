"""The source of knowledge entries: what the prompt asks for, or what matters to the work at hand."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from flywheel.context.allocator import Piece
from flywheel.context.ask import Ask, day, shorten
from flywheel.context.relevance import EntryFacts, entry_relevance
from flywheel.model import SERVED, EntryId, Micros, Status
from flywheel.search.queries import usefulness
from flywheel.store import Db, Row, Tx

RECENT: Final[Mapping[Status, int]] = {
    Status.CONFIRMED: 40,
    Status.CANDIDATE: 30,
    Status.DISPUTED: 12,
    Status.STALE: 8,
}
"""How many of the newest entries of each status are looked at when nobody asked for anything."""

LINKED: Final = 60
"""How many entries that speak of the files and words at hand are looked at besides."""

OFFERED: Final = 32
"""How many entries are offered to the allocator."""

BODIES: Final = 12
"""Of how many the body is read."""

_COLUMNS: Final = "id, short, category, type, status, subject, title, summary, evidence, updated_at, last_confirmed"
_MARKS: Final = {
    Status.CANDIDATE: "unconfirmed",
    Status.CONFIRMED: "confirmed",
    Status.DISPUTED: "DISPUTED",
    Status.STALE: "stale, check before relying on it",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """An entry as far as ranking needs it."""

    id: EntryId
    short: str
    category: str
    type: str
    status: Status
    subject: str
    title: str
    summary: str
    evidence: int
    at: Micros
    linked: bool


class EntriesSource:
    """Served entries of the project and of everywhere. Candidates only where ``candidates`` allows them."""

    name = "entries"

    def __init__(self, db: Db, weights: Mapping[str, float], *, candidates: bool = True) -> None:
        self._db, self._weights = db, weights
        self._served = [status for status in SERVED if candidates or status is not Status.CANDIDATE]

    def offer(self, ask: Ask) -> Sequence[Piece]:
        """The best entries, disputed ones with both values."""
        with self._db.read() as tx:
            ranked = self._asked(tx, ask) if ask.query else self._at_hand(tx, ask)
            best = sorted(ranked, key=lambda pair: (-pair[0], pair[1].id))[:OFFERED]
            said = _said_at(tx, [row.id for _, row in best])
            bodies = _bodies(tx, [row.id for _, row in best[:BODIES]])
            sides = _sides(tx, [row.id for _, row in best if row.status is Status.DISPUTED])
        titles: set[str] = set()
        pieces = []
        for relevance, row in best:
            if row.title not in titles:
                titles.add(row.title)
                at = said.get(row.id, row.at)
                pieces.append(_piece(ask, row, relevance, at, bodies.get(row.id, ""), sides.get(row.id, ())))
        return pieces

    def _asked(self, tx: Tx, ask: Ask) -> list[tuple[float, _Row]]:
        """What search found for the prompt, read again here."""
        hits = {hit.id: hit.score for hit in ask.found().hits if hit.kind == "entry" and hit.id not in ask.exclude}
        best = max(hits.values(), default=0.0)
        rows = _read(tx, ask, "id IN :ids AND status IN :served", ids=list(hits), served=self._statuses())
        return [(hits[row.id] / best if best > 0 else 0.0, row) for row in rows]

    def _at_hand(self, tx: Tx, ask: Ask) -> list[tuple[float, _Row]]:
        """The newest entries, and those that speak of the files and words at hand."""
        rows: dict[str, _Row] = {}
        linked = _linked(tx, ask)
        if linked:
            found = _read(
                tx, ask, "id IN :ids AND status IN :served", linked, ids=list(linked), served=self._statuses()
            )
            rows |= {row.id: row for row in found}
        for project in ask.projects:
            for status in self._served:
                tail = "project_id = :project AND status = :status ORDER BY updated_at DESC LIMIT :many"
                params = {"project": project, "status": status.value, "many": RECENT.get(status, 10)}
                rows |= {row.id: row for row in _read(tx, ask, tail, linked, **params)}
        fresh = [row for row in rows.values() if row.id not in ask.exclude]
        used = usefulness(tx, [row.id for row in fresh])
        return [(self._relevance(ask, row, used.get(row.id, (0, 0))), row) for row in fresh]

    def _relevance(self, ask: Ask, row: _Row, used: tuple[int, int]) -> float:
        facts = EntryFacts(
            status=row.status,
            weight=self._weights.get(row.category, 0.5),
            at=row.at,
            evidence=row.evidence,
            overlap=ask.overlap(f"{row.title} {row.subject}"),
            linked=row.linked,
            used=used[0],
            shown=used[1],
        )
        return entry_relevance(facts, ask.now)

    def _statuses(self) -> list[str]:
        return [status.value for status in self._served]


def _read(tx: Tx, ask: Ask, tail: str, linked: Collection[str] = (), **params: object) -> list[_Row]:
    """Entries of the asking project; the hard filters are part of every statement."""
    sql = f"SELECT {_COLUMNS} FROM entry WHERE project_id IN :projects AND {tail}"
    return [_decode(row, linked) for row in tx.all(sql, projects=list(ask.projects), **params)]


def _decode(row: Row, linked: Collection[str]) -> _Row:
    return _Row(
        id=row[0],
        short=row[1],
        category=row[2],
        type=row[3],
        status=Status(row[4]),
        subject=row[5],
        title=row[6],
        summary=row[7],
        evidence=row[8],
        at=Micros(row[10] if row[10] is not None else row[9]),
        linked=row[0] in linked,
    )


def _linked(tx: Tx, ask: Ask) -> frozenset[str]:
    """Ids of entries that speak of a changed or touched file, by path or name, or of a cue as their subject."""
    files = [*ask.git.changed[:20], *ask.git.touched[:20]]
    names = list(dict.fromkeys([*files, *(file.rpartition("/")[2] for file in files)]))
    words = sorted(ask.cues, key=lambda word: (-ask.cues[word], word))[:24]
    found: set[str] = set()
    for kind, wanted in (("file", names), ("subject", words)):
        if wanted:
            sql = "SELECT entry_id FROM entry_link WHERE project_id IN :projects AND kind = :kind AND name IN :names"
            rows = tx.all(f"{sql} LIMIT :many", projects=list(ask.projects), kind=kind, names=wanted, many=LINKED)
            found |= {row[0] for row in rows}
    return frozenset(found)


def _said_at(tx: Tx, ids: Sequence[EntryId]) -> dict[str, Micros]:
    """When each entry was last said, by its claims."""
    sql = "SELECT entry_id, MAX(said_at) FROM claim WHERE entry_id IN :ids GROUP BY entry_id"
    return dict(tx.all(sql, ids=list(ids))) if ids else {}


def _bodies(tx: Tx, ids: Sequence[EntryId]) -> dict[str, str]:
    return dict(tx.all("SELECT id, body FROM entry WHERE id IN :ids", ids=list(ids))) if ids else {}


def _sides(tx: Tx, ids: Sequence[EntryId]) -> dict[str, Sequence[str]]:
    """Each disputed entry's rival statements, dated, the newest first."""
    if not ids:
        return {}
    sql = (
        "SELECT entry_id, value, text, role, said_at FROM claim WHERE entry_id IN :ids AND status IN :open "
        "ORDER BY said_at DESC, id"
    )
    sides: dict[str, list[str]] = {}
    for entry, value, text, role, at in tx.all(
        sql, ids=list(ids), open=["disputed", "confirmed", "candidate", "stale"]
    ):
        said = f"“{shorten(value or text, 100)}” ({role}, {day(at)})"
        if len(sides.setdefault(entry, [])) < 4 and said not in sides[entry]:
            sides[entry].append(said)
    return dict(sides)


def _piece(ask: Ask, row: _Row, relevance: float, at: Micros, body: str, sides: Sequence[str]) -> Piece:
    """The entry at its levels. A dispute has no level that shows one side only."""
    type_ = row.type.replace("_", " ")
    told = f", said in {row.evidence} sessions" if row.evidence > 1 else ""
    status = f"({type_}, {_MARKS[row.status]}, {day(at)}{told})"
    mark, title = f"- [fw:{row.short}]", shorten(row.title, 120)
    summary = shorten(row.summary, 320)
    line = summary if summary.startswith(title.rstrip("…")) else f"{title}: {summary}" if summary else title
    if len(sides) > 1:
        rivals = f"{mark} {title}: {' or '.join(sides)} {status}"
        texts = {"body": f"{rivals}\n    A person has not decided yet.", "summary": rivals}
    else:
        rest = [
            shorten(part, 400)
            for part in body.split("\n")
            if part.strip() and part.strip() not in (row.summary, row.title)
        ]
        texts = {
            "body": "\n    ".join([f"{mark} {line} {status}", *rest[:8]]) if rest else "",
            "summary": f"{mark} {line} {status}",
            "title": f"{mark} {title} {status}",
        }
    return ask.piece(
        kind="entry",
        id=row.id,
        short=row.short,
        relevance=relevance,
        texts=texts,
        subject=row.subject,
        unreviewed=row.status is Status.CANDIDATE,
    )
