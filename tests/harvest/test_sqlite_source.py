"""Databases as transcripts: what their owner may do to them meanwhile, and what must never be done to them."""

from __future__ import annotations

import itertools
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.harvest.harvesting import NOW, make_deps
from tests.harvest.test_sources import HOLDER, StubReader
from tests.readers.opencode_database import READER, Opencode

from flywheel.errors import BadInput, Unavailable
from flywheel.harvest import rows, sources, worker
from flywheel.harvest.discover import Whereabouts, discover, sweep
from flywheel.harvest.sources import Chunk, reading, stamp_of
from flywheel.harvest.tail import Cursor
from flywheel.jobs import queue
from flywheel.jobs.worker import Stopped, run_one
from flywheel.model import FileState, Job, JobState, Message, TranscriptFile
from flywheel.readers import SourceKind
from flywheel.store import Db, mapper


class Owner:
    """A program that keeps a database open and writes to it, all of it into the WAL."""

    def __init__(self, path: Path, journal: str = "WAL") -> None:
        self.path = path
        self.db = sqlite3.connect(path, isolation_level=None)
        self.db.execute(f"PRAGMA journal_mode = {journal}")
        self.db.execute("PRAGMA wal_autocheckpoint = 0")
        self.db.execute("CREATE TABLE talk (id INTEGER PRIMARY KEY, say, changed)")

    def say(self, *texts: object, changed: int | None = None) -> None:
        """Rows; each changed when it was made, or all at once."""
        for text in texts:
            self.db.execute("INSERT INTO talk (say, changed) VALUES (?, ?)", [text, changed])
            self.db.execute("UPDATE talk SET changed = id WHERE changed IS NULL")


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[Owner]:
    """A database in WAL mode that its owner keeps open."""
    one = Owner(tmp_path / "talk.db")
    yield one
    one.db.close()


def read(path: Path, before: Chunk | None = None) -> list[Chunk]:
    """Everything past the last chunk."""
    reader = StubReader(SourceKind.SQLITE)
    cursor, marks = (before.cursor, before.marks) if before else (Cursor(), {})
    with reading(str(path), reader, cursor=cursor, marks=marks, recognise=reader.recognises, settled=0) as file:
        return list(file.chunks)


def said(chunks: list[Chunk]) -> list[Any]:
    """What the rows say."""
    return [record["say"] for chunk in chunks for record in chunk.records]


def files(folder: Path) -> dict[str, bytes]:
    """Every file of a folder with its content, but for the shared memory, which holds locks."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.endswith("-shm")}


def names(folder: Path) -> list[str]:
    """What lies in a folder."""
    return sorted(path.name for path in folder.iterdir())


def test_rows_that_are_only_in_the_wal_are_read(owner: Owner) -> None:
    """The database file alone does not have them, and reading changes neither it nor the WAL."""
    owner.say("a", "b")
    assert owner.path.stat().st_size < (owner.path.with_name("talk.db-wal")).stat().st_size
    before = files(owner.path.parent)
    assert said(read(owner.path)) == ["a", "b"]
    assert files(owner.path.parent) == before


def test_the_owner_can_write_and_empty_its_wal_while_we_read(owner: Owner) -> None:
    """An open reading holds no lock that its owner would notice, and sees one state of the database."""
    owner.say(*range(1200))
    reader = StubReader(SourceKind.SQLITE)
    with reading(str(owner.path), reader, cursor=Cursor(), marks={}, recognise=reader.recognises, settled=0) as file:
        first = next(file.chunks)
        owner.db.execute("PRAGMA busy_timeout = 0")
        owner.say("later")
        owner.db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        rest = list(file.chunks)
    assert len(first.records) + sum(len(chunk.records) for chunk in rest) == 1200
    assert said(read(owner.path, rest[-1])) == [1199, "later"]
    assert owner.db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0


def test_a_long_reading_lets_go_now_and_then(owner: Owner, monkeypatch: pytest.MonkeyPatch) -> None:
    """After so many rows the question is asked anew: what was written meanwhile comes too, and nothing is lost."""
    monkeypatch.setattr(rows, "ROWS", 10)
    monkeypatch.setattr(rows, "HELD", 30)
    owner.say(*range(100))
    reader = StubReader(SourceKind.SQLITE)
    found: list[Any] = []
    with reading(str(owner.path), reader, cursor=Cursor(), marks={}, recognise=reader.recognises, settled=0) as file:
        for number, chunk in enumerate(file.chunks):
            found += [record["say"] for record in chunk.records]
            if number == 0:
                owner.say("later")
    assert list(dict.fromkeys(found)) == [*range(100), "later"]
    assert len(found) - 101 <= 4


def test_a_long_reading_of_rows_of_one_time_comes_to_an_end(owner: Owner, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the mark does not move there is nothing to ask anew."""
    monkeypatch.setattr(rows, "ROWS", 10)
    monkeypatch.setattr(rows, "HELD", 30)
    owner.say(*range(100), changed=7)
    assert list(dict.fromkeys(said(read(owner.path)))) == list(range(100))


