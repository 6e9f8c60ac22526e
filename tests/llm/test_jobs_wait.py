"""A job that needs the model: it waits for its cap, dies of an answer that cannot be used, and loses nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.jobs.clocked import ClockedDb
from tests.llm.conftest import Made, question
from tests.llm.loopback import Wire, dawdles, fails, says

from flywheel.config import Config
from flywheel.jobs import queue
from flywheel.jobs.worker import WAITING, Deps, Outcome, run_one
from flywheel.llm import Llm
from flywheel.model import Job, JobState, Micros
from flywheel.store import Db
from flywheel.text.redact import Redactor


def run(db: ClockedDb, data: Path, llm: Callable[[], Llm], stopping: bool = False) -> tuple[Outcome, Job | None]:
    """One job that asks the model, claimed and run; what became of it."""
    with db.write() as tx:
        queue.enqueue(tx, kind="a", key="k", project_id=None, now=db.now)
    job = queue.claim(db, kinds=["a"], owner="w", lease=60)
    assert job is not None
    deps = Deps(
        db=db,
        config=Config(),
        data=data,
        redact=Redactor(),
        now=db.clock,
        stopping=lambda: stopping,
        beat=lambda _: None,
        llm=llm,
    )
    outcome = run_one(job, lambda _, deps: use(deps), deps)
    with db.read() as tx:
        left = list(queue.listing(tx))
    return outcome, left[0] if left else None


def use(deps: Deps) -> None:
    """What a handler does."""
    deps.llm().ask(question(), stopping=deps.stopping, beat=deps.beat)


def test_at_a_cap_a_job_waits_until_it_is_lifted(db: Db, data: Path, made: Made, wire: Wire) -> None:
    """No attempt is counted, nothing is lost, and the queue says how many wait, until when, and for what."""
    clocked = ClockedDb(db)
    wire.does(says({"subject": "x", "sure": True}))
    outcome, job = run(clocked, data, lambda: made(day_usd=0, now=clocked.now))
    assert outcome is Outcome.WAITING and job is not None
    assert (job.state, job.attempts) == (JobState.QUEUED, 0) and job.error.startswith(WAITING)
    with db.read() as tx:
        many, until, why = queue.postponed(tx, WAITING)
    assert (many, until) == (1, job.run_after) and "the day's cap of $0.00 is reached" in why
    assert queue.claim(clocked, kinds=["a"], owner="w", lease=60) is None
    clocked.now = Micros(job.run_after)
    again = queue.claim(clocked, kinds=["a"], owner="w", lease=60)
    assert again is not None and again.attempts == 1 and wire.heard == []


@pytest.mark.parametrize("kind", ["limited", "down", "unusable", "stopped"])
def test_what_becomes_of_a_job(kind: str, sqlite_db: Db, data: Path, made: Made, wire: Wire) -> None:
    """Put back until the provider's own time; tried again; dead at once; given back undone."""
    clocked = ClockedDb(sqlite_db)
    acts = {
        "limited": fails(429, retry_after="90"),
        "down": fails(500),
        "unusable": says({"subject": 7}),
        "stopped": dawdles(0.5),
    }
    wire.does(acts[kind])
    outcome, job = run(clocked, data, lambda: made(now=clocked.now), stopping=kind == "stopped")
    assert job is not None
    if kind == "limited":
        assert (outcome, job.attempts, job.run_after) == (Outcome.WAITING, 0, clocked.now + 90_000_000)
    if kind == "down":
        assert (outcome, job.state) == (Outcome.FAILED, JobState.QUEUED) and "HTTP 500" in job.error
    if kind == "unusable":
        assert (outcome, job.state, job.attempts) == (
            Outcome.FAILED,
            JobState.DEAD,
            1,
        ) and "required property" in job.error
    if kind == "stopped":
        assert (outcome, job.state, job.attempts) == (Outcome.STOPPED, JobState.QUEUED, 0)


def test_a_job_without_a_model_hears_so(sqlite_db: Db, data: Path) -> None:
    """Deps bring the rules unless somebody brings a model."""
    clocked = ClockedDb(sqlite_db)
    deps = Deps(
        db=clocked,
        config=Config(),
        data=data,
        redact=Redactor(),
        now=clocked.clock,
        stopping=lambda: False,
        beat=lambda _: None,
    )
    assert not deps.llm().available
