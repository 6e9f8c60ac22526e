"""Threads for reading: lists, and one as a timeline with what came of each step."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Final

from flywheel.api import ThreadClaim, ThreadLine, ThreadShown, ThreadStep
from flywheel.harvest.rules.wording import shorten
from flywheel.model import SERVED, Micros, ProjectId, Retrospective, Session, Status, Thread, ThreadSegment, short_id
from flywheel.store import Tx
from flywheel.store.chunks import chunks
from flywheel.store.mapper import find

CLAIMS: Final = 8
"""Statements of one step that are shown, the earliest first."""

TITLE: Final = 80
"""Characters of a thread's title."""

TITLE_FROM: Final = 40
"""Segments of a thread among which its title is looked for, the latest."""

_CLAIMS: Final = """
SELECT DISTINCT s.id, s.parent_id, m.ordinal, e.short, c.text, c.type, e.status, c.said_at, c.id
FROM session s JOIN message m ON m.session_id = s.id JOIN citation t ON t.message_id = m.id
JOIN claim c ON c.id = t.claim_id JOIN entry e ON e.id = c.entry_id
WHERE (s.id IN :sessions OR s.parent_id IN :sessions) AND c.attribute <> 'edit' AND c.status IN :statuses
ORDER BY c.said_at, c.id"""


def day_of(at: int, zone: tzinfo) -> str:
    """The day of a time."""
    return f"{datetime.fromtimestamp(at / 1e6, zone):%Y-%m-%d}"


def latest(tx: Tx, projects: Sequence[ProjectId], limit: int, zone: tzinfo) -> tuple[list[ThreadLine], int]:
    """The latest threads of these projects, and how many there are."""
    tail = "WHERE project_id IN :projects AND redirect_to IS NULL ORDER BY last_at DESC, id LIMIT :limit"
    rows = find(tx, Thread, tail, projects=list(projects), limit=limit)
    counted = tx.one(
        "SELECT COUNT(*) FROM thread WHERE project_id IN :projects AND redirect_to IS NULL", projects=list(projects)
    )
    return lines_of(tx, rows, zone), int(counted[0]) if counted else 0


def lines_of(tx: Tx, rows: Sequence[Thread], zone: tzinfo) -> list[ThreadLine]:
    """These threads for a list, in their order; without those that have no segment."""
    parts = _segments(tx, [row.id for row in rows])
    sessions = _sessions(tx, [segment.session_id for found in parts.values() for segment in found])
    return [_line(row, parts[row.id], sessions, zone) for row in rows if parts[row.id]]


def timeline(tx: Tx, row: Thread, zone: tzinfo) -> ThreadShown | None:
    """One thread with its steps; None when it has none."""
    segments = _segments(tx, [row.id])[row.id]
    sessions = _sessions(tx, [segment.session_id for segment in segments])
    segments = [segment for segment in segments if segment.session_id in sessions]
    if not segments:
        return None
    came = _claims(tx, segments)
    backs = {str(back.session_id): back for back in _backs(tx, list(sessions))}
    last = _last_of(tx, list(sessions))
    steps = [
        _step(segment, sessions[segment.session_id], backs, came, last[segment.session_id] == segment.id, zone)
        for segment in segments
    ]
    return ThreadShown(thread=_line(row, segments, sessions, zone), steps=steps, open=steps[-1].open)


def title_of(row: Thread, segments: Sequence[ThreadSegment]) -> str:
    """What its most typical segment is about: the one whose words weigh most in the thread, of equals the first."""

    def weight(segment: ThreadSegment) -> float:
        shared = sum(row.words.get(word, 0.0) for word in segment.words)
        return round(shared / math.sqrt(max(8, len(segment.words))), 6)

    return str(shorten(max(segments[-TITLE_FROM:], key=weight).about, TITLE)) if segments else ""


def _line(row: Thread, segments: Sequence[ThreadSegment], sessions: Mapping[str, Session], zone: tzinfo) -> ThreadLine:
    first, last = min(one.first_at for one in segments), max(one.last_at for one in segments)
    own = dict.fromkeys(segment.session_id for segment in segments)
    return ThreadLine(
        id=row.id,
        short=short_id(row.id),
        title=title_of(row, segments),
        sessions=len(own),
        agents=sorted({sessions[id].agent for id in own if id in sessions}),
        first_at=first,
        last_at=last,
        first_day=day_of(first, zone),
        last_day=day_of(last, zone),
    )


def _step(
    segment: ThreadSegment,
    session: Session,
    backs: Mapping[str, Retrospective],
    came: Mapping[str, Sequence[ThreadClaim]],
    ends: bool,
    zone: tzinfo,
) -> ThreadStep:
    back = backs.get(session.id)
    left = back.facts.get("open") if back is not None and ends else None
    return ThreadStep(
        session_id=session.id,
        short=short_id(session.id),
        agent=session.agent,
        day=day_of(segment.first_at, zone),
        first_at=segment.first_at,
        last_at=segment.last_at,
        about=str(segment.about),
        outcome=back.outcome if back is not None else "",
        claims=came.get(segment.id, ()),
        open=[str(end) for end in left] if isinstance(left, (list, tuple)) else [],
    )


def _claims(tx: Tx, segments: Sequence[ThreadSegment]) -> Mapping[str, Sequence[ThreadClaim]]:
    """What came of each segment: by the cited message, and of subagents by the time."""
    own: dict[str, list[ThreadSegment]] = defaultdict(list)
    for segment in segments:
        own[segment.session_id].append(segment)
    found: dict[str, dict[str, ThreadClaim]] = defaultdict(dict)
    statuses = [status.value for status in (*SERVED, Status.SUPERSEDED)]
    for some in chunks(sorted(own)):
        rows = tx.all(_CLAIMS, sessions=some, statuses=statuses)
        for session, parent, ordinal, short, text, type, status, at, _ in rows:
            claim = ThreadClaim(short=short, text=text, type=type, status=status, at=Micros(at))
            for segment in own.get(session, own.get(parent or "", ())):
                direct = session in own
                if segment.start <= ordinal <= segment.stop if direct else segment.first_at <= at <= segment.last_at:
                    found[segment.id].setdefault(text, claim)
    return {id: list(claims.values())[:CLAIMS] for id, claims in found.items()}


def _segments(tx: Tx, threads: Sequence[str]) -> dict[str, list[ThreadSegment]]:
    found: dict[str, list[ThreadSegment]] = {id: [] for id in threads}
    for some in chunks(list(threads)):
        for segment in find(tx, ThreadSegment, "WHERE thread_id IN :ids ORDER BY first_at, id", ids=some):
            found[segment.thread_id].append(segment)
    return found


def _sessions(tx: Tx, ids: Sequence[str]) -> dict[str, Session]:
    wanted = sorted(set(ids))
    return {row.id: row for some in chunks(wanted) for row in find(tx, Session, "WHERE id IN :ids", ids=some)}


def _backs(tx: Tx, sessions: Sequence[str]) -> list[Retrospective]:
    return [row for some in chunks(sessions) for row in find(tx, Retrospective, "WHERE session_id IN :ids", ids=some)]


def _last_of(tx: Tx, sessions: Sequence[str]) -> Mapping[str, str]:
    """Each session's last segment."""
    rows = [
        row
        for some in chunks(sessions)
        for row in tx.all(
            "SELECT session_id, id FROM thread_segment WHERE session_id IN :ids ORDER BY ordinal", ids=some
        )
    ]
    return dict(rows)
