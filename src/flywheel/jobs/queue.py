"""The queue: enqueue with the data, claim under a lease, settle, fail with backoff, dead letters.

A job is single flight per (kind, key). Its states:

    (none) --enqueue--> queued --claim--> running --settle--> (none), or queued when it was enqueued meanwhile
                          ^                  |----fail------> queued after a pause, or dead after `MAX_ATTEMPTS`
                          |                  `--lease over--> queued at once, or dead after `MAX_ATTEMPTS`
                          `--retry, enqueue-- dead --drop---> (none)

A claim counts as an attempt, so that a job which kills its worker dies in the end as well. Leases go by the database's
clock. Who lost the lease can settle, fail or renew nothing: each answers whether it was still theirs.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Final

from flywheel.model import Clean, Job, JobState, Micros, ProjectId, new_id
from flywheel.store import Db, Tx, mapper

MAX_ATTEMPTS: Final = 5
"""A job that failed this often is dead."""

BACKOFF: Final = 2.0
"""Seconds before the second attempt; doubled for each further one."""

BACKOFF_CAP: Final = 900.0
"""Seconds, before jitter."""

JITTER: Final = 0.2
"""Part of the pause by which it may differ, so that what failed together does not come back together."""

_SECOND: Final = 1_000_000

_ENQUEUE: Final = """
INSERT INTO job (id, kind, key, project_id, payload, state, rerun, attempts, run_after, lease_owner, lease_until,
                 error, created_at, updated_at)
VALUES (:id, :kind, :key, :project_id, :payload, 'queued', 0, 0, :run_after, '', NULL, '', :now, :now)
ON CONFLICT (kind, key) DO UPDATE SET
  project_id = excluded.project_id,
  payload = excluded.payload,
  updated_at = excluded.updated_at,
  run_after = CASE
    WHEN job.state = 'dead' OR (job.state = 'running' AND job.rerun = 0) THEN excluded.run_after
    WHEN job.state = 'queued' AND job.attempts > 0 THEN job.run_after
    WHEN job.run_after < excluded.run_after THEN job.run_after
    ELSE excluded.run_after END,
  rerun = CASE WHEN job.state = 'running' THEN 1 ELSE 0 END,
  attempts = CASE WHEN job.state = 'dead' THEN :last_chance ELSE job.attempts END,
  state = CASE WHEN job.state = 'dead' THEN 'queued' ELSE job.state END
"""

_DUE: Final = """
SELECT id FROM job WHERE state = 'queued' AND run_after <= :now AND kind IN :kinds
ORDER BY run_after, created_at, id LIMIT 1"""

_NEXT: Final = """
SELECT min(due) FROM (
  SELECT * FROM (
    SELECT run_after AS due FROM job WHERE state = 'queued' AND kind IN :kinds ORDER BY run_after LIMIT 1
  ) AS waiting
  UNION ALL SELECT min(lease_until) AS due FROM job WHERE state = 'running' AND kind IN :kinds
) AS either"""

_CLAIM: Final = """
UPDATE job SET state = 'running', attempts = attempts + 1, rerun = 0, lease_owner = :owner, lease_until = :until,
  updated_at = :now
