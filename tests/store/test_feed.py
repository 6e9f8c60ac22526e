"""The change feed: the order of numbers is the order of visibility, whoever writes."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from flywheel.model import GLOBAL, Kind, Op, ProjectId, Seq
from flywheel.store import Db, Tx
from flywheel.store.feed import JUMP, compact, jump, new_feed

WRITERS = 4
EACH = 40


def ids(db: Db, after: Seq = Seq(0)) -> list[str]:  # noqa: B008 - a NewType of an integer
    """The ids of the changes past ``after``."""
    return [change.id for change in db.changes(after)]


def test_changes_come_in_order_with_all_they_say(db: Db) -> None:
    """A change carries project, kind, id and what was done."""
    with db.write() as tx:
        tx.changed(Kind.MESSAGE, "m1", ProjectId("p"))
        tx.changed(Kind.ENTRY, "e1", GLOBAL, Op.DEL)
    first, second = db.changes(Seq(0))
    assert (first.kind, first.id, first.project_id, first.op) == (Kind.MESSAGE, "m1", "p", Op.PUT)
    assert (second.kind, second.id, second.project_id, second.op) == (Kind.ENTRY, "e1", "global", Op.DEL)
    assert 0 < first.seq < second.seq == db.head()


def test_equal_changes_of_one_transaction_count_once(db: Db) -> None:
    """Of several changes to one item the last stands, in its place."""
    with db.write() as tx:
        for id, op in (("a", Op.PUT), ("b", Op.PUT), ("a", Op.PUT), ("b", Op.DEL), ("c", Op.PUT)):
            tx.changed(Kind.MESSAGE, id, GLOBAL, op)
    assert [(change.id, change.op) for change in db.changes(Seq(0))] == [("a", "put"), ("b", "del"), ("c", "put")]


def test_what_changed_again_is_dropped(db: Db) -> None:
    """Of everything the last change stays, in its place: whoever reads on, from anywhere, ends up with the same."""
    for id, op in (("a", Op.PUT), ("b", Op.PUT), ("a", Op.PUT), ("b", Op.DEL), ("c", Op.PUT), ("a", Op.PUT)):
        with db.write() as tx:
            tx.changed(Kind.MESSAGE, id, GLOBAL, op)
            tx.changed(Kind.ENTRY, "a", GLOBAL, op)
    before = db.changes(Seq(0))
    follower = before[3].seq
    assert compact(db, most=2) == 2 and db.changes(Seq(0)) == before[2:]
    assert compact(db) == 6 and compact(db) == 0
    left = [(one.kind, one.id, one.op) for one in db.changes(Seq(0))]
    assert left == [("message", "b", "del"), ("message", "c", "put"), ("message", "a", "put"), ("entry", "a", "put")]
    last = {(one.kind, one.id): one for one in before}
    read_on = {(one.kind, one.id): one for one in before[:4]} | {
        (one.kind, one.id): one for one in db.changes(follower)
    }
    assert read_on == last and db.head() == before[-1].seq


def test_after_and_limit(db: Db) -> None:
    """Reading goes on where it stopped."""
    with db.write() as tx:
        for number in range(10):
            tx.changed(Kind.MESSAGE, str(number), GLOBAL)
    page = db.changes(Seq(0), limit=4)
    assert [change.id for change in page] == ["0", "1", "2", "3"]
    assert ids(db, page[-1].seq) == ["4", "5", "6", "7", "8", "9"]
    assert ids(db, db.head()) == []


def test_a_number_is_never_given_twice(db: Db) -> None:
    """Deleting the feed's rows does not make numbers come again."""
    with db.write() as tx:
        tx.changed(Kind.MESSAGE, "a", GLOBAL)
    head = db.head()
    with db.write() as tx:
        tx.run("DELETE FROM change")
    with db.write() as tx:
        tx.changed(Kind.MESSAGE, "b", GLOBAL)
    assert db.head() > head


