"""Running tasks one after the other in a thread, and side by side as soon as one of them is slow."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Final, Generic, TypeVar

import structlog

THREADS: Final = 24
"""Threads at most. One that hangs is lost until it returns; the others go on."""

PATIENCE: Final = 0.15
"""The part of the deadline after which another thread takes the tasks that wait behind a slow one."""

log = structlog.get_logger("context")

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome(Generic[T]):
    """What came of a task: its value, or why there is none ("slow", "failed: ..."). ``micros`` is what it took."""

    value: T | None = None
    note: str = ""
    micros: int = 0


class Workers:
    """Threads that are started when no idle one is left, and kept. For any number of callers.

    Quick tasks are not worth a thread each: waking one costs as much as they do.
    """

    def __init__(self) -> None:
        self._runs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._free = 0  # threads without a run, less the runs that wait for one

    def run(self, tasks: Sequence[Callable[[], T]], seconds: float) -> list[Outcome[T]]:
        """Every task's outcome, in order, after ``seconds`` at most. A task not begun by then is never begun."""
        run = _Run(tasks, seconds)
        self._submit(run.work)
        threads, done = 1, 0
        while (left := run.end - time.monotonic()) > 0:
            more = threads < len(tasks)
            if run.done.acquire(timeout=min(left, seconds * PATIENCE) if more else left):
                break
            if more and run.finished == done:
                threads += 1
                self._submit(run.work)
            done = run.finished
        return run.outcomes()

    def close(self) -> None:
        """Let the threads end once they have nothing to do."""
        with self._lock:
            threads, self._threads = self._threads, 0
        for _ in range(threads):
            self._runs.put(None)

    def _submit(self, work: Callable[[], None]) -> None:
        with self._lock:
            self._free -= 1
            if self._free < 0 and self._threads < THREADS:
                self._threads += 1
                self._free += 1
                threading.Thread(target=self._serve, name="context-source", daemon=True).start()
        self._runs.put(work)

    def _serve(self) -> None:
        while (work := self._runs.get()) is not None:
            work()
            with self._lock:
                self._free += 1


class _Run(Generic[T]):
    """Tasks of one caller, for as many threads as come. The caller wakes once, when all are done."""

    def __init__(self, tasks: Sequence[Callable[[], T]], seconds: float) -> None:
        self.end = time.monotonic() + seconds
        self.done = threading.Lock()  # free when nothing is missing; cheaper to wait for than an event
        if tasks:
            self.done.acquire()
        self.finished = 0
        self._lock = threading.Lock()
        self._waiting = deque(enumerate(tasks))
        self._outcomes: list[Outcome[T]] = [Outcome(note="slow", micros=int(seconds * 1e6)) for _ in tasks]

    def outcomes(self) -> list[Outcome[T]]:
        """Every task's, as it is now."""
        with self._lock:
            return list(self._outcomes)

    def work(self) -> None:
        """Do what waits, until the deadline."""
        while time.monotonic() < self.end:
            try:
                number, task = self._waiting.popleft()
            except IndexError:
                return
            outcome = _attempt(task)
            with self._lock:
                self._outcomes[number] = outcome
                self.finished += 1
                if self.finished == len(self._outcomes):
                    self.done.release()


def _attempt(task: Callable[[], T]) -> Outcome[T]:
    """Run one task; whatever it raises is a note, because no source may take the briefing with it."""
    began = time.monotonic()
    try:
        value = task()
    except Exception as error:  # a source's failure is an empty slice, by design
        log.warning("source_failed", error=type(error).__name__, exc_info=True)
        return Outcome(note=f"failed: {type(error).__name__}", micros=int((time.monotonic() - began) * 1e6))
    return Outcome(value=value, micros=int((time.monotonic() - began) * 1e6))
