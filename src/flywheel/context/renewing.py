"""A cache that gives what it has at once, and renews it behind the caller's back."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

import structlog

KEPT: Final = 128
"""Keys that are kept; the ones asked for last."""

AT_ONCE: Final = 8
"""Readings that run at a time; more wait until somebody asks again."""

log = structlog.get_logger("context")

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@dataclass(slots=True)
class _Kept(Generic[V]):
    value: V | None = None
    at: float = 0.0
    running: bool = False
    ready: threading.Event = field(default_factory=threading.Event)


class Renewing(Generic[K, V]):
    """Values by key. For any number of threads; a reading runs in a thread of its own, one per key at a time.

    ``read`` may take its time and may raise: the old value stays then. A value older than ``fresh`` seconds is given
    once more and read anew meanwhile.
    """

    def __init__(
        self,
        read: Callable[[K], V],
        *,
        fresh: float,
        clock: Callable[[], float] = time.monotonic,
        name: str = "renewing",
    ) -> None:
        self._read, self._fresh, self._clock, self._name = read, fresh, clock, name
        self._lock = threading.Lock()
        self._kept: OrderedDict[K, _Kept[V]] = OrderedDict()
        self._threads: set[threading.Thread] = set()
        self._closed = False

    def get(self, key: K, wait: float) -> V | None:
        """The value, however old. Of a key that was never read: what is there after ``wait`` seconds, or None."""
        with self._lock:
            kept = self._kept.setdefault(key, _Kept())
            self._kept.move_to_end(key)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            stale = kept.value is None or self._clock() - kept.at > self._fresh
            if stale and not kept.running and len(self._threads) < AT_ONCE and not self._closed:
                kept.running = True
                kept.ready.clear()
                thread = threading.Thread(target=self._renew, args=(key, kept), name=self._name, daemon=True)
                self._threads.add(thread)
                thread.start()
        if kept.value is None and kept.running:
            kept.ready.wait(wait)
        return kept.value

    def close(self) -> None:
        """Read nothing any more, and wait a few seconds for what is being read."""
        with self._lock:
            self._closed = True
            threads = list(self._threads)
        for thread in threads:
            thread.join(5)

    def _renew(self, key: K, kept: _Kept[V]) -> None:
        try:
            began = self._clock()
            value = self._read(key)
            kept.at, kept.value = began, value
        except Exception as error:  # whatever it is, the old value has to do
            log.warning("renewing_failed", what=self._name, error=type(error).__name__, exc_info=True)
        finally:
            with self._lock:
                kept.running = False
                self._threads.discard(threading.current_thread())
            kept.ready.set()
