"""What a look back keeps of a session: signs, feedback, the course, and who found things out first."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest
from tests.harvest.extract_house import House, deps_for
from tests.harvest.rules_talk import DAY, PROJECT, Turn

from flywheel.api import Effect
from flywheel.model import (
    Attribution,
    Clean,
    Course,
    Discovery,
    Feedback,
    Injection,
    Micros,
    ProjectId,
    Session,
    SessionId,
)
from flywheel.retro.attribution.following import Following
from flywheel.retro.effect import effect_of
from flywheel.search.queries import called_wrong, usefulness
from flywheel.store import Db, Tx
from flywheel.store.discoveries import names_of, settle
from flywheel.store.forget import forget
from flywheel.store.mapper import find, get, insert_many

ASK: Turn = ("user", "Make the nightly import faster.")
OPEN: Turn = ("call", "cat src/mail/outbox.py", {"files": ["src/mail/outbox.py"]})
SEARCH: Turn = ("call", "grep -rn import_parcels src")
EDIT: Turn = ("call", "sed -i s/a/b/ src/mail/outbox.py", {"files": ["src/mail/outbox.py"], "edits": [{}]})


@pytest.fixture
def house(db: Db, data: Path) -> House:
    """A project in a store of each kind, that knows a rule about a file."""
    return _furnished(db, data)


@pytest.fixture
def small(sqlite_db: Db, data: Path) -> House:
    """The same over SQLite alone, where no SQL is in question."""
    return _furnished(sqlite_db, data)


def _furnished(db: Db, data: Path) -> House:
    house = House(db, data)
    house.hear("s0", ("user", "Always lock rows in src/mail/outbox.py with SKIP LOCKED."), at=DAY)
    return house


def told(house: House, session: str, *ids: str, at: int = 0, briefing: str = "b", event: str = "SessionStart") -> None:
    """Rows of the ledger."""
    with house.db.write() as tx:
        insert_many(
            tx,
            [
                Injection(
                    briefing_id=f"{briefing}-{session}", project_id=PROJECT, session_id=SessionId(session),
                    native_session=session, agent="claude", event=event, source="entries", item_kind="entry",
                    item_id=id, tokens=10, created_at=Micros(at),
                )
                for id in ids
            ],
        )  # fmt: skip


def follow(house: House, session: str, *turns: Turn, at: int = 0) -> None:
    """Store a session and look back at it."""
    messages = house.say(session, *turns, at=at)
    with house.db.read() as tx:
        row = get(tx, Session, id=session)
    assert row is not None
    following = Following(deps_for(house.db, house.data), row, cut=2000)
    following.hear(messages)
    with house.db.write() as tx:
        following.keep(tx)


def kept(house: House, session: str) -> Course:
    """A session's course."""
    with house.db.read() as tx:
        course = get(tx, Course, session_id=session)
    assert course is not None
    return course


def left(tx: Tx, *tables: str) -> int:
    """Rows of these tables."""
    return sum(int(tx.all(f"SELECT COUNT(*) FROM {table}")[0][0]) for table in tables)


def effect(house: House, family: tuple[str, ...] = (PROJECT,), agent: str = "") -> Effect:
    """Of all time."""
    with house.db.read() as tx:
        ids = [ProjectId(id) for id in family]
        return effect_of(tx, ids, name="p", agent=agent, since=Micros(0), until=Micros(2**60))


def test_a_used_item_is_kept_with_its_receipt(house: House) -> None:
    """Sign, message, the ledger's mark and the course; a second look changes nothing, not even the change feed."""
    lock = house.entry("lock rows")
    told(house, "s1", lock.id)
    follow(house, "s1", ASK, SEARCH, ("result", "src/mail/outbox.py:9"), EDIT, ("result", "ok"), at=2 * DAY)
    with house.db.read() as tx:
        (sign,) = find(tx, Attribution)
        (row,) = find(tx, Injection)
    assert (sign.signal, sign.item_id, sign.session_id, row.used) == ("touched", lock.id, "s1", True)
    course = kept(house, "s1")
    assert (course.shown, course.used, course.irrelevant, course.wrong, course.injected_tokens) == (1, 1, 0, 0, 10)
    assert course.edit_calls == 1 and 0 < (course.edit_tokens or 0) < course.tokens
    head = house.db.head()
    follow(house, "s1", ASK, SEARCH, ("result", "src/mail/outbox.py:9"), EDIT, ("result", "ok"), at=2 * DAY)
    assert house.db.head() == head and kept(house, "s1") == course


