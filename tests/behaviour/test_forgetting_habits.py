"""Forgetting a session or a message takes along what was learned of it alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.harvest.extract_house import House, deps_for
from tests.harvest.rules_talk import DAY as A_DAY
from tests.harvest.rules_talk import Turn

from flywheel.behaviour import watching
from flywheel.behaviour.identity import local_identity
from flywheel.model import Clean, Micros, Observation
from flywheel.store import Db
from flywheel.store.forget import forget
from flywheel.store.mapper import find

from .noting import beliefs, weigh

ONE: tuple[Turn, ...] = (("call", "make test"), ("result", "ok"), ("call", "make secret"), ("result", "ok"))
TWO: tuple[Turn, ...] = (("call", "make test"), ("result", "ok"))


@pytest.fixture
def house(db: Db, data: Path) -> House:
    """Two sessions, observed and consolidated."""
    house = House(db, data)
    for session, turns in (("s1", ONE), ("s2", TWO)):
        house.say(session, *turns, at=30 * A_DAY)
        watching.run(house.job(session), deps_for(db, data))
    weigh(db, identity=local_identity(), now=31 * A_DAY)
    return house


def names(house: House) -> set[str]:
    return {name for _, name in beliefs(house.db, local_identity())}


def test_a_forgotten_session_leaves_no_habit_behind(house: House) -> None:
    """What it alone bore out goes with its observations; what another bore out, too, stays."""
    assert names(house) == {"command:make test", "command:make secret"}
    with house.db.write() as tx:
        counts = forget(tx, "session", "s1", Clean("asked to"), Micros(1))
    assert (counts["belief"], counts["observation"], counts["observed"]) == (1, 2, 1)
    assert names(house) == {"command:make test"}
    with house.db.read() as tx:
        assert {one.native_session for one in find(tx, Observation)} == {"s2"}
        assert tx.all("SELECT DISTINCT native_session FROM reinforcement") == [("s2",)]


def test_a_forgotten_message_takes_its_observations_along(house: House) -> None:
    """And the beliefs that rest on its session alone, since nobody can tell which of them came of it."""
    with house.db.read() as tx:
        (row,) = tx.all("SELECT message_id FROM observation WHERE subject = 'command:make secret'")
    with house.db.write() as tx:
        forget(tx, "message", row[0], Clean("asked to"), Micros(1))
    assert names(house) == {"command:make test"}
    with house.db.read() as tx:
        assert [one.subject for one in find(tx, Observation, "WHERE message_id = :id", id=row[0])] == []
