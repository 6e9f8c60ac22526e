"""Reading a database that another program may be writing: read-only, in bounded memory, past a mark."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import apsw

from flywheel.errors import BadInput, Unavailable
from flywheel.readers import Record, RowQuery

ROWS: Final = 500
"""Rows given at once at most."""

SIZE: Final = 4 * 1024 * 1024
"""Characters of text given at once, but for a row that is longer."""

HELD: Final = 50_000
"""Rows that are read of one state of a database at most: its owner cannot empty its WAL meanwhile."""

BUSY_MS: Final = 2000
"""How long a lock is waited for."""

_NAMES: Final = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')"
_COLUMNS: Final = "SELECT name FROM pragma_table_info(?)"


@contextmanager
def connected(path: str) -> Iterator[apsw.Connection]:
    """A database open for reading, for as long as it takes; what SQLite raises becomes BadInput or Unavailable."""
    try:
        connection = apsw.Connection(str(Path(path)), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            connection.set_busy_timeout(BUSY_MS)
            connection.execute("PRAGMA query_only = 1").fetchall()
            yield connection
        finally:
            connection.close()
    except (apsw.BusyError, apsw.LockedError, apsw.ProtocolError) as error:
        raise Unavailable(f"{path} is locked: {error}") from error
    except (apsw.CantOpenError, apsw.ReadOnlyError) as error:
        if not os.access(path, os.R_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path) from error
        raise BadInput(f"{path} cannot be read as a database: its folder must be writable for its -shm file") from error
    except apsw.Error as error:
        raise BadInput(f"{path} cannot be read as a database: {error}") from error


def tables_of(path: str) -> Mapping[str, Sequence[str]]:
    """The tables of a database and their columns; {} when it cannot be read as one."""
    try:
        with connected(path) as connection:
            return tables_in(connection)
    except (BadInput, OSError, Unavailable):
        return {}


def tables_in(connection: apsw.Connection) -> Mapping[str, Sequence[str]]:
    """The tables and views of a database, and their columns."""
    names = [str(row[0]) for row in connection.execute(_NAMES).fetchall()]
    return {name: [str(row[0]) for row in connection.execute(_COLUMNS, (name,)).fetchall()] for name in names}


@dataclass(slots=True)
class Rows:
    """Some rows of one query, and the mark behind them."""

    mark: Any
    records: list[Record] = field(default_factory=list)
    bad: int = 0
    new: int = 0  # of those, how many are past the mark that was asked with
    size: int = 0  # characters of text

    @property
    def full(self) -> bool:
        """Whether there is enough of them."""
        return len(self.records) >= ROWS or self.size >= SIZE


def rows_past(connection: apsw.Connection, query: RowQuery, after: Any) -> Iterator[Rows]:
    """The rows past a mark. Asked anew now and then, so that no long reading keeps the owner from emptying its WAL."""
    first = after
    while True:
        begun, given, rows = after, 0, Rows(after)
        for record in _records(connection, query, after):
            if record is None:
                rows.bad += 1
                continue
            rows.records.append(record)
            rows.mark = mark = record.get(query.cursor, after)
            rows.new += _is_past(mark, first)
            after = mark
            rows.size += sum(len(value) for value in record.values() if type(value) is str)
            if rows.full:
                given += len(rows.records)
                yield rows
                rows = Rows(after)
                if given >= HELD and after != begun:
                    break
        else:
            if rows.records or rows.bad:
                yield rows
            return


def _is_past(mark: Any, first: Any) -> bool:
    return bool(mark > first) if type(mark) is type(first) and isinstance(mark, (int, float, str)) else mark != first


def _records(connection: apsw.Connection, query: RowQuery, after: Any) -> Iterator[Record | None]:
    """Rows as records; None for one that is not readable. Blobs are None too."""
    cursor = connection.execute(query.sql, {"after": after})
    names: tuple[str, ...] = ()
    while True:
        try:
            row = next(cursor)
        except StopIteration:
            return
        except UnicodeDecodeError:
            yield None
            continue
        if not names:
            names = (*(name for name, *_ in cursor.get_description()), "table")
        values = [None if type(value) is bytes else value for value in row]
        yield dict(zip(names, (*values, query.name), strict=True))
