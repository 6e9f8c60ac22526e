"""apsw's errors as Flywheel's; damage that is met leaves a mark beside the file, for its next opening."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Final

import apsw

from flywheel.errors import (
    Conflict,
    CorruptDatabase,
    Defect,
    DiskFull,
    FlywheelError,
    Refused,
    StoreBusy,
    StoreError,
)
from flywheel.store.filelock import NO_SPACE

_TRIGGER: Final = apsw.SQLITE_CONSTRAINT_TRIGGER
_TAKEN: Final = frozenset({apsw.SQLITE_CONSTRAINT_UNIQUE, apsw.SQLITE_CONSTRAINT_PRIMARYKEY})


def suspect_file(path: Path) -> Path:
    """Lies beside a database that was found damaged: the next opening checks it in full."""
    return path.with_name(path.name + ".suspect")


def mapped(error: Exception, path: str, connection: apsw.Connection | None = None) -> FlywheelError:
    """What to raise instead of ``error``. ``path`` names the database in the message."""
    if isinstance(error, apsw.FullError):
        return DiskFull(f"no space left for {path}; free some and try again")
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return StoreBusy(f"{path} stayed locked for too long; try again")
    if isinstance(error, apsw.CorruptError | apsw.NotADBError):
        with suppress(OSError):
            suspect_file(Path(path)).touch(mode=0o600)
        return CorruptDatabase(f"{path} is damaged: {error}; restart Flywheel to have it set aside", path=path)
    if isinstance(error, apsw.ConstraintError):
        return _constraint(error)
    if isinstance(error, apsw.IOError) and connection is not None and connection.system_errno in NO_SPACE:
        return DiskFull(f"no space left for {path}; free some and try again")
    if isinstance(error, apsw.CantOpenError | apsw.IOError | apsw.PermissionsError | apsw.AuthError):
        return StoreError(f"{path} cannot be used: {error}")
    if isinstance(error, apsw.ReadOnlyError):
        return Defect(f"a write in a read transaction, or a file that may not be written: {path}")
    return Defect(f"the database refused a statement: {error}")


def _constraint(error: apsw.ConstraintError) -> FlywheelError:
    kind = getattr(error, "extendedresult", 0)
    if kind == _TRIGGER:
        return Refused(str(error))
    if kind in _TAKEN:
        return Conflict(f"a row with that key exists: {error}")
    return Defect(f"a row breaks the schema: {error}")
