"""The source of knowledge entries: what the prompt asks for, or what matters to the work at hand."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from flywheel.config import Config
from flywheel.context.allocator import Piece
from flywheel.context.ask import Ask, day, shorten
from flywheel.context.entry_rows import (
    Details,
    EntryRow,
    banners,
    confirmed_about,
    contradictions,
    details,
    linked_to,
    named,
    newest,
    pinned,
)
from flywheel.context.freshness import Freshness
from flywheel.context.relevance import DISPUTE, EntryFacts, entry_relevance
from flywheel.model import SERVED, Micros, Status
from flywheel.search.queries import called_wrong, sides, usefulness
from flywheel.search.relations import before, prerequisites
from flywheel.search.usefulness import mean_use, use_factor
from flywheel.store import Db, Tx

RECENT: Final[Mapping[Status, int]] = {
    Status.CONFIRMED: 28,
    Status.CANDIDATE: 12,
    Status.DISPUTED: 6,
    Status.STALE: 3,
}
"""How many of the newest entries of each status are looked at when nobody asked for anything."""

REVIEWED, UNREVIEWED = 16, 6
"""How many entries are offered to the allocator."""

KEPT: Final = 32
"""Starts whose entries are kept until one of the project's entries changes."""

BODIES: Final = 8
"""Of how many the body is offered."""

_MARKS: Final = {
    Status.CANDIDATE: "unconfirmed",
    Status.CONFIRMED: "confirmed",
    Status.DISPUTED: "DISPUTED",
    Status.STALE: "stale, check before relying on it",
}

PIN: Final = 10.0
"""Added for what a person pinned: it stands first in its share."""

NEARLY: Final = 1e-6
"""How much more relevant what is needed is than what needs it, at least."""

