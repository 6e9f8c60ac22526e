"""The text index over both stores: what is found, how it keeps up, and what it survives."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.index.text_house import APP, MINUTE, NOON, OTHER, House, ids

from flywheel.errors import Unavailable
from flywheel.index.follow import behind, step
from flywheel.index.text import TextFollower
from flywheel.index.text_query import Bounds
from flywheel.index.text_read import TextReader
from flywheel.index.text_shelf import Group, open_index
from flywheel.model import Clean, Kind, Micros, Op, Seq, SessionId, Status
from flywheel.store import Db
from flywheel.store.feed import new_feed
from flywheel.store.forget import forget


@pytest.fixture
def house(db: Db, data: Path) -> Iterator[House]:
    """An index over each store in turn."""
    house = House(db, data / "text")
    yield house
    house.close()


@pytest.fixture
def sqlite_house(sqlite_db: Db, data: Path) -> Iterator[House]:
    """An index over SQLite, where the store does not matter."""
    house = House(sqlite_db, data / "text")
    yield house
    house.close()


def test_finds_by_stem_project_and_time(house: House) -> None:
    """A message is found by other forms of its words, within its project and its time."""
    (mine, _) = house.talk("s1", "We cached the invoices", "Fine")
    (theirs, _) = house.talk("s2", "Caching invoices is hard", "Indeed", project=OTHER, start=Micros(NOON + MINUTE * 9))
    house.index()
    assert set(house.find("invoice caches")) == {mine, theirs, "s1-1", "s2-1"}
    assert house.find("invoice", projects=[APP])[0] == mine
    assert not set(house.find("invoice", projects=[APP])) & {theirs}
    reader = TextReader(house.root)
    late = Bounds(since=Micros(NOON + MINUTE * 5))
    assert {id for id, _ in reader.search(reader.terms("invoice"), Group.TALK, late, 9)} == {theirs, "s2-1"}
    early = Bounds(until=Micros(NOON + MINUTE * 9))
    assert {id for id, _ in reader.search(reader.terms("invoice"), Group.TALK, early, 9)} == {mine, "s1-1"}


def test_neighbours_words_count_and_own_words_more(house: House) -> None:
    """A short answer is found by the question before it, up to two messages away, and the question itself first."""
    messages = house.talk("s", "hello", "Shall we shard the ledger?", "Yes, do that", "Done", "Next one", "Unrelated")
    house.index()
    found = house.find("shard ledger")
    assert found[0] == messages[1]
    assert set(found) == set(messages[:4])


def test_tool_output_is_no_neighbour(house: House) -> None:
    """Talk is neighbour to talk across tool calls; tool output is found alone, among what was worked."""
    house.session(
        "s",
        [
            ("prompt", "why is the turbine slow"),
            ("tool_call", "grep gearbox"),
            ("tool_result", "gearbox oil pressure"),
            ("reply", "I see it"),
        ],
    )
    house.index()
    assert house.find("turbine") == ["s-0", "s-3"]
    assert house.find("gearbox") == []
    assert set(house.find("gearbox", Group.WORK)) == {"s-1", "s-2"}


def test_a_later_message_reaches_its_neighbours(house: House) -> None:
    """An append re-indexes what came before: the question is found by the words of an answer that came later."""
    house.talk("s", "Which queue?", "Let me look")
    house.index()
    assert house.find("rabbitmq") == []
    house.session("s", [("reply", "RabbitMQ it is")], first=2)
    house.index()
    assert set(house.find("rabbitmq")) == {"s-0", "s-1", "s-2"}


def test_retracted_messages_vanish_from_themselves_and_neighbours(house: House) -> None:
    """What was taken back is found no more, nor are its neighbours by its words."""
    messages = house.talk("s", "Tell me", "The password rotates weekly", "Thanks")
    house.index()
    assert len(house.find("rotates")) == 3
    house.retract(messages[1])
    house.index()
    assert house.find("rotates") == []
    assert house.find("thanks") == ["s-2", "s-0"]


def test_long_output_is_found_by_head_and_tail(sqlite_house: House) -> None:
    """Of a long output the beginning and the end are findable, the middle is not."""
    text = "configure zlib " + "filler " * 2000 + "Segfault at teardown"
    middle = text[: len(text) // 2] + " needle " + text[len(text) // 2 :]
    sqlite_house.session("s", [("tool_result", middle)])
    sqlite_house.index()
    assert sqlite_house.find("zlib", Group.WORK) == ["s-0"]
    assert sqlite_house.find("segfault teardown", Group.WORK) == ["s-0"]
    assert sqlite_house.find("needle", Group.WORK) == []


def test_two_character_chinese_words_are_found(house: House) -> None:
    """A Chinese word of two characters is found within a longer run, where word indexes find nothing."""
    house.talk("s", "我们决定用消息队列处理订单", "好的")
    house.index()
    assert house.find("队列")[0] == "s-0"
    assert house.find("订单")[0] == "s-0"
    assert house.find("数据") == []


def test_identifiers_are_found_in_any_spelling_and_in_part(house: House) -> None:
    """A compound name meets its other spellings and longer names that contain it; whole matches come first."""
    house.session("s", [("prompt", "see get_user_name"), ("tool_call", "getUserNameById"), ("prompt", "unrelated")])
    house.session("t", [("tool_call", "run GetUserName")])
    house.index()
    assert house.find("getUserName", Group.WORK) == ["t-0", "s-1"]
    assert house.find("get-user-name")[0] == "s-0"


@pytest.mark.parametrize(
    "query",
    [
        '"unclosed',
        "a AND OR NOT (",
        "field:value",
        "+must -not ~2^3",
        "[1 TO 5}",
        "*?\\",
        "'; DROP TABLE message; --",
        "\x00\ud800",
        "",
        "   ",
        "日本" * 500,
        "x" * 100_000,
        "wörd " * 5000,
    ],
)
def test_no_query_is_an_error(sqlite_house: House, query: str) -> None:
    """Quotes, operators and garbage in a question are words or nothing, never an error."""
    sqlite_house.talk("s", "some text", "other")
    sqlite_house.index()
    for group in Group:
        sqlite_house.find(query, group)


def test_entries_move_between_groups_with_their_status(house: House) -> None:
    """An entry that is served no more leaves the group that is searched by default."""
    entry = house.entry("e-000001", "Use nebula", "We route by nebula", links=["src/route.py"])
    house.index()
    assert house.find("nebula", Group.ENTRY) == [entry]
    assert house.find("src/route.py", Group.ENTRY) == [entry]
    house.entry("e-000001", "Use nebula", "We route by nebula", status=Status.SUPERSEDED)
    house.index()
    assert house.find("nebula", Group.ENTRY) == []
    assert house.find("nebula", Group.RETIRED) == [entry]


def test_symbols_are_found_by_name_words_and_path(house: House) -> None:
    """A symbol is found by its own name (also when that is a plain word), its documentation and its path."""
    house.symbol("sym1", "Pump.drain", "src/pump/valve_box.py", doc="Empties the reservoir.")
    house.index()
    for query in ("drain", "reservoir", "valve_box.py", "Pump.drain"):
        assert house.find(query, Group.SYMBOL) == ["sym1"], query


def test_a_change_that_comes_twice_changes_nothing(house: House) -> None:
    """Applying the same changes again leaves one document of each."""
    house.talk("s", "one fish", "two fish")
    changes = house.db.changes(Seq(0))
    for _ in range(3):
        house.follower.apply(house.db, changes, house.db.feed_id(), changes[-1].seq)
    assert sorted(house.find("fish")) == ["s-0", "s-1"]
    assert TextReader(house.root).count() == 2


def test_watermark_survives_and_goes_on(house: House) -> None:
    """A new process goes on where the last one committed."""
    house.talk("s", "alpha", "beta")
    house.index()
    mark = house.follower.watermark()
    house.close()
    assert TextReader(house.root).watermark() == mark
    assert house.follower.watermark() == mark
    house.talk("t", "gamma", "delta")
    assert behind(house.db, house.follower) == 2
    house.index()
    assert (behind(house.db, house.follower), house.find("gamma")[0]) == (0, "t-0")


def test_foreign_feed_starts_anew(house: House) -> None:
    """A restored database has another feed: what the index held is gone, what that feed names is there."""
    house.talk("s", "walnut", "almond")
    house.talk("t", "walnut", "almond")
    house.index()
    with house.db.write() as tx:
        tx.run("DELETE FROM change")
        new_feed(tx)
        tx.changed(Kind.MESSAGE, "s-1", APP)
    if hasattr(house.db, "_feed"):
        house.db._feed = ""
    house.index()
    assert house.follower.watermark()[0] == house.db.feed_id()
    assert set(house.find("walnut")) == {"s-0", "s-1"}


def test_watermark_ahead_of_the_store_starts_anew(sqlite_house: House) -> None:
    """A store that fell back behind the index forces a rebuild."""
    house = sqlite_house
    house.talk("s", "early", "bird")
    house.talk("t", "late", "comer")
    house.index()
    with house.db.write() as tx:
        tx.run("DELETE FROM change WHERE seq > 2")
    house.index()
    assert house.follower.watermark()[1] == 2
    assert house.find("early") and not house.find("late")


def test_one_writer_at_a_time(sqlite_house: House) -> None:
    """A second writer of the same folder is told so, and nothing is lost by it."""
    house = sqlite_house
    house.talk("s", "first", "writer")
    house.index()
    other = TextFollower(house.root)
    house.talk("t", "second", "try")
    with pytest.raises(Unavailable):
        step(house.db, other)
    house.index()
    assert house.find("second")


def test_reader_follows_commits_without_reopening(sqlite_house: House) -> None:
    """A reader that is open sees each commit, also the first one of an index that did not exist."""
    house = sqlite_house
    reader = TextReader(house.root)
    assert (ids(reader, "comet"), reader.watermark(), reader.count()) == ([], ("", 0), 0)
    house.talk("s", "a comet", "where")
    house.index()
    assert ids(reader, "comet") == ["s-0", "s-1"]
    house.talk("t", "another comet", "there")
    house.index()
    assert len(ids(reader, "comet")) == 4


def test_broken_index_is_begun_anew(sqlite_house: House) -> None:
    """A damaged folder costs a rebuild and no error."""
    house = sqlite_house
    house.talk("s", "solid ground", "yes")
    house.index()
    house.close()
    (folder,) = [path for path in house.root.iterdir() if path.is_dir()]
    (folder / "meta.json").write_text("{broken")
    assert TextReader(house.root).count() == 0
    house.index()
    assert house.find("ground") == ["s-0", "s-1"]


def test_forgotten_words_leave_the_disk_while_search_goes_on(house: House) -> None:
    """After a forget the index is rebuilt beside itself: no dictionary holds the word, no moment finds too little."""
    for number in range(6):
        house.talk(f"s{number}", f"common ground {number}", "zanzibar" if number == 3 else "plain")
    house.index()
    reader = TextReader(house.root)
    with house.db.write() as tx:
        forget(tx, "message", "s3-1", Clean("asked for"), NOON)
    step(house.db, house.follower)
    assert "s3-1" not in ids(reader, "zanzibar")
    assert _in_a_dictionary(house.root, "zanzibar")
    while step(house.db, house.follower):
        assert len(ids(reader, "common")) == 11
    assert ids(reader, "zanzibar") == []
    assert len(ids(reader, "common")) == 11
    assert not _in_a_dictionary(house.root, "zanzibar")
    assert not step(house.db, house.follower)


def test_forgotten_session_goes_whole(house: House) -> None:
    """Forgetting a session takes all of its messages out of the index and off the disk."""
    house.talk("s", "quokka", "quokkas")
    house.talk("t", "wombat", "wombats")
    house.index()
    with house.db.write() as tx:
        forget(tx, "session", SessionId("s"), Clean(""), NOON)
    house.index()
    assert (house.find("quokka"), house.find("wombat")) == ([], ["t-0", "t-1"])
    assert not _in_a_dictionary(house.root, "quokka")


def test_interrupted_rebuild_goes_on(sqlite_house: House) -> None:
    """A rebuild that a stop cut short is finished by the next process."""
    house = sqlite_house
    for number in range(5):
        house.talk(f"s{number}", f"walrus {number}", "tusk")
    house.index()
    with house.db.write() as tx:
        forget(tx, "message", "s0-1", Clean(""), NOON)
    step(house.db, house.follower)
    step(house.db, house.follower)
    house.close()
    assert len([path for path in house.root.iterdir() if path.is_dir()]) == 2
    house.index()
    assert len(house.find("walrus")) == 9
    assert len([path for path in house.root.iterdir() if path.is_dir()]) == 1


def test_other_changes_are_findable_during_a_rebuild(sqlite_house: House) -> None:
    """New messages are found while a rebuild is under way."""
    house = sqlite_house
    house.talk("s", "old", "text")
    house.index()
    house.follower.scrub()
    house.talk("t", "newest", "text")
    step(house.db, house.follower)
    assert house.find("newest") == ["t-0", "t-1"]
    house.index()
    assert house.find("newest") == ["t-0", "t-1"]
    assert house.find("old") == ["s-0", "s-1"]


_KILLED = """
import sys, time
from pathlib import Path
from flywheel.index.follow import step
from flywheel.index.text import TextFollower
from flywheel.store.connect import connect
db = connect("sqlite", Path(sys.argv[1]))
follower = TextFollower(Path(sys.argv[1]) / "text")
print("ready", flush=True)
while step(db, follower, 7):
    print(follower.watermark()[1], flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("after", [1, 3, 8])
def test_a_killed_indexer_loses_and_doubles_nothing(sqlite_house: House, data: Path, after: int) -> None:
    """``kill -9`` in the midst of commits: what the watermark says is in, is in, once; the next process goes on."""
    house = sqlite_house
    for number in range(40):
        house.talk(f"s{number:02d}", f"penguin {number}", "ice")
    with subprocess.Popen(
        [sys.executable, "-c", _KILLED, str(data)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": "src"},
    ) as process:
        assert process.stdout is not None
        for _ in range(after + 1):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
    reader = TextReader(house.root)
    _, seq = reader.watermark()
    named = {change.id for change in house.db.changes(Seq(0)) if change.seq <= seq}
    assert seq and named <= set(ids(reader, "penguin", limit=200))
    house.index()
    assert sorted(house.find("penguin") + ids(TextReader(house.root), "penguin", limit=200)[50:]) == sorted(
        f"s{number:02d}-{part}" for number in range(40) for part in (0, 1)
    )
    assert TextReader(house.root).count() == 80


def test_large_projects_are_filtered_after_the_search(sqlite_house: House) -> None:
    """Whether a project is filtered before or after the search, the answer is the same."""
    house = sqlite_house
    for number in range(30):
        house.talk(f"a{number}", f"gull {'gull ' * (number % 3)}", "sea")
    for number in range(3):
        house.talk(f"b{number}", "gull gull gull gull", "sea", project=OTHER)
    house.index()
    found = set(house.find("gull", projects=[APP]))
    assert found == {id for id in house.find("gull", projects=[APP, OTHER]) if id.startswith("a")} or len(found) == 50
    assert set(house.find("gull", projects=[OTHER])) == {f"b{n}-{part}" for n in range(3) for part in (0, 1)}
    reader: Callable[..., list[str]] = lambda **kw: ids(TextReader(house.root), "gull", **kw)  # noqa: E731
    assert len(reader(projects=[APP], limit=60)) == 60


def test_deleted_rows_leave_the_index(house: House) -> None:
    """A symbol that the code index dropped is found no more."""
    house.symbol("sym1", "old_name", "src/a.py")
    house.index()
    with house.db.write() as tx:
        tx.run("DELETE FROM symbol WHERE id = 'sym1'")
        tx.changed(Kind.SYMBOL, "sym1", APP, Op.DEL)
    house.index()
    assert house.find("old_name", Group.SYMBOL) == []


def _in_a_dictionary(root: Path, word: str) -> bool:
    folders = [path for path in root.iterdir() if path.is_dir()]
    found = [
        open_index(path).searcher().terms_with_prefix("stems", f"{group}{word}") for group in Group for path in folders
    ]
    return any(found)
