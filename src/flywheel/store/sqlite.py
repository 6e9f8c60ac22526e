"""SQLite by apsw: one file in WAL mode, many readers, one writer at a time.

``synchronous`` is NORMAL: a commit that was acknowledged survives the death of every process (``kill -9``), because
the WAL is in the operating system's hands by then. A power cut can lose the last commits, never the file's integrity,
and never half a transaction; what is lost is read again from the transcripts.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Final

import apsw

from flywheel.errors import Defect, StoreBusy
from flywheel.model import Micros
from flywheel.store import Tx
from flywheel.store.apsw_errors import mapped
from flywheel.store.feed import FeedReads
from flywheel.store.filelock import POLL, Turns
from flywheel.store.sqlite_link import BUSY, open_connection
from flywheel.store.sqlite_tx import SqliteTx
from flywheel.store.wal import Checkpoints

WAIT_POLL: Final = 0.025
"""Seconds between two looks at the data version."""

CHECKPOINT_PATIENCE: Final = 0.03
"""Seconds that emptying the WAL may wait for readers; nobody can write meanwhile."""

IDLE_READERS: Final = 8
"""Read connections kept open while nobody reads."""


class SqliteDb(FeedReads):
    """An open database file. Safe to use from several threads; not across a fork."""

    dialect = "sqlite"

    def __init__(self, path: Path, *, busy: float = BUSY, notices: Sequence[str] = ()) -> None:
        """``busy`` is in seconds. The file exists and is migrated (`store.connect` sees to that)."""
        self.path = path
        self.notices: Sequence[str] = list(notices)
        self._busy = busy
        self._readers: deque[apsw.Connection] = deque(maxlen=IDLE_READERS)
        self._turns = Turns(path)
        self._bulk_mutex = threading.Lock()
        self._mutex = threading.Lock()
        self._owner = 0
        self._writer = open_connection(path)
        self._writer.set_busy_handler(self._while_locked)
        self._deadline = 0.0
        self._hand_up = False
        self._checkpoints = Checkpoints(self._writer)
        self._waiters = threading.local()
        self._wait_mutex = threading.Lock()
        self._waiting: list[apsw.Connection] = []
        self._on_close: list[Callable[[], None]] = []
        self._feed = ""
        self._closed = False

    def describe(self) -> str:
        """Kind and place."""
        return f"sqlite {self.path}"

    @contextmanager
    def read(self) -> Iterator[Tx]:
        """A read-only transaction over one snapshot, taken at its first statement."""
        connection = self._borrow()
        try:
            with self._mapping(connection):
                connection.execute("BEGIN")
            yield SqliteTx(connection, str(self.path))
        finally:
            self._give_back(connection)

    @contextmanager
    def write(self, *, bulk: bool = False) -> Iterator[Tx]:
        """A write transaction; see `store.Db.write`."""
        with self._turn() if bulk else nullcontext(), self._locked():
            tx = SqliteTx(self._writer, str(self.path))
            try:
                yield tx
                if tx.broken:
                    raise Defect("an error inside a write transaction was swallowed; nothing was written")
                with self._mapping(self._writer):
                    tx.flush()
                    self._writer.execute("COMMIT")
            except BaseException:
                self._roll_back()
                raise
            self._deadline = time.monotonic() + CHECKPOINT_PATIENCE
            self._checkpoints.after_commit(bulk=bulk)

    def wait(self, timeout: float) -> bool:
        """Block until a transaction has committed since this thread's last call; see `store.Db.wait`."""
        state: tuple[apsw.Connection, int] | None = getattr(self._waiters, "state", None)
        if state is None:
            connection = open_connection(self.path, read_only=True, busy=self._busy)
            self._waiting.append(connection)
            self._waiters.state = (connection, self._data_version(connection))
            return True
        connection, seen = state
        deadline = time.monotonic() + timeout
        while not self._closed:
            now = self._data_version(connection)
            if now != seen:
                self._waiters.state = (connection, now)
                return True
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(WAIT_POLL, left))
        return False

    def clock(self) -> Micros:
        """This machine's clock: the database is in process."""
        return Micros(time.time_ns() // 1000)

    def truncate_wal(self) -> bool:
        """Move the WAL into the file and empty it; whether that succeeded (a long reader can prevent it)."""
        with self._mutex, self._mapping(self._writer):
            self._deadline = time.monotonic() + self._busy
            return self._checkpoints.truncate()

    def scrub(self) -> Sequence[str]:
        """Empty the WAL, which keeps old pages; the file itself zeroes what is deleted (``secure_delete``)."""
        left = []
        if not self.truncate_wal():
            left.append("a reader keeps the write-ahead log busy: deleted text stays in it until the next checkpoint")
        folder = self.path.parent
        copies = [*folder.glob(f"backups/{self.path.stem}-*.db"), *folder.glob(f"{self.path.name}.corrupt-*")]
        left.extend(f"this older copy still holds what it held: {copy}" for copy in sorted(copies))
        return left

    def on_close(self, act: Callable[[], None]) -> None:
        """Call ``act`` when the database is closed."""
        self._on_close.append(act)

    def close(self) -> None:
        """Close every connection."""
        if self._closed:
            return
        self._closed = True
        with self._mutex, self._wait_mutex:
            for connection in [*self._readers, *self._waiting, self._writer]:
                connection.close()
            self._readers.clear()
        self._turns.close()
        for act in self._on_close:
            act()

    def _borrow(self) -> apsw.Connection:
        if self._closed:
            raise Defect("the database is closed")
        try:
            return self._readers.pop()
        except IndexError:
            return open_connection(self.path, read_only=True, busy=self._busy)

    def _give_back(self, connection: apsw.Connection) -> None:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        if self._closed or len(self._readers) >= IDLE_READERS:
            connection.close()
        else:
            self._readers.append(connection)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if not self._bulk_mutex.acquire(timeout=self._busy):
            raise StoreBusy("another thread has kept the bulk writer's turn for too long; try again")
        try:
            with self._turns.bulk(self._busy):
                yield
        finally:
            self._bulk_mutex.release()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        if self._closed:
            raise Defect("the database is closed")
        if self._owner == threading.get_ident():
            raise Defect("a write transaction inside another one")
        if not self._mutex.acquire(timeout=self._busy):
            raise StoreBusy("another thread has kept the database's write lock for too long; try again")
        try:
            self._owner = threading.get_ident()
            self._deadline = time.monotonic() + self._busy
            try:
                with self._mapping(self._writer):
                    self._writer.execute("BEGIN IMMEDIATE")
            finally:
                if self._hand_up:
                    self._hand_up = False
                    self._turns.hand.release()
            yield
        finally:
            self._owner = 0
            self._mutex.release()

    def _while_locked(self, tries: int) -> bool:
        if time.monotonic() >= self._deadline:
            return False
        if not self._hand_up:
            self._hand_up = self._turns.hand.try_shared()
        time.sleep(POLL)
        return True

    def _roll_back(self) -> None:
        if self._writer.in_transaction:
            self._writer.execute("ROLLBACK")

    @contextmanager
    def _mapping(self, connection: apsw.Connection) -> Iterator[None]:
        try:
            yield
        except apsw.Error as error:
            raise mapped(error, str(self.path), connection) from error

    def _data_version(self, connection: apsw.Connection) -> int:
        with self._wait_mutex, self._mapping(connection):
            version: int = -1 if self._closed else connection.pragma("data_version")
        return version
