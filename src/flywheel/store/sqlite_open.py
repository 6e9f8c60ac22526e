"""Opening a SQLite file: look whether it is sound, back it up before a migration, migrate.

The first process that opens a file holds a lock alone while it does so; everyone else who has the file open shares it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final

import apsw

from flywheel.errors import CorruptDatabase, FlywheelError
from flywheel.model import Micros
from flywheel.store.apsw_errors import mapped
from flywheel.store.feed import jump, new_feed
from flywheel.store.filelock import FileLock, file_error, wait_for
from flywheel.store.migrate import TABLE, Migration, apply, load, pending
from flywheel.store.sqlite import SqliteDb
from flywheel.store.sqlite_check import set_aside_damaged, stamp, unclean
from flywheel.store.sqlite_link import BUSY, open_connection
from flywheel.store.sqlite_tx import SqliteTx

KEPT_BACKUPS: Final = 3

OPENING: Final = 60.0
"""Seconds to wait for another process that checks or migrates the file."""

BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")


def open_sqlite(
    path: Path, *, migrate: bool = True, busy: float = BUSY, migrations: Sequence[Migration] | None = None
) -> SqliteDb:
    """The database at ``path``, made when it is missing, with file mode 0600.

    Raises StoreError when the folder or file cannot be used, NewerDatabase, DiskFull, StoreBusy; CorruptDatabase when
    the file is damaged and other processes have it open, so that it cannot be set aside.
    """
    steps = load("sqlite") if migrations is None else migrations
    lock = path.with_name(path.name + ".open.lock")
    guard = FileLock(lock)
    try:
        if not path.parent.exists():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        known = lock.exists()
        alone = guard.try_exclusive()
        if not alone:
            wait_for(guard.try_shared, time.monotonic() + OPENING)
        try:
            notices = _prepare(path, alone=alone, known=known, steps=steps if migrate else None, busy=busy)
        except CorruptDatabase:
            if not alone:
                raise  # else the file is marked now, checked in full and set aside
            notices = _prepare(path, alone=alone, known=known, steps=steps if migrate else None, busy=busy)
        db = SqliteDb(path, busy=busy, notices=notices)
        wait_for(guard.try_shared, time.monotonic() + OPENING)
    except OSError as error:
        guard.close()
        raise file_error(error, path) from error
    except BaseException:
        guard.close()
        raise
    db.on_close(guard.close)
    return db


def _prepare(path: Path, *, alone: bool, known: bool, steps: Sequence[Migration] | None, busy: float) -> list[str]:
    """Check, make and migrate the file; what a person should know."""
    notices: list[str] = []
    crashed = alone and unclean(path)
    if alone and path.exists():
        notices.append(set_aside_damaged(path, known=known))
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    if path.stat().st_mode & 0o077:
        path.chmod(0o600)
    if steps is not None:
        with closing(open_connection(path, busy=busy)) as connection:
            try:
                notices.append(_migrate(connection, path, steps, busy))
                if alone:
                    _note_boot(connection, path, crashed=crashed)
            except apsw.Error as error:
                raise mapped(error, str(path), connection) from error
    return [notice for notice in notices if notice]


def _migrate(connection: apsw.Connection, path: Path, steps: Sequence[Migration], busy: float) -> str:
    """Bring the schema up to date; where the backup is, when one was made."""
    found = _applied(connection)
    if found and not pending(found, steps):
        return ""
    backup = _back_up(connection, path, found[-1][0], busy) if found else None
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(TABLE)
    todo = pending(_applied(connection), steps)
    apply(SqliteTx(connection, str(path)), todo, _scripts(connection), Micros(time.time_ns() // 1000))
    connection.execute("COMMIT")
    return f"the database was upgraded; a copy of the old one is {backup}" if backup else ""


def _scripts(connection: apsw.Connection) -> Callable[[str], None]:
    def run(script: str) -> None:
        for _ in connection.execute(script):
            pass

    return run


def _applied(connection: apsw.Connection) -> list[tuple[int, str, str]]:
    if not connection.table_exists(None, "schema_migration"):
        return []
    rows: list[Any] = connection.execute(
        "SELECT version, name, sha256 FROM schema_migration ORDER BY version"
    ).fetchall()
    return rows


def _note_boot(connection: apsw.Connection, path: Path, *, crashed: bool) -> None:
    """Remember which run of the machine this is; when the last one ended with the file open, the feed jumps."""
    try:
        boot = BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return
    tx = SqliteTx(connection, str(path))
    row = tx.one("SELECT value FROM setting WHERE name = 'boot_id'")
    if row == (boot,):
        return
    connection.execute("BEGIN IMMEDIATE")
    if row and crashed:
        jump(tx)
    tx.run(
        "INSERT INTO setting (name, value) VALUES ('boot_id', :boot) ON CONFLICT (name) DO UPDATE SET value = :boot",
        boot=boot,
    )
    connection.execute("COMMIT")


def _back_up(connection: apsw.Connection, path: Path, version: int, busy: float) -> Path:
    """A compact copy of the database as it is, with a feed id of its own, so that using it makes followers start anew.

    The newest `KEPT_BACKUPS` are kept.
    """
    folder = path.parent / "backups"
    folder.mkdir(mode=0o700, exist_ok=True)
    copy = folder / f"{path.stem}-{stamp()}-v{version:04d}.db"
    os.close(os.open(copy, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    try:
        connection.execute("VACUUM INTO ?", (str(copy),))
        with closing(open_connection(copy, busy=busy)) as other:
            new_feed(SqliteTx(other, str(copy)))
            other.pragma("journal_mode", "DELETE")
    except (apsw.Error, FlywheelError):
        copy.unlink(missing_ok=True)
        raise
    for old in sorted(folder.glob(f"{path.stem}-*-v*.db"))[:-KEPT_BACKUPS]:
        with suppress(OSError):
            old.unlink()
    return copy
