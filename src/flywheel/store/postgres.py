"""PostgreSQL by psycopg 3: a pool of connections, the same protocol as SQLite.

Read transactions are REPEATABLE READ and read only: one snapshot. Write transactions are READ COMMITTED; their changes
go to the feed as the last act, under an advisory lock that is held until the commit is visible.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from select import select
from typing import Final

import psycopg
from psycopg_pool import ConnectionPool, PoolTimeout

from flywheel.errors import Defect, Unavailable
from flywheel.model import Micros
from flywheel.store import Row, Tx
from flywheel.store.feed import FeedReads
from flywheel.store.postgres_link import configure, conninfo, place
from flywheel.store.postgres_tx import CHANNEL, Connection, PostgresTx
from flywheel.store.psycopg_errors import mapped

TEXT_TABLES: Final = (
    "message", "document", "citation", "claim", "entry", "entry_version", "entry_link", "briefing", "retrospective",
    "retro_point", "session", "embedding", "digest",
)  # fmt: skip
"""What `PostgresDb.scrub` vacuums."""

AWAY: Final = 1.0
"""Seconds to wait for a server that did not answer the last time."""

RECONNECT: Final = 5.0
"""Seconds for which the pool itself tries to reconnect, at growing pauses; then whoever asks next has it try anew.

With psycopg's default of five minutes it comes back minutes after the server.
"""

POOL: Final = 16
"""Connections of one process at most."""


class PostgresDb(FeedReads):
    """An open PostgreSQL database. Safe to use from several threads; not across a fork."""

    dialect = "postgres"

    def __init__(self, url: str, *, busy: float) -> None:
        """``busy`` is in seconds. The database is migrated (`store.postgres_open` sees to that)."""
        self.notices: Sequence[str] = []
        self.url = url
        self.place = place(url)
        self._busy = busy
        self._conninfo = conninfo(url, busy)
        self._pool: ConnectionPool[Connection] = ConnectionPool(
            self._conninfo,
            kwargs={"autocommit": True},
            configure=configure,
            min_size=1,
            max_size=POOL,
            num_workers=1,
            timeout=busy,
            reconnect_timeout=RECONNECT,
            name="flywheel",
            open=True,
        )
        self._away = False
        self._writing = threading.local()
        self._waiters = threading.local()
        self._waiting: list[Connection] = []
        self._feed = ""
        self._closed = False

    def describe(self) -> str:
        """Kind and place, without a password."""
        return self.place

    @contextmanager
    def read(self) -> Iterator[Tx]:
        """A read-only transaction over one snapshot, taken at its first statement."""
        with self._connection() as connection:
            self._do(connection, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            try:
                yield PostgresTx(connection, self.place)
            finally:
                _roll_back(connection)

    @contextmanager
    def write(self, *, bulk: bool = False) -> Iterator[Tx]:
        """A write transaction; see `store.Db.write`. ``bulk`` means nothing here: rows are locked, not the file."""
        with self._alone(), self._connection() as connection:
            self._do(connection, "BEGIN")
            tx = PostgresTx(connection, self.place)
            try:
                yield tx
                if tx.broken:
                    raise Defect("an error inside a write transaction was swallowed; nothing was written")
                tx.commit()
            except BaseException:
                _roll_back(connection)
                raise

    def wait(self, timeout: float) -> bool:
        """Block until a transaction has committed since this thread's last call; see `store.Db.wait`."""
        connection: Connection | None = getattr(self._waiters, "connection", None)
        try:
            if connection is None or connection.closed:
                connection = psycopg.Connection.connect(self._conninfo, autocommit=True)
                self._waiters.connection = connection
                self._waiting = [*(one for one in self._waiting if not one.closed), connection]
                connection.execute(f"LISTEN {CHANNEL}")
                return True
            return _notified(connection, timeout)
        except psycopg.Error as error:
            if self._closed:
                return False
            raise mapped(error, self.place) from error

    def clock(self) -> Micros:
        """The server's clock."""
        with self._connection() as connection:
            row = self._do(connection, "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint").fetchone()
        if row is None:
            raise Defect("the server has no clock")
        return Micros(row[0])

    def scrub(self) -> Sequence[str]:
        """Vacuum the tables that hold text. The server's own log and backups are its administrator's."""
        with self._connection() as connection:
            self._do(connection, f"VACUUM {', '.join(TEXT_TABLES)}")
        return ["the server's write-ahead log and backups keep what was deleted for as long as it is set to keep them"]

    def close(self) -> None:
        """Close every connection."""
        if not self._closed:
            self._closed = True
            for connection in self._waiting:
                connection.close()
            self._pool.close()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        if getattr(self._writing, "now", False):
            raise Defect("a write transaction inside another one")
        self._writing.now = True
        try:
            yield
        finally:
            self._writing.now = False

    @contextmanager
    def _connection(self) -> Iterator[Connection]:
        if self._closed:
            raise Defect("the database is closed")
        connection = self._take()
        try:
            yield connection
        finally:
            self._pool.putconn(connection)

    def _take(self) -> Connection:
        """A connection of the pool. A server that is away is waited for only once as long as a busy one, so that
        not every thread is held up by it."""
        failed = self._failures()
        try:
            connection = self._pool.getconn(AWAY if self._away else self._busy)
        except PoolTimeout as error:
            self._away = self._away or self._failures() > failed
            if self._away:
                raise Unavailable(f"{self.place} does not answer; it is tried again") from error
            raise mapped(error, self.place) from error
        except psycopg.Error as error:
            raise mapped(error, self.place) from error
        self._away = False
        return connection

    def _failures(self) -> int:
        """How often the pool could not connect."""
        return self._pool.get_stats().get("connections_errors", 0)

    def _do(self, connection: Connection, sql: str) -> psycopg.Cursor[Row]:
        try:
            return connection.execute(sql.encode())
        except psycopg.Error as error:
            raise mapped(error, self.place) from error


def _notified(connection: Connection, timeout: float) -> bool:
    deadline = time.monotonic() + timeout
    while select([connection], [], [], max(0.0, deadline - time.monotonic()))[0]:
        connection.pgconn.consume_input()
        if connection.pgconn.notifies():
            while connection.pgconn.notifies():
                pass
            return True
    return False


def _roll_back(connection: Connection) -> None:
    with suppress(psycopg.Error):  # a lost connection has rolled back by itself; the pool drops it
        connection.execute("ROLLBACK")
