"""Looking whether a SQLite file is sound, and setting a damaged one aside.

How much is looked at. Always: whether the schema can be read and is Flywheel's. When the last shutdown was unclean (a
WAL was left, though nobody has the file open) or a run has met damage (a ``.suspect`` file lies beside it):
``PRAGMA quick_check(1)``; after an unclean shutdown only up to `CHECK_BYTES`, since ``kill -9`` alone cannot damage
the file. A damaged file is renamed, never deleted.
"""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import apsw

from flywheel.errors import StoreError
from flywheel.store.apsw_errors import mapped, suspect_file

CHECK_BYTES: Final = 256 * 1024 * 1024
"""A larger file is not checked in full after a mere unclean shutdown."""

OWN_NAME: Final = "flywheel.db"

_SIDES: Final = ("", "-wal", "-shm")


def set_aside_damaged(path: Path, *, known: bool) -> str:
    """Check the file, which no other process has open; what a person should know when it was damaged, else "".

    ``known`` says that Flywheel has used the file before. Raises StoreError for a file that never was Flywheel's: that
    is a mistake in the configuration, and such a file stays as it is.
    """
    damage = _damage(path)
    if not damage:
        return ""
    if not known and path.name != OWN_NAME:
        raise StoreError(f"{path} is no Flywheel database ({damage}); choose another file in store.url")
    aside = path.with_name(f"{path.name}.corrupt-{stamp()}")
    for side in _SIDES:
        part = path.with_name(path.name + side)
        if part.exists():
            part.rename(aside.with_name(aside.name + side))
    suspect_file(path).unlink(missing_ok=True)
    return f"{path} was damaged ({damage}); it is kept as {aside}, and a new one was made"


def unclean(path: Path) -> bool:
    """Whether the last process that used the file did not close it; while nobody has it open."""
    return path.with_name(path.name + "-wal").exists()


def stamp() -> str:
    """Now, for file names; sorts by time."""
    return datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%f")


def _damage(path: Path) -> str:
    """What is wrong with the file; "" when nothing is found. Looks without changing a byte of it."""
    suspect = suspect_file(path).exists()
    thorough = suspect or (unclean(path) and path.stat().st_size <= CHECK_BYTES)
    try:
        with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
            names = {name for (name,) in _rows(connection, "SELECT name FROM sqlite_schema")}
            if names and "schema_migration" not in names:
                raise StoreError(f"{path} is another program's database; choose another file in store.url")
            if thorough:
                ((verdict,),) = _rows(connection, "PRAGMA quick_check(1)")
                if verdict != "ok":
                    return str(verdict).splitlines()[-1]
    except (apsw.CorruptError, apsw.NotADBError) as error:
        return str(error)
    except apsw.Error as error:
        raise mapped(error, str(path)) from error
    suspect_file(path).unlink(missing_ok=True)
    return ""


def _rows(connection: apsw.Connection, sql: str) -> list[Any]:
    return connection.execute(sql).fetchall()
