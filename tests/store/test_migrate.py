"""Migrations: forward only, checked, under a lock, backed up first."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest
from tests.store.older import inserts, write_postgres, write_sqlite

from flywheel.errors import Defect, NewerDatabase, StoreError
from flywheel.model import Claim, Message, TranscriptFile
from flywheel.store import Db, mapper
from flywheel.store.migrate import Migration, load, pending
from flywheel.store.postgres_open import open_postgres
from flywheel.store.sqlite_open import KEPT_BACKUPS, open_sqlite

SHIPPED = len(load("sqlite"))
SECOND = Migration(
    version=SHIPPED + 1, name="second", script="CREATE TABLE extra (id TEXT PRIMARY KEY, n BIGINT NOT NULL);"
)
THIRD = Migration(
    version=SHIPPED + 2, name="third", script="ALTER TABLE extra ADD COLUMN word TEXT; DROP TABLE observation;"
)

Open = Callable[[Sequence[Migration]], Db]


@pytest.fixture(params=["sqlite", "postgres"])
def opening(request: pytest.FixtureRequest, data: Path) -> Open:
    """Opens one database with the first ``n`` migrations and the given ones."""
    if request.param == "sqlite":
        return lambda more: open_sqlite(data / "flywheel.db", migrations=[*load("sqlite"), *more])
    url = request.getfixturevalue("postgres_url")
    return lambda more: open_postgres(url, migrations=[*load("postgres"), *more])


def version(db: Db) -> int:
    """The version that the database is at."""
    with db.read() as tx:
        row = tx.one("SELECT max(version) FROM schema_migration")
    return int(row[0]) if row else 0


def test_pending_steps_are_applied_once(opening: Open) -> None:
    """Opening brings the schema up to date; data stays; opening again does nothing."""
    with closing(opening([])) as db, db.write() as tx:
        tx.run("INSERT INTO setting (name, value) VALUES ('t-a', 'x')")
    for _ in range(2):
        with closing(opening([SECOND, THIRD])) as db:
            assert version(db) == len(load(db.dialect)) + 2
            with db.read() as tx:
                assert tx.all("SELECT value FROM setting WHERE name = 't-a'") == [("x",)]
                assert tx.all("SELECT word FROM extra") == []


def test_a_newer_database_is_refused(opening: Open) -> None:
    """A database from the future is left alone, and the message says what to do."""
    opening([SECOND]).close()
    with pytest.raises(NewerDatabase, match="upgrade Flywheel"):
        opening([])
    with closing(opening([SECOND])) as db:
        assert version(db) == len(load(db.dialect)) + 1


def test_a_changed_script_is_noticed(opening: Open) -> None:
    """A migration that is not the one applied is refused."""
    opening([SECOND]).close()
    other = Migration(version=SHIPPED + 1, name="second", script=SECOND.script + "-- another")
    with pytest.raises(StoreError, match=f"{SHIPPED + 1:04d}_second"):
        opening([other])


def test_a_failing_step_changes_nothing(opening: Open) -> None:
    """A step that fails half way rolls back with the steps before it."""
    opening([]).close()
    broken = Migration(
        version=SHIPPED + 2, name="broken", script="CREATE TABLE half (id TEXT); CREATE TABLE setting (id TEXT);"
    )
    with pytest.raises(Defect):
        opening([SECOND, broken])
    with closing(opening([SECOND])) as db, db.read() as tx, pytest.raises(Defect):
        tx.all("SELECT * FROM half")


def test_many_may_migrate_at_once(opening: Open) -> None:
    """Four openings at the same time apply each step once."""
    opened: list[Db] = []
    start = threading.Barrier(4)

    def work() -> None:
        start.wait()
        opened.append(opening([SECOND, THIRD]))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [version(db) for db in opened] == [SHIPPED + 2] * 4
    for db in opened:
        db.close()


def test_step_by_step_equals_all_at_once(tmp_path: Path, postgres_server: str, postgres_url: str) -> None:
    """A fresh schema is the schema of a database that was migrated through every version."""
    steps = [*load("sqlite"), SECOND, THIRD]
    for number in range(1, len(steps) + 1):
        open_sqlite(tmp_path / "a" / "flywheel.db", migrations=steps[:number]).close()
    open_sqlite(tmp_path / "b" / "flywheel.db", migrations=steps).close()
    assert sqlite_schema(tmp_path / "a" / "flywheel.db") == sqlite_schema(tmp_path / "b" / "flywheel.db")
    steps = [*load("postgres"), SECOND, THIRD]
    open_postgres(postgres_url, migrations=steps).close()
    migrated = postgres_schema(postgres_url)
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute("DROP SCHEMA public CASCADE")
        admin.execute("CREATE SCHEMA public")
    open_postgres(postgres_url, migrations=steps).close()
    assert postgres_schema(postgres_url) == migrated


def test_every_text_column_sorts_by_bytes(postgres_url: str) -> None:
    """PostgreSQL compares text as SQLite does, in every table, whatever the database's locale; new columns too."""
    open_postgres(postgres_url, migrations=[*load("postgres"), SECOND, THIRD]).close()
    with psycopg.connect(postgres_url) as connection:
        rows = connection.execute(
            "SELECT table_name, column_name FROM information_schema.columns"
            " WHERE table_schema = 'public' AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'"
        ).fetchall()
    assert rows == []