def test_large_rows_come_in_small_chunks(owner: Owner, monkeypatch: pytest.MonkeyPatch) -> None:
    """A chunk is bounded by its text too, not only by its rows; one large row is a chunk of its own."""
    monkeypatch.setattr(rows, "SIZE", 1000)
    owner.say(*["x" * 400] * 6, "y" * 5000, "z")
    assert [len(chunk.records) for chunk in read(owner.path)] == [3, 3, 1, 1]


def test_memory_does_not_grow_with_the_database(tmp_path: Path) -> None:
    """A database of 60 MB is read in a fraction of that."""
    path = tmp_path / "talk.db"
    owner = Owner(path)
    owner.db.execute("BEGIN")
    owner.db.executemany("INSERT INTO talk VALUES (?, ?, ?)", [(n, f"{n} " + "x" * 15_000, n) for n in range(1, 4001)])
    owner.db.execute("COMMIT")
    owner.db.close()
    script = (
        "import resource, sys, tracemalloc\n"
        "from flywheel.harvest.rows import connected, rows_past\n"
        "from flywheel.readers import RowQuery\n"
        "sql = 'SELECT say, changed FROM talk WHERE changed >= :after ORDER BY changed'\n"
        "tracemalloc.start()\n"
        "with connected(sys.argv[1]) as connection:\n"
        "    for some in rows_past(connection, RowQuery(name='talk', sql=sql, cursor='changed'), 0):\n"
        "        pass\n"
        "print(tracemalloc.get_traced_memory()[1])\n"
    )
    peak = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, check=True, text=True).stdout
    assert path.stat().st_size > 60_000_000
    assert int(peak) < 20_000_000


def test_what_a_column_holds_survives(owner: Owner) -> None:
    """NULL, numbers, broken JSON and NUL come as they are, blobs as None; a text that is no UTF-8 costs its row."""
    owner.say(None, 3, 2.5, '{"torn', "a\0b", b"\x00\xff")
    owner.db.execute("INSERT INTO talk VALUES (90, CAST(x'ff61' AS TEXT), 90)")
    owner.say("after")
    chunks = read(owner.path)
    assert said(chunks) == [None, 3, 2.5, '{"torn', "a\0b", None, "after"]
    assert sum(chunk.bad for chunk in chunks) == 1


def test_rows_given_again_are_not_counted_again(owner: Owner) -> None:
    """A row equal to the mark comes again, but the file has not grown."""
    owner.say("a", "b")
    first = read(owner.path)
    assert [chunk.lines for chunk in first] == [2]
    again = read(owner.path, first[-1])
    assert (said(again), [chunk.lines for chunk in again]) == (["b"], [0])


def test_a_rollback_journal_is_fine_too(tmp_path: Path) -> None:
    """A database without a WAL (a file system that knows none) is read, and no WAL comes of it."""
    owner = Owner(tmp_path / "talk.db", journal="DELETE")
    owner.say("a")
    assert said(read(owner.path)) == ["a"]
    owner.db.close()
    assert names(tmp_path) == ["talk.db"]


