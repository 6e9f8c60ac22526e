"""What every store keeps to: the same suite over SQLite and PostgreSQL."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from tests.store.samples import NOW, PROJECT, document, message, session

from flywheel.errors import Conflict, Defect, Refused
from flywheel.model import Message, Role, Tombstone
from flywheel.store import Db, Tx, mapper
from flywheel.store.retry import commit


def put(tx: Tx, name: str, value: str = "x") -> None:
    """Write one setting."""
    tx.run("INSERT INTO setting (name, value) VALUES (:name, :value)", name=name, value=value)


def names(db: Db) -> list[str]:
    """The settings whose names begin with ``t-``."""
    with db.read() as tx:
        return [name for (name,) in tx.all("SELECT name FROM setting WHERE name LIKE 't-%' ORDER BY name")]


def test_a_clean_exit_commits(db: Db) -> None:
    """What was written is there for the next transaction."""
    with db.write() as tx:
        put(tx, "t-a")
    assert names(db) == ["t-a"]


def test_an_exception_rolls_everything_back(db: Db) -> None:
    """Neither rows nor changes are left of a transaction that raised."""
    head = db.head()
    with pytest.raises(ZeroDivisionError), db.write() as tx:
        mapper.insert(tx, message(1))
        tx.changed("message", "m", PROJECT)  # type: ignore[arg-type]
        raise ZeroDivisionError
    with db.read() as tx:
        assert mapper.find(tx, Message) == []
    assert db.head() == head


def test_a_reader_sees_one_snapshot(db: Db) -> None:
    """Within one read nothing changes, whatever is committed meanwhile."""
    with db.read() as reader:
        assert reader.all("SELECT name FROM setting WHERE name = 't-a'") == []
        with db.write() as tx:
            put(tx, "t-a")
        assert reader.all("SELECT name FROM setting WHERE name = 't-a'") == []
    assert names(db) == ["t-a"]


def test_readers_do_not_wait_for_an_open_writer(db: Db) -> None:
    """While a write transaction is open, reads answer with what was committed before."""
    with db.write() as tx:
        put(tx, "t-a")
        assert names(db) == []
    assert names(db) == ["t-a"]


def test_a_write_sees_its_own_rows(db: Db) -> None:
    """A transaction reads what it wrote."""
    with db.write() as tx:
        put(tx, "t-a")
        assert tx.one("SELECT value FROM setting WHERE name = 't-a'") == ("x",)


def test_reads_refuse_to_write(db: Db) -> None:
    """A write in a read transaction is a defect, and nothing is written."""
    with pytest.raises(Defect), db.read() as tx:
        put(tx, "t-a")
    assert names(db) == []


def test_reads_nest(db: Db) -> None:
    """A thread may open a read inside a read."""
    with db.read() as outer, db.read() as inner:
        assert outer.one("SELECT 1") == inner.one("SELECT 1") == (1,)


def test_a_write_inside_a_write_is_a_defect(db: Db) -> None:
    """It would wait for itself, so it is refused at once."""
    with db.write() as tx:
        put(tx, "t-a")
        with pytest.raises(Defect), db.write():
            pass
    assert names(db) == ["t-a"]


def test_lists_expand_in_place(db: Db) -> None:
    """IN takes lists of every length; an empty one matches nothing, and NOT IN an empty one everything."""
    with db.write() as tx:
        for name in ("t-a", "t-b", "t-c"):
            put(tx, name)
    with db.read() as tx:
        sql = "SELECT name FROM setting WHERE name LIKE 't-%' AND name IN :wanted ORDER BY name"
        assert tx.all(sql, wanted=["t-c", "t-a", "t-z"]) == [("t-a",), ("t-c",)]
        assert tx.all(sql, wanted=("t-b",)) == [("t-b",)]
        assert tx.all(sql, wanted=[]) == []
        assert len(tx.all(sql, wanted=[f"t-{letter}" for letter in "abcdefghijk"] * 45)) == 3
        rest = "SELECT count(*) FROM setting WHERE name LIKE 't-%' AND name NOT IN :wanted"
        assert tx.one(rest, wanted=["t-a"]) == (2,)
        assert tx.one(rest, wanted=[]) == (3,)


def test_a_list_of_numbers_and_two_lists(db: Db) -> None:
    """Sets may hold integers, and a statement may have several."""
    with db.write() as tx:
        mapper.insert_many(tx, [message(number) for number in range(5)])
    with db.read() as tx:
        found = tx.all(
            "SELECT ordinal FROM message WHERE ordinal IN :numbers AND role IN :roles ORDER BY ordinal",
            numbers=[1, 3, 4_000_000_000],
            roles=[Role.USER, Role.TOOL],
        )
    assert found == [(1,), (3,)]


def test_values_come_back_as_they_went_in(db: Db) -> None:
    """Unicode, percent signs, quotes, colons, large integers, floats, NULL and bytes survive."""
    text = "naïve 漢字 🜁 100% ':x' \"q\" \\ \n\t %(x)s ::int"
    with db.write() as tx:
        put(tx, "t-a", text)
        tx.run(
            "INSERT INTO embedding (kind, id, model, project_id, dim, vector, sha256)"
            " VALUES ('message', 'm', 'x', 'p', 4, :vector, '')",
            vector=b"\x00\xff\x80'",
        )
        tx.run(
            "INSERT INTO session (id, project_id, agent, native_id, parent_id, title, cwd, branch, model,"
            " client_version, started_at, last_at, ended_at, messages, facts)"
            " VALUES ('s', 'p', 'a', 'n', :none, '', '', '', '', '', :big, :small, NULL, 0, :facts)",
            none=None,
            big=2**63 - 1,
            small=-(2**63),
            facts={"a": [1, "é"]},
        )
    with db.read() as tx:
        assert tx.one("SELECT value FROM setting WHERE name = 't-a'") == (text,)
        assert tx.one("SELECT vector FROM embedding") == (b"\x00\xff\x80'",)
        assert tx.one("SELECT parent_id, started_at, last_at, ended_at, facts FROM session") == (
            None,
            2**63 - 1,
            -(2**63),
            None,
            '{"a":[1,"é"]}',
        )
        assert tx.all("SELECT id FROM session WHERE parent_id IS NULL") == [("s",)]


def test_literals_are_left_alone(db: Db) -> None:
    """A colon or percent sign inside quotes or a comment is no parameter."""
    with db.read() as tx:
        row = tx.one("SELECT ':name 100%' AS \"x:y\", 7 % 4, :name -- :other\n", name="n")
    assert row == (":name 100%", 3, "n")


def test_numbers_are_the_same_on_both(db: Db) -> None:
    """Sums are integers, averages floats, truth 0 and 1."""
    with db.write() as tx:
        mapper.insert_many(tx, [message(number) for number in range(1, 4)])
    with db.read() as tx:
        row = tx.one("SELECT sum(ordinal), avg(ordinal), count(*), EXISTS (SELECT 1 FROM message), 1 = 2 FROM message")
    assert row is not None
    assert row == (6, 2.0, 3, 1, 0)
    assert [type(value) for value in row[:1]] == [int]
    assert type(row[3]) is int


def test_text_sorts_by_bytes_and_like_minds_case(db: Db) -> None:
    """Order and LIKE do not depend on the store or its locale."""
    wanted = ["t-B", "t-Z", "t-_", "t-a", "t-é"]
    with db.write() as tx:
        for name in reversed(wanted):
            put(tx, name)
    assert names(db) == wanted
    with db.read() as tx:
        assert tx.all("SELECT name FROM setting WHERE name LIKE 'T-%'") == []
        assert tx.one("SELECT name FROM setting WHERE name > 't-' ORDER BY name COLLATE \"C\" LIMIT 1") == ("t-B",)


def test_upsert_returning(db: Db) -> None:
    """ON CONFLICT ... DO UPDATE ... RETURNING gives the row as it is now."""
    sql = (
        "INSERT INTO setting (name, value) VALUES (:name, :value)"
        " ON CONFLICT (name) DO UPDATE SET value = setting.value || excluded.value RETURNING value"
    )
    with db.write() as tx:
        assert tx.one(sql, name="t-a", value="1") == ("1",)
        assert tx.one(sql, name="t-a", value="2") == ("12",)
    with db.read() as tx:
        assert tx.one("SELECT value FROM setting WHERE name = 't-a'") == ("12",)


def test_row_counts(db: Db) -> None:
    """run, many and batch say how many rows were touched; rows left out are not counted."""
    insert = "INSERT INTO setting (name, value) VALUES (:name, :value) ON CONFLICT DO NOTHING"
    with db.write() as tx:
        assert tx.many(insert, [{"name": "t-a", "value": "1"}, {"name": "t-a", "value": "2"}]) == 1
        assert tx.batch(insert, [("t-b", "1"), ("t-c", "1"), ("t-a", "3")]) == 2
        assert tx.batch(insert, []) == 0
        assert tx.run("UPDATE setting SET value = '9' WHERE name LIKE 't-%'") == 3
        assert tx.run("DELETE FROM setting WHERE name = 't-z'") == 0


def test_a_taken_key_is_a_conflict(db: Db) -> None:
    """A second row under one key raises Conflict."""
    with pytest.raises(Conflict), db.write() as tx:
        put(tx, "t-a")
        put(tx, "t-a")
    assert names(db) == []


def test_after_an_error_a_transaction_can_only_roll_back(db: Db) -> None:
    """Swallowing an error and going on is a defect on both stores, and nothing is written."""
    with pytest.raises(Defect), db.write() as tx:
        put(tx, "t-a")
        with pytest.raises(Conflict):
            put(tx, "t-a")
        put(tx, "t-b")
    with pytest.raises(Defect), db.write() as tx:
        put(tx, "t-a")
        with pytest.raises(Conflict):
            put(tx, "t-a")
    assert names(db) == []


@pytest.mark.parametrize("sql", ["SELEC 1", "SELECT * FROM nowhere", "SELECT :missing"])
def test_nonsense_is_a_defect(db: Db, sql: str) -> None:
    """Bad SQL, unknown tables and missing parameters raise Defect; the store works on."""
    with pytest.raises(Defect), db.read() as tx:
        tx.all(sql)
    assert db.head() == 0


def test_a_set_must_be_a_list(db: Db) -> None:
    """A string behind IN would be taken for its letters."""
    with pytest.raises(Defect), db.read() as tx:
        tx.all("SELECT name FROM setting WHERE name IN :wanted", wanted="t-a")


EVIDENCE = ["message", "document", "citation"]


@pytest.mark.parametrize("table", EVIDENCE)
def test_evidence_refuses_updates_and_deletes(db: Db, table: str) -> None:
    """UPDATE is always refused, DELETE unless a tombstone of that very row exists."""
    with db.write() as tx:
        _one_of_each(tx)
    with pytest.raises(Refused), db.write() as tx:
        tx.run(f"UPDATE {table} SET sha256 = 'x'")
    with pytest.raises(Refused), db.write() as tx:
        tx.run(f"DELETE FROM {table}")
    with db.write() as tx:
        row = tx.one(f"SELECT id FROM {table}")
        assert row is not None
        mapper.insert(tx, Tombstone(kind=table, id=row[0], project_id=PROJECT, reason=message(1).text, created_at=NOW))
        assert tx.run(f"DELETE FROM {table}") == 1


def test_what_has_a_tombstone_does_not_come_back(db: Db) -> None:
    """A second import of a forgotten message, document or session is skipped without an error."""
    with db.write() as tx:
        for kind, id in (("message", message(1).id), ("document", "d1"), ("session", "s1"), ("session", "s9")):
            mapper.insert(tx, Tombstone(kind=kind, id=id, project_id=PROJECT, reason=message(1).text, created_at=NOW))
    with db.write() as tx:
        assert mapper.insert_many(tx, [message(1, session="s2"), message(2, session="s9")]) == 1
        assert mapper.insert_many(tx, [message(3, session="s9")]) == 0
        assert mapper.insert_many(tx, [document("d1"), document("d2")]) == 1
        mapper.upsert(tx, session("s1"))
    with db.read() as tx:
        assert tx.all("SELECT id FROM session") == []
        assert tx.all("SELECT id FROM document") == [("d2",)]


def test_two_databases_see_each_other(open_db: Callable[[], Db]) -> None:
    """What one connection commits, another reads; both name the same feed."""
    one, two = open_db(), open_db()
    with one.write() as tx:
        put(tx, "t-a")
    assert names(two) == ["t-a"]
    assert one.feed_id() == two.feed_id() != ""


def test_wait_reports_a_commit_and_else_times_out(open_db: Callable[[], Db]) -> None:
    """The first call starts the watch; then True after another's commit, False without one."""
    one, two = open_db(), open_db()
    assert one.wait(0.01) is True
    assert one.wait(0.01) is False
    with two.write() as tx:
        put(tx, "t-a")
    assert one.wait(60) is True
    assert one.wait(0.01) is False