WHERE id = ({due}) RETURNING {columns}"""

_EXPIRED: Final = "state = 'running' AND lease_until <= :now"

_MINE: Final = "id = :id AND state = 'running' AND lease_owner = :owner AND attempts = :attempts"


def enqueue(
    tx: Tx,
    *,
    kind: str,
    key: str,
    project_id: ProjectId | None,
    now: Micros,
    payload: Mapping[str, object] | None = None,
    delay: float = 0,
) -> None:
    """Ask for one run of (kind, key), ``delay`` seconds from ``now``, in the transaction of the data it follows.

    A queued twin stays one job, at the earlier of both times (a pause after a failure is kept), with the new payload.
    A running twin runs once more afterwards. A dead twin gets one more attempt.
    """
    tx.run(
        _ENQUEUE,
        id=new_id(now),
        kind=kind,
        key=key,
        project_id=project_id,
        payload=payload or {},
        run_after=now + int(delay * _SECOND),
        now=now,
        last_chance=MAX_ATTEMPTS - 1,
    )


def claim(db: Db, *, kinds: Sequence[str], owner: str, lease: float) -> Job | None:
    """Take the job that has been due longest, for ``lease`` seconds; None when none is due.

    Looks before it writes, so that idle workers take no lock.
    """
    now = db.clock()
    with db.read() as tx:
        idle = next_due(tx, kinds=kinds, now=now)
    if idle is None or idle > now:
        return None
    with db.write() as tx:
        now = db.clock()
        _bury_or_requeue_expired(tx, kinds, now)
        skip = " FOR UPDATE SKIP LOCKED" if db.dialect == "postgres" else ""
        row = tx.one(
            _CLAIM.format(due=_DUE + skip, columns=mapper.columns(Job)),
            kinds=kinds,
            owner=owner,
            now=now,
            until=now + int(lease * _SECOND),
        )
    return None if row is None else mapper.decode(Job, row)


def next_due(tx: Tx, *, kinds: Sequence[str], now: Micros) -> Micros | None:
    """When the next job of these kinds can be claimed (``now`` at the earliest); None when there is none."""
    row = tx.one(_NEXT, kinds=kinds)
    return None if row is None or row[0] is None else Micros(max(row[0], now))


def renew(db: Db, job: Job, lease: float) -> bool:
    """Hold the job for ``lease`` more seconds from now; False when it is no longer this worker's."""
    with db.write() as tx:
        now = db.clock()
        return _mine(tx, job, "lease_until = :until, updated_at = :now", until=now + int(lease * _SECOND), now=now)


def settle(db: Db, job: Job) -> bool:
    """The job is done: its row goes, or is queued again when it was enqueued meanwhile. False: no longer ours."""
    with db.write() as tx:
        gone = tx.run(
            f"DELETE FROM job WHERE {_MINE} AND rerun = 0", id=job.id, owner=job.lease_owner, attempts=job.attempts
        )
        return bool(gone) or _mine(
            tx, job, "state = 'queued', rerun = 0, attempts = 0, error = '', lease_owner = '', lease_until = NULL"
        )


def fail(db: Db, job: Job, error: Clean, *, counts: bool = True, final: bool = False) -> bool:
    """The job failed: again after a pause, or dead. False when it was no longer this worker's.

    With ``counts`` false (the surroundings failed: store busy, disk full) it never dies of it; with ``final``, at once.
    A job that would be dead but was enqueued meanwhile has one more attempt.
    """
    dead = final or (counts and job.attempts >= MAX_ATTEMPTS)
    with db.write() as tx:
        now = db.clock()
        return _mine(
            tx,
            job,
            "state = CASE WHEN rerun = 0 THEN :state ELSE 'queued' END,"
            " attempts = CASE WHEN rerun = 0 OR attempts < :limit THEN attempts ELSE :limit - 1 END, rerun = 0,"
            " error = :error, run_after = :run_after, lease_owner = '', lease_until = NULL, updated_at = :now",
            state=JobState.DEAD if dead else JobState.QUEUED,
            limit=MAX_ATTEMPTS,
            error=error,
            run_after=now + int(pause(job.attempts) * _SECOND),
            now=now,
        )


def release(db: Db, job: Job) -> bool:
    """Give a job back undone, at once claimable, without counting an attempt: its worker is told to stop."""
    with db.write() as tx:
        return _mine(
            tx,
            job,
            "state = 'queued', rerun = 0, attempts = attempts - 1, run_after = :run_after, lease_owner = '',"
            " lease_until = NULL",
            run_after=job.run_after,
        )


def postpone(db: Db, job: Job, until: Micros, why: Clean) -> bool:
    """Put a job back until a time, without counting an attempt: what it needs is not to be had before then."""
    with db.write() as tx:
        return _mine(
            tx,
            job,
            "state = 'queued', rerun = 0, attempts = attempts - 1, run_after = :until, error = :why, lease_owner = '',"
            " lease_until = NULL, updated_at = :now",
            until=until,
            why=why,
            now=db.clock(),
        )