def test_what_is_no_database_is_refused(tmp_path: Path) -> None:
    """Noise, an empty file and a cut database are bad input or empty, and stay as they are."""
    path = tmp_path / "talk.db"
    path.write_bytes(os.urandom(8192))
    with pytest.raises(BadInput, match="cannot be read as a database"):
        read(path)
    path.write_bytes(b"")
    assert said(read(path)) == []
    assert path.stat().st_size == 0
    owner = Owner(tmp_path / "whole.db")
    owner.say(*["x" * 900] * 50)
    owner.db.close()
    path.write_bytes((tmp_path / "whole.db").read_bytes()[:9000])
    with pytest.raises(BadInput, match="cannot be read as a database"):
        read(path)


READ_AS_NOBODY = """
import os, sys
from flywheel.errors import BadInput
from flywheel.harvest import rows
from flywheel.readers import RowQuery
os.setgid(65534)
os.setuid(65534)
query = RowQuery(name="talk", sql="SELECT say FROM talk WHERE id >= :after", cursor="id")
try:
    with rows.connected(sys.argv[1]) as connection:
        print([record["say"] for some in rows.rows_past(connection, query, 0) for record in some.records])
except (BadInput, PermissionError) as error:
    print(type(error).__name__, error)
"""


def as_nobody(path: Path) -> str:
    """What a user without rights to the folder gets to see."""
    for folder in itertools.takewhile(lambda one: one != Path(tempfile.gettempdir()), path.parents):
        folder.chmod(folder.stat().st_mode | 0o055)
    command = [sys.executable, "-c", READ_AS_NOBODY, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")
def test_a_folder_that_may_not_be_written_to(owner: Owner) -> None:
    """While its owner has the database open, it is read; afterwards it says what is missing; never a changed file."""
    owner.say("a")
    assert as_nobody(owner.path) == "['a']"
    owner.db.close()
    assert names(owner.path.parent) == ["talk.db"]
    assert "its folder must be writable for its -shm file" in as_nobody(owner.path)
    assert names(owner.path.parent) == ["talk.db"]
    owner.path.chmod(0o600)
    assert as_nobody(owner.path).startswith("PermissionError")


def test_the_stamp_sees_what_is_only_in_the_wal(owner: Owner) -> None:
    """Every commit changes it, though the database file stays; reading does not, and neither does closing twice."""
    stamps = {stamp_of(str(owner.path), SourceKind.SQLITE)}
    mtime = owner.path.stat().st_mtime_ns
    for text in "abc":
        owner.say(text)
        stamps.add(stamp_of(str(owner.path), SourceKind.SQLITE))
        read(owner.path)
        stamps.add(stamp_of(str(owner.path), SourceKind.SQLITE))
    assert len(stamps) == 4
    assert owner.path.stat().st_mtime_ns == mtime


def test_a_reader_that_makes_an_empty_wal_changes_no_stamp(tmp_path: Path) -> None:
    """SQLite makes a WAL for a reader of a closed database; the next sweep must not take that for a change."""
    owner = Owner(tmp_path / "talk.db")
    owner.say("a")
    owner.db.close()
    before = stamp_of(str(owner.path), SourceKind.SQLITE)
    assert said(read(owner.path)) == ["a"]
    assert stamp_of(str(owner.path), SourceKind.SQLITE) == before


# what the harvest makes of it


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Opencode]:
    """An agent's database where discovery looks."""
    folder = tmp_path / "home" / ".local" / "share" / "opencode"
    folder.mkdir(parents=True)
    one = Opencode(folder / "opencode.db")
    one.session("ses_1")
    yield one
    one.close()


def look(db: Db, tmp_path: Path) -> int:
    """Sweep; how many files were due."""
    where = Whereabouts(home=str(tmp_path / "home"), env={})
    return sweep(db, discover(where, readers={READER.name: READER}), NOW).enqueued


def run_all(db: Db, data: Path) -> int:
    """Run every harvest job that is due; how many there were."""
    count = 0
    while job := queue.claim(db, kinds=[worker.KIND], owner="test", lease=60):
        run_one(job, worker.run, make_deps(db, data))
        count += 1
    return count