Ranked = list[tuple[float, EntryRow]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """How far prerequisites come with an entry: steps, and tokens at a start and for a prompt."""

    depth: int = 2
    start: int = 200
    prompt: int = 100


def needs_of(config: Config) -> Needs:
    """The settings: the tokens are a part of what entries get."""
    share = config.search.prerequisite_share * config.context.shares.get("entries", 0.0)
    return Needs(
        depth=config.search.prerequisites,
        start=int(share * config.context.budget),
        prompt=int(share * config.hooks.prompt_budget),
    )


class EntriesSource:
    """Served entries of the project and of everywhere. Candidates only where ``candidates`` allows them."""

    name = "entries"

    def __init__(
        self, db: Db, weights: Mapping[str, float], *, candidates: bool = True, needs: Needs | None = None
    ) -> None:
        self._db, self._weights, self._candidates = db, weights, candidates
        self._needs = needs or Needs()
        self._served = [status for status in SERVED if candidates or status is not Status.CANDIDATE]
        self._recent = {status: RECENT[status] for status in self._served}
        self._freshness = Freshness(db)
        self._kept: dict[Hashable, tuple[tuple[int, ...], Sequence[Piece]]] = {}

    def offer(self, ask: Ask) -> Sequence[Piece]:
        """The best entries; disputed and contradicted ones with both values."""
        if ask.query or ask.exclude:
            return self._made(ask)
        key = (ask.agent.name, tuple(ask.projects), day(ask.now), ask.git, frozenset(ask.cues.items()))
        generation = self._freshness.generation(ask.projects)
        kept = self._kept.get(key)
        if kept is None or kept[0] != generation:
            kept = self._kept[key] = (generation, self._made(ask))
            while len(self._kept) > KEPT:
                self._kept.pop(next(iter([*self._kept])), None)  # of a copy: other threads add meanwhile
        return kept[1]

    def _made(self, ask: Ask) -> Sequence[Piece]:
        with self._db.read() as tx:
            ranked = self._asked(tx, ask) if ask.query else self._at_hand(tx, ask)
            ranked = [pair for pair in ranked if self._candidates or not pair[1].unreviewed]
            best = self._with_rivals(tx, ask, _best(ranked))
            best = self._with_needed(tx, ask, best)
            told = details(tx, [row.id for _, row in best])
            both = sides(tx, [row.id for _, row in best if row.status is Status.DISPUTED])
            against = contradictions(tx, [row.id for _, row in best])
            loud = banners(tx, ask, [row for _, row in best])
        titles: set[str] = set()
        pieces = []
        for place, (relevance, row) in enumerate(best):
            if row.title not in titles:
                titles.add(row.title)
                whole = place < BODIES and (bool(ask.query) or not row.unreviewed)
                rivals = both.get(row.id, ()), against.get(row.id, ())
                texts = _texts(row, told.get(row.id, Details()), *rivals, whole, loud[row.id])
                pieces.append(_piece(ask, row, relevance + (DISPUTE if row.id in against else 0.0), texts))
        return pieces

    def _asked(self, tx: Tx, ask: Ask) -> Ranked:
        """What search found for the prompt, read again here."""
        hits = {hit.id: hit.score for hit in ask.found().hits if hit.kind == "entry" and hit.id not in ask.exclude}
        best = max(hits.values(), default=0.0)
        rows = _unopposed(tx, named(tx, ask, list(hits), self._served))
        return [((hits[row.id] / best if best > 0 else 0.0) + PIN * row.pinned, row) for row in rows]

    def _at_hand(self, tx: Tx, ask: Ask) -> Ranked:
        """The newest entries, and those that speak of the files and words at hand."""
        linked = linked_to(tx, ask)
        rows = {row.id: row for row in named(tx, ask, sorted(linked), self._served, linked)}
        rows |= {row.id: row for row in newest(tx, ask, self._recent, linked)}
        rows |= {row.id: row for row in pinned(tx, ask, self._served) if row.id not in rows}
        fresh = _best([(self._relevance(ask, row), row) for row in rows.values() if row.id not in ask.exclude], 2)
        kept = {row.id for row in _unopposed(tx, [row for _, row in fresh])}
        fresh = [pair for pair in fresh if pair[1].id in kept]
        used = usefulness(tx, [row.id for _, row in fresh]) if fresh else {}
        mean = mean_use(used.values())
        return [
            (relevance * use_factor(*used.get(row.id, (0, 0)), mean) + PIN * row.pinned, row)
            for relevance, row in fresh
        ]

    def _with_rivals(self, tx: Tx, ask: Ask, best: Ranked) -> Ranked:
        """With the confirmed entries on the candidates' subjects, at least as relevant as the candidates are."""
        wanted: dict[str, float] = {}
        for relevance, row in best:
            if row.unreviewed and row.subject:
                wanted[row.subject] = max(relevance, wanted.get(row.subject, 0.0))
        rivals = {row.id: row for row in confirmed_about(tx, ask, wanted.keys()) if row.id not in ask.exclude}
        kept = [(relevance, row) for relevance, row in best if row.id not in rivals]
        own = {row.id: relevance for relevance, row in best}
        return kept + [(max(wanted[row.subject], own.get(row.id, 0.0)), row) for row in rivals.values()]

    def _with_needed(self, tx: Tx, ask: Ask, best: Ranked) -> Ranked:
        """With what must be understood first, before what needs it, while there are tokens for it."""
        order = sorted(best, key=lambda pair: (-pair[0], pair[1].id))
        needed = prerequisites(tx, [row.id for _, row in order], self._needs.depth) if order else {}
        if not needed:
            return best
        own: dict[str, float] = {row.id: relevance for relevance, row in order}
        rows: dict[str, EntryRow] = {row.id: row for _, row in order}
        wanted = sorted({id for ids in needed.values() for id in ids} - rows.keys() - set(ask.exclude))
        room = self._needs.prompt if ask.query else self._needs.start
        for row in named(tx, ask, wanted, self._served):
            told = f"- [fw:{row.short}] {_line(row)} ({row.type}, {_mark(row)}, {day(row.at)})\n"
            cost = ask.agent.cost(told).tokens
            if cost <= room:
                room, rows[row.id] = room - cost, row
        served = {id: [one for one in ids if one in rows] for id, ids in needed.items()}
        found: Ranked = []
        relevance = 0.0
        for id in reversed(before([row.id for _, row in order], served, len(rows))):
            relevance = max(relevance + NEARLY, own.get(id, 0.0))
            found.append((relevance, rows[id]))
        return found

    def _relevance(self, ask: Ask, row: EntryRow) -> float:
        facts = EntryFacts(
            status=row.status,
            weight=self._weights.get(row.category, 0.5),
            at=row.at,
            evidence=row.evidence,
            overlap=ask.overlap(f"{row.title} {row.subject}"),
            linked=row.linked,
        )
        return entry_relevance(facts, ask.now)


def _unopposed(tx: Tx, rows: Sequence[EntryRow]) -> list[EntryRow]:
    """Without the candidates that somebody called wrong, until a person has looked; of a dispute both sides stay."""
    wrong = called_wrong(tx, [row.id for row in rows if row.unreviewed and row.status is not Status.DISPUTED])
    return [row for row in rows if row.id not in wrong]


def _best(ranked: Ranked, times: int = 1) -> Ranked:
    """The most relevant of what is reviewed and of what is not: a flood of one hides none of the other."""
    ordered = sorted(ranked, key=lambda pair: (-pair[0], pair[1].id))
    reviewed = [pair for pair in ordered if not pair[1].unreviewed]
    unreviewed = [pair for pair in ordered if pair[1].unreviewed]
    return reviewed[: times * REVIEWED] + unreviewed[: times * UNREVIEWED]


def _texts(
    row: EntryRow, told: Details, both: Sequence[str], against: Sequence[str], whole: bool, banner: str
) -> Mapping[str, str]:
    """The entry's levels. What is disputed or contradicted has no level that shows one side only.

    Only with ``whole`` there is a body; of unreviewed ones several short say more at a start than one long.
    """
    said = f", said in {row.evidence} sessions" if row.evidence > 1 else ""
    when: Micros = told.said_at or row.at
    only = f", only {shorten(row.scope, 60)}" if row.scope else ""
    status = f"({row.type.replace('_', ' ')}, {_mark(row)}, {day(when)}{said}{only})"
    mark, title = f"- [fw:{row.short}]", shorten(row.title, 120)
    loud = f"\n    {banner}" if banner else ""
    if len(both) > 1:
        rivals = f"{mark} {title}: {' or '.join(both)} {status}"
        return {"body": f"{rivals}{loud}", "summary": rivals}
    line = _line(row)
    if against:
        open_ = f"{loud}\n    Contradicted by {' and '.join(against)}; a person has not decided yet."
        return {"summary": f"{mark} {line} {status}{open_}", "title": f"{mark} {title} {status}{open_}"}
    parts = [part for part in told.body.split("\n") if part.strip() and part.strip() not in (row.summary, row.title)]
    rest = [shorten(part, 400) for part in parts[:8]] if whole else []
    return {
        "body": "\n    ".join([f"{mark} {line} {status}{loud}", *rest]) if rest else "",
        "summary": f"{mark} {line} {status}{loud}",
        "title": f"{mark} {title} {status}{loud}",
    }


def _mark(row: EntryRow) -> str:
    """Its state in words; of what nobody confirmed that comes first."""
    mark = _MARKS[row.status]
    return f"{_MARKS[Status.CANDIDATE]}, {mark}" if row.unreviewed and row.status is not Status.CANDIDATE else mark


def _line(row: EntryRow) -> str:
    """Title and summary in one, the title once."""
    title, summary = shorten(row.title, 120), shorten(row.summary, 280)
    return summary if summary.startswith(title.rstrip("…")) else f"{title}: {summary}" if summary else title


def _piece(ask: Ask, row: EntryRow, relevance: float, texts: Mapping[str, str]) -> Piece:
    return ask.piece(
        kind="entry",
        id=row.id,
        short=row.short,
        relevance=relevance,
        texts=texts,
        subject=row.subject,
        unreviewed=row.unreviewed,
    )