def test_a_backup_is_made_before_a_migration(data: Path) -> None:
    """The old database is copied whole and privately, with a feed of its own; the newest copies are kept."""
    path = data / "flywheel.db"
    steps = list(load("sqlite"))
    with closing(open_sqlite(path, migrations=steps)) as db:
        feed = db.feed_id()
        assert db.notices == []
    assert not (data / "backups").exists()
    for number in range(SHIPPED + 1, SHIPPED + 6):
        steps.append(Migration(version=number, name="more", script=f"CREATE TABLE t{number} (id TEXT);"))
        with closing(open_sqlite(path, migrations=steps)) as db:
            newest = max((data / "backups").glob("*.db"))
            assert str(newest) in db.notices[0]
            assert db.feed_id() == feed
    backups = sorted((data / "backups").glob("*.db"))
    assert [file.name.rpartition("-")[2] for file in backups] == [f"v{SHIPPED + n:04d}.db" for n in (2, 3, 4)]
    assert len(backups) == KEPT_BACKUPS == len(list((data / "backups").iterdir()))
    assert {file.stat().st_mode & 0o777 for file in backups} == {0o600}
    with closing(open_sqlite(backups[0], migrations=steps[: SHIPPED + 2])) as copy:
        assert version(copy) == SHIPPED + 2
        assert copy.feed_id() not in (feed, "")


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        (["0001_a.sql", "0003_b.sql"], "gaps"),
        (["0001_a.sql", "0001_b.sql"], "gaps"),
        (["0001_a.sqlite.sql"], "one dialect"),
        (["1_a.sql"], "no name"),
    ],
)
def test_a_folder_of_migrations_must_be_in_order(tmp_path: Path, names: list[str], problem: str) -> None:
    """Gaps, doubles, bad names and half a pair are defects."""
    for name in names:
        (tmp_path / name).write_text("SELECT 1;")
    with pytest.raises(Defect, match=problem):
        load("sqlite", tmp_path)


def test_the_shipped_migrations_come_in_pairs() -> None:
    """Both dialects have the same versions and names."""
    assert [(step.version, step.name) for step in load("sqlite")] == [(s.version, s.name) for s in load("postgres")]
    assert pending([], load("sqlite")) == load("sqlite")


def sqlite_schema(path: Path) -> list[Any]:
    """Every object of the schema."""
    with closing(apsw.Connection(str(path))) as connection:
        return connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY 1, 2").fetchall()


def postgres_schema(url: str) -> list[Any]:
    """Columns, indexes, triggers and functions of the schema."""
    queries = (
        "SELECT table_name, column_name, data_type, is_nullable, collation_name, ordinal_position"
        " FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, 6",
        "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1",
        "SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1",
        "SELECT proname, prosrc FROM pg_proc WHERE proname LIKE 'flywheel%' ORDER BY 1",
    )
    with psycopg.connect(url) as connection:
        return [connection.execute(query.encode()).fetchall() for query in queries]


def test_real_old_data_is_upgraded(old: Callable[[Sequence[str]], Db]) -> None:
    """Rows that an earlier version wrote for its demo project are all there after every later migration, and right."""
    rows = inserts()
    with closing(old(rows)) as db, db.read() as tx:
        assert version(db) == SHIPPED
        for table in {line.split('"')[1] for line in rows}:
            count = tx.one(f'SELECT count(*) FROM "{table}"')
            assert count is not None and count[0] >= sum(f'INTO "{table}"' in line for line in rows)
        files = mapper.find(tx, TranscriptFile)
        assert files and all(file.reader == file.agent == "claude" for file in files)
        assert mapper.find(tx, Message)
        assert all(claim.text for claim in mapper.find(tx, Claim))


@pytest.fixture(params=["sqlite", "postgres"])
def old(request: pytest.FixtureRequest, data: Path) -> Callable[[Sequence[str]], Db]:
    """Makes a database of the first version, runs statements in it, and opens it as today's."""

    def make(statements: Sequence[str]) -> Db:
        if request.param == "sqlite":
            write_sqlite(data / "flywheel.db", statements)
            return open_sqlite(data / "flywheel.db", migrations=load("sqlite"))
        url: str = request.getfixturevalue("postgres_url")
        write_postgres(url, statements)
        return open_postgres(url, migrations=load("postgres"))

    return make
