"""Waking one waiting thread: from any thread, and from a signal handler."""

from __future__ import annotations

import contextlib
import os
import select
from dataclasses import dataclass


class Bell:
    """A pipe that is rung by writing to it.

    ``threading.Event`` will not do: a signal handler that sets one while its thread is just taking the event's lock
    waits for itself.
    """

    def __init__(self) -> None:
        self._hear, self._rope = os.pipe()
        os.set_blocking(self._hear, False)
        os.set_blocking(self._rope, False)

    def ring(self) -> None:
        """Wake the thread that waits, or the next one that will. A full pipe is rung already."""
        with contextlib.suppress(BlockingIOError):
            os.write(self._rope, b"!")

    def wait(self, seconds: float) -> bool:
        """Until rung, at most ``seconds``; whether rung. All rings until now count as one."""
        rung, _, _ = select.select([self._hear], [], [], seconds)
        with contextlib.suppress(BlockingIOError):
            while rung and os.read(self._hear, 4096):
                pass
        return bool(rung)

    def close(self) -> None:
        """Let go of the pipe; nobody may ring afterwards."""
        os.close(self._rope)
        os.close(self._hear)


@dataclass(slots=True)
class Restraint:
    """How soon to act again when woken again and again: ``pause`` seconds apart, but a few times at once after a rest.

    A token bucket of ``at_once`` tokens, one more with each ``pause``. Pure: ``now`` in seconds, never going back.
    """

    pause: float
    at_once: int
    _left: float = 0.0
    _last: float = float("-inf")

    def owed(self, now: float) -> float:
        """Take a token; the seconds to wait until it is there."""
        self._left = min(float(self.at_once), self._left + (now - self._last) / self.pause) - 1.0
        self._last = now
        return max(0.0, -self._left) * self.pause