def test_what_is_called_wrong_becomes_feedback_and_lowers_it(house: House) -> None:
    """A candidate that a user calls wrong is held back until a person looked; its status stays what it is."""
    lock = house.entry("lock rows")
    told(house, "s1", lock.id)
    follow(house, "s1", ASK, ("user", f"Stop. [fw:{lock.short}] is wrong, we use advisory locks."), at=2 * DAY)
    with house.db.read() as tx:
        (said,) = find(tx, Feedback)
        assert (said.verdict, said.note, said.native_session) == (
            "wrong", f"[fw:{lock.short}] is wrong, we use advisory locks.", "s1",
        )  # fmt: skip
        assert called_wrong(tx, [lock.id]) == {lock.id} and usefulness(tx, [lock.id]) == {lock.id: (0, 4)}
    assert house.entry("lock rows").status is lock.status
    assert (kept(house, "s1").wrong, kept(house, "s1").used) == (1, 0)
    with house.db.write() as tx:
        message = tx.all("SELECT id FROM message WHERE session_id = 's1' AND ordinal = 1")[0][0]
        forget(tx, "message", message, Clean(""), Micros(9))
        assert left(tx, "feedback", "attribution", "course") == 0


def test_words_that_were_taken_back_take_their_feedback_with_them(small: House) -> None:
    """Looking back again without the message leaves neither sign nor feedback."""
    lock = small.entry("lock rows")
    told(small, "s1", lock.id)
    follow(small, "s1", ASK, ("user", f"fw:{lock.short} is wrong."), at=2 * DAY)
    with small.db.read() as tx:
        row = get(tx, Session, id="s1")
    assert row is not None
    following = Following(deps_for(small.db, small.data), row, cut=2000)
    with small.db.write() as tx:
        following.keep(tx)
        assert left(tx, "feedback", "attribution") == 0


def test_what_is_told_twice_is_repeated_unless_it_was_lost(small: House) -> None:
    """A second row for one item counts, but not after the conversation was summarised; what tools showed never does."""
    lock = small.entry("lock rows")
    told(small, "s1", lock.id)
    told(small, "s1", lock.id, at=1, briefing="c")
    told(small, "s1", lock.id, at=2 * DAY + 5_000_000, briefing="d")
    told(small, "s1", lock.id, at=3, briefing="e", event="tool")
    small.say("s1", ASK, ("summary", "They talked."), at=2 * DAY)
    follow(small, "s1", ASK, at=2 * DAY)
    course = kept(small, "s1")
    assert (course.repeated, course.injected, course.injected_tokens) == (1, 3, 30)
    assert course.irrelevant == 1  # nothing in the session was near it


def test_long_tool_output_is_counted_whole(small: House) -> None:
    """Tokens of a text that was cut for reading are counted in proportion to its length."""
    follow(small, "s1", ASK, OPEN, ("result", "some words " * 2000), at=2 * DAY)
    whole = kept(small, "s1").tokens
    messages = small.say("s2", ASK, OPEN, ("result", "some words " * 2000), at=2 * DAY)
    with small.db.read() as tx:
        row = get(tx, Session, id="s2")
    assert row is not None
    following = Following(deps_for(small.db, small.data), row, cut=2000)
    following.hear([replace(one, text=Clean(one.text[:2000])) for one in messages])
    with small.db.write() as tx:
        following.keep(tx)
    assert abs(kept(small, "s2").tokens - whole) < 0.02 * whole


