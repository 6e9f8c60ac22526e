"""Retrospectives out of the store, as they are asked for; brings in none of the rules that made them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from flywheel.api.retro import RetroCite, RetroLine, RetroLook
from flywheel.knowledge.changing import followed
from flywheel.model import (
    Entry,
    JobState,
    Micros,
    Project,
    ProjectId,
    RetroPoint,
    Retrospective,
    Session,
    SessionId,
    short_id,
)
from flywheel.retro.telling import VERSION
from flywheel.retro.words import sentences_in
from flywheel.store import Tx
from flywheel.store.chunks import chunks
from flywheel.store.mapper import columns, decode, find, get

WEEK: Final = 7 * 86_400 * 1_000_000
"""Microseconds."""

SUMMED: Final = 500
"""Sessions of a week that are summed, the newest."""

REPEATS: Final = 15
"""Lines of a sum."""

HELPERS: Final = 20
"""Subagents of a session that are named."""

_SUMMED: Final = ("wrong", "repeated", "known")


def newest(tx: Tx, projects: Sequence[ProjectId] | None, most: int, since: int = 0) -> list[Session]:
    """The newest sessions that are nobody's subagents, of some projects or (None) of all."""
    only = "AND project_id IN :projects" if projects is not None else ""
    return find(
        tx,
        Session,
        f"WHERE parent_id IS NULL AND messages > 0 AND last_at >= :since {only} ORDER BY last_at DESC, id LIMIT :most",
        since=since,
        most=most,
        **({"projects": list(projects)} if projects is not None else {}),
    )


def with_helpers(tx: Tx, sessions: Sequence[Session]) -> list[Session]:
    """These sessions and their subagents."""
    found = {one.id: one for one in sessions}
    level = list(found)
    while level:
        below: list[Session] = []
        for chunk in chunks(level):
            below += find(tx, Session, "WHERE parent_id IN :ids ORDER BY id", ids=chunk)
        level = [one.id for one in below if one.id not in found]
        found |= {one.id: one for one in below}
    return list(found.values())


def due(tx: Tx, sessions: Sequence[Session]) -> list[Session]:
    """Those without a retrospective, with one by older rules, or with one that does not reach their end."""
    made: dict[str, tuple[int, int]] = {}
    for chunk in chunks([one.id for one in sessions]):
        rows = tx.all("SELECT session_id, version, updated_at FROM retrospective WHERE session_id IN :ids", ids=chunk)
        made |= {id: (version, at) for id, version, at in rows}
    return [one for one in sessions if made.get(one.id) != (VERSION, one.last_at)]


def jobs_of(tx: Tx, kind: str, sessions: Sequence[Session], now: Micros) -> tuple[set[str], set[str]]:
    """The sessions whose job of this kind failed for good, and those whose job runs, is due, or is tried again."""
    failed: set[str] = set()
    under_way: set[str] = set()
    for chunk in chunks([one.id for one in sessions]):
        sql = "SELECT key, state, run_after, attempts FROM job WHERE kind = :kind AND key IN :ids"
        for key, state, after, attempts in tx.all(sql, kind=kind, ids=chunk):
            if state == JobState.DEAD:
                failed.add(key)
            elif state == JobState.RUNNING or after <= now or attempts:
                under_way.add(key)
    return failed, under_way


def looks_of(tx: Tx, sessions: Sequence[Session]) -> list[RetroLook]:
    """The retrospectives of those sessions that have one, in the same order."""
    found = []
    for session in sessions:
        look = get(tx, Retrospective, session_id=session.id)
        if look is not None:
            found.append(_look(tx, session, look))
    return found


def lines_of(tx: Tx, points: Sequence[RetroPoint]) -> list[RetroLine]:
    """Points for reading, with the pages that they speak of as these are now."""
    pages = _pages(tx, {point.entry_id for point in points if point.entry_id})
    return [_line(point, pages.get(point.entry_id or "")) for point in points]