def test_who_buffers_first_but_commits_last_is_numbered_last(open_db: Callable[[], Db]) -> None:
    """A follower that has read past a later commit still finds the earlier, slower transaction.

    On SQLite the second writer waits for the first, so both orders hold by themselves.
    """
    slow, quick = open_db(), open_db()
    buffered, seen = threading.Event(), threading.Event()

    def write_slowly() -> None:
        with slow.write() as tx:
            tx.changed(Kind.MESSAGE, "slow", GLOBAL)
            tx.run("UPDATE setting SET value = value WHERE name = 'none'")
            buffered.set()
            if slow.dialect == "postgres":
                assert seen.wait(60)

    thread = threading.Thread(target=write_slowly)
    thread.start()
    assert buffered.wait(60)
    with quick.write() as tx:
        tx.changed(Kind.MESSAGE, "quick", GLOBAL)
    found = ids(quick)
    watermark = quick.head()
    seen.set()
    thread.join()
    found += ids(quick, watermark)
    assert sorted(found) == ["quick", "slow"]


def test_numbers_taken_early_would_be_missed(postgres_db: Db) -> None:
    """Proof that the test above can fail: with numbers taken when a change is made, PostgreSQL loses one for good."""
    db = postgres_db
    naive = "INSERT INTO change (project_id, kind, id, op) VALUES ('p', 'message', :id, 'put')"
    made, seen = threading.Event(), threading.Event()

    def write_slowly() -> None:
        with db.write() as tx:
            tx.run(naive, id="slow")
            made.set()
            assert seen.wait(60)

    thread = threading.Thread(target=write_slowly)
    thread.start()
    assert made.wait(60)
    with db.write() as tx:
        tx.run(naive, id="quick")
    found = ids(db)
    watermark = db.head()
    seen.set()
    thread.join()
    assert found + ids(db, watermark) == ["quick"]


def test_a_follower_misses_nothing_beside_writing_processes(db: Db, store_url: str, data: Path) -> None:
    """Four processes commit with pauses at random while a follower reads: it gets every change exactly once."""
    command = [sys.executable, "-m", "tests.store.writer", store_url, str(data)]
    processes = [
        subprocess.Popen([*command, f"w{number}", str(EACH)], stdout=subprocess.DEVNULL) for number in range(WRITERS)
    ]
    watermark, found = Seq(0), []
    while True:
        running = any(process.poll() is None for process in processes)
        page = db.changes(watermark, limit=7)
        found += [change.id for change in page]
        if page:
            watermark = page[-1].seq
        elif not running:
            break
        else:
            db.wait(0.05)
    assert [process.returncode for process in processes] == [0] * WRITERS
    assert len(found) == len(set(found)) == WRITERS * EACH


def test_threads_of_one_process_lose_nothing(db: Db) -> None:
    """Writers that share one object, half of them in bulk, each with several changes per transaction."""

    def write(name: int) -> None:
        for turn in range(15):
            with db.write(bulk=name % 2 == 0) as tx:
                for part in range(3):
                    tx.changed(Kind.ENTRY, f"{name}-{turn}-{part}", GLOBAL)
                _touch(tx)

    threads = [threading.Thread(target=write, args=(name,)) for name in range(WRITERS)]
    for thread in threads:
        thread.start()
    watermark, found = Seq(0), []
    while any(thread.is_alive() for thread in threads) or db.head() > watermark:
        for change in db.changes(watermark):
            found.append(change.id)
            watermark = change.seq
    assert len(found) == len(set(found)) == WRITERS * 15 * 3


def test_a_new_feed_has_another_name(open_db: Callable[[], Db]) -> None:
    """What is restored or rebuilt is known by its feed id."""
    db = open_db()
    old = db.feed_id()
    with db.write() as tx:
        assert new_feed(tx) != old
    assert open_db().feed_id() != old


def test_a_jump_leaves_numbers_out(sqlite_db: Db) -> None:
    """After a jump the next change has a number that nobody can have seen. (PostgreSQL loses no commit.)"""
    with sqlite_db.write() as tx:
        tx.changed(Kind.MESSAGE, "a", GLOBAL)
    head = sqlite_db.head()
    with sqlite_db.write() as tx:
        jump(tx)
    with sqlite_db.write() as tx:
        tx.changed(Kind.MESSAGE, "b", GLOBAL)
    assert sqlite_db.head() == head + JUMP + 1
    assert [change.kind for change in sqlite_db.changes(head)] == [Kind.SESSION, Kind.MESSAGE]


def _touch(tx: Tx) -> None:
    tx.run("INSERT INTO setting (name, value) VALUES ('t', '') ON CONFLICT (name) DO UPDATE SET value = ''")