def test_subagents_have_no_course(small: House) -> None:
    """They are told nothing; what they spend is their parent's doing."""
    small.say("s1", ASK, at=2 * DAY)
    messages = small.say("s2", ASK, EDIT, at=2 * DAY, parent="s1")
    with small.db.read() as tx:
        row = get(tx, Session, id="s2")
    assert row is not None
    following = Following(deps_for(small.db, small.data), row, cut=2000)
    following.hear(messages)
    with small.db.write() as tx:
        following.keep(tx)
        assert left(tx, "course", "discovery") == 0


FINDS: tuple[Turn, ...] = (ASK, SEARCH, ("result", "src/mail/outbox.py:9: def import_parcels"), EDIT, ("result", "ok"))


def test_what_a_told_session_was_spared(house: House) -> None:
    """The first to find a file pays for it; who finds it again is counted, who was told it is spared that price.

    In whatever order sessions are looked back at.
    """
    lock = house.entry("lock rows")
    told(house, "c", lock.id)
    turns = {"a": FINDS, "b": FINDS, "c": (ASK, EDIT, ("result", "ok"))}
    at = {"a": 2 * DAY, "b": 3 * DAY, "c": 4 * DAY}
    for order in permutations(turns):
        with house.db.write() as tx:
            tx.run("DELETE FROM discovery")
        for session in order:
            follow(house, session, *turns[session], at=at[session])
        with house.db.read() as tx:
            rows = {row.session_id: row for row in find(tx, Discovery)}
        assert {id: (row.told, row.again) for id, row in rows.items()} == {
            "a": (False, False), "b": (False, True), "c": (True, False),
        }, order  # fmt: skip
        total = effect(house).total
        assert (total.avoided, total.saved_tokens, total.rediscovered) == (1, rows[SessionId("a")].tokens, 1)
        assert total.saved_per_injected.value is None and total.saved_per_injected.n == 1


def test_who_was_led_there_by_the_user_was_spared_nothing(small: House) -> None:
    """An item whose words are repeated was used; but the prompt had named its file, and that saved the search."""
    lock = small.entry("lock rows")
    told(small, "b", lock.id)
    follow(small, "a", *FINDS, at=2 * DAY)
    asked: Turn = ("user", "Repair src/mail/outbox.py.")
    follow(small, "b", asked, EDIT, ("assistant", f"See [fw:{lock.short}]."), at=3 * DAY)
    assert kept(small, "b").used == 1
    assert (effect(small).total.avoided, effect(small).total.saved_tokens) == (0, 0)


def test_forgetting_the_first_makes_the_next_the_first(house: House) -> None:
    """Nothing rests on a session that is gone; other sessions' discoveries move up."""
    follow(house, "a", *FINDS, at=2 * DAY)
    follow(house, "b", *FINDS, at=3 * DAY)
    with house.db.write() as tx:
        forget(tx, "session", "a", Clean(""), Micros(9))
        (only,) = find(tx, Discovery)
        assert (only.session_id, only.again) == ("b", False)
        assert [row.session_id for row in find(tx, Course)] == ["b"]
        forget(tx, "message", only.message_id, Clean(""), Micros(9))
        assert left(tx, "discovery", "course") == 0


def test_settling_again_changes_nothing(small: House) -> None:
    """It is idempotent, and a name that nobody found is no error."""
    follow(small, "a", *FINDS, at=2 * DAY)
    with small.db.write() as tx:
        before = find(tx, Discovery)
        settle(tx, [*names_of(tx, "session_id", ["a"]), ("p", "file", "nothing")])
        assert find(tx, Discovery) == before


def test_projects_and_agents_do_not_mix(small: House) -> None:
    """Effect of another project, or of another agent, is its own."""
    follow(small, "a", *FINDS, at=2 * DAY)
    assert effect(small).total.sessions == 1
    assert effect(small, family=("other",)).total.sessions == 0
    assert effect(small, agent="codex").total.sessions == 0
    assert [row.name for row in effect(small, family=()).projects] == ["p"]
