"""Keeping what a look back came to: its points as rows, and the candidates that only the whole way shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from flywheel.harvest.entries import write_drafts
from flywheel.harvest.rules.values import Quote
from flywheel.jobs.worker import Deps, Stopped
from flywheel.model import RetroPoint, Session, evidence_id
from flywheel.retro.memory import memory_of
from flywheel.retro.rules import Look, Point, rediscovery
from flywheel.store import Tx
from flywheel.store.mapper import find, get, insert_many

BATCH: Final = 4
"""Drafts of one transaction, which keeps it within 20 ms."""

CITES: Final = 8
"""Spans of one point."""


def file_candidates(deps: Deps, session: Session, look: Look) -> None:
    """Write what the way shows as candidates, through the door of all extraction; what is there already stays.

    Raises Stopped between two transactions when the process is asked to end.
    """
    drafts = [draft for draft in look.drafts() if draft.score >= deps.config.extract.floor]
    for start in range(0, len(drafts), BATCH):
        if deps.stopping():
            raise Stopped
        with deps.db.write(bulk=True) as tx:
            if get(tx, Session, id=session.id) is None:
                return
            write_drafts(tx, drafts[start : start + BATCH], session, deps.now())


def points_of(tx: Tx, session: Session, look: Look, tokens: int) -> list[RetroPoint]:
    """The points of a session in the order they are told, those of its own way and those that memory had."""
    found = look.discoveries.found
    memory = memory_of(tx, session, found)
    pairs = rediscovery.match(found, memory.known)
    points = look.points([one for one, _ in pairs], tokens)
    points += rediscovery.points(pairs, memory.again, memory.told, memory.started)
    points += memory.fresh
    return _rows(session, points)


def keep(tx: Tx, session: Session, points: Sequence[RetroPoint]) -> None:
    """Put a session's points in the place of those that it had; nothing is written where they are the same."""
    if find(tx, RetroPoint, "WHERE session_id = :id ORDER BY ordinal", id=session.id) == list(points):
        return
    tx.run("DELETE FROM retro_point WHERE session_id = :id", id=session.id)
    insert_many(tx, points)


def _rows(session: Session, points: Sequence[Point]) -> list[RetroPoint]:
    """Rows with ids that follow from what they say; what rests on nothing is left out."""
    rows: dict[str, RetroPoint] = {}
    for point in points:
        if not point.cites:
            continue
        first = point.cites[0]
        id = evidence_id(
            "retro", session.id, point.kind, point.subject, point.entry_id or "", first.message_id, str(first.start)
        )
        if id not in rows:
            rows[id] = RetroPoint(
                id=id,
                project_id=session.project_id,
                session_id=session.id,
                ordinal=len(rows),
                section=point.section,
                kind=point.kind,
                subject=point.subject,
                text=point.text,
                times=point.times,
                cost=point.cost,
                entry_id=point.entry_id,
                told=point.told,
                cites=tuple(_cite(quote) for quote in point.cites[:CITES]),
            )
    return list(rows.values())


def _cite(quote: Quote) -> dict[str, object]:
    return {"message": quote.message_id, "start": quote.start, "stop": quote.stop, "quote": quote.quote}
