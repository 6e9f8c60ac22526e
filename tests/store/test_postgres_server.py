"""PostgreSQL: what happens when the server, a lock or a connection fails."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, suppress

import psycopg
import pytest

from flywheel.errors import ConfigError, Defect, StoreBusy, StoreError, Unavailable
from flywheel.model import GLOBAL, Kind
from flywheel.store import Db, Tx
from flywheel.store.postgres import POOL, PostgresDb
from flywheel.store.postgres_link import place
from flywheel.store.postgres_open import open_postgres
from flywheel.store.retry import commit, retrying

PUT = "INSERT INTO setting (name, value) VALUES (:name, '') ON CONFLICT (name) DO UPDATE SET value = 'again'"


@pytest.fixture
def hasty(postgres_url: str) -> Iterator[PostgresDb]:
    """A database that waits 100 ms for locks and connections."""
    with closing(open_postgres(postgres_url, busy=0.1)) as db:
        yield db


def test_a_held_row_raises_store_busy_after_the_limit(hasty: PostgresDb, postgres_url: str) -> None:
    """A lock that stays held ends in StoreBusy, and the store works once it is free."""
    commit(hasty, lambda tx: tx.run(PUT, name="t"))
    with psycopg.connect(postgres_url) as other:
        other.execute("UPDATE setting SET value = 'held' WHERE name = 't'")
        with pytest.raises(StoreBusy), hasty.write() as tx:
            tx.run(PUT, name="t")
        other.rollback()
    commit(hasty, lambda tx: tx.run(PUT, name="t"))


def test_a_held_feed_raises_store_busy_and_writes_nothing(hasty: PostgresDb, postgres_url: str) -> None:
    """The wait for the feed's lock at commit has the same limit; rows and changes are rolled back."""
    with psycopg.connect(postgres_url) as other:
        other.execute("SELECT pg_advisory_xact_lock(%s)", (0x466C79,))
        with pytest.raises(StoreBusy), hasty.write() as tx:
            tx.run(PUT, name="t")
            tx.changed(Kind.MESSAGE, "m", GLOBAL)
    with hasty.read() as tx:
        assert tx.all("SELECT name FROM setting WHERE name = 't'") == []
    assert hasty.head() == 0


def test_a_deadlock_is_resolved_by_trying_again(postgres_url: str) -> None:
    """Two transactions that lock the same rows crosswise both get through with `commit`."""
    with closing(open_postgres(postgres_url, busy=20)) as db:
        with db.write() as tx:
            tx.batch("INSERT INTO setting (name, value) VALUES (:name, :value)", [("t-a", "0"), ("t-b", "0")])
        both = threading.Barrier(2)
        tried: list[str] = []

        def cross(first: str, second: str) -> None:
            def work(tx: Tx) -> None:
                tried.append(first)
                tx.run("UPDATE setting SET value = value || '1' WHERE name = :n", n=first)
                if len(tried) <= 2:
                    both.wait(60)
                tx.run("UPDATE setting SET value = value || '1' WHERE name = :n", n=second)

            commit(db, work)

        threads = [threading.Thread(target=cross, args=pair) for pair in (("t-a", "t-b"), ("t-b", "t-a"))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(tried) == 3
        with db.read() as tx:
            assert tx.all("SELECT value FROM setting WHERE name LIKE 't-%'") == [("011",), ("011",)]


def test_a_lost_connection_is_unavailable_and_then_replaced(postgres_db: Db, postgres_url: str) -> None:
    """When the server ends a session its transaction fails as Unavailable; the next one gets a new connection."""
    with pytest.raises(Unavailable), postgres_db.write() as tx:
        tx.run(PUT, name="t-lost")
        with psycopg.connect(postgres_url, autocommit=True) as admin:
            admin.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'idle in transaction'"
                " AND datname = current_database()"
            )
        tx.run(PUT, name="t-lost-too")
    commit(postgres_db, lambda tx: tx.run(PUT, name="t-after"))
    with postgres_db.read() as tx:
        assert tx.all("SELECT name FROM setting WHERE name LIKE 't-%'") == [("t-after",)]


def end_watches(url: str) -> None:
    """The server ends every connection that waits for news of this database."""
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE query LIKE 'LISTEN%' AND datname = current_database()"
        )


