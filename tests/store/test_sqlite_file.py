"""SQLite's file: locks, space, damage, and what is left of what was deleted."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from tests.store.samples import message

from flywheel.errors import CorruptDatabase, DiskFull, StoreBusy, StoreError
from flywheel.model import GLOBAL, Kind, Micros, Seq
from flywheel.store import mapper, sqlite_check, sqlite_open
from flywheel.store.feed import JUMP
from flywheel.store.filelock import COURTESY, FileLock, Turns
from flywheel.store.forget import forget
from flywheel.store.sqlite import SqliteDb
from flywheel.store.sqlite_open import open_sqlite
from flywheel.store.wal import RESTART_PAGES

INSERT = "INSERT INTO setting (name, value) VALUES (:name, :value)"


@pytest.fixture
def path(data: Path) -> Path:
    """Where the database lies."""
    return data / "flywheel.db"


@pytest.fixture
def opened(path: Path) -> Iterator[Callable[..., SqliteDb]]:
    """Opens the file, as often as asked, and closes all in the end."""
    all_of_them: list[SqliteDb] = []

    def again(busy: float = 5.0) -> SqliteDb:
        all_of_them.append(open_sqlite(path, busy=busy))
        return all_of_them[-1]

    yield again
    for db in all_of_them:
        db.close()


def fill(db: SqliteDb, rows: int, size: int = 1000, *, bulk: bool = False) -> None:
    """Write rows of random text in one transaction."""
    chance = random.Random(rows)
    with db.write(bulk=bulk) as tx:
        start = tx.one("SELECT count(*) FROM setting")
        assert start is not None
        tx.batch(INSERT, [(f"f-{start[0] + n}", chance.randbytes(size // 2).hex()) for n in range(rows)])


def hold_write_lock(path: Path) -> apsw.Connection:
    """Another program that keeps the database locked."""
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")
    return other


def test_the_files_are_private(path: Path, opened: Callable[..., SqliteDb]) -> None:
    """The database, its WAL and its lock files are 0600, also when the file was made wider before."""
    path.touch(mode=0o644)
    path.chmod(0o644)
    db = opened()
    fill(db, 1)
    fill(db, 1, bulk=True)
    assert {file.name: oct(file.stat().st_mode & 0o777) for file in path.parent.iterdir() if file.is_file()} == {
        file.name: "0o600" for file in path.parent.iterdir() if file.is_file()
    }


def test_settings_of_the_connections(opened: Callable[..., SqliteDb]) -> None:
    """WAL, NORMAL, no memory mapping, deleted content overwritten."""
    with opened().read() as tx:
        wanted = {"journal_mode": "wal", "synchronous": 1, "mmap_size": 0, "secure_delete": 1, "query_only": 1}
        assert {name: (tx.one(f"PRAGMA {name}") or [0])[0] for name in wanted} == wanted


def test_a_held_lock_raises_store_busy_after_the_limit(path: Path, opened: Callable[..., SqliteDb]) -> None:
    """A short limit ends in StoreBusy; the store works once the lock is free."""
    db = opened(busy=0.05)
    with closing(hold_write_lock(path)) as other:
        before = time.monotonic()
        with pytest.raises(StoreBusy), db.write():
            pass
        assert 0.04 < time.monotonic() - before < 5
        other.execute("ROLLBACK")
    fill(db, 1)


def test_a_writer_waits_for_a_lock_that_is_freed(path: Path, opened: Callable[..., SqliteDb]) -> None:
    """A lock that is let go within the limit costs only the wait."""
    db = opened(busy=20)
    with closing(hold_write_lock(path)) as other:
        free = threading.Timer(0.05, lambda: other.execute("ROLLBACK"))
        free.start()
        fill(db, 1)
        free.join()


def test_another_thread_s_write_counts_for_the_limit(opened: Callable[..., SqliteDb]) -> None:
    """Threads of one process wait for each other no longer than the limit."""
    db = opened(busy=0.05)
    raised: list[Exception] = []

    def write() -> None:
        try:
            fill(db, 1)
        except StoreBusy as error:
            raised.append(error)

    with db.write():
        thread = threading.Thread(target=write)
        thread.start()
        thread.join()
    assert len(raised) == 1


def test_bulk_writers_take_turns_and_let_small_ones_in(path: Path) -> None:
    """Who has just had the turn cannot take it before who waits; a raised hand holds a bulk writer up, briefly."""
    one, two = Turns(path), Turns(path)
    order: list[str] = []

    def again_and_again(turns: Turns, name: str) -> None:
        for _ in range(6):
            with turns.bulk(20):
                order.append(name)
                time.sleep(0.002)

    threads = [threading.Thread(target=again_and_again, args=pair) for pair in ((one, "a"), (two, "b"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    middle = "".join(order)
    assert "aaaa" not in middle and "bbbb" not in middle
    small = FileLock(path.with_name(path.name + ".small.lock"))
    assert small.try_shared()
    before = time.monotonic()
    with one.bulk(5):
        assert time.monotonic() - before >= COURTESY
    with pytest.raises(StoreBusy), one.bulk(1), two.bulk(0.01):
        pass
    for lock in (one, two, small):
        lock.close()


def test_the_wal_stays_bounded(path: Path, opened: Callable[..., SqliteDb]) -> None:
    """Bulk writing many times the limit leaves a WAL near the limit, with readers coming and going."""
    db = opened()
    for _ in range(30):
        fill(db, 2000, bulk=True)
        assert db.head() == 0
    wal = path.with_name(path.name + "-wal")
    assert path.stat().st_size > 50_000_000
    assert wal.stat().st_size < 2 * RESTART_PAGES * 4096


def test_a_long_reader_only_delays_the_checkpoint(
    path: Path, opened: Callable[..., SqliteDb], monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a snapshot is held the WAL grows and nobody waits; afterwards it starts over and grows no more."""
    monkeypatch.setattr("flywheel.store.wal.PASSIVE_PAGES", 50)
    monkeypatch.setattr("flywheel.store.wal.RESTART_PAGES", 200)
    db = opened()
    wal = path.with_name(path.name + "-wal")
    with db.read() as tx:
        tx.one("SELECT 1 FROM setting")
        sizes = []
        for _ in range(4):
            fill(db, 300, bulk=True)
            sizes.append(wal.stat().st_size)
        assert sizes == sorted(set(sizes)) and sizes[-1] > 200 * 4096
    for _ in range(5):
        fill(db, 300, bulk=True)
    assert wal.stat().st_size < sizes[-1] + 150 * 4096
    assert db.truncate_wal()
    assert wal.stat().st_size == 0


