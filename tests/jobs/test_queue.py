"""The queue's promises one by one, over both stores."""

from __future__ import annotations

import threading
from collections.abc import Mapping

import pytest
from tests.jobs.clocked import SECOND, START, ClockedDb

from flywheel.jobs import queue
from flywheel.jobs.queue import BACKOFF, BACKOFF_CAP, JITTER, MAX_ATTEMPTS, pause
from flywheel.model import GLOBAL, Clean, Job, JobState, Micros
from flywheel.store import Db

BOOM = Clean("boom")


@pytest.fixture
def clocked(db: Db) -> ClockedDb:
    """A fresh database of each store with a clock that the test turns."""
    return ClockedDb(db)


def add(db: ClockedDb, key: str = "k", *, kind: str = "a", delay: float = 0, **payload: object) -> None:
    """Enqueue in a transaction of its own."""
    with db.write() as tx:
        queue.enqueue(tx, kind=kind, key=key, project_id=GLOBAL, now=db.now, payload=payload, delay=delay)


def take(db: ClockedDb, *kinds: str, owner: str = "w", lease: float = 60) -> Job | None:
    """Claim one job."""
    return queue.claim(db, kinds=kinds or ("a",), owner=owner, lease=lease)


def must(db: ClockedDb, *kinds: str, owner: str = "w", lease: float = 60) -> Job:
    """Claim one job that has to be there."""
    job = take(db, *kinds, owner=owner, lease=lease)
    assert job is not None
    return job


def rows(db: ClockedDb, state: str = "") -> list[Job]:
    """The queue as it is."""
    with db.read() as tx:
        return list(queue.listing(tx, state))


def tally(db: ClockedDb) -> Mapping[str, int]:
    """Jobs by state."""
    with db.read() as tx:
        return queue.counts(tx)


def test_a_job_is_part_of_its_data_s_transaction(clocked: ClockedDb) -> None:
    """A rollback takes the job with it; a commit wakes whoever waits."""
    clocked.wait(0)
    with pytest.raises(ZeroDivisionError), clocked.write() as tx:
        queue.enqueue(tx, kind="a", key="k", project_id=GLOBAL, now=clocked.now)
        raise ZeroDivisionError
    assert rows(clocked) == [] and take(clocked) is None
    add(clocked)
    assert clocked.wait(60)


def test_what_is_claimed_is_what_was_enqueued(clocked: ClockedDb) -> None:
    """Kind, key, project and payload arrive; owner, lease and attempt are set; nobody else gets it."""
    add(clocked, "path/ü.jsonl", size=3, names=["x"])
    job = must(clocked, owner="lane:1", lease=30)
    assert (job.kind, job.key, job.project_id, job.payload) == (
        "a",
        "path/ü.jsonl",
        GLOBAL,
        {"size": 3, "names": ["x"]},
    )
    assert (job.state, job.attempts, job.lease_owner) == (JobState.RUNNING, 1, "lane:1")
    assert job.lease_until == START + 30 * SECOND
    assert take(clocked) is None
    assert queue.settle(clocked, job)
    assert rows(clocked) == []


def test_only_the_named_kinds_are_claimed(clocked: ClockedDb) -> None:
    """A lane gets its own kinds only."""
    add(clocked, kind="b")
    assert take(clocked, "a", "c") is None
    assert must(clocked, "a", "b").kind == "b"


def test_the_order_is_due_time_then_age(clocked: ClockedDb) -> None:
    """Who has been due longest comes first; of equals, who was enqueued first."""
    add(clocked, "late", delay=2)
    add(clocked, "soon", delay=1)
    clocked.advance(1)
    add(clocked, "soon-but-younger")
    assert must(clocked).key == "soon"
    clocked.advance(5)
    assert [must(clocked).key for _ in range(2)] == ["soon-but-younger", "late"]


def test_a_delay_is_kept(clocked: ClockedDb) -> None:
    """A job cannot be claimed before its time, and `next_due` says when that is."""
    add(clocked, delay=900)
    with clocked.read() as tx:
        assert queue.next_due(tx, kinds=["a"], now=clocked.now) == START + 900 * SECOND
        assert queue.next_due(tx, kinds=["b"], now=clocked.now) is None
    clocked.advance(899.9)
    assert take(clocked) is None
    clocked.advance(0.1)
    assert must(clocked).attempts == 1