def test_a_lost_watch_is_unavailable_and_then_replaced(postgres_db: Db, postgres_url: str) -> None:
    """A waiting connection that the server ends says so once, and watches again from the next call on."""
    assert postgres_db.wait(0)
    end_watches(postgres_url)
    with pytest.raises(Unavailable):
        postgres_db.wait(60)
    assert postgres_db.wait(0)
    commit(postgres_db, lambda tx: tx.run(PUT, name="t"))
    assert postgres_db.wait(60)


def test_no_free_connection_is_unavailable(hasty: PostgresDb) -> None:
    """More readers at once than the pool has connections end in Unavailable after the limit, not in a hang."""

    def nest(depth: int) -> None:
        with hasty.read():
            if depth:
                nest(depth - 1)

    with pytest.raises(Unavailable):
        nest(POOL)
    nest(0)


def test_a_server_that_goes_away_says_so_and_is_back_at_once(hasty: PostgresDb, postgres_url: str) -> None:
    """What is asked meanwhile fails with the true reason, and not by waiting; the first to ask afterwards is served."""
    there = hasty._pool.conninfo
    hasty._pool.conninfo = "host=/nowhere dbname=x"
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    said: list[str] = []
    for _ in range(400):  # the pool notices when it tries to connect
        with pytest.raises(Unavailable) as raised, hasty.read() as tx:
            tx.one("SELECT 1")
        said.append(str(raised.value))
        if "does not answer; it is tried again" in said[-1]:
            break
    assert "does not answer; it is tried again" in said[-1]
    hasty._pool.conninfo = there
    for _ in range(60):
        with suppress(Unavailable):  # it waits a second at most
            assert hasty.clock()
            break
    assert not hasty._away


def test_ended_watches_are_let_go(postgres_db: PostgresDb, postgres_url: str) -> None:
    """A server that is restarted again and again leaves no connection behind for each time."""
    for _ in range(3):
        assert postgres_db.wait(0)
        end_watches(postgres_url)
        with pytest.raises(Unavailable):
            postgres_db.wait(60)
    assert postgres_db.wait(0)
    assert len(postgres_db._waiting) == 1


def test_a_server_that_is_not_there(tmp_path: object) -> None:
    """Nobody listening is Unavailable; the message and the description keep the password."""
    url = f"postgresql://me:secret-word@/nowhere?host={tmp_path}&connect_timeout=2"
    with pytest.raises(Unavailable) as raised:
        open_postgres(url)
    assert "secret-word" not in str(raised.value)
    assert str(tmp_path) in str(raised.value)


def test_a_database_that_is_not_there(postgres_server: str) -> None:
    """A missing database is a StoreError that names it."""
    with psycopg.connect(postgres_server) as known:
        url = f"postgresql://?host={known.info.host}&user={known.info.user}&dbname=flywheel_missing"
    with pytest.raises(StoreError, match="flywheel_missing"):
        open_postgres(url)


def test_a_url_that_cannot_be_read() -> None:
    """A malformed URL is a configuration error and is not repeated, since it may hold a password."""
    with pytest.raises(ConfigError) as raised:
        open_postgres("postgresql://me:secret-word@host/db?no_such_option=1")
    assert "secret-word" not in str(raised.value)


def test_the_description_has_no_password(postgres_db: PostgresDb) -> None:
    """Host and database, nothing else."""
    assert postgres_db.describe().startswith("postgres ")
    with postgres_db.read() as tx:
        assert tx.one("SELECT current_database()") == (postgres_db.describe().rpartition("/")[2],)
    url = "postgresql://me:secret-word@db.example:5433/memory?sslmode=require"
    assert place(url) == "postgres db.example/memory"


def test_retrying_gives_up_in_the_end() -> None:
    """Only StoreBusy is tried again, and not for ever."""
    calls: list[int] = []

    def busy() -> None:
        calls.append(1)
        raise StoreBusy("locked")

    with pytest.raises(StoreBusy):
        retrying(busy, tries=3)
    assert len(calls) == 3

    def broken() -> None:
        calls.append(1)
        raise Defect("no")

    with pytest.raises(Defect):
        retrying(broken)
    assert len(calls) == 4
