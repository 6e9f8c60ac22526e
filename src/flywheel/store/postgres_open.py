"""Opening a PostgreSQL database: connect once to see that it works, migrate under a lock, then hand out the pool."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

import psycopg

from flywheel.errors import ConfigError
from flywheel.model import Micros
from flywheel.store.migrate import TABLE, Migration, apply, load, pending
from flywheel.store.postgres import PostgresDb
from flywheel.store.postgres_link import configure, conninfo, place
from flywheel.store.postgres_tx import Connection, PostgresTx
from flywheel.store.psycopg_errors import mapped
from flywheel.store.sqlite_link import BUSY

MIGRATION_LOCK: Final = 0x466C78
"""Advisory lock of whoever migrates."""

MIGRATION_WAIT: Final = 600
"""Seconds that a migration may wait for another one."""

# Every text column compares and sorts by bytes, as SQLite does, whatever the database's locale is.
COLLATE: Final = """
DO $$
DECLARE c record;
BEGIN
  FOR c IN
    SELECT r.relname AS t, a.attname AS n
    FROM pg_attribute a JOIN pg_class r ON r.oid = a.attrelid
    WHERE r.relnamespace = current_schema()::regnamespace AND r.relkind = 'r' AND a.attnum > 0
      AND NOT a.attisdropped AND a.atttypid = 'text'::regtype
      AND a.attcollation <> (SELECT oid FROM pg_collation WHERE collname = 'C'
                             AND collnamespace = 'pg_catalog'::regnamespace)
  LOOP
    EXECUTE format('ALTER TABLE %I ALTER COLUMN %I TYPE text COLLATE "C"', c.t, c.n);
  END LOOP;
END $$
"""


def open_postgres(
    url: str, *, migrate: bool = True, busy: float = BUSY, migrations: Sequence[Migration] | None = None
) -> PostgresDb:
    """The database that ``url`` names, migrated.

    Raises ConfigError for a URL that libpq cannot read, Unavailable when the server does not answer, StoreError when
    it refuses, NewerDatabase.
    """
    try:
        place(url)
    except psycopg.ProgrammingError as error:
        raise ConfigError("store.url is no connection string that PostgreSQL understands") from error
    if migrate:
        steps = load("postgres") if migrations is None else migrations
        try:
            with psycopg.Connection.connect(conninfo(url, MIGRATION_WAIT), autocommit=True) as connection:
                configure(connection)
                _migrate(connection, place(url), steps)
        except psycopg.Error as error:
            raise mapped(error, place(url)) from error
    return PostgresDb(url, busy=busy)


def _migrate(connection: Connection, where: str, steps: Sequence[Migration]) -> None:
    if not pending(_applied(connection), steps):
        return
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (MIGRATION_LOCK,))
        connection.execute("SET LOCAL client_min_messages = warning")
        connection.execute(TABLE.encode())
        todo = pending(_applied(connection), steps)
        apply(
            PostgresTx(connection, where),
            todo,
            lambda script: _run(connection, script),
            Micros(time.time_ns() // 1000),
        )
        if todo:
            connection.execute(COLLATE.encode())


def _run(connection: Connection, script: str) -> None:
    connection.execute(script.encode())


def _applied(connection: Connection) -> list[tuple[int, str, str]]:
    found = connection.execute("SELECT to_regclass('schema_migration')").fetchone()
    if found is None or found[0] is None:
        return []
    rows = connection.execute("SELECT version, name, sha256 FROM schema_migration ORDER BY version").fetchall()
    return [(version, name, sha256) for version, name, sha256 in rows]
