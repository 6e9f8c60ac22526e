"""What is wrong before the daemon runs: settings, paths, and what lies in the data folder."""

from __future__ import annotations

import re
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.conftest import House, make_house, until
from tests.e2e.odd_house import WITHOUT_ROOTS_RIGHTS, OddHouse, living, odd_house, said

from flywheel.errors import DaemonDown

MISTAKES = """[stoer]
url = "x"
[search]
limitt = 5
abstain = "yes"
[daemon]
threads = 0
idle_seconds = 1.5
[log]
level = "loud"
"""

WANTED = [
    (1, "did you mean 'store'"),
    (4, "did you mean 'limit'"),
    (5, "true or false"),
    (7, "between 2 and 128"),
    (8, "a whole number"),
    (10, "one of debug, info, warning, error"),
]
"""Line and remedy of each mistake."""


@pytest.fixture
def quiet(home: Path) -> Iterator[OddHouse]:
    """A house whose daemon does not run yet."""
    made = odd_house(home)
    yield made
    if made.process is not None:
        made.stop()


@pytest.mark.parametrize("words", [["status"], ["up"], ["daemon"], ["config", "check"], ["down"]], ids=" ".join)
def test_every_mistake_in_the_settings_is_told_at_once(quiet: OddHouse, words: list[str]) -> None:
    """Whatever one asks: exit 2, all mistakes with file, line and remedy on stderr, nothing started."""
    (quiet.home / "flywheel.toml").write_text(MISTAKES)
    done = quiet.command(*words)
    assert (done.returncode, done.stdout) == (2, b"")
    lines = done.stderr.decode().removeprefix("flywheel: ").splitlines()
    assert len(lines) == len(WANTED), lines
    for line, (number, remedy) in zip(lines, WANTED, strict=True):
        assert line.startswith(f"{quiet.home}/flywheel.toml:{number}: ") and remedy in line
    assert not (quiet.home / "data").exists()


@pytest.mark.parametrize(
    ("text", "names"),
    [(b"[search\nlimit = 3\n", "line 1"), (b'a = "\xff"', "cannot be read"), (b'[redact]\npatterns = ["("]\n', "(")],
    ids=["no TOML", "no UTF-8", "no regular expression"],
)
@pytest.mark.parametrize("words", [["daemon"], ["config", "check"]], ids=" ".join)
def test_settings_that_cannot_be_used_at_all(quiet: OddHouse, words: list[str], text: bytes, names: str) -> None:
    """The error says which file or setting, and where in it."""
    (quiet.home / "flywheel.toml").write_bytes(text)
    done = quiet.command(*words)
    assert done.returncode == 2 and names in done.stderr.decode(), done.stderr
    assert b"Traceback" not in done.stderr


def test_settings_that_may_not_be_read(quiet: OddHouse) -> None:
    """A file without permission is an error that names it, not silently the defaults."""
    (quiet.home / "flywheel.toml").chmod(0o000)
    quiet.wrap = (sys.executable, "-c", WITHOUT_ROOTS_RIGHTS)
    with pytest.raises(AssertionError, match=r"flywheel\.toml cannot be read.*Permission denied"):
        quiet.start()


def test_a_store_that_does_not_exist(quiet: OddHouse) -> None:
    """An unknown kind of database: the daemon says what there is."""
    (quiet.home / "flywheel.toml").write_text('[store]\nurl = "mysql://root@localhost/x"\n')
    done = quiet.command("daemon")
    assert done.returncode == 2 and b"postgresql://" in done.stderr, done.stderr


def test_a_socket_path_that_is_too_long(home: Path) -> None:
    """From the daemon and from a verb that would start it: both lengths, and the setting that helps."""
    deep = home / ("x" * 120)
    deep.mkdir()
    house = make_house(deep)
    for words in (["daemon"], ["up"]):
        done = house.command(*words)
        assert done.returncode == 2, done.stderr
        assert re.search(r"more than the 107 .*\[daemon\] socket", done.stderr.decode())
    make_house(deep, f'[daemon]\nsocket = "{home}/s.sock"\n')
    assert house.command("up", "--quiet").returncode == 0
    assert (home / "s.sock").exists()
    assert house.command("down").returncode == 0
    assert not (home / "s.sock").exists()


def test_a_second_daemon_is_told_who_runs(house: House) -> None:
    """Exit 5 with the pid of the first, which goes on."""
    assert house.process is not None
    done = house.command("daemon")
    assert done.returncode == 5 and f"(pid {house.process.pid})" in done.stderr.decode()
    assert b"flywheel down" in done.stderr
    assert house.client.status().pid == house.process.pid


def test_a_killed_daemon_stands_in_nobodys_way(quiet: OddHouse) -> None:
    """After kill -9 its socket and its lock file are still there; the next daemon starts and answers."""
    quiet.start()
    quiet.stop(kill=True)
    assert quiet.socket.is_socket()
    with pytest.raises(DaemonDown):
        quiet.client.status()
    assert quiet.command("status").returncode == 6
    quiet.start()
    assert quiet.process is not None
    assert quiet.client.status().pid == quiet.process.pid
    assert quiet.stop() == 0
    assert not quiet.socket.exists()


