"""Waking the daemon's main thread."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator

import pytest

from flywheel.daemon.bell import Bell, Restraint

LONG = 60.0
"""Seconds that are never waited for when all is well."""


@pytest.fixture
def bell() -> Iterator[Bell]:
    """A bell that is not rung."""
    made = Bell()
    yield made
    made.close()


def test_a_ring_before_the_wait_is_not_lost(bell: Bell) -> None:
    """Who rings while the other still works is heard at the next wait, once."""
    bell.ring()
    assert bell.wait(LONG)
    assert not bell.wait(0)


def test_many_rings_are_one(bell: Bell) -> None:
    """More rings than a pipe holds neither block nor wake twice."""
    for _ in range(100_000):
        bell.ring()
    assert bell.wait(LONG)
    assert not bell.wait(0)


def test_another_thread_wakes_the_waiting_one(bell: Bell) -> None:
    """The ring comes while the other waits."""
    ringer = threading.Timer(0.01, bell.ring)
    ringer.start()
    assert bell.wait(LONG)
    ringer.join()


def test_a_signal_handler_may_ring(bell: Bell) -> None:
    """Wherever in waiting and hearing the signal finds the thread, it does not wait for itself."""
    before = signal.signal(signal.SIGUSR1, lambda *_: bell.ring())
    try:
        for _ in range(200):
            os.kill(os.getpid(), signal.SIGUSR1)
            assert bell.wait(LONG)
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_after_a_rest_a_few_are_at_once_and_then_a_pause_apart() -> None:
    """Whoever is woken all the time acts ten times a second; after a rest three times without waiting."""
    restraint, now, waits = Restraint(0.1, 3), 100.0, []
    for _ in range(6):
        waits.append(round(restraint.owed(now), 6))
        now += waits[-1]
    assert waits == [0.0, 0.0, 0.0, 0.1, 0.1, 0.1]
    assert [round(restraint.owed(now + 10.0), 6) for _ in range(4)] == [0.0, 0.0, 0.0, 0.1]
