"""When SQLite's WAL goes back into the file: often, by whoever writes in bulk, and never while a reader waits."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

import apsw

PASSIVE_PAGES: Final = 2_000
"""A bulk writer checkpoints past this many pages (8 MB), without keeping anyone waiting."""

RESTART_PAGES: Final = 6_000
"""Past this many (24 MB) it also starts the WAL over, which keeps writers waiting for the few pages that are left."""

SMALL_PAGES: Final = 16_000
"""A small writer checkpoints only past this many (64 MB): then no bulk writer does."""


class Checkpoints:
    """Counts the pages of the WAL after each commit of one connection and checkpoints when it is due."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._pages = 0
        self._next = 0
        connection.set_wal_hook(self._note)

    def after_commit(self, *, bulk: bool) -> None:
        """Checkpoint if it is due. Outside of a transaction.

        Raises nothing: the commit stands, and a checkpoint that others or a full disk prevent is tried again later.
        """
        if self._pages < max(self._next, PASSIVE_PAGES if bulk else SMALL_PAGES):
            return
        with suppress(apsw.Error):
            pages, moved = self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
            if bulk and self._pages >= RESTART_PAGES and pages - moved < PASSIVE_PAGES:
                self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_RESTART)
        self._next = self._pages + PASSIVE_PAGES

    def truncate(self) -> bool:
        """Empty the WAL now; whether it worked."""
        try:
            self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except apsw.BusyError:
            return False
        self._pages = self._next = 0
        return True

    def _note(self, connection: apsw.Connection, name: str, pages: int) -> int:
        if pages < self._pages:
            self._next = 0
        self._pages = pages
        return apsw.SQLITE_OK
