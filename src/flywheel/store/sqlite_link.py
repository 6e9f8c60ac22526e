"""How a SQLite connection is made: its settings."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import apsw

from flywheel.store.apsw_errors import mapped

BUSY: Final = 10.0
"""Seconds that a writer waits for the lock before it raises StoreBusy."""

JOURNAL_LIMIT: Final = 64 * 1024 * 1024
"""Bytes that the WAL's file keeps when it starts over."""


def open_connection(path: Path, *, read_only: bool = False, busy: float = BUSY) -> apsw.Connection:
    """A connection with every pragma set. ``read_only`` refuses writes. Raises StoreError and its kin."""
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE, statementcachesize=256)
        connection.set_busy_timeout(int(busy * 1000))
        for name, value in (
            ("journal_mode", "WAL"),
            ("synchronous", "NORMAL"),
            ("mmap_size", 0),
            ("cache_size", -8000),
            ("temp_store", "MEMORY"),
            ("journal_size_limit", JOURNAL_LIMIT),
            ("secure_delete", "ON"),
            ("case_sensitive_like", "ON"),  # as PostgreSQL has it; and a prefix may use an index
            ("query_only", "ON" if read_only else "OFF"),
        ):
            connection.pragma(name, value)
        connection.wal_autocheckpoint(0)  # `wal.Checkpoints` decides when
    except apsw.Error as error:
        raise mapped(error, str(path)) from error
    return connection