def retry(db: Db, id: str) -> int:
    """Queue a dead job again with all its attempts ("all": every one); how many there were."""
    with db.write() as tx:
        return tx.run(
            f"UPDATE job SET state = 'queued', attempts = 0, run_after = :now, updated_at = :now WHERE {_dead(id)}",
            now=db.clock(),
            **_id(id),
        )


def drop(db: Db, id: str) -> int:
    """Delete a dead job ("all": every one); how many there were."""
    with db.write() as tx:
        return tx.run(f"DELETE FROM job WHERE {_dead(id)}", **_id(id))


def listing(tx: Tx, state: str = "") -> Sequence[Job]:
    """Jobs in the order in which they are due, of one state when it is named."""
    if state:
        return mapper.find(tx, Job, "WHERE state = :state ORDER BY run_after, created_at, id", state=state)
    return mapper.find(tx, Job, "ORDER BY run_after, created_at, id")


def postponed(tx: Tx, mark: str) -> tuple[int, Micros | None, str]:
    """Queued jobs whose error begins with ``mark``: how many, when the first of them is due, and that one's error."""
    where = "FROM job WHERE state = 'queued' AND error LIKE :like"
    row = tx.one(f"SELECT count(*), min(run_after) {where}", like=f"{mark}%")
    first = tx.one(f"SELECT error {where} ORDER BY run_after, id LIMIT 1", like=f"{mark}%")
    if row is None or first is None:
        return 0, None, ""
    return int(row[0]), Micros(int(row[1])), str(first[0])


def resume(db: Db, mark: str) -> int:
    """Make queued jobs whose error begins with ``mark`` due now; how many there were."""
    with db.write() as tx:
        now = db.clock()
        return tx.run(
            "UPDATE job SET run_after = :now, updated_at = :now WHERE state = 'queued' AND error LIKE :like",
            now=now,
            like=f"{mark}%",
        )


def counts(tx: Tx) -> dict[str, int]:
    """How many jobs are in each state; every state is named."""
    found: dict[str, int] = dict(tx.all("SELECT state, count(*) FROM job GROUP BY state"))
    return {state.value: found.get(state.value, 0) for state in JobState}


def pause(attempts: int) -> float:
    """Seconds to wait after so many attempts: `BACKOFF` doubled each time, capped, with jitter."""
    base: float = min(BACKOFF * 2 ** min(attempts - 1, 30), BACKOFF_CAP)
    return base * random.uniform(1 - JITTER, 1 + JITTER)


def _bury_or_requeue_expired(tx: Tx, kinds: Sequence[str], now: Micros) -> None:
    tx.run(
        f"UPDATE job SET state = 'dead', error = :error, rerun = 0, lease_owner = '', lease_until = NULL,"
        f" updated_at = :now WHERE {_EXPIRED} AND kind IN :kinds AND attempts >= :limit AND rerun = 0",
        error=f"its worker died or hung, {MAX_ATTEMPTS} times",
        now=now,
        kinds=kinds,
        limit=MAX_ATTEMPTS,
    )
    tx.run(
        f"UPDATE job SET state = 'queued', rerun = 0, run_after = :now, lease_owner = '', lease_until = NULL,"
        f" attempts = CASE WHEN attempts < :limit THEN attempts ELSE :limit - 1 END, updated_at = :now"
        f" WHERE {_EXPIRED} AND kind IN :kinds",
        now=now,
        kinds=kinds,
        limit=MAX_ATTEMPTS,
    )


def _mine(tx: Tx, job: Job, change: str, **params: object) -> bool:
    mine = {"id": job.id, "owner": job.lease_owner, "attempts": job.attempts}
    return bool(tx.run(f"UPDATE job SET {change} WHERE {_MINE}", **mine, **params))


def _dead(id: str) -> str:
    return "state = 'dead'" if id == "all" else "state = 'dead' AND id = :id"


def _id(id: str) -> dict[str, object]:
    return {} if id == "all" else {"id": id}
