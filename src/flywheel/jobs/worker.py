"""Running one job: the handler's parts, its sign of life, and what becomes of its failure."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Final

from flywheel.config import Config
from flywheel.errors import FlywheelError, Unusable, Waiting
from flywheel.jobs import queue
from flywheel.llm import Cancelled, Llm
from flywheel.llm.rules import NoLlm
from flywheel.model import Clean, Job, Micros
from flywheel.store import Db
from flywheel.store.retry import retrying
from flywheel.text.compose import join
from flywheel.text.redact import Redactor

WAITING: Final = "waiting: "
"""How the error of a job begins that was put back until a time that is known."""

ERROR_LENGTH: Final = 2_000
"""Characters of an error that are kept with the job."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """What a handler may use."""

    db: Db
    config: Config
    data: Path
    redact: Redactor
    now: Callable[[], Micros]
    stopping: Callable[[], bool]  # whether the process is asked to end: stop at the next safe point
    beat: Callable[[str], None]  # "alive, doing this"; keeps the lease
    llm: Callable[[], Llm] = NoLlm  # the language model within its budget, opened when it is first asked for


Handler = Callable[[Job, Deps], None]
"""Does the work of one job. Running twice equals running once. Any exception means that it is tried again."""


class Outcome(StrEnum):
    """What became of a job that ran."""

    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"  # given back undone
    WAITING = "waiting"  # put back until a cap is lifted
    LOST = "lost"  # its lease was over; another worker has it


class LeaseLost(Exception):
    """The job is no longer this worker's: stop, write nothing more."""


class Stopped(Exception):
    """A handler raises it when `Deps.stopping` says so and work is left: the job is given back undone."""


def run_one(job: Job, handler: Handler, deps: Deps) -> Outcome:
    """Run a claimed job and settle it, or record its failure.

    Raises what the store raises when even that cannot be recorded; the lease then runs out by itself.
    """
    try:
        handler(job, deps)
    except LeaseLost:
        return Outcome.LOST
    except (Stopped, Cancelled):
        return _given(Outcome.STOPPED, retrying(partial(queue.release, deps.db, job)))
    except Waiting as error:
        why = deps.redact.short(f"{WAITING}{error.message}", ERROR_LENGTH)
        put = partial(queue.postpone, deps.db, job, Micros(error.until), why)
        return _given(Outcome.WAITING, retrying(put))
    except Exception as error:  # noqa: BLE001 - the job runner is one of the three places that catch everything
        counts = not (isinstance(error, FlywheelError) and error.retryable)
        final = isinstance(error, Unusable)
        told = describe(error, deps.redact)
        kept = retrying(partial(queue.fail, deps.db, job, told, counts=counts, final=final))
        return _given(Outcome.FAILED, kept)
    return _given(Outcome.DONE, retrying(partial(queue.settle, deps.db, job)))


def keep_lease(
    db: Db, job: Job, lease: float, tell: Callable[[str], None], monotonic: Callable[[], float] = time.monotonic
) -> Callable[[str], None]:
    """A `Deps.beat`: tells who listens, and renews the lease (seconds) when a third of it has gone.

    The beat raises LeaseLost when the job is no longer this worker's.
    """
    renewed = monotonic()

    def beat(doing: str) -> None:
        nonlocal renewed
        tell(doing)
        if monotonic() - renewed > lease / 3:
            if not retrying(partial(queue.renew, db, job, lease)):
                raise LeaseLost(f"{job.kind} {job.key}")
            renewed = monotonic()

    return beat


def describe(error: Exception, redact: Redactor) -> Clean:
    """What a person reads in the list of dead jobs: the kind of error, its message, and where it arose."""
    where = ""
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        where = f" ({Path(code.co_filename).name}:{trace.tb_lineno} in {code.co_name})"
        trace = trace.tb_next
    told = redact.short(f"{type(error).__name__}: {error}", ERROR_LENGTH)
    return join([told, redact.text(where)], "")


def _given(outcome: Outcome, ours: bool) -> Outcome:
    return outcome if ours else Outcome.LOST
