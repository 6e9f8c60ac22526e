"""Replaying a user's past: nothing of later in it, the same each time, and the store as it was."""

from __future__ import annotations

from dataclasses import replace

from tests.app.talking import House
from tests.replay.working import Did, work

from flywheel.api import ReplaySession
from flywheel.codec import encode
from flywheel.replay.running import Wanted, replay
from flywheel.store.mapper import upsert

NAMED = Did("assistant", "The lease is renewed in src/shop/lease.py, and tests run with make check.")
LOOKED = (Did("user", "Where is the lease of the mail renewed?"), Did("read", "src/shop/lease.py"))
DECIDED = Did("user", "We decided to use Postgres for the mail queue because Redis lost mail.")


def scores(house: House, **wanted: object) -> list[ReplaySession]:
    """The sessions of a replay."""
    parts = house.parts
    return list(replay(parts.db, parts.config, None, Wanted(**wanted)))  # type: ignore[arg-type]


def needs(one: ReplaySession) -> list[tuple[str, str, bool]]:
    """What it needed and whether it was told."""
    return [(need.kind, need.name, need.told) for need in one.needs]


def test_memory_is_as_it_was_just_before(house: House) -> None:
    """What an earlier session said is told; what a later one says, and the session itself, is not."""
    work(house, "before", Did("user", "Renew the lease, please"), NAMED, day=1)
    work(house, "middle", *LOOKED, Did("run", "make check"), day=2)
    before, middle = scores(house)
    assert needs(before) == []
    assert needs(middle) == [("file", "src/shop/lease.py", True), ("command", "make check", True)]
    assert middle.tokens > 0 and middle.plain == 2


def test_a_later_decision_is_absent(home: House) -> None:
    """What is decided after a session tells it nothing, however well it would have fitted."""
    work(home, "before", Did("user", "Where does the mail wait?"), Did("assistant", "In a list in Redis."), day=1)
    work(home, "middle", *LOOKED, DECIDED, Did("run", "make check"), day=2)
    work(home, "after", Did("user", "Renew the lease, please"), NAMED, DECIDED, day=3)
    middle = scores(home)[1]
    assert needs(middle) == [("file", "src/shop/lease.py", False), ("command", "make check", False)]
    assert middle.plain == 0


def test_what_never_came_up_could_not_be_told(home: House) -> None:
    """It is a need, and memory is not blamed for it; what somebody only did had come up."""
    work(home, "before", Did("user", "Renew the lease, please"), Did("read", "src/shop/lease.py"), day=1)
    work(home, "middle", *LOOKED, Did("read", "src/shop/new.py"), Did("run", "make check"), day=2)
    middle = scores(home)[1]
    came_up = {need.name: need.met for need in middle.needs}
    assert came_up == {"src/shop/lease.py": True, "src/shop/new.py": False, "make check": False}
    assert middle.met == 1 and middle.told <= 1 and middle.needed == 3


def test_habits_of_then_are_told(home: House) -> None:
    """What earlier sessions ran is in the briefing that a replay makes, as in one of then."""
    for number in range(3):
        ran = [Did("edit", "src/shop/mail.py"), Did("run", "just check"), Did("run", "just check")]
        work(home, f"s{number}", Did("user", "Fix the mail"), *ran, day=number)
    found = [need for one in scores(home) for need in one.needs]
    assert [(need.name, need.told) for need in found if need.kind == "command"][-1] == ("just check", True)


def test_a_decision_explained_again_is_a_need(home: House) -> None:
    """Once memory has it, a session in which a person says it again needed it."""
    work(home, "first", DECIDED, Did("assistant", "Noted."), day=1)
    work(home, "again", DECIDED, Did("assistant", "I know."), day=2)
    first, again = scores(home)
    assert needs(first) == [] and needs(again) == [("decision", DECIDED.text, True)]


def test_a_session_that_went_on_tells_only_its_beginning(house: House) -> None:
    """Of a session that was still open nothing is known that was said later, not even its title."""
    talk = [Did("user", "Good morning, the mail is slow today"), Did("assistant", "I look at it.")]
    long = work(house, "long", *talk, *[Did("assistant", f"Step {number}.") for number in range(90)], NAMED, day=1)
    with house.parts.db.write() as tx:
        upsert(tx, replace(long, title=type(long.title)("make check in src/shop/lease.py")))
    work(house, "beside", *LOOKED, day=1 + 30 / 86_400)
    work(house, "after", *LOOKED, day=2)
    told = {one.title: needs(one) for one in scores(house)}
    assert told["About beside"] == [("file", "src/shop/lease.py", False)]
    assert told["About after"] == [("file", "src/shop/lease.py", True)]


def test_twice_is_the_same_and_the_store_is_untouched(house: House) -> None:
    """Byte for byte; no row and no change in the user's store."""
    work(house, "before", Did("user", "Renew the lease, please"), NAMED, DECIDED, day=1)
    work(house, "middle", *LOOKED, DECIDED, day=2)
    tables = ("entry", "claim", "message", "session", "retrospective", "job", "briefing", "project_path", "digest")
    before = [house.count(table) for table in tables], house.parts.db.head()
    first, second = (b"".join(encode(one) for one in scores(house)) for _ in range(2))
    assert first == second and first
    assert ([house.count(table) for table in tables], house.parts.db.head()) == before


def test_the_last_sessions_of_an_agent(home: House) -> None:
    """Memory learns from all sessions, also of those that are not scored; another agent's are none."""
    work(home, "before", Did("user", "Renew the lease, please"), NAMED, day=1)
    work(home, "middle", *LOOKED, day=2)
    assert [needs(one) for one in scores(home, last=1)] == [[("file", "src/shop/lease.py", True)]]
    assert scores(home, agent="codex") == []


def test_it_stops_when_asked(home: House) -> None:
    """Whoever has seen enough gets what there is, also while much is still to be heard."""
    for number in range(3):
        work(home, f"s{number}", Did("user", "Where does the mail wait?"), day=number)
    parts = home.parts
    found: list[ReplaySession] = []
    for one in replay(parts.db, parts.config, None, Wanted(), stopping=lambda: len(found) == 2):
        found.append(one)
    assert len(found) == 2
    assert list(replay(parts.db, parts.config, None, Wanted(last=1), stopping=lambda: True)) == []
