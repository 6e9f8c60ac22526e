"""Running tasks side by side and not waiting for those that are slow."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Final, Generic, TypeVar

import structlog

THREADS: Final = 24
"""Threads at most. One that hangs is lost until it returns; the others go on."""

log = structlog.get_logger("context")

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome(Generic[T]):
    """What came of a task: its value, or why there is none ("slow", "failed: ..."). ``micros`` is what it took."""

    value: T | None = None
    note: str = ""
    micros: int = 0


class Workers:
    """Threads that are started when no idle one is left, and kept. For any number of callers."""

    def __init__(self) -> None:
        self._tasks: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._free = 0  # threads without a task, less the tasks that wait for one

    def run(self, tasks: Sequence[Callable[[], T]], seconds: float) -> list[Outcome[T]]:
        """Every task's outcome, in order, after ``seconds`` at most. A task not begun by then is never begun."""
        results: SimpleQueue[tuple[int, Outcome[T]]] = SimpleQueue()
        end = time.monotonic() + seconds
        for number, task in enumerate(tasks):
            self._submit(lambda number=number, task=task: _attempt(number, task, end, results))  # type: ignore[misc]
        outcomes: list[Outcome[T]] = [Outcome(note="slow", micros=int(seconds * 1e6)) for _ in tasks]
        for _ in tasks:
            try:
                number, outcome = results.get(timeout=max(0.0, end - time.monotonic()))
            except Empty:
                break
            outcomes[number] = outcome
        return outcomes

    def close(self) -> None:
        """Let the threads end once they have nothing to do."""
        with self._lock:
            threads, self._threads = self._threads, 0
        for _ in range(threads):
            self._tasks.put(None)

    def _submit(self, task: Callable[[], None]) -> None:
        with self._lock:
            self._free -= 1
            if self._free < 0 and self._threads < THREADS:
                self._threads += 1
                self._free += 1
                threading.Thread(target=self._work, name="context-source", daemon=True).start()
        self._tasks.put(task)

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            task()
            with self._lock:
                self._free += 1


def _attempt(number: int, task: Callable[[], T], end: float, results: SimpleQueue[tuple[int, Outcome[T]]]) -> None:
    """Run one task; whatever it raises is a note, because no source may take the briefing with it."""
    began = time.monotonic()
    if began >= end:
        return
    try:
        outcome = Outcome(value=task(), micros=int((time.monotonic() - began) * 1e6))
    except Exception as error:  # a source's failure is an empty slice, by design
        log.warning("source_failed", error=type(error).__name__, exc_info=True)
        outcome = Outcome(note=f"failed: {type(error).__name__}", micros=int((time.monotonic() - began) * 1e6))
    results.put((number, outcome))
