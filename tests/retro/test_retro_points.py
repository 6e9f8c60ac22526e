"""The points of a retrospective in both stores: what memory had, candidates, and what forgetting takes along."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.harvest.extract_house import NOW, House, deps_for
from tests.harvest.rules_talk import DAY, PROJECT, Turn

from flywheel.jobs import queue
from flywheel.model import Clean, Injection, Micros, Retraction, RetroPoint, Session, SessionId
from flywheel.retro import asking, worker
from flywheel.store import Db
from flywheel.store.forget import forget
from flywheel.store.mapper import find, get, insert_many

LIMITS: Turn = ("user", "The rate limiter lives in src/limits.py, we decided to use a token bucket there.")
SEARCH: tuple[Turn, ...] = (
    ("user", "Make the API answer 429 more gently."),
    ("call", "grep -rn limiter src"),
    ("result", "src/app.py: limiter"),
    ("call", "rg limiter --files-with-matches"),
    ("result", "src/limits.py"),
    ("call", "cat src/limits.py", {"files": ["src/limits.py"]}),
    ("result", "class Bucket: ..."),
    ("assistant", "I found it."),
)
LATER = NOW + DAY
"""After what the house's extraction records."""


@pytest.fixture
def house(sqlite_db: Db, data: Path) -> House:
    """A project that knows where the rate limiter lives."""
    made = House(sqlite_db, data)
    made.hear("s0", LIMITS)
    return made


@pytest.fixture
def houses(db: Db, data: Path) -> House:
    """The same in a store of each kind."""
    made = House(db, data)
    made.hear("s0", LIMITS)
    return made


def look_back(house: House, session: str) -> None:
    """Run the job."""
    house.extract(session)
    worker.run(house.job(session, worker.KIND), deps_for(house.db, house.data))


def points(house: House, section: str, session: str = "s1") -> list[RetroPoint]:
    """The points of a section."""
    tail = "WHERE session_id = :session AND section = :section ORDER BY ordinal"
    with house.db.read() as tx:
        return find(tx, RetroPoint, tail, session=session, section=section)


def tell(house: House, entry: str, session: str, at: int) -> None:
    """A briefing of a session held the entry."""
    row = Injection(
        briefing_id="b",
        project_id=PROJECT,
        session_id=SessionId(session),
        native_session=session,
        agent="claude",
        event="SessionStart",
        source="entries",
        item_kind="entry",
        item_id=entry,
        tokens=10,
        created_at=Micros(at),
    )
    with house.db.write() as tx:
        insert_many(tx, [row])


def test_a_file_that_memory_knew_was_searched_for_all_the_same(house: House) -> None:
    """The entry and the messages are cited; whether the session had been told is in the ledger."""
    limits = house.entry("rate limiter")
    house.say("s1", *SEARCH, at=LATER)
    look_back(house, "s1")
    (point,) = points(house, "known")
    assert (point.entry_id, point.told, point.cost) == (limits.id, "untold", 3)
    assert point.text == "Searched for and found: src/limits.py (3 steps)"
    assert [cite["quote"] for cite in point.cites] == ["grep -rn limiter src", "cat src/limits.py"]
    assert not [one for one in points(house, "new") if one.kind == "found file"]
    tell(house, limits.id, "s1", LATER)
    look_back(house, "s1")
    assert [one.told for one in points(house, "known")] == ["told"]


def test_what_memory_read_later_it_could_not_tell(house: House) -> None:
    """An import of old sessions: it was said before, but nobody could have told it."""
    house.say("s1", *SEARCH, at=DAY)
    look_back(house, "s1")
    assert [one.told for one in points(house, "known")] == ["later"]


def test_a_file_that_an_entry_only_names_was_not_known(house: House) -> None:
    """The entry must share a word with what was searched, beyond the path's own."""
    turns = [(one[0], one[1].replace("limiter", "teapot"), *one[2:]) for one in SEARCH]
    house.say("s1", *turns, at=LATER)
    look_back(house, "s1")
    assert not points(house, "known")
    assert [one.text for one in points(house, "new") if one.kind == "found file"] == [
        "Found src/limits.py after 3 steps"
    ]


def test_what_is_said_again_was_known_already(house: House) -> None:
    """A decision that the user explains once more; what the session is the first to say is new."""
    house.say("s1", LIMITS, ("assistant", "I see."), ("user", "We always deploy on Tuesdays."), at=LATER)
    look_back(house, "s1")
    (point,) = points(house, "known")
    assert (point.text, point.told, point.entry_id) == ("Explained again", "untold", house.entry("rate limiter").id)
    fresh = [one for one in points(house, "new") if one.kind == "learned"]
    assert [one.entry_id for one in fresh] == [house.entry("deploy").id]


def test_a_command_that_memory_knew_was_found_by_failing(houses: House) -> None:
    """The page of that very command says so."""
    failed: tuple[Turn, ...] = (("call", "pytest"), ("error", "No module named yaml"))
    way: tuple[Turn, ...] = (*failed, ("call", "make check"), ("result", "ok"))
    houses.hear("s2", ("user", "Test it."), *way, at=DAY)
    houses.say("s1", ("user", "Test it again."), *way, at=LATER)
    look_back(houses, "s1")
    (point,) = points(houses, "known")
    assert (point.text, point.entry_id) == (
        "Found out by failing: `make check` (1 step)",
        houses.entry("make check").id,
    )


