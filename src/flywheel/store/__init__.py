"""The store: one set of portable SQL over SQLite or PostgreSQL.

`Db` opens transactions, `Tx` runs statements. SQL uses named parameters ``:name``; a list or tuple as a parameter
expands in place (``id IN :ids``; an empty one matches nothing). Rows are tuples. Optional filters are composed in
Python. Times are `Micros`; mappings and sequences are stored as JSON text, booleans as 0 and 1.

Every write transaction buffers its changes (`Tx.changed`) and writes them to the feed as its last act before
commit, so that the order of numbers is the order of visibility.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from flywheel.model import Change, Kind, Micros, Op, ProjectId, Seq

Row = tuple[Any, ...]


class Tx(Protocol):
    """One transaction. Not for sharing between threads."""

    def all(self, sql: str, **params: object) -> list[Row]:
        """Every row."""

    def one(self, sql: str, **params: object) -> Row | None:
        """The first row, or None."""

    def run(self, sql: str, **params: object) -> int:
        """Run a statement; how many rows it touched."""

    def many(self, sql: str, rows: Iterable[Mapping[str, object]]) -> int:
        """Run a statement once per row of parameters; how many rows they touched together."""

    def batch(self, sql: str, rows: Iterable[Sequence[object]]) -> int:
        """`many` for speed: each row is its values, plain ones only, in the order in which the parameters appear."""

    def changed(self, kind: Kind, id: str, project_id: ProjectId, op: Op = Op.PUT) -> None:
        """Buffer a change for the feed; equal changes of one transaction count once."""


class Db(Protocol):
    """A database that is open and migrated."""

    dialect: str
    """``sqlite`` or ``postgres``."""

    notices: Sequence[str]
    """What a person should know about how it was opened (a corrupt file set aside, a backup made)."""

    def describe(self) -> str:
        """``sqlite /path`` or ``postgres host/database``; never a password."""

    def read(self) -> AbstractContextManager[Tx]:
        """A read-only transaction over one consistent snapshot. Concurrent readers never wait for the writer."""

    def write(self, *, bulk: bool = False) -> AbstractContextManager[Tx]:
        """A write transaction; commits on a clean exit, rolls back on an exception.

        ``bulk`` marks the writers that run back to back (harvest, indexing, code sync): on SQLite they take turns
        through a lock file of the data folder, so that a small write waits behind one of them at most. Keep each
        under 20 ms. Raises StoreBusy when the lock stays taken past the busy limit, DiskFull when space runs out.
        """

    def feed_id(self) -> str:
        """Names this change feed; a restored or rebuilt database gets another."""

    def head(self) -> Seq:
        """The last visible number of the feed; 0 when it is empty."""

    def changes(self, after: Seq, limit: int = 5000) -> Sequence[Change]:
        """The feed past ``after``, in order."""

    def wait(self, timeout: float) -> bool:
        """Block until something was committed since this thread's last call, at most ``timeout`` seconds.

        Whether it was. A thread's first call starts the watch and returns True at once: look before you wait again,
        and no commit is ever missed.
        """

    def clock(self) -> Micros:
        """The database's own clock, which leases go by."""

    def scrub(self) -> Sequence[str]:
        """Make deleted text unreadable in the database's files; what could not be done, for a person to read."""

    def close(self) -> None:
        """Close every connection; the object is dead afterwards."""
