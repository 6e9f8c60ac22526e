"""psycopg's errors as Flywheel's."""

from __future__ import annotations

from typing import Final

import psycopg
from psycopg import errors as pg
from psycopg_pool import PoolClosed, PoolTimeout, TooManyRequests

from flywheel.errors import (
    Conflict,
    CorruptDatabase,
    Defect,
    DiskFull,
    FlywheelError,
    Refused,
    StoreBusy,
    StoreError,
    Unavailable,
)

_RETRY: Final = (pg.SerializationFailure, pg.DeadlockDetected, pg.LockNotAvailable)
_SETUP: Final = (
    pg.InvalidPassword,
    pg.InvalidAuthorizationSpecification,
    pg.InvalidCatalogName,
    pg.InsufficientPrivilege,
    pg.FeatureNotSupported,
    pg.UndefinedFile,
)

_PASSING: Final = ("starting up", "shutting down", "recovery mode", "too many", "connection slots")
"""What a server says that will have us later."""


def mapped(error: psycopg.Error, place: str) -> FlywheelError:
    """What to raise instead of ``error``. ``place`` names the database in the message, without a password."""
    if isinstance(error, _RETRY):
        return StoreBusy(f"{place} was held by another transaction; try again")
    if isinstance(error, pg.DiskFull):
        return DiskFull(f"no space left on the server of {place}; free some and try again")
    if isinstance(error, pg.UniqueViolation):
        return Conflict(f"a row with that key exists: {_first(error)}")
    if isinstance(error, pg.RaiseException):
        return Refused(_first(error))
    if isinstance(error, pg.DataCorrupted | pg.IndexCorrupted):
        return CorruptDatabase(f"{place} is damaged: {_first(error)}")
    if isinstance(error, _SETUP) or _refuses(error):
        return StoreError(f"{place} cannot be used: {_first(error)}")
    if isinstance(error, PoolTimeout | PoolClosed | TooManyRequests):
        return Unavailable(f"{place} has no connection free; try again")
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return Unavailable(f"{place} does not answer: {_first(error)}")
    return Defect(f"the database refused a statement: {_first(error)}")


def _refuses(error: psycopg.Error) -> bool:
    """Whether the server answered a connection attempt with a lasting no; it gives no SQLSTATE then."""
    said = str(error)
    return (
        isinstance(error, psycopg.OperationalError)
        and error.sqlstate is None
        and "FATAL" in said
        and not any(passing in said for passing in _PASSING)
    )


def _first(error: psycopg.Error) -> str:
    return error.diag.message_primary or (str(error).splitlines() or [type(error).__name__])[0]
