"""A transaction on a SQLite connection."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import apsw

from flywheel.errors import Defect
from flywheel.model import Kind, Op, ProjectId
from flywheel.store import Row
from flywheel.store.apsw_errors import mapped
from flywheel.store.dialect import for_sqlite, plain

_MISFIT: Final = (KeyError, TypeError, OverflowError, apsw.BindingsError)
"""What apsw raises for parameters that do not fit the statement."""


class SqliteTx:
    """One transaction on one connection."""

    __slots__ = ("_connection", "_path", "broken", "changes")

    def __init__(self, connection: apsw.Connection, path: str) -> None:
        self._connection = connection
        self._path = path
        self.changes: dict[tuple[Kind, str], tuple[ProjectId, Op]] = {}
        self.broken = False

    def all(self, sql: str, **params: object) -> list[Row]:
        """Every row."""
        try:
            return self._start(sql, params).fetchall()
        except apsw.Error as error:
            raise self._failed(error) from error

    def one(self, sql: str, **params: object) -> Row | None:
        """The first row, or None."""
        try:
            cursor = self._start(sql, params)
            row: Row | None = cursor.fetchone()
            cursor.close(True)
            return row
        except apsw.Error as error:
            raise self._failed(error) from error

    def run(self, sql: str, **params: object) -> int:
        """Run a statement; how many rows it touched."""
        before = self._connection.total_changes()
        try:
            for _ in self._start(sql, params):
                pass
        except apsw.Error as error:
            raise self._failed(error) from error
        return self._connection.total_changes() - before

    def many(self, sql: str, rows: Iterable[Mapping[str, object]]) -> int:
        """Run a statement once per row of parameters; how many rows they touched together."""
        return self._many(sql, map(plain, rows))

    def batch(self, sql: str, rows: Iterable[Sequence[object]]) -> int:
        """`many` with plain values in the order of the parameters."""
        return self._many(sql, map(tuple, rows))

    def changed(self, kind: Kind, id: str, project_id: ProjectId, op: Op = Op.PUT) -> None:
        """Buffer a change; the last one about an item stands for all."""
        self.changes.pop((kind, id), None)
        self.changes[kind, id] = (project_id, op)

    def flush(self) -> None:
        """Write the buffered changes to the feed."""
        rows = [(project, kind.value, id, op.value) for (kind, id), (project, op) in self.changes.items()]
        if rows:
            self.batch("INSERT INTO change (project_id, kind, id, op) VALUES (:project_id, :kind, :id, :op)", rows)

    def _start(self, sql: str, params: Mapping[str, object]) -> apsw.Cursor:
        if self.broken:
            raise Defect("a transaction went on after an error; it can only roll back")
        text, bound = for_sqlite(sql, params)
        try:
            return self._connection.execute(text, bound)
        except _MISFIT as error:
            self.broken = True
            raise Defect(f"parameters do not fit the statement: {error!r}", sql=sql) from error

    def _many(self, sql: str, rows: Iterable[Any]) -> int:
        if self.broken:
            raise Defect("a transaction went on after an error; it can only roll back")
        before = self._connection.total_changes()
        try:
            for _ in self._connection.executemany(for_sqlite(sql, {})[0], rows):
                pass
        except apsw.Error as error:
            raise self._failed(error) from error
        except _MISFIT as error:
            self.broken = True
            raise Defect(f"parameters do not fit the statement: {error!r}", sql=sql) from error
        return self._connection.total_changes() - before

    def _failed(self, error: apsw.Error) -> Exception:
        self.broken = True
        return mapped(error, self._path, self._connection)
