"""The SQL of threads: what waits, what is known, and putting a family's threads together anew."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from flywheel.errors import NotFound
from flywheel.jobs import queue
from flywheel.jobs.kinds import THREAD, THREAD_DELAY
from flywheel.model import Micros, ProjectId, Retrospective, Session, SessionId, Thread, Threaded, ThreadSegment
from flywheel.projects.queries import canonical, family
from flywheel.store import Tx
from flywheel.store.chunks import chunks
from flywheel.store.mapper import columns, decode, find, get, upsert, upsert_many

_PENDING: Final = f"""
SELECT {columns(Session, "s")}, r.updated_at FROM session s JOIN retrospective r ON r.session_id = s.id
LEFT JOIN threaded t ON t.session_id = s.id
WHERE s.project_id IN :projects AND s.parent_id IS NULL
AND (t.session_id IS NULL OR t.model <> :model OR t.last_at <> r.updated_at)
ORDER BY s.started_at, s.id"""


def ask(tx: Tx, project: ProjectId, now: Micros) -> None:
    """Have a project's sessions tied to threads soon."""
    key = canonical(tx, project)
    queue.enqueue(tx, kind=THREAD, key=key, project_id=key, now=now, delay=THREAD_DELAY)


def again(tx: Tx, project: ProjectId, now: Micros) -> None:
    """Have a family's threads put together anew, as after a merge of two projects. Ids stay."""
    undo(tx, members(tx, project))
    ask(tx, project, now)


def recount(tx: Tx, now: Micros) -> None:
    """Have the sums that forgetting undid counted anew."""
    for (project,) in tx.all("SELECT DISTINCT project_id FROM thread WHERE segments = 0 AND redirect_to IS NULL"):
        ask(tx, ProjectId(project), now)


def undone(tx: Tx, projects: Sequence[ProjectId]) -> bool:
    """Whether sums of these projects are to be counted anew."""
    sql = "SELECT 1 FROM thread WHERE project_id IN :projects AND segments = 0 AND redirect_to IS NULL LIMIT 1"
    return tx.one(sql, projects=list(projects)) is not None


def undo(tx: Tx, projects: Sequence[ProjectId]) -> None:
    """Take every segment of these projects out of the sums, to be given threads anew."""
    tx.run("UPDATE thread_segment SET waiting = 1 WHERE project_id IN :projects", projects=list(projects))
    tx.run("UPDATE thread SET segments = 0 WHERE project_id IN :projects", projects=list(projects))


def members(tx: Tx, project: ProjectId) -> Sequence[ProjectId]:
    """The ids that a project goes by; none when it is gone."""
    try:
        return family(tx, project)
    except NotFound:
        return []


def pending(tx: Tx, projects: Sequence[ProjectId], model: str) -> list[tuple[Session, Micros]]:
    """Sessions that looked back since they were tied, or were tied by another model, with when; the oldest first."""
    rows = tx.all(_PENDING, projects=list(projects), model=model)
    return [(decode(Session, row[:-1]), row[-1]) for row in rows]


def looked_back(tx: Tx, session: SessionId) -> Micros | None:
    """When a session looked back last; None when it has not, or was forgotten."""
    row = get(tx, Retrospective, session_id=session)
    return None if row is None else row.updated_at


def segments_of(tx: Tx, session: SessionId) -> list[ThreadSegment]:
    """A session's segments, in order."""
    return find(tx, ThreadSegment, "WHERE session_id = :session ORDER BY ordinal, id", session=session)


def write_segments(
    tx: Tx, before: Sequence[ThreadSegment], after: Sequence[ThreadSegment], mark: Threaded
) -> list[ThreadSegment]:
    """Write what has changed of a session's segments, to be given threads; which have. Sums they are in are undone."""
    known = {segment.id: segment for segment in before}
    changed = [one for one in after if one.id not in known or known[one.id].sha256 != one.sha256]
    moved = [
        known[one.id] for one in after if one.id in known and (known[one.id].start, known[one.id].stop) != place(one)
    ]
    gone = known.keys() - {one.id for one in after}
    touched = {known[id].thread_id for id in (*gone, *(one.id for one in changed if one.id in known))}
    tx.run("UPDATE thread SET segments = 0 WHERE id IN :ids", ids=sorted(touched - {""}))
    tx.run("DELETE FROM thread_segment WHERE id IN :ids", ids=sorted(gone))
    upsert_many(tx, changed)
    fresh = {one.id for one in changed}
    for one in after:
        if one.id not in fresh and known[one.id] in moved:
            tx.run(
                "UPDATE thread_segment SET ordinal = :ordinal, start = :start, stop = :stop, last_at = :last_at"
                " WHERE id = :id",
                id=one.id,
                ordinal=one.ordinal,
                start=one.start,
                stop=one.stop,
                last_at=one.last_at,
            )
    upsert(tx, mark)
    return changed


def place(segment: ThreadSegment) -> tuple[int, int]:
    """Where a segment begins and ends in its session."""
    return segment.start, segment.stop


def waiting(tx: Tx, projects: Sequence[ProjectId]) -> list[ThreadSegment]:
    """Segments to be given a thread, the oldest first."""
    tail = "WHERE project_id IN :projects AND waiting = 1 ORDER BY first_at, id"
    return find(tx, ThreadSegment, tail, projects=list(projects))


def threads_of(tx: Tx, projects: Sequence[ProjectId]) -> list[Thread]:
    """A family's threads, redirects among them, the oldest first."""
    return find(tx, Thread, "WHERE project_id IN :projects ORDER BY first_at, id", projects=list(projects))


def settled(tx: Tx, threads: Sequence[str], model: str) -> dict[str, list[ThreadSegment]]:
    """The segments of these threads that are in their sums by this model, the oldest first."""
    found: dict[str, list[ThreadSegment]] = {id: [] for id in threads}
    for chunk in chunks(list(threads)):
        tail = "WHERE thread_id IN :ids AND waiting = 0 AND model = :model ORDER BY first_at, id"
        for segment in find(tx, ThreadSegment, tail, ids=chunk, model=model):
            found[segment.thread_id].append(segment)
    return found


def lead(tx: Tx, old: str, new: str) -> None:
    """Make a thread a redirect to another, with whatever was one to it."""
    tx.run("UPDATE thread_segment SET thread_id = :new WHERE thread_id = :old", new=new, old=old)
    tx.run("UPDATE thread SET redirect_to = :new WHERE redirect_to = :old", new=new, old=old)
    tx.run(
        "UPDATE thread SET redirect_to = :new, segments = 0, vector = '', words = '{}' WHERE id = :old",
        new=new,
        old=old,
    )
