"""Every error Flywheel raises on purpose, as one tree.

FlywheelError
├── BadInput            the caller can mend it: exit 2, HTTP 400
│   ├── ConfigError     a setting is unknown, mistyped or impossible
│   ├── NotFound        nothing has that id or path: exit 3, HTTP 404
│   ├── TooLarge        more than is taken: HTTP 413
│   └── Unsupported     a format that nobody here reads: HTTP 415
├── Refused             allowed to nobody, or not here: exit 4, HTTP 403
├── Conflict            the state does not allow it now: exit 5, HTTP 409
├── Unavailable         try again later: exit 6, HTTP 503, retryable
│   ├── DaemonDown      no daemon answers on the socket
│   ├── StoreBusy       the database was locked for too long
│   └── Waiting         a cap is reached, or a provider says when to come back
├── Unusable            a language model's answers could not be used: exit 8, HTTP 502
├── StoreError          the database cannot be used: exit 7, HTTP 500
│   ├── NewerDatabase   written by a newer Flywheel
│   ├── CorruptDatabase failed its integrity check
│   └── DiskFull        no space left: retryable
└── Defect              a broken promise inside Flywheel: exit 70, HTTP 500

Each class carries the exit code of the command line, the HTTP status, a stable ``code`` for machines and whether
trying the same thing again can help.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar


class FlywheelError(Exception):
    """Something went wrong; the message says what and what to do about it."""

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1
    status: ClassVar[int] = 500
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, **details: object) -> None:
        super().__init__(message)
        self.message = message
        self.details: Mapping[str, object] = details


class BadInput(FlywheelError):
    """The request cannot be understood or is out of bounds."""

    code, exit_code, status = "bad_input", 2, 400


class ConfigError(BadInput):
    """One or more settings are unknown, of the wrong type or impossible; the message lists all of them."""

    code = "config"


class NotFound(BadInput):
    """Nothing here has that id, name or path."""

    code, exit_code, status = "not_found", 3, 404


class TooLarge(BadInput):
    """What was sent is larger than is taken; the message names the limit."""

    code, status = "too_large", 413


class Unsupported(BadInput):
    """What was sent is of a format that is not read; the message names those that are."""

    code, status = "unsupported", 415


class Refused(FlywheelError):
    """Flywheel does not do this, by rule."""

    code, exit_code, status = "refused", 4, 403


class Conflict(FlywheelError):
    """The present state does not allow this."""

    code, exit_code, status = "conflict", 5, 409


class Unavailable(FlywheelError):
    """A part that is needed does not answer now."""

    code, exit_code, status, retryable = "unavailable", 6, 503, True


class DaemonDown(Unavailable):
    """No daemon answers on the socket."""

    code = "daemon_down"


class StoreBusy(Unavailable):
    """The database stayed locked for longer than the busy limit."""

    code = "store_busy"


class Waiting(Unavailable):
    """Not before a time that is known: a cap is reached, or a provider says when to come back.

    ``until`` is microseconds UTC. A job that raises it is put back until then, and no attempt is counted.
    """

    code = "waiting"

    @property
    def until(self) -> int:
        """When to try again, microseconds UTC."""
        return int(str(self.details.get("until") or 0))


class Unusable(FlywheelError):
    """A language model's answers could not be used, though it was told what was wrong; nothing of them is kept."""

    code, exit_code, status = "unusable", 8, 502


class StoreError(FlywheelError):
    """The database cannot be used."""

    code, exit_code = "store", 7


class NewerDatabase(StoreError):
    """The database was written by a newer Flywheel; this one will not touch it."""

    code = "newer_database"


class CorruptDatabase(StoreError):
    """The database failed its integrity check."""

    code = "corrupt_database"


class DiskFull(StoreError):
    """No space is left on the device."""

    code, retryable = "disk_full", True


class Defect(FlywheelError):
    """A promise inside Flywheel was broken; please report it."""

    code, exit_code = "defect", 70
