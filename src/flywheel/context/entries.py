"""The source of knowledge entries: what the prompt asks for, or what matters to the work at hand."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from flywheel.context.allocator import Piece
from flywheel.context.ask import Ask, day, padded, shorten
from flywheel.context.relevance import EntryFacts, entry_relevance, use_factor
from flywheel.model import SERVED, EntryId, Micros, Status
from flywheel.search.queries import usefulness
from flywheel.store import Db, Row, Tx

RECENT: Final[Mapping[Status, int]] = {
    Status.CONFIRMED: 32,
    Status.CANDIDATE: 20,
    Status.DISPUTED: 8,
    Status.STALE: 4,
}
"""How many of the newest entries of each status are looked at when nobody asked for anything."""

LINKED: Final = 24
"""How many entries that speak of the files and words at hand are looked at besides."""

OFFERED: Final = 20
"""How many entries are offered to the allocator."""

BODIES: Final = 8
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
            details = _details(tx, [row.id for _, row in best])
            sides = _sides(tx, [row.id for _, row in best if row.status is Status.DISPUTED])
        titles: set[str] = set()
        pieces = []
        for place, (relevance, row) in enumerate(best):
            if row.title not in titles:
                titles.add(row.title)
                body, at = details.get(row.id, ("", None))
                shown = body if place < BODIES else ""
                pieces.append(_piece(ask, row, relevance, at or row.at, shown, sides.get(row.id, ())))
        return pieces

    def _asked(self, tx: Tx, ask: Ask) -> list[tuple[float, _Row]]:
        """What search found for the prompt, read again here."""
        hits = {hit.id: hit.score for hit in ask.found().hits if hit.kind == "entry" and hit.id not in ask.exclude}
        best = max(hits.values(), default=0.0)
        return [(hits[row.id] / best if best > 0 else 0.0, row) for row in self._named(tx, ask, list(hits), ())]

    def _at_hand(self, tx: Tx, ask: Ask) -> list[tuple[float, _Row]]:
        """The newest entries, and those that speak of the files and words at hand."""
        linked = _linked(tx, ask)
        rows = {row.id: row for row in self._named(tx, ask, sorted(linked), linked)}
        rows |= {row.id: row for row in self._newest(tx, ask, linked)}
        fresh = [(self._relevance(ask, row), row) for row in rows.values() if row.id not in ask.exclude]
        first = sorted(fresh, key=lambda pair: (-pair[0], pair[1].id))[: 2 * OFFERED]
        used = usefulness(tx, padded([row.id for _, row in first])) if first else {}
        return [(relevance * use_factor(*used.get(row.id, (0, 0))), row) for relevance, row in first]

    def _named(self, tx: Tx, ask: Ask, ids: Sequence[str], linked: Collection[str]) -> list[_Row]:
        """Those of these entries that are served to the asking project.

        The hard filters are applied here: in the statement they would lead SQLite to an index of the whole project.
        """
        if not ids:
            return []
        rows = tx.all(f"SELECT {_COLUMNS}, project_id FROM entry WHERE id IN :ids", ids=padded(ids))
        return [_decode(row, linked) for row in rows if row[4] in self._served and row[11] in ask.projects]

    def _newest(self, tx: Tx, ask: Ask, linked: Collection[str]) -> list[_Row]:
        """The newest entries of each project and status, in one statement."""
        one = (
            f"SELECT * FROM (SELECT {_COLUMNS} FROM entry WHERE project_id = :p{{project}} AND status = '{{status}}' "
            "ORDER BY updated_at DESC LIMIT {many}) AS part"
        )
        parts = [
            one.format(project=number, status=status.value, many=RECENT.get(status, 8))
            for number in range(len(ask.projects))
            for status in self._served
        ]
        params = {f"p{number}": project for number, project in enumerate(ask.projects)}
        return [_decode(row, linked) for row in tx.all(" UNION ALL ".join(parts), **params)]

    def _relevance(self, ask: Ask, row: _Row) -> float:
        facts = EntryFacts(
            status=row.status,
            weight=self._weights.get(row.category, 0.5),
            at=row.at,
            evidence=row.evidence,
            overlap=ask.overlap(f"{row.title} {row.subject}"),
            linked=row.linked,
        )
        return entry_relevance(facts, ask.now)


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
    wanted = {kind: padded(values) for kind, values in (("file", names), ("subject", words)) if values}
    if not wanted:
        return frozenset()
    one = "SELECT entry_id FROM entry_link WHERE project_id IN :projects AND kind = '{0}' AND name IN :{0} LIMIT {1}"
    parts = [f"SELECT * FROM ({one.format(kind, LINKED)}) AS part" for kind in wanted]
    return frozenset(row[0] for row in tx.all(" UNION ALL ".join(parts), projects=list(ask.projects), **wanted))


def _details(tx: Tx, ids: Sequence[EntryId]) -> dict[str, tuple[str, Micros | None]]:
    """Each entry's body, and when it was last said, by its claims."""
    if not ids:
        return {}
    sql = (
        "SELECT e.id, SUBSTR(e.body, 1, 2000), (SELECT MAX(c.said_at) FROM claim c WHERE c.entry_id = e.id) "
        "FROM entry e WHERE e.id IN :ids"
    )
    return {id: (body, at) for id, body, at in tx.all(sql, ids=padded(ids))}


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
