"""The retrospective job over both stores: kept once, rewritten when the session goes on, and the ledger marked."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.harvest.extract_house import House, deps_for
from tests.harvest.rules_talk import DAY, PROJECT, Turn

from flywheel.model import Injection, Micros, SessionId
from flywheel.retro import worker
from flywheel.retro.queries import load
from flywheel.store import Db
from flywheel.store.mapper import find, insert_many

TURNS: tuple[Turn, ...] = (
    ("user", "Make the nightly import faster."),
    ("call", "make check"),
    ("result", "7 passed"),
    ("assistant", "An index would do, in src/mail/outbox.py."),
)


@pytest.fixture
def house(db: Db, data: Path) -> House:
    """A project in a store of each kind."""
    return House(db, data)


def _look_back(house: House, session: str) -> None:
    worker.run(house.job(session, worker.KIND), deps_for(house.db, house.data))


def _rows(house: House) -> list[object]:
    with house.db.read() as tx:
        return [
            tx.all("SELECT * FROM retrospective"),
            tx.all("SELECT * FROM injection ORDER BY item_id"),
            house.db.head(),
        ]


def _inject(house: House, *items: tuple[str, str], at: int = 0, session: str = "s1") -> None:
    with house.db.write() as tx:
        insert_many(
            tx,
            [
                Injection(
                    briefing_id="b",
                    project_id=PROJECT,
                    session_id=SessionId(session),
                    native_session=session,
                    agent="claude",
                    event="SessionStart",
                    source="entries",
                    item_kind=kind,
                    item_id=id,
                    tokens=10,
                    created_at=Micros(at),
                )
                for kind, id in items
            ],
        )


def _used(house: House) -> dict[str, bool | None]:
    with house.db.read() as tx:
        return {row.item_id: row.used for row in find(tx, Injection)}


def test_a_session_has_its_retrospective_once(house: House) -> None:
    """A second run writes nothing."""
    house.say("s1", *TURNS, at=DAY)
    _look_back(house, "s1")
    with house.db.read() as tx:
        look = load(tx, SessionId("s1"))
    assert look is not None
    assert (look.task, look.turns, look.tool_calls, look.updated_at) == (
        "Make the nightly import faster.",
        1,
        1,
        DAY + 3_000_000,
    )
    before = _rows(house)
    _look_back(house, "s1")
    assert _rows(house) == before


def test_it_is_rewritten_when_the_session_goes_on(house: House) -> None:
    """The outcome follows the last word; when it was first made is kept."""
    house.say("s1", *TURNS)
    _look_back(house, "s1")
    house.say("s1", *TURNS, ("user", "Great, that works. Thanks!"))
    _look_back(house, "s1")
    with house.db.read() as tx:
        look = load(tx, SessionId("s1"))
    assert look is not None and (look.outcome, look.turns) == ("done", 2)


def test_an_unknown_session_is_no_error(house: House) -> None:
    """A job for a session that was forgotten does nothing."""
    _look_back(house, "nobody")
    assert _rows(house)[0] == []


def test_what_was_injected_and_taken_up_is_marked(house: House) -> None:
    """An entry whose file the agent opens was used, one that nothing points to was not; the rest is unknown."""
    house.hear("s0", ("user", "Always lock rows in src/mail/outbox.py with SKIP LOCKED."))
    house.hear("s0b", ("user", "I prefer small pull requests over big ones."))
    lock, small = house.entry("lock rows"), house.entry("small pull requests")
    _inject(house, ("entry", lock.id), ("entry", small.id), ("slot", "slot"), at=DAY)
    house.say("s1", *TURNS, ("call", "sed -n 1,80p src/mail/outbox.py"), at=DAY)
    _look_back(house, "s1")
    assert _used(house) == {lock.id: True, small.id: False, "slot": None}
    before = _rows(house)
    _look_back(house, "s1")
    assert _rows(house) == before


def test_only_what_comes_after_the_injection_counts(house: House) -> None:
    """What the agent did before it was told proves nothing."""
    house.hear("s0", ("user", "Always lock rows in src/mail/outbox.py with SKIP LOCKED."))
    lock = house.entry("lock rows")
    _inject(house, ("entry", lock.id), at=2 * DAY)
    house.say("s1", *TURNS, ("call", "sed -n 1,80p src/mail/outbox.py"), at=DAY)
    _look_back(house, "s1")
    assert _used(house) == {lock.id: False}


def test_a_prompt_that_names_it_is_not_a_use(house: House) -> None:
    """The user knew it anyway; use is what the agent does."""
    house.hear("s0", ("user", "Always lock rows in src/mail/outbox.py with SKIP LOCKED."))
    lock = house.entry("lock rows")
    _inject(house, ("entry", lock.id))
    house.say("s1", ("user", f"See fw:{lock.short} and src/mail/outbox.py"), ("call", "cat src/mail/outbox.py"), at=DAY)
    _look_back(house, "s1")
    assert _used(house) == {lock.id: False}