def test_a_helper_has_what_its_parent_had(house: House) -> None:
    """It began with its parent: what the parent said meanwhile was not memory's; what it was told counts."""
    house.say("s9", ("user", "Always answer 429 with Retry-After."), at=LATER)
    house.say("s1", *SEARCH, ("assistant", "Always answer 429 with Retry-After."), at=LATER + DAY, parent="s9")
    house.extract("s9")
    tell(house, house.entry("rate limiter").id, "s9", LATER)
    look_back(house, "s1")
    assert [(one.kind, one.told) for one in points(house, "known")] == [("known file", "told")]
    assert not points(house, "wrong")


def test_running_again_changes_nothing_and_older_rules_run_again(houses: House) -> None:
    """Rows, knowledge and the feed stay; a retrospective of older rules, or of a session that went on, is due."""
    turns: tuple[Turn, ...] = (*SEARCH, ("call", "npm test"), ("error", "Error: Cannot find module pg"))
    turns += (("call", "npm install"), ("result", ""), ("call", "npm test"), ("result", "ok"))
    houses.say("s1", *turns, at=LATER)
    look_back(houses, "s1")
    with houses.db.read() as tx:
        before = [find(tx, RetroPoint, "ORDER BY id"), houses.everything()]
        (session,) = find(tx, Session, "WHERE id = 's1'")
        assert asking.due(tx, [session]) == []
    assert [entry.type.value for entry in houses.entries() if "remedy" in entry.tags] == ["hypothesis"]
    look_back(houses, "s1")
    with houses.db.write() as tx:
        assert [find(tx, RetroPoint, "ORDER BY id"), houses.everything()] == before
        tx.run("UPDATE retrospective SET version = version - 1")
        assert asking.due(tx, [session]) == [session]
    look_back(houses, "s1")
    with houses.db.write() as tx:
        assert asking.due(tx, [session]) == []
        tx.run("UPDATE session SET last_at = last_at + 1")
        (session,) = find(tx, Session, "WHERE id = 's1'")
        assert asking.due(tx, [session]) == [session]


def test_what_was_taken_back_is_no_part_of_it(house: House) -> None:
    """A rewind takes the steps along."""
    messages = house.say("s1", *SEARCH, at=LATER)
    gone = [
        Retraction(message_id=one.id, project_id=PROJECT, reason=Clean(""), created_at=Micros(0))
        for one in messages[1:5]
    ]
    with house.db.write() as tx:
        insert_many(tx, gone)
    look_back(house, "s1")
    assert not points(house, "known")


def test_forgetting_takes_the_points_along(houses: House) -> None:
    """Of a page those that speak of it; of a message or a session all of the session's."""
    houses.say("s1", *SEARCH, at=LATER)
    look_back(houses, "s1")
    with houses.db.write() as tx:
        forget(tx, "entry", houses.entry("rate limiter").id, Clean(""), NOW)
    assert not points(houses, "known") and points(houses, "attempted")
    with houses.db.write() as tx:
        (message,) = tx.all("SELECT id FROM message WHERE session_id = 's1' AND ordinal = 3")
        forget(tx, "message", message[0], Clean(""), NOW)
    assert not points(houses, "attempted")
    look_back(houses, "s1")
    assert points(houses, "attempted")
    with houses.db.write() as tx:
        assert forget(tx, "session", "s1", Clean(""), NOW)["retro_point"] > 0
        assert get(tx, RetroPoint, session_id="s1") is None


def test_projects_do_not_mix(house: House) -> None:
    """What another project knows about a file of that name is not what memory had here."""
    with house.db.write() as tx:
        tx.run("UPDATE entry SET project_id = 'other'")
        tx.run("UPDATE entry_link SET project_id = 'other'")
    house.say("s1", *SEARCH, at=LATER)
    look_back(house, "s1")
    assert not points(house, "known")


def test_what_is_not_extracted_yet_is_looked_at_again(house: House) -> None:
    """What is new cannot be told before extraction ran, so the job comes back once more."""
    house.say("s1", LIMITS, at=LATER)
    with house.db.write() as tx:
        queue.enqueue(tx, kind="extract", key="s1", project_id=PROJECT, now=NOW)
    look_back(house, "s1")
    with house.db.read() as tx:
        assert [job.key for job in queue.listing(tx) if job.kind == worker.KIND] == ["s1"]


def test_the_line_that_says_what_failed_stands_at_the_end_of_a_long_output(house: House) -> None:
    """It is cited where it stands, however much was printed before it."""
    text = "collected 900 items\n" + "tests/test_mail.py ....\n" * 400 + "AssertionError: 3 mails are not 4\nbye\n"
    fails: tuple[Turn, ...] = (("call", "make check"), ("error", text))
    messages = house.say("s1", ("user", "Check it."), *fails, *fails, at=LATER)
    look_back(house, "s1")
    (point,) = [one for one in points(house, "wrong") if one.kind == "failing"]
    assert point.text == "`make check` failed 2 times (“AssertionError: 3 mails are not 4”) and never worked"
    start, stop = (int(str(point.cites[1][name])) for name in ("start", "stop"))
    assert messages[4].text[start:stop] == "AssertionError: 3 mails are not 4"
