"""The state machine: a table, random walks over it, and that code confirms nothing."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.knowledge.claiming import PERSON, House, claim, value

from flywheel.errors import Conflict
from flywheel.knowledge import confirming, deciding, states
from flywheel.knowledge.states import ALLOWED, RULES, By, may, move, whose
from flywheel.model import Clean, Status
from flywheel.store import Db
from flywheel.store.mapper import get

STEPS: Final = st.lists(
    st.tuples(
        st.sampled_from(list(Status)), st.sampled_from([RULES, PERSON, Clean("agent:claude via mcp: quote [fw:1]")])
    ),
    max_size=12,
)


def test_the_table_is_whole() -> None:
    """Every state can be left and reached; nobody steps from a state to itself."""
    assert {old for old, _ in ALLOWED} == set(Status) == {new for _, new in ALLOWED}
    assert all(old is not new and who for (old, new), who in ALLOWED.items())


def test_code_confirms_and_rejects_nothing_and_moves_nothing_that_a_person_decided() -> None:
    """But that a source changed, or what changed is as it was."""
    for (old, new), who in ALLOWED.items():
        if By.RULES in who:
            assert new not in (Status.CONFIRMED, Status.REJECTED), (old, new)
            assert old is not Status.REJECTED and (old is not Status.CONFIRMED or new is Status.STALE), (old, new)


@given(STEPS)
def test_walks_by_code_alone_never_confirm(steps: list[tuple[Status, Clean]]) -> None:
    """Whatever code does, a candidate is not confirmed by it."""
    state = Status.CANDIDATE
    for new, _ in steps:
        if may(state, new, By.RULES):
            state = new
    assert state not in (Status.CONFIRMED, Status.REJECTED)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_every_step_is_recorded_and_none_is_skipped(sqlite_db: Db, steps: list[tuple[Status, Clean]]) -> None:
    """Random walks over a stored entry: rows chain from state to state, each allowed; a refusal leaves none."""
    house = house_of(sqlite_db)
    entry = house.entry(f"walk {house.now}", claim(f"c{house.now}"))
    state = entry.status
    for new, actor in steps:
        with house.db.write() as tx:
            here = house.read(entry.id)
            if may(state, new, whose(actor)):
                assert move(tx, here, new, actor=actor, reason=Clean("because"), now=house.tick()) is (new is not state)
                state = new
            else:
                with pytest.raises(Conflict):
                    move(tx, here, new, actor=actor, reason=Clean(""), now=house.tick())
        assert house.read(entry.id).status is state
    at = Status.CANDIDATE
    for row in house.reviews(entry.id):
        old, new = Status(row.old_status), Status(row.new_status)
        assert old is at and may(old, new, whose(row.actor)) and row.kind == "entry" and row.created_at > 0
        at = new
    assert at is state


def house_of(db: Db) -> House:
    """The one house of a database: examples of one property share it."""
    if id(db) not in HOUSES:
        HOUSES.clear()
        HOUSES[id(db)] = House(db)
    return HOUSES[id(db)]


HOUSES: dict[int, House] = {}


ACTS = st.lists(
    st.tuples(
        st.sampled_from(["confirm", "reject", "invalidate", "say", "entry"]), st.integers(0, 3), st.integers(0, 9)
    ),
    max_size=10,
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(acts=ACTS)
def test_walks_of_people_and_extraction_keep_every_promise(sqlite_db: Db, acts: list[tuple[str, int, int]]) -> None:
    """Random acts over a page with values: each recorded step is allowed to its actor, and changing twice is once."""
    house = house_of(sqlite_db)
    base = f"page {house.now}"
    entry = house.entry(base, *(value(f"{base} {n}", "retention", f"{n} days", day=1 + n % 2) for n in range(4)))
    for what, number, day in acts:
        name = f"{base} {number}"
        act = house.act("because")
        with house.db.write() as tx:
            one = house.claim(name)
            if what == "confirm":
                confirming.confirm(tx, one, act)
            elif what == "reject":
                deciding.reject(tx, one, act)
            elif what == "invalidate":
                deciding.invalidate(tx, one, act)
        if what == "say":
            house.say(entry, value(f"{base} {house.now}", "retention", f"{number} days", day=day))
        elif what == "entry":
            with house.db.write() as tx:
                deciding.reject(tx, house.read(entry.id), act)
    with house.db.read() as tx:
        rows = tx.all(
            "SELECT old_status, new_status, actor FROM review r JOIN claim k ON k.id = r.target_id"
            " WHERE k.entry_id = :id"
            " UNION ALL SELECT old_status, new_status, actor FROM review WHERE target_id = :id",
            id=entry.id,
        )
    assert all(may(Status(old), Status(new), whose(actor)) for old, new, actor in rows)
    assert not any(new == "confirmed" and actor == "rules" for _, new, actor in rows)
    before = house.read(entry.id), house.reviews(entry.id)
    house.say(entry)
    assert (house.read(entry.id), house.reviews(entry.id)) == before


def test_what_somebody_moved_since_stays(sqlite_db: Db) -> None:
    """A step from a state that it has no more changes nothing and leaves no row."""
    house = House(sqlite_db)
    entry = house.entry("one", claim("c"))
    with house.db.write() as tx:
        move(tx, entry, Status.CONFIRMED, actor=PERSON, reason=Clean(""), now=house.tick())
        assert not move(tx, entry, Status.SUPERSEDED, actor=RULES, reason=Clean(""), now=house.tick())
    assert house.read(entry.id).status is Status.CONFIRMED and len(house.reviews(entry.id)) == 1


def test_what_was_decided_is_found_below_what_follows(sqlite_db: Db) -> None:
    """Under disputed and superseded lies the last decision."""
    house = House(sqlite_db)
    entry = house.entry("one", claim("c"))
    with house.db.write() as tx:
        for new in (Status.CONFIRMED, Status.DISPUTED, Status.SUPERSEDED):
            now = get(tx, type(entry), id=entry.id)
            assert now is not None
            move(tx, now, new, actor=PERSON, reason=Clean(""), now=house.tick())
        assert states.decided(tx, [entry.id, "other"]) == {entry.id: Status.CONFIRMED}