def texts(db: Db) -> list[str]:
    """What is stored."""
    with db.read() as tx:
        return [str(message.text) for message in mapper.find(tx, Message, "ORDER BY created_at, ordinal")]


def test_a_change_that_is_only_in_the_wal_is_harvested(
    sqlite_db: Db, data: Path, client: Opencode, tmp_path: Path
) -> None:
    """The database file neither grows nor is it written to, and still a sweep finds it due; an idle one it leaves."""
    client.said("msg_1", "ses_1", "user", "First.")
    assert (look(sqlite_db, tmp_path), run_all(sqlite_db, data)) == (1, 1)
    facts = client.path.stat()
    client.said("msg_2", "ses_1", "user", "Second.")
    assert (client.path.stat().st_size, client.path.stat().st_mtime_ns) == (facts.st_size, facts.st_mtime_ns)
    assert (look(sqlite_db, tmp_path), run_all(sqlite_db, data)) == (1, 1)
    assert texts(sqlite_db) == ["First.", "Second."]
    assert (look(sqlite_db, tmp_path), run_all(sqlite_db, data)) == (0, 0)


def test_a_closed_database_is_read_once(sqlite_db: Db, data: Path, client: Opencode, tmp_path: Path) -> None:
    """When its owner has left and taken the WAL along, our own reading is no reason to look again."""
    client.said("msg_1", "ses_1", "user", "First.")
    client.close()
    assert (look(sqlite_db, tmp_path), run_all(sqlite_db, data)) == (1, 1)
    assert look(sqlite_db, tmp_path) == 0
    assert texts(sqlite_db) == ["First."]


def test_a_locked_database_is_tried_again(
    sqlite_db: Db, data: Path, client: Opencode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job waits its turn and does not fail the file."""
    monkeypatch.setattr(rows, "BUSY_MS", 10)
    client.said("msg_1", "ses_1", "user", "First.")
    assert client.db.execute("PRAGMA journal_mode = DELETE").fetchall() == [("delete",)]
    client.close()
    look(sqlite_db, tmp_path)
    job = queue.claim(sqlite_db, kinds=[worker.KIND], owner="test", lease=60)
    assert job is not None
    command = [sys.executable, "-c", HOLDER, str(client.path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(Unavailable, match="locked"):
            worker.run(job, make_deps(sqlite_db, data))
        run_one(job, worker.run, make_deps(sqlite_db, data))
        holder.communicate()
    with sqlite_db.read() as tx:
        (waiting,) = mapper.find(tx, Job, "WHERE id = :id", id=job.id)
        (file,) = mapper.find(tx, TranscriptFile)
    assert (waiting.state, file.state) == (JobState.QUEUED, FileState.SEEN)
    worker.run(job, make_deps(sqlite_db, data))
    assert texts(sqlite_db) == ["First."]


def test_an_import_that_was_killed_goes_on_from_its_marks(
    sqlite_db: Db, data: Path, client: Opencode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was written before the end is not read again, and in the end everything is there once."""
    monkeypatch.setattr(rows, "ROWS", 20)
    for number in range(300):
        client.said(f"msg_{number:03}", "ses_1", "user", f"Prompt {number}.")
    given: list[int] = []

    def counting(*args: Any) -> Iterator[rows.Rows]:
        for some in rows.rows_past(*args):
            given.append(len(some.records))
            yield some

    monkeypatch.setattr(sources, "rows_past", counting)
    look(sqlite_db, tmp_path)
    stops = 0
    job = queue.claim(sqlite_db, kinds=[worker.KIND], owner="test", lease=60)
    assert job is not None
    while True:
        try:
            worker.run(job, make_deps(sqlite_db, data, stopping=lambda: True))  # after every write
            break
        except Stopped:
            stops += 1
    assert stops >= 2
    assert texts(sqlite_db) == [f"Prompt {number}." for number in range(300)]
    assert sum(given) < 300 + 30 * (stops + 1)