def test_wait_wakes_while_it_waits(open_db: Callable[[], Db]) -> None:
    """A commit in another thread ends the wait long before its timeout."""
    one, two = open_db(), open_db()
    one.wait(0)

    def write() -> None:
        with two.write() as tx:
            put(tx, "t-a")

    timer = threading.Timer(0.05, write)
    timer.start()
    assert one.wait(60) is True
    timer.join()


def test_the_clock_is_in_microseconds_and_moves(db: Db) -> None:
    """Two readings are in order and lie after 2024 and before 2100."""
    first = db.clock()
    second = db.clock()
    assert 1_704_000_000_000_000 < first <= second < 4_102_000_000_000_000


def test_many_threads_read_and_write(db: Db) -> None:
    """Eight threads share one object; every write arrives once."""

    def work(number: int) -> None:
        for turn in range(5):
            commit(db, lambda tx, turn=turn: put(tx, f"t-{number}-{turn}"))  # type: ignore[misc]
            names(db)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(names(db)) == 40


def test_a_closed_database_says_so(db: Db) -> None:
    """Closing twice is harmless; using it afterwards is a defect."""
    db.close()
    db.close()
    with pytest.raises(Defect), db.read():
        pass
    with pytest.raises(Defect), db.write():
        pass


def _one_of_each(tx: Tx) -> None:
    from tests.store.samples import citation

    mapper.insert(tx, message(1))
    mapper.insert(tx, document())
    mapper.insert(tx, citation("c1", "k1", message(1)))