def test_something_else_in_the_sockets_place(quiet: OddHouse) -> None:
    """A file that is no socket is kept, and named."""
    quiet.socket.parent.mkdir()
    quiet.socket.write_text("precious")
    done = quiet.command("daemon")
    assert done.returncode == 4 and b"in the way" in done.stderr
    assert quiet.socket.read_text() == "precious"


def test_a_data_folder_that_may_not_be_used(quiet: OddHouse) -> None:
    """The error names the folder and the reason."""
    data = quiet.home / "data"
    data.mkdir(mode=0o500)
    quiet.wrap = (sys.executable, "-c", WITHOUT_ROOTS_RIGHTS)
    with pytest.raises(AssertionError, match=r"/data.*cannot be used: Permission denied") as caught:
        quiet.start()
    assert "Traceback" not in str(caught.value)


def with_database(house: OddHouse) -> Path:
    """Run the daemon once; its database, closed."""
    house.start()
    house.stop()
    return house.home / "data" / "flywheel.db"


@pytest.mark.parametrize("words", [["daemon"], ["up"], ["context"]], ids=" ".join)
def test_a_database_from_the_future_is_not_touched(quiet: OddHouse, words: list[str]) -> None:
    """Exit 7 with the remedy, however the daemon was started; the file stays as it is to the byte."""
    file = with_database(quiet)
    with sqlite3.connect(file) as connection:
        columns = [row[1] for row in connection.execute("PRAGMA table_info(schema_migration)")]
        last = dict(zip(columns, connection.execute("SELECT * FROM schema_migration").fetchone(), strict=True))
        later = last | {"version": 9999, "name": "later"}
        marks = ", ".join("?" * len(later))
        connection.execute(f"INSERT INTO schema_migration ({', '.join(later)}) VALUES ({marks})", list(later.values()))
    connection.close()
    before = file.read_bytes()
    done = quiet.command(*words)
    assert done.returncode == 7, done.stderr
    assert b"version 9999" in done.stderr and b"upgrade Flywheel" in done.stderr and b"Traceback" not in done.stderr
    assert file.read_bytes() == before
    assert set_aside(file) == []


def set_aside(file: Path) -> list[Path]:
    """Databases that were found damaged."""
    return [p for p in file.parent.glob(f"{file.name}.corrupt-*") if not p.name.endswith(("-wal", "-shm"))]


def remember(house: OddHouse, number: int) -> Path:
    """Import one message about wombats; its folder."""
    cwd = house.home / "user" / "shop"
    cwd.mkdir(exist_ok=True)
    path = house.home / "transcripts" / f"{number}.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(said(number, f"The wombat report number {number} is late.", cwd, session=number))
    house.import_all(path)
    return cwd


def test_a_database_that_is_none_is_set_aside(quiet: OddHouse) -> None:
    """Overwritten with something else: renamed, announced, never deleted; the daemon runs on a new one and learns."""
    file = with_database(quiet)
    rubbish = b"no database at all" * 4096
    file.write_bytes(rubbish)
    quiet.start()
    (problem,) = quiet.client.status().problems
    (aside,) = set_aside(file)
    assert str(aside) in problem and "was damaged" in problem
    assert aside.read_bytes() == rubbish
    assert str(aside) in quiet.command("status").stdout.decode()
    cwd = remember(quiet, 1)
    assert quiet.client.search(query="wombat report", cwd=str(cwd)).hits


def test_a_damaged_database_is_set_aside_with_its_index(quiet: OddHouse) -> None:
    """Pages torn by a crash: found at the next start; what the old index knew is not served from it."""
    quiet.start()
    cwd = remember(quiet, 1)
    assert quiet.client.search(query="wombat report", cwd=str(cwd)).hits
    lanes = quiet.lanes()
    quiet.stop(kill=True)
    until("the end of the lanes", lambda: not living(lanes))
    file = quiet.home / "data" / "flywheel.db"
    with sqlite3.connect(file) as connection:  # what the log holds goes into the file, where it can be damaged
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    content = bytearray(file.read_bytes())
    content[4096 : len(content) // 2] = b"\xa5" * (len(content) // 2 - 4096)
    file.write_bytes(content)
    file.with_name("flywheel.db-wal").write_bytes(b"")  # as the crash left it: not closed
    quiet.start()
    (aside,) = set_aside(file)
    assert any(str(aside) in problem for problem in quiet.client.status().problems)
    assert aside.read_bytes() == content
    until("an index that has forgotten", lambda: not any(quiet.client.status().behind.values()))
    assert not quiet.client.search(query="wombat report", cwd=str(cwd)).hits
    remember(quiet, 2)
    (hit,) = quiet.client.search(query="wombat report", cwd=str(cwd)).hits
    assert "number 2" in hit.text
