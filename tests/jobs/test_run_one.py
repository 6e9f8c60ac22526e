"""Running one job: what becomes of success, failure, a lost lease and a request to stop."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.jobs.clocked import ClockedDb

from flywheel.config import Config
from flywheel.errors import DiskFull, NotFound, StoreBusy
from flywheel.jobs import queue
from flywheel.jobs.queue import MAX_ATTEMPTS
from flywheel.jobs.worker import Deps, LeaseLost, Outcome, Stopped, describe, keep_lease, run_one
from flywheel.model import Job, JobState
from flywheel.store import Db
from flywheel.text.redact import Redactor


@pytest.fixture
def clocked(db: Db) -> ClockedDb:
    """A fresh database of each store with a clock that the test turns."""
    return ClockedDb(db)


def deps(db: Db, data: Path) -> Deps:
    """Everything that a handler gets."""
    return Deps(
        db=db,
        config=Config(),
        data=data,
        redact=Redactor(),
        now=db.clock,
        stopping=lambda: False,
        beat=lambda doing: None,
    )


def claimed(db: ClockedDb, lease: float = 60) -> Job:
    """A job in hand."""
    with db.write() as tx:
        queue.enqueue(tx, kind="a", key="k", project_id=None, now=db.now)
    job = queue.claim(db, kinds=["a"], owner="w", lease=lease)
    assert job is not None
    return job


def rows(db: Db) -> list[Job]:
    """The queue as it is."""
    with db.read() as tx:
        return list(queue.listing(tx))


def raising(error: Exception) -> Callable[[Job, Deps], None]:
    """A handler that fails."""

    def handler(job: Job, deps: Deps) -> None:
        raise error

    return handler


def test_a_job_that_works_is_settled(clocked: ClockedDb, data: Path) -> None:
    """The handler gets the job and its parts; afterwards the row is gone."""
    seen: list[object] = []
    job, parts = claimed(clocked), deps(clocked, data)
    assert run_one(job, lambda *given: seen.extend(given), parts) is Outcome.DONE
    assert seen == [job, parts]
    assert rows(clocked) == []


def test_a_job_that_fails_keeps_a_redacted_error(clocked: ClockedDb, data: Path) -> None:
    """The error names its kind, message and place, without secrets; the job waits for its next attempt."""
    secret = "sk-ant-" + "api03-" + "Zx81" * 22
    assert run_one(claimed(clocked), raising(ValueError(f"bad key {secret}")), deps(clocked, data)) is Outcome.FAILED
    (job,) = rows(clocked)
    assert job.state is JobState.QUEUED
    assert job.error.startswith("ValueError: bad key") and "test_run_one.py" in job.error
    assert secret not in job.error


@pytest.mark.parametrize(
    ("error", "state"),
    [(ValueError("x"), "dead"), (NotFound("x"), "dead"), (DiskFull("x"), "queued"), (StoreBusy("x"), "queued")],
)
def test_what_is_worth_another_try_never_dies(clocked: ClockedDb, data: Path, error: Exception, state: str) -> None:
    """Errors of the job count towards its death, errors of its surroundings do not."""
    job = claimed(clocked)
    for _ in range(MAX_ATTEMPTS):
        assert run_one(job, raising(error), deps(clocked, data)) is Outcome.FAILED
        clocked.advance(2000)
        found = queue.claim(clocked, kinds=["a"], owner="w", lease=60)
        job = found or job
    assert [row.state for row in rows(clocked)] == (["dead"] if state == "dead" else ["running"])


def test_a_lost_job_is_left_to_its_new_worker(clocked: ClockedDb, data: Path) -> None:
    """Whoever lost the lease changes nothing, whether it finished, failed, stopped or noticed."""
    for handler in (lambda job, deps: None, raising(ValueError()), raising(Stopped()), raising(LeaseLost())):
        job = claimed(clocked, lease=10)
        clocked.advance(11)
        new = queue.claim(clocked, kinds=["a"], owner="other", lease=60)
        assert new is not None and new.id == job.id
        before = rows(clocked)
        assert run_one(job, handler, deps(clocked, data)) is Outcome.LOST
        assert rows(clocked) == before
        assert queue.settle(clocked, new)


def test_a_job_told_to_stop_is_given_back(clocked: ClockedDb, data: Path) -> None:
    """Nothing counts against it and it can be claimed at once."""
    assert run_one(claimed(clocked), raising(Stopped()), deps(clocked, data)) is Outcome.STOPPED
    again = queue.claim(clocked, kinds=["a"], owner="w", lease=60)
    assert again is not None and again.attempts == 1


def test_interrupts_are_not_swallowed(clocked: ClockedDb, data: Path) -> None:
    """A KeyboardInterrupt ends the worker; the lease runs out by itself."""

    def handler(job: Job, deps: Deps) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_one(claimed(clocked), handler, deps(clocked, data))
    assert [job.state for job in rows(clocked)] == [JobState.RUNNING]


def test_a_beat_keeps_the_lease_and_notices_its_loss(clocked: ClockedDb) -> None:
    """It tells every time, renews when a third has gone, and raises LeaseLost when somebody else has the job."""
    job = claimed(clocked, lease=30)
    told: list[str] = []
    beat = keep_lease(clocked, job, 30, told.append, monotonic=lambda: clocked.now / 1_000_000)
    for _ in range(5):
        clocked.advance(9)
        beat("reading")
    assert queue.claim(clocked, kinds=["a"], owner="other", lease=30) is None
    assert told == ["reading"] * 5
    clocked.advance(31)
    assert queue.claim(clocked, kinds=["a"], owner="other", lease=30) is not None
    with pytest.raises(LeaseLost):
        beat("reading")


def test_a_long_error_is_cut() -> None:
    """A message of megabytes stays out of the queue."""
    assert len(describe(ValueError("x" * 1_000_000), Redactor())) < 3_000
