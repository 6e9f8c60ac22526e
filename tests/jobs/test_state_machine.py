"""The queue against a model of it, with crashes at every step."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from tests.jobs.clocked import SECOND, START, ClockedDb

from flywheel.jobs import queue
from flywheel.jobs.queue import BACKOFF, BACKOFF_CAP, JITTER, MAX_ATTEMPTS
from flywheel.model import Clean, Job, JobState
from flywheel.store import Db

LEASE = 10
KINDS = ("a", "b")
KEYS = st.sampled_from(["x", "y"])
PICK = st.integers(min_value=0, max_value=3)


@dataclass
class Twin:
    """What the model knows about one (kind, key) that has a row."""

    id: str
    created_at: int
    run_after: int
    version: int  # of the newest data enqueued
    state: JobState = JobState.QUEUED
    attempts: int = 0
    rerun: bool = False
    lease_until: int | None = None
    token: object = None  # who holds it


@dataclass
class Held:
    """A claimed job in a worker's hands, perhaps long since lost."""

    job: Job
    version: int
    token: object = field(default_factory=object)


class QueueMachine(RuleBasedStateMachine):
    """Enqueue, claim, renew, settle, fail, release, crash, retry and drop in any order, while time passes.

    Checked: every row equals the model's; a stale worker changes nothing; a job's row goes only when a run that was
    claimed after the newest data had been enqueued has settled (no work is lost); a rolled back enqueue leaves nothing.
    """

    db: ClockedDb

    @initialize()
    def start(self) -> None:
        """An empty queue."""
        with self.db.write() as tx:
            tx.run("DELETE FROM job")
        self.db.now = START
        self.twins: dict[tuple[str, str], Twin] = {}
        self.held: list[Held] = []
        self.versions = 0

    @rule(
        kind=st.sampled_from(KINDS),
        key=KEYS,
        delay=st.sampled_from([0, 0, 0, 3, 40]),
        crash=st.sampled_from([False, False, False, True]),
    )
    def enqueue(self, kind: str, key: str, delay: int, crash: bool) -> None:
        """New data and its job in one transaction, which may fail before it commits."""
        self.versions += 1
        self.db.advance(0.001)  # no two jobs are of the same age, so that chance (their ids) decides nothing
        try:
            with self.db.write() as tx:
                queue.enqueue(
                    tx, kind=kind, key=key, project_id=None, now=self.db.now, payload={"v": self.versions}, delay=delay
                )
                if crash:
                    raise InterruptedError
        except InterruptedError:
            return
        due = self.db.now + delay * SECOND
        twin = self.twins.get((kind, key))
        if twin is None:
            (row,) = [job for job in self.rows() if (job.kind, job.key) == (kind, key)]
            self.twins[kind, key] = Twin(row.id, row.created_at, due, self.versions)
            return
        twin.version = self.versions
        if twin.state is JobState.RUNNING:
            twin.run_after = min(due, twin.run_after) if twin.rerun else due
            twin.rerun = True
        elif twin.state is JobState.DEAD:
            twin.state, twin.attempts, twin.run_after = JobState.QUEUED, MAX_ATTEMPTS - 1, due
        elif not twin.attempts:
            twin.run_after = min(due, twin.run_after)

    @rule()
    def wear_down(self) -> None:
        """Leave everything that waits its last attempt, as if all others had failed."""
        with self.db.write() as tx:
            tx.run("UPDATE job SET attempts = :n WHERE state = 'queued'", n=MAX_ATTEMPTS - 1)
        for twin in self.twins.values():
            if twin.state is JobState.QUEUED:
                twin.attempts = MAX_ATTEMPTS - 1

    @rule(seconds=st.sampled_from([1, 2, 3, 5, 11, 1200]))
    def pass_time(self, seconds: int) -> None:
        """Leases run out, pauses end."""
        self.db.advance(seconds)

    @rule(kinds=st.sampled_from([("a",), ("a", "b")]), owner=st.sampled_from(["w1", "w2"]))
    def claim(self, kinds: tuple[str, ...], owner: str) -> None:
        """A worker asks for work: it gets the one that has been due longest, or nothing."""
        job = queue.claim(self.db, kinds=kinds, owner=owner, lease=LEASE)
        mine = [twin for (kind, _), twin in self.twins.items() if kind in kinds]
        for twin in mine:
            if twin.state is JobState.RUNNING and twin.lease_until is not None and twin.lease_until <= self.db.now:
                self._expire(twin)
        due = [twin for twin in mine if twin.state is JobState.QUEUED and twin.run_after <= self.db.now]
        if not due:
            assert job is None
            return
        first = min(due, key=lambda twin: (twin.run_after, twin.created_at, twin.id))
        assert job is not None and job.id == first.id
        first.state, first.rerun = JobState.RUNNING, False
        first.attempts += 1
        first.lease_until = self.db.now + LEASE * SECOND
        assert job.payload == {"v": first.version}
        held = Held(job, first.version)
        first.token = held.token
        self.held.append(held)

    @rule(key=KEYS)
    def enqueue_and_claim(self, key: str) -> None:
        """The usual way of things: data comes, a worker is free."""
        self.enqueue(kind="a", key=key, delay=0, crash=False)
        self.claim(kinds=("a",), owner="w1")

    @precondition(lambda self: self.held)
    @rule(key=KEYS, pick=PICK)
    def enqueue_and_settle(self, key: str, pick: int) -> None:
        """Data comes while the job before runs, which then ends."""
        self.enqueue(kind="a", key=key, delay=0, crash=False)
        self.settle(pick)

    @precondition(lambda self: self.held)
    @rule(key=KEYS, pick=PICK)
    def enqueue_and_fail(self, key: str, pick: int) -> None:
        """Data comes while the job before runs, which then fails."""
        self.enqueue(kind="a", key=key, delay=0, crash=False)
        self.fail(pick, counts=True)

    @precondition(lambda self: self.held)
    @rule(pick=PICK)
    def renew(self, pick: int) -> None:
        """A sign of life, perhaps too late."""
        held, twin = self._pick(pick)
        assert queue.renew(self.db, held.job, LEASE) is (twin is not None)
        if twin:
            twin.lease_until = self.db.now + LEASE * SECOND

    @precondition(lambda self: self.held)
    @rule(pick=PICK)
    def settle(self, pick: int) -> None:
        """Done; the row goes unless it was enqueued meanwhile."""
        held, twin = self._pick(pick, drop=True)
        assert queue.settle(self.db, held.job) is (twin is not None)
        if twin is None:
            return
        if twin.rerun:
            self._queue(twin, attempts=0, run_after=twin.run_after)
            return
        assert held.version == twin.version, "a row went although newer data had been enqueued"
        del self.twins[held.job.kind, held.job.key]

    @precondition(lambda self: self.held)
    @rule(pick=PICK, counts=st.booleans())
    def fail(self, pick: int, counts: bool) -> None:
        """An attempt that raised."""
        held, twin = self._pick(pick, drop=True)
        assert queue.fail(self.db, held.job, Clean("boom"), counts=counts) is (twin is not None)
        if twin is None:
            return
        last = twin.attempts >= MAX_ATTEMPTS
        run_after = next(job.run_after for job in self.rows() if job.id == twin.id)
        base = min(BACKOFF * 2 ** (twin.attempts - 1), BACKOFF_CAP)
        assert base * (1 - JITTER) * SECOND - 1 <= run_after - self.db.now <= base * (1 + JITTER) * SECOND + 1
        dead = counts and last and not twin.rerun
        self._queue(twin, attempts=MAX_ATTEMPTS - 1 if last and twin.rerun else twin.attempts, run_after=run_after)
        if dead:
            twin.state = JobState.DEAD

    @precondition(lambda self: self.held)
    @rule(pick=PICK)
    def release(self, pick: int) -> None:
        """A worker that is told to stop gives its job back."""
        held, twin = self._pick(pick, drop=True)
        assert queue.release(self.db, held.job) is (twin is not None)
        if twin:
            self._queue(twin, attempts=twin.attempts - 1, run_after=held.job.run_after)

    @precondition(lambda self: self.held)
    @rule(pick=PICK)
    def crash(self, pick: int) -> None:
        """A worker dies without a word; only time will tell."""
        self._pick(pick, drop=True)

    @rule(verb=st.sampled_from(["retry", "drop"]))
    def decide_about_the_dead(self, verb: str) -> None:
        """A person queues the dead afresh or deletes them."""
        dead = {key: twin for key, twin in self.twins.items() if twin.state is JobState.DEAD}
        act = queue.retry if verb == "retry" else queue.drop
        assert act(self.db, "all") == len(dead)
        for key, twin in dead.items():
            if verb == "drop":
                del self.twins[key]
            else:
                self._queue(twin, attempts=0, run_after=self.db.now)

    @invariant()
    def rows_equal_the_model(self) -> None:
        """State, attempts, rerun, due time and lease of every row."""
        found = {
            job.id: (job.state, job.attempts, job.rerun, int(job.run_after), job.lease_until, job.payload)
            for job in self.rows()
        }
        assert found == {
            twin.id: (twin.state, twin.attempts, twin.rerun, twin.run_after, twin.lease_until, {"v": twin.version})
            for twin in self.twins.values()
        }

    def teardown(self) -> None:
        """Whatever happened, a worker that does its work empties the queue, all but the dead."""
        if not hasattr(self, "twins"):
            return
        for _ in range(40):
            self.db.advance(2000)
            job = queue.claim(self.db, kinds=KINDS, owner="last", lease=LEASE)
            if job is None:
                break
            assert queue.settle(self.db, job)
        assert {job.state for job in self.rows()} <= {JobState.DEAD}

    def rows(self) -> list[Job]:
        """The queue as it is."""
        with self.db.read() as tx:
            return list(queue.listing(tx))

    def _pick(self, pick: int, *, drop: bool = False) -> tuple[Held, Twin | None]:
        held = self.held[-1 - pick % len(self.held)]
        if drop:
            self.held.remove(held)
        twin = self.twins.get((held.job.kind, held.job.key))
        ours = twin is not None and twin.state is JobState.RUNNING and twin.token is held.token
        return held, twin if ours else None

    def _expire(self, twin: Twin) -> None:
        worn = twin.attempts >= MAX_ATTEMPTS
        if worn and not twin.rerun:
            self._queue(twin, attempts=twin.attempts, run_after=twin.run_after)
            twin.state = JobState.DEAD
        else:
            self._queue(twin, attempts=MAX_ATTEMPTS - 1 if worn else twin.attempts, run_after=self.db.now)

    @staticmethod
    def _queue(twin: Twin, *, attempts: int, run_after: int) -> None:
        twin.state, twin.attempts, twin.run_after = JobState.QUEUED, attempts, run_after
        twin.rerun, twin.lease_until, twin.token = False, None, None


def run(db: Db, examples: int, steps: int) -> None:
    """Drive the machine over one store."""
    machine: Any = type("Machine", (QueueMachine,), {"db": ClockedDb(db)})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            database=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_sqlite_keeps_to_the_model(sqlite_db: Db) -> None:
    """Many long runs over SQLite."""
    run(sqlite_db, examples=80, steps=50)


def test_postgres_keeps_to_the_model(postgres_db: Db) -> None:
    """Fewer over PostgreSQL, whose statements are the same but for the locks."""
    run(postgres_db, examples=20, steps=40)
