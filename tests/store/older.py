"""Databases as the first version left them, for tests of what becomes of them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import apsw
import psycopg

from flywheel.store.migrate import load
from flywheel.store.postgres_open import open_postgres
from flywheel.store.sqlite_open import open_sqlite

OLD = Path(__file__).parent.parent / "fixtures" / "old"


def inserts() -> list[str]:
    """The rows that the first version wrote for its demo project, a statement each."""
    return [line for line in (OLD / "0001.sql").read_text().splitlines() if line.startswith("INSERT")]


def write_sqlite(path: Path, statements: Sequence[str]) -> None:
    """A SQLite file of the first version, and statements run in it."""
    open_sqlite(path, migrations=list(load("sqlite"))[:1]).close()
    with closing(apsw.Connection(str(path))) as raw:
        raw.execute("\n".join(statements)).fetchall()


def write_postgres(url: str, statements: Sequence[str]) -> None:
    """The same in a PostgreSQL database, whose former contents go."""
    with psycopg.connect(url, autocommit=True) as server:
        server.execute("DROP SCHEMA public CASCADE")
        server.execute("CREATE SCHEMA public")
    open_postgres(url, migrations=list(load("postgres"))[:1]).close()
    with psycopg.connect(url, autocommit=True) as server:
        for statement in statements:
            server.execute(statement.encode())
