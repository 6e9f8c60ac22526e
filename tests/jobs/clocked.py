"""A database whose clock the test turns."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager

from flywheel.model import Change, Micros, Seq
from flywheel.store import Db, Tx

START = Micros(1_750_000_000_000_000)
SECOND = 1_000_000


class ClockedDb:
    """Passes everything on, but tells the time it is told."""

    def __init__(self, db: Db) -> None:
        self._db = db
        self.dialect = db.dialect
        self.notices: Sequence[str] = db.notices
        self.now = START

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.now = Micros(self.now + round(seconds * SECOND))

    def clock(self) -> Micros:
        """The time that the test set."""
        return self.now

    def describe(self) -> str:
        """As the database's."""
        return self._db.describe()

    def read(self) -> AbstractContextManager[Tx]:
        """As the database's."""
        return self._db.read()

    def write(self, *, bulk: bool = False) -> AbstractContextManager[Tx]:
        """As the database's."""
        return self._db.write(bulk=bulk)

    def feed_id(self) -> str:
        """As the database's."""
        return self._db.feed_id()

    def head(self) -> Seq:
        """As the database's."""
        return self._db.head()

    def changes(self, after: Seq, limit: int = 5000) -> Sequence[Change]:
        """As the database's."""
        return self._db.changes(after, limit)

    def wait(self, timeout: float) -> bool:
        """As the database's."""
        return self._db.wait(timeout)

    def scrub(self) -> Sequence[str]:
        """As the database's."""
        return self._db.scrub()

    def close(self) -> None:
        """As the database's."""
        self._db.close()