def test_a_queued_twin_stays_one_job(clocked: ClockedDb) -> None:
    """The earlier time and the newer payload win; other keys and kinds are other jobs."""
    add(clocked, delay=900, v=1)
    add(clocked, delay=10, v=2)
    add(clocked, delay=500, v=3)
    add(clocked, "other")
    add(clocked, kind="b")
    (job,) = [job for job in rows(clocked) if (job.kind, job.key) == ("a", "k")]
    assert (job.run_after, job.payload) == (START + 10 * SECOND, {"v": 3})
    assert tally(clocked) == {"queued": 3, "running": 0, "dead": 0}


def test_a_running_twin_runs_once_more(clocked: ClockedDb) -> None:
    """However often it was enqueued meanwhile, with the last payload, at the earliest of the times asked for."""
    add(clocked, v=1)
    job = must(clocked)
    for delay, v in ((100, 2), (50, 3), (70, 4)):
        add(clocked, delay=delay, v=v)
    assert take(clocked) is None
    assert queue.settle(clocked, job)
    (again,) = rows(clocked)
    assert (again.state, again.rerun, again.attempts) == (JobState.QUEUED, False, 0)
    assert (again.run_after, again.payload) == (START + 50 * SECOND, {"v": 4})
    clocked.advance(50)
    assert queue.settle(clocked, must(clocked))
    assert rows(clocked) == []


def test_failures_pause_longer_each_time_and_end_dead(clocked: ClockedDb) -> None:
    """Backoff doubles within its jitter; after the last attempt the job is dead and keeps its error."""
    add(clocked)
    for attempt in range(1, MAX_ATTEMPTS + 1):
        job = must(clocked)
        assert job.attempts == attempt
        assert queue.fail(clocked, job, Clean(f"boom {attempt}"))
        (job,) = rows(clocked)
        wait = (job.run_after - clocked.now) / SECOND
        base = BACKOFF * 2 ** (attempt - 1)
        assert base * (1 - JITTER) <= wait <= base * (1 + JITTER)
        assert take(clocked) is None
        clocked.advance(wait)
    (dead,) = rows(clocked, "dead")
    assert (dead.error, dead.lease_owner, dead.lease_until) == (f"boom {MAX_ATTEMPTS}", "", None)
    clocked.advance(10_000)
    assert take(clocked) is None


def test_failing_surroundings_never_kill_a_job(clocked: ClockedDb) -> None:
    """A full disk or a busy store pauses a job up to the cap for as long as it lasts."""
    add(clocked)
    for _ in range(3 * MAX_ATTEMPTS):
        assert queue.fail(clocked, must(clocked), BOOM, counts=False)
        clocked.advance(BACKOFF_CAP * (1 + JITTER))
    assert queue.settle(clocked, must(clocked))


def test_a_pause_survives_new_data(clocked: ClockedDb) -> None:
    """Enqueueing a job that failed a moment ago does not lift its pause."""
    add(clocked, v=1)
    queue.fail(clocked, must(clocked), BOOM)
    add(clocked, v=2)
    assert take(clocked) is None
    clocked.advance(BACKOFF * (1 + JITTER))
    job = must(clocked)
    assert (job.attempts, job.payload) == (2, {"v": 2})


def test_the_pause_is_capped() -> None:
    """However many attempts, the pause stays at the cap and its jitter."""
    for attempts in (1, 5, 20, 10_000):
        assert pause(attempts) <= BACKOFF_CAP * (1 + JITTER)
    assert len({pause(3) for _ in range(20)}) > 1


def test_a_job_whose_worker_died_is_claimed_again(clocked: ClockedDb) -> None:
    """An expired lease makes it claimable at once and counts; the old worker can do nothing any more."""
    add(clocked)
    old = must(clocked, owner="w1", lease=10)
    clocked.advance(9.9)
    assert take(clocked) is None
    clocked.advance(0.1)
    new = must(clocked, owner="w1", lease=10)
    assert (new.id, new.attempts) == (old.id, 2)
    assert not queue.renew(clocked, old, 10)
    assert not queue.settle(clocked, old)
    assert not queue.fail(clocked, old, BOOM)
    assert not queue.release(clocked, old)
    assert queue.renew(clocked, new, 10) and queue.settle(clocked, new)