def test_small_writers_alone_keep_the_wal_bounded_too(
    path: Path, opened: Callable[..., SqliteDb], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without any bulk writer the WAL starts over all the same, later."""
    monkeypatch.setattr("flywheel.store.wal.PASSIVE_PAGES", 20)
    monkeypatch.setattr("flywheel.store.wal.SMALL_PAGES", 100)
    db = opened()
    for _ in range(300):
        fill(db, 3)
    assert path.with_name(path.name + "-wal").stat().st_size < 300 * 4096


def test_a_full_disk_is_said_and_survived(opened: Callable[..., SqliteDb]) -> None:
    """Running out of pages raises DiskFull, rolls back, and the store goes on when there is space again."""
    db = opened()
    db._writer.pragma("max_page_count", 120)
    with pytest.raises(DiskFull):
        fill(db, 2000)
    with db.read() as tx:
        assert tx.one("SELECT count(*) FROM setting WHERE name LIKE 'f-%'") == (0,)
    db._writer.pragma("max_page_count", 1_000_000)
    fill(db, 2000)


def damage(path: Path, start: int = 4096) -> None:
    """Overwrite the middle of a file with noise."""
    with path.open("r+b") as file:
        file.seek(start)
        file.write(random.Random(1).randbytes(path.stat().st_size - start))


def fill_and_damage(path: Path) -> None:
    """A database whose messages are noise while its schema and settings are whole; closed cleanly."""
    with closing(open_sqlite(path)) as db, db.write() as tx:
        mapper.insert_many(tx, [message(number, "words " * 100) for number in range(2000)])
    size = path.stat().st_size
    damage(path, size - size // 3)


def aside(path: Path) -> list[Path]:
    """The databases that were set aside."""
    return sorted(path.parent.glob("flywheel.db.corrupt-*[0-9]"))


@pytest.mark.parametrize("content", [b"this is no database at all " * 400, b"\x00" * 8192])
def test_what_is_no_database_is_set_aside_and_announced(path: Path, content: bytes) -> None:
    """A file of noise becomes flywheel.db.corrupt-<time>, byte for byte, and a new database is made."""
    path.write_bytes(content)
    with closing(open_sqlite(path)) as db:
        (kept,) = aside(path)
        assert kept.read_bytes() == content
        assert len(db.notices) == 1 and str(kept) in db.notices[0]
        fill(db, 1)
    with closing(open_sqlite(path)) as db:
        assert db.notices == []


def test_a_damaged_schema_is_set_aside_with_its_wal(path: Path) -> None:
    """Noise over the pages of the schema is found at the next opening; another feed begins."""
    with closing(open_sqlite(path)) as db:
        fill(db, 500)
        feed = db.feed_id()
    damage(path, 100)
    path.with_name("flywheel.db-wal").write_bytes(b"left over")
    with closing(open_sqlite(path)) as db:
        (kept,) = aside(path)
        assert kept.with_name(f"{kept.name}-wal").exists()
        assert db.feed_id() != feed
        assert "was damaged" in db.notices[0]


def test_damage_met_while_running_is_found_at_the_next_opening(path: Path) -> None:
    """Reading a damaged page raises CorruptDatabase and marks the file; the next opening checks it in full."""
    fill_and_damage(path)
    with closing(open_sqlite(path)) as db:
        assert db.notices == []  # a clean shutdown: only the schema is looked at
        with pytest.raises(CorruptDatabase), db.read() as tx:
            tx.all("SELECT sum(length(text)) FROM message NOT INDEXED")
    with closing(open_sqlite(path)) as db:
        assert len(aside(path)) == 1
        assert "was damaged" in db.notices[0]
        assert not path.with_name("flywheel.db.suspect").exists()


def test_damage_that_opening_meets_is_set_aside_at_once(path: Path) -> None:
    """Noise in the settings, which opening reads, needs no second start."""
    with closing(open_sqlite(path)) as db:
        fill(db, 3000)
    damage(path, path.stat().st_size // 2)
    with closing(open_sqlite(path)) as db:
        assert len(db.notices) == 1
        fill(db, 1)


def test_an_unclean_shutdown_is_checked(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A WAL that nobody has open means a check of the whole file, unless the file is large."""
    fill_and_damage(path)
    path.with_name("flywheel.db-wal").touch()
    monkeypatch.setattr(sqlite_check, "CHECK_BYTES", 1000)
    with closing(open_sqlite(path)) as db:
        assert db.notices == []
    path.with_name("flywheel.db-wal").touch()
    monkeypatch.setattr(sqlite_check, "CHECK_BYTES", 1 << 30)
    with closing(open_sqlite(path)) as db:
        assert len(db.notices) == 1


def test_a_file_in_use_is_never_set_aside(path: Path, opened: Callable[..., SqliteDb]) -> None:
    """While another has the file open, damage is an error and the file stays where it is."""
    fill(opened(), 10)
    path.with_name("flywheel.db.suspect").touch()
    assert opened().notices == []
    assert path.with_name("flywheel.db.suspect").exists()


def test_another_program_s_file_is_left_alone(tmp_path: Path) -> None:
    """A configured file that is no database, or somebody else's, is refused and stays byte for byte."""
    notes, foreign = tmp_path / "notes.txt", tmp_path / "places.db"
    notes.write_text("to do: " * 1000)
    with closing(apsw.Connection(str(foreign))) as other:
        other.execute("CREATE TABLE place (name TEXT)")
    before = notes.read_bytes(), foreign.read_bytes()
    for file in (notes, foreign):
        with pytest.raises(StoreError, match=r"store\.url"):
            open_sqlite(file)
    assert (notes.read_bytes(), foreign.read_bytes()) == before


def test_a_folder_that_cannot_be_used_is_an_error(tmp_path: Path) -> None:
    """A file where the folder should be, or a folder where the file should be, raises StoreError."""
    (tmp_path / "file").touch()
    (tmp_path / "folder" / "flywheel.db").mkdir(parents=True)
    for path in (tmp_path / "file" / "flywheel.db", tmp_path / "folder" / "flywheel.db"):
        with pytest.raises(StoreError):
            open_sqlite(path)


def test_the_feed_jumps_after_a_power_cut(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another run of the machine and an unclean shutdown together mean a jump; each alone means none."""
    boot = tmp_path / "boot_id"
    monkeypatch.setattr(sqlite_open, "BOOT_ID", boot)
    heads = []
    for run, crash in (("one", False), ("two", False), ("two", True), ("three", True), ("three", False)):
        boot.write_text(run)
        if crash:
            path.with_name("flywheel.db-wal").touch()
        with closing(open_sqlite(path)) as db:
            heads.append(db.head())
    assert heads == [0, 0, 0, JUMP, JUMP]


def test_forgotten_words_leave_the_files(path: Path, opened: Callable[..., SqliteDb]) -> None:
    """After forget and scrub, no byte of a message is left in the database or its WAL."""
    db = opened()
    secret = "xylophonic-badger"
    with db.write() as tx:
        mapper.insert_many(tx, [message(n, f"{secret} {n} " + "pad " * n) for n in range(0, 3000, 30)])
        mapper.insert(tx, message(3001, "something else"))
    with db.write() as tx:
        for n in range(0, 3000, 30):
            forget(tx, "message", message(n).id, message(1).text, Micros(1))
    assert db.scrub() == []
    for file in (path, path.with_name("flywheel.db-wal")):
        assert secret.encode() not in file.read_bytes()


def test_scrub_names_the_copies_that_it_leaves(path: Path, opened: Callable[..., SqliteDb]) -> None:
    """A file that was set aside, or a migration's backup, still holds its words: scrub says so."""
    path.write_bytes(b"garbage" * 1000)
    assert [str(aside(path)[0]) in line for line in opened().scrub()] == [True]


def test_two_processes_may_open_a_new_file_at_once(path: Path) -> None:
    """Eight threads that open one missing file get one database, migrated once."""
    databases: list[SqliteDb] = []
    start = threading.Barrier(8)

    def work() -> None:
        start.wait()
        databases.append(open_sqlite(path, busy=20))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({db.feed_id() for db in databases}) == 1 and len(databases) == 8
    for db in databases:
        db.close()


def test_changes_survive_closing(path: Path) -> None:
    """The feed goes on where it was after the last process has closed the file."""
    for number in range(3):
        with closing(open_sqlite(path)) as db, db.write() as tx:
            tx.changed(Kind.ENTRY, str(number), GLOBAL)
    with closing(open_sqlite(path)) as db:
        assert [change.id for change in db.changes(Seq(0))] == ["0", "1", "2"]
    assert not path.with_name("flywheel.db-wal").exists()
