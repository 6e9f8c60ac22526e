"""Waiting for a call without being bound to it: a deadline for the whole, a sign of life, an end when asked."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from typing import Final, TypeVar

from flywheel.llm import Beat, Cancelled, Cause, Failure, Stopping

T = TypeVar("T")

LOOK: Final = 0.1
"""Seconds between two looks at whether to stop."""


def attend(work: Callable[[], T], *, seconds: float, doing: str, stopping: Stopping, beat: Beat) -> T:
    """What ``work`` gives, run in a thread of its own.

    A server that sends a byte now and then never runs into a timeout of its socket; here the whole has one. A call that
    is given up ends by itself, at its own timeouts, and its answer is dropped. Raises what ``work`` raises, Failure
    (slow) at the deadline, Cancelled.
    """
    done: queue.SimpleQueue[tuple[T | None, BaseException | None]] = queue.SimpleQueue()

    def run() -> None:
        try:
            done.put((work(), None))
        except BaseException as error:  # noqa: BLE001 - it is raised where somebody waits
            done.put((None, error))

    threading.Thread(target=run, name="llm", daemon=True).start()
    end = time.monotonic() + seconds
    while True:
        try:
            value, error = done.get(timeout=max(0.001, min(LOOK, end - time.monotonic())))
        except queue.Empty:
            if stopping():
                raise Cancelled from None
            if time.monotonic() >= end:
                raise Failure(Cause.SLOW, f"no answer within {seconds:g} s") from None
            beat(doing)
            continue
        if error is not None:
            raise error
        return value  # type: ignore[return-value]  # of work that did not raise


def pause(seconds: float, *, doing: str, stopping: Stopping, beat: Beat) -> None:
    """Wait before another try. Raises Cancelled."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if stopping():
            raise Cancelled
        beat(doing)
        time.sleep(min(LOOK, left))