def test_a_job_that_kills_its_workers_dies(clocked: ClockedDb) -> None:
    """Leases that run out count as attempts, so that a poisonous job does not go round for ever."""
    add(clocked)
    for _ in range(MAX_ATTEMPTS):
        must(clocked, lease=10)
        clocked.advance(10)
    assert take(clocked) is None
    (dead,) = rows(clocked, "dead")
    assert "worker died" in dead.error


def test_a_renewed_lease_holds(clocked: ClockedDb) -> None:
    """Renewing counts from now."""
    add(clocked)
    job = must(clocked, lease=10)
    for _ in range(5):
        clocked.advance(8)
        assert queue.renew(clocked, job, 10)
    assert take(clocked) is None
    assert queue.settle(clocked, job)


def test_a_job_given_back_has_lost_nothing(clocked: ClockedDb) -> None:
    """Release queues it at its old place without counting an attempt."""
    add(clocked, "first")
    clocked.advance(1)
    add(clocked, "second")
    assert queue.release(clocked, must(clocked))
    job = must(clocked)
    assert (job.key, job.attempts) == ("first", 1)


def test_a_dead_twin_has_one_more_attempt(clocked: ClockedDb) -> None:
    """New data for a dead key is tried once; failing again, it is dead again at once."""
    add(clocked, v=1)
    _kill(clocked)
    add(clocked, v=2)
    job = must(clocked)
    assert (job.attempts, job.payload) == (MAX_ATTEMPTS, {"v": 2})
    queue.fail(clocked, job, BOOM)
    assert tally(clocked) == {"queued": 0, "running": 0, "dead": 1}


def test_dying_while_enqueued_again_leaves_one_more_attempt(clocked: ClockedDb) -> None:
    """Data that came during the last attempt is not buried with it, whether the attempt failed or its worker died."""
    for how in ("fail", "expire"):
        add(clocked, how)
        _wear_down(clocked)
        job = must(clocked, lease=10)
        assert job.attempts == MAX_ATTEMPTS
        add(clocked, how, v=2)
        if how == "fail":
            assert queue.fail(clocked, job, BOOM)
        clocked.advance(100)
        again = must(clocked)
        assert (again.attempts, again.payload) == (MAX_ATTEMPTS, {"v": 2})
        assert queue.settle(clocked, again)


def test_retry_and_drop(clocked: ClockedDb) -> None:
    """One or all dead jobs are queued afresh or deleted; others are not touched; how many is said."""
    for key in ("x", "y", "z"):
        add(clocked, key)
        _kill(clocked)
    add(clocked, "alive")
    dead = rows(clocked, "dead")
    assert [job.key for job in dead] == ["x", "y", "z"]
    assert queue.retry(clocked, dead[0].id) == 1
    assert queue.drop(clocked, dead[1].id) == 1
    assert queue.retry(clocked, "no-such-id") == queue.drop(clocked, dead[0].id) == 0
    assert tally(clocked) == {"queued": 2, "running": 0, "dead": 1}
    assert queue.retry(clocked, "all") == 1
    assert queue.drop(clocked, "all") == 0
    assert {job.attempts for job in rows(clocked)} == {0}


def test_workers_never_get_the_same_job(db: Db) -> None:
    """Six threads empty a queue of sixty: every job runs once."""
    with db.write() as tx:
        for number in range(60):
            queue.enqueue(tx, kind="a", key=str(number), project_id=None, now=Micros(1))
    ran: list[str] = []

    def work(owner: str) -> None:
        while (job := queue.claim(db, kinds=["a"], owner=owner, lease=60)) is not None:
            ran.append(job.key)
            assert queue.settle(db, job)

    threads = [threading.Thread(target=work, args=(f"w{number}",)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ran, key=int) == [str(number) for number in range(60)]


def test_idle_claims_take_no_lock(sqlite_db: Db) -> None:
    """With nothing due a claim only reads: it works while another writer holds the lock."""
    clocked = ClockedDb(sqlite_db)
    add(clocked, delay=5)
    with sqlite_db.write():
        assert take(clocked) is None


def _wear_down(db: ClockedDb) -> None:
    """Fail all attempts but the last."""
    for _ in range(MAX_ATTEMPTS - 1):
        queue.fail(db, must(db), BOOM)
        db.advance(100)


def _kill(db: ClockedDb) -> None:
    _wear_down(db)
    queue.fail(db, must(db), BOOM)
