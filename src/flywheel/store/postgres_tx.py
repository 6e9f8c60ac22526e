"""A transaction on a PostgreSQL connection."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

import psycopg

from flywheel.errors import Defect
from flywheel.model import Kind, Op, ProjectId
from flywheel.store import Row
from flywheel.store.dialect import for_postgres, plain, plain_value, postgres_positional, postgres_sql
from flywheel.store.psycopg_errors import mapped

Connection = psycopg.Connection[Row]

FEED_LOCK: Final = 0x466C79
"""Advisory lock of whoever writes to the feed, until its commit."""

CHANNEL: Final = "flywheel"


class PostgresTx:
    """One transaction on one connection."""

    __slots__ = ("_connection", "_place", "broken", "changes", "wrote")

    def __init__(self, connection: Connection, place: str) -> None:
        self._connection = connection
        self._place = place
        self.changes: dict[tuple[Kind, str], tuple[ProjectId, Op]] = {}
        self.broken = False
        self.wrote = False

    def all(self, sql: str, **params: object) -> list[Row]:
        """Every row."""
        return self._execute(sql, params).fetchall()

    def one(self, sql: str, **params: object) -> Row | None:
        """The first row, or None."""
        return self._execute(sql, params).fetchone()

    def run(self, sql: str, **params: object) -> int:
        """Run a statement; how many rows it touched."""
        self.wrote = True
        return max(self._execute(sql, params).rowcount, 0)

    def many(self, sql: str, rows: Iterable[Mapping[str, object]]) -> int:
        """Run a statement once per row of parameters; how many rows they touched together."""
        return self._many(postgres_sql(sql), [plain(row) for row in rows])

    def batch(self, sql: str, rows: Iterable[Sequence[object]]) -> int:
        """`many` with plain values in the order of the parameters."""
        return self._many(postgres_positional(sql), [tuple(map(plain_value, row)) for row in rows])

    def changed(self, kind: Kind, id: str, project_id: ProjectId, op: Op = Op.PUT) -> None:
        """Buffer a change; the last one about an item stands for all."""
        self.changes.pop((kind, id), None)
        self.changes[kind, id] = (project_id, op)

    def commit(self) -> None:
        """Write the buffered changes to the feed, wake whoever waits, and commit: one round trip."""
        with self._mapping(), self._connection.pipeline():
            if self.changes:
                self._connection.execute("SELECT pg_advisory_xact_lock(%s)", (FEED_LOCK,))
                self._connection.execute(
                    "INSERT INTO change (project_id, kind, id, op)"
                    " SELECT * FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[])",
                    (
                        [project for project, _ in self.changes.values()],
                        [kind.value for kind, _ in self.changes],
                        [id for _, id in self.changes],
                        [op.value for _, op in self.changes.values()],
                    ),
                )
            if self.changes or self.wrote:
                self._connection.execute("SELECT pg_notify(%s, '')", (CHANNEL,))
            self._connection.execute("COMMIT")

    def _execute(self, sql: str, params: Mapping[str, object]) -> psycopg.Cursor[Row]:
        self._check()
        text, bound = for_postgres(sql, params)
        with self._mapping():
            return self._connection.execute(text.encode(), bound)

    def _many(self, text: str, rows: Sequence[Any]) -> int:
        self._check()
        self.wrote = True
        if not rows:
            return 0
        with self._mapping(), self._connection.cursor() as cursor:
            cursor.executemany(text.encode(), rows)
            return max(cursor.rowcount, 0)

    def _check(self) -> None:
        if self.broken:
            raise Defect("a transaction went on after an error; it can only roll back")

    @contextmanager
    def _mapping(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as error:
            self.broken = True
            raise mapped(error, self._place) from error
