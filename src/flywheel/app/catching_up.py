"""The job that catches up: sessions that an older version read are looked back at and observed, some at a time.

It is for the time after an upgrade. The newest sessions come first. It gives way to all other work of its lane, and
what it asks for at a time is small, so that fresh work waits for that at most. What is to be done follows from the
store, so it can stop anywhere, does nothing twice, and ends when nothing is left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from flywheel.app.parts import LANES, OBSERVE, RETRO
from flywheel.behaviour.identity import local_identity
from flywheel.behaviour.watching import ask as ask_to_consolidate
from flywheel.behaviour.watching import horizon
from flywheel.jobs.kinds import CATCH_UP, CONSOLIDATE_DELAY
from flywheel.jobs.queue import enqueue
from flywheel.jobs.worker import Deps
from flywheel.model import Job, Micros, ProjectId
from flywheel.retro.telling import VERSION
from flywheel.store import Db, Tx
from flywheel.store.mapper import find

KIND: Final = CATCH_UP

KEY: Final = "history"
"""There is one job in a store."""

PORTION: Final = 20
"""Sessions of one run."""

MESSAGES: Final = 2000
"""Messages of them after which a portion takes no further session: about a second's work."""

SPACING: Final = 0.1
"""Seconds between the jobs of a portion, so that what others ask for meanwhile comes in between."""

PAUSE: Final = 1.0
"""Seconds between a portion and the next."""

BUSY: Final = 5.0
"""Seconds after which it is looked again, where the lane had other work."""

_UNSEEN: Final = "NOT EXISTS (SELECT 1 FROM job j WHERE j.kind = '{kind}' AND j.key = s.id)"

_TO_LOOK_BACK: Final = (
    "NOT EXISTS (SELECT 1 FROM retrospective r WHERE r.session_id = s.id AND r.version = :version) AND "
    + _UNSEEN.format(kind=RETRO)
)
_TO_OBSERVE: Final = (
    "s.last_at >= :since AND NOT EXISTS (SELECT 1 FROM observed o WHERE o.session_id = s.id) AND "
    + _UNSEEN.format(kind=OBSERVE)
)
_LEFT: Final = f"""
SELECT s.id, s.project_id, s.last_at, s.messages, CASE WHEN {_TO_LOOK_BACK} THEN 1 ELSE 0 END AS look,
  CASE WHEN {_TO_OBSERVE} THEN 1 ELSE 0 END AS watch
FROM session s WHERE s.messages > 0"""
_UNDONE: Final = _LEFT.replace("j.key = s.id)", "j.key = s.id AND j.state = 'dead')")


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """A session of which something is still to be done."""

    id: str
    project_id: ProjectId
    messages: int
    look: bool  # back at it
    watch: bool  # what it did


def ask(db: Db, now: Micros, decay: str) -> bool:
    """Have the history caught up with, unless that is under way or nothing is left; whether it was asked for."""
    with db.read() as tx:
        if under_way(tx) is not None or not left(tx, horizon(now, decay), 1):
            return False
    with db.write() as tx:
        enqueue(tx, kind=KIND, key=KEY, project_id=None, now=db.clock())
    return True


def under_way(tx: Tx) -> Job | None:
    """The job, where there is one that is not dead; its ``payload`` is empty until it has asked for something."""
    return next(iter(find(tx, Job, "WHERE kind = :kind AND key = :key AND state <> 'dead'", kind=KIND, key=KEY)), None)


def progress(tx: Tx, now: Micros, decay: str) -> Mapping[str, int]:
    """How many sessions are still to be looked back at (``left``), of how many; {} where nobody is at it."""
    if under_way(tx) is None:
        return {}
    row = tx.one("SELECT count(*) FROM session WHERE messages > 0")
    return {"left": _count_undone(tx, horizon(now, decay)), "sessions": int(row[0]) if row else 0}


def left(tx: Tx, since: Micros, most: int) -> list[Left]:
    """Sessions of which something is still to be done and nobody was asked for it, the newest first.

    Sessions that were last heard of before ``since`` are not observed. Where a job died, that is left alone.
    """
    rows = tx.all(
        f"SELECT id, project_id, messages, look, watch FROM ({_LEFT}) AS found WHERE look = 1 OR watch = 1"
        " ORDER BY last_at DESC, id LIMIT :most",
        version=VERSION,
        since=since,
        most=most,
    )
    return [
        Left(id=id, project_id=project, messages=messages, look=bool(look), watch=bool(watch))
        for id, project, messages, look, watch in rows
    ]


def _count_undone(tx: Tx, since: Micros) -> int:
    """How many sessions `left` would give, and those whose job waits or runs; what died is not waited for."""
    row = tx.one(f"SELECT count(*) FROM ({_UNDONE}) AS found WHERE look = 1 OR watch = 1", version=VERSION, since=since)
    return int(row[0]) if row else 0


def count_left(tx: Tx, since: Micros) -> int:
    """How many sessions `left` would give."""
    row = tx.one(f"SELECT count(*) FROM ({_LEFT}) AS found WHERE look = 1 OR watch = 1", version=VERSION, since=since)
    return int(row[0]) if row else 0


def run(job: Job, deps: Deps) -> None:
    """Ask for the next portion, and for another run while something is left; running it again changes nothing."""
    since = horizon(deps.now(), deps.config.behaviour.decay)
    now = deps.db.clock()
    with deps.db.read() as tx:
        count = count_left(tx, since)
        busy = count > 0 and _has_work(tx, now)
        portion = [] if busy else _portion(left(tx, since, PORTION))
    if not count:
        with deps.db.write() as tx:
            ask_to_consolidate(tx, local_identity(), now, delay=CONSOLIDATE_DELAY)
        return
    with deps.db.write() as tx:
        for number, one in enumerate(portion):
            _ask_for(tx, one, now, number * SPACING)
        delay = BUSY if busy else len(portion) * SPACING + PAUSE
        asked = {"begun": True} if portion else job.payload
        enqueue(tx, kind=KIND, key=KEY, project_id=None, now=now, payload=asked, delay=delay)


def _portion(sessions: Sequence[Left]) -> list[Left]:
    """The first of them that hold so many messages together, at least one."""
    found: list[Left] = []
    for one in sessions:
        if found and sum(other.messages for other in found) + one.messages > MESSAGES:
            break
        found.append(one)
    return found


def _ask_for(tx: Tx, one: Left, now: Micros, delay: float) -> None:
    for kind in [OBSERVE] * one.watch + [RETRO] * one.look:
        enqueue(tx, kind=kind, key=one.id, project_id=one.project_id, now=now, delay=delay)


def _has_work(tx: Tx, now: Micros) -> bool:
    """Whether the lane has anything else to do, or does it."""
    sql = (
        "SELECT 1 FROM job WHERE kind IN :kinds AND (state = 'running' OR (state = 'queued' AND run_after <= :now))"
        " LIMIT 1"
    )
    others = [kind for kind in LANES["harvest"] if kind != KIND]
    return tx.one(sql, kinds=others, now=now) is not None
