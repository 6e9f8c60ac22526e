"""File locks between processes: a guard over opening, and turns for the writers that run back to back."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from flywheel.errors import DiskFull, StoreBusy, StoreError

POLL: Final = 0.0005
"""Seconds between two tries for a lock."""

COURTESY: Final = 0.05
"""Seconds that a bulk writer lets waiting small writers go first, at most."""

NO_SPACE: Final = frozenset({errno.ENOSPC, errno.EDQUOT})


class FileLock:
    """One lock file (flock). Not for sharing between threads; the lock dies with the process, whatever kills it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None

    def try_exclusive(self) -> bool:
        """Take it alone, without waiting."""
        return self._try(fcntl.LOCK_EX)

    def try_shared(self) -> bool:
        """Take it together with others who share it, without waiting. An exclusive hold becomes a shared one."""
        return self._try(fcntl.LOCK_SH)

    def release(self) -> None:
        """Let go; harmless when not held."""
        if self._file is not None:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def close(self) -> None:
        """Let go and close the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _try(self, how: int) -> bool:
        try:
            if self._file is None:
                self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._file, how | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            raise file_error(error, self._path) from error
        return True


def file_error(error: OSError, path: Path) -> StoreError:
    """What to raise when the file system refuses."""
    if error.errno in NO_SPACE:
        return DiskFull(f"no space left for {path}; free some and try again")
    return StoreError(f"{path} cannot be used: {error.strerror or error}")


class Turns:
    """Bulk writers of all processes take turns, and let small writers in between.

    Whoever wants the turn first takes ``next`` and then the turn itself, so that the one who just had it cannot take
    it again before those who waited. A small writer that found the database locked raises a hand (`hand`): the next
    bulk writer waits for it, briefly. One object per process, used under the bulk writer's own mutex.
    """

    def __init__(self, path: Path) -> None:
        """``path`` is the database; the lock files lie beside it."""
        self._next = FileLock(path.with_name(path.name + ".bulk-next.lock"))
        self._turn = FileLock(path.with_name(path.name + ".bulk.lock"))
        self._hands = FileLock(path.with_name(path.name + ".small.lock"))
        self.hand = FileLock(path.with_name(path.name + ".small.lock"))

    @contextmanager
    def bulk(self, limit: float) -> Iterator[None]:
        """Hold the turn. Raises StoreBusy when others keep it for ``limit`` seconds."""
        deadline = time.monotonic() + limit
        try:
            wait_for(self._next.try_exclusive, deadline)
            wait_for(self._turn.try_exclusive, deadline)
        finally:
            self._next.release()
        try:
            self._let_small_writers_in()
            yield
        finally:
            self._turn.release()

    def _let_small_writers_in(self) -> None:
        deadline = time.monotonic() + COURTESY
        while not self._hands.try_exclusive() and time.monotonic() < deadline:
            time.sleep(POLL)
        self._hands.release()

    def close(self) -> None:
        """Close the lock files."""
        for lock in (self._next, self._turn, self._hands, self.hand):
            lock.close()


def wait_for(attempt: Callable[[], bool], deadline: float) -> None:
    """Try until it works. Raises StoreBusy past ``deadline`` (seconds of the monotonic clock)."""
    while not attempt():
        if time.monotonic() >= deadline:
            raise StoreBusy("another process has kept the database's lock for too long; try again")
        time.sleep(POLL)