def summed(tx: Tx, sessions: Sequence[Session], *, apart: bool) -> tuple[Mapping[str, int], list[RetroLine]]:
    """How these sessions ended, and what cost them most: the same trouble of several sessions is one line.

    ``apart``: they are of several projects, whose troubles are not the same. Subagents' ends are their parents' matter.
    """
    outcomes: Counter[str] = Counter()
    groups: dict[tuple[str, ...], list[RetroPoint]] = {}
    for chunk in chunks([one.id for one in sessions]):
        outcomes.update(
            dict(
                tx.all(
                    "SELECT r.outcome, count(*) FROM retrospective r JOIN session s ON s.id = r.session_id"
                    " WHERE r.session_id IN :ids AND s.parent_id IS NULL GROUP BY r.outcome",
                    ids=chunk,
                )
            )
        )
        rows = tx.all(
            f"SELECT {columns(RetroPoint, 'p')} FROM retro_point p JOIN session s ON s.id = p.session_id"
            " WHERE p.session_id IN :ids AND p.section IN :sections ORDER BY s.last_at DESC, p.session_id, p.ordinal",
            ids=chunk,
            sections=list(_SUMMED),
        )
        for point in (decode(RetroPoint, row) for row in rows):
            what = point.entry_id or point.subject
            home = point.project_id if apart else ""
            groups.setdefault((home, point.section, point.kind, what), []).append(point)
    ranked = sorted(groups.values(), key=_dear)[:REPEATS]
    lines = lines_of(tx, [some[0] for some in ranked])
    return dict(outcomes), [_sum(line, some) for line, some in zip(lines, ranked, strict=True)]


def _dear(some: Sequence[RetroPoint]) -> tuple[int, int, str]:
    return -sum(one.cost for one in some), -len({one.session_id for one in some}), some[0].id


def _sum(line: RetroLine, some: Sequence[RetroPoint]) -> RetroLine:
    """One line for what several sessions have in common; the newest words."""
    sessions = dict.fromkeys(short_id(one.session_id) for one in some)
    cites = [_cite(cite) for one in some for cite in list(one.cites)[:1]]
    return replace(
        line,
        times=sum(one.times for one in some),
        cost=sum(one.cost for one in some),
        sessions=list(sessions),
        cites=cites[:4],
    )


def _look(tx: Tx, session: Session, look: Retrospective) -> RetroLook:
    points = find(tx, RetroPoint, "WHERE session_id = :id ORDER BY ordinal", id=session.id)
    project = get(tx, Project, id=session.project_id)
    helpers = tx.all(
        "SELECT id FROM session WHERE parent_id = :id ORDER BY started_at, id LIMIT :most", id=session.id, most=HELPERS
    )
    return RetroLook(
        id=session.id,
        short=short_id(session.id),
        project=project.name if project is not None else "",
        agent=session.agent,
        title=session.title,
        task=look.task,
        outcome=look.outcome,
        because=str(look.facts.get("because", "")),
        started_at=session.started_at,
        last_at=session.last_at,
        turns=look.turns,
        tool_calls=look.tool_calls,
        tool_errors=look.tool_errors,
        lines=[*lines_of(tx, points), *sentences_in(tx, session, points)],
        parent=short_id(session.parent_id) if session.parent_id else "",
        parent_task=_task(tx, session.parent_id) if session.parent_id else "",
        helpers=[short_id(id) for (id,) in helpers],
    )


def _task(tx: Tx, id: SessionId) -> str:
    look = get(tx, Retrospective, session_id=id)
    if look is not None and look.task:
        return look.task
    session = get(tx, Session, id=id)
    return session.title if session is not None else ""


def _pages(tx: Tx, ids: Iterable[str]) -> dict[str, Entry]:
    found: dict[str, Entry] = {}
    for chunk in chunks(sorted(ids)):
        for entry in find(tx, Entry, "WHERE id IN :ids", ids=chunk):
            found[entry.id] = followed(tx, entry)
    return found


def _line(point: RetroPoint, page: Entry | None) -> RetroLine:
    return RetroLine(
        section=point.section,
        kind=point.kind,
        text=point.text or (f"{point.subject}: {page.title}" if page is not None else point.subject),
        cites=[_cite(cite) for cite in point.cites],
        times=point.times,
        cost=point.cost,
        entry=page.short if page is not None else "",
        title=page.title if page is not None else "",
        status=page.status.value if page is not None else "",
        told=point.told,
    )


def _cite(cite: Mapping[str, object]) -> RetroCite:
    id = str(cite.get("message", ""))
    return RetroCite(short=short_id(id), id=id, quote=str(cite.get("quote", "")))


def begin_of_week(now: Micros) -> Micros:
    """Seven days before."""
    return Micros(now - WEEK)
