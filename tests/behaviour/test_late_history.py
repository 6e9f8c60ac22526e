"""A history that is observed late, in whatever order, comes to the beliefs of one that came in day by day."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from tests.harvest.extract_house import NOW, House, deps_for
from tests.harvest.rules_talk import DAY, Turn

from flywheel.behaviour import watching, worker
from flywheel.behaviour.decay import STRATEGIES
from flywheel.behaviour.identity import local_identity
from flywheel.behaviour.rules import FLOOR, confidence_at, lifetime
from flywheel.jobs.kinds import CATCH_UP
from flywheel.jobs.queue import enqueue, listing
from flywheel.model import Belief, Micros
from flywheel.store import Db
from flywheel.store.connect import connect

from .noting import beliefs

COMMANDS = ("make test", "make lint", "npm run build", "cargo check")
QUIET = 3600 * 1_000_000


def history(seed: int) -> dict[str, tuple[int, list[Turn]]]:
    """Sessions of half a year by name: when each began and what it did, in the order of time."""
    chance = random.Random(seed)
    days = sorted(chance.uniform(0.5, 100) for _ in range(14))[::-1]
    found: dict[str, tuple[int, list[Turn]]] = {}
    for number, day in enumerate(days):
        turns: list[Turn] = []
        for command in chance.sample(COMMANDS, k=chance.randint(1, 3)):
            for _ in range(chance.randint(1, 3)):
                turns += [
                    ("call", command),
                    chance.choice([("result", "ok"), ("error", "it is broken: no such thing")]),
                ]
        found[f"s{number}"] = (NOW - int(day * DAY), turns)
    return found


def observe(house: House, session: str) -> None:
    """Run the observe job."""
    watching.run(replace(house.job(session), kind=watching.KIND), deps_for(house.db, house.data))


def consolidate(house: House, now: int) -> None:
    """Run the consolidate job at a time."""
    deps = replace(deps_for(house.db, house.data), now=lambda: Micros(now))
    worker.run(replace(house.job(local_identity()), kind=worker.KIND), deps)


def lived(house: House, seed: int) -> dict[tuple[str, str], Belief]:
    """Each session is observed and consolidated when it was over, and once today."""
    for session, (at, turns) in history(seed).items():
        house.say(session, *turns, at=at)
        observe(house, session)
        consolidate(house, at + QUIET)
    consolidate(house, NOW)
    return beliefs(house.db, local_identity())


def caught_up(house: House, seed: int, order: str) -> dict[tuple[str, str], Belief]:
    """All sessions are there; they are observed in an order, with a consolidation after each."""
    sessions = history(seed)
    for session, (at, turns) in sessions.items():
        house.say(session, *turns, at=at)
    with house.db.write() as tx:
        enqueue(tx, kind=CATCH_UP, key="history", project_id=None, now=house.db.clock())
    names = list(sessions)
    random.Random(seed).shuffle(names) if order == "any" else names.sort(key=lambda name: -sessions[name][0])
    for session in names:
        observe(house, session)
        consolidate(house, NOW)
    return beliefs(house.db, local_identity())


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("order", ["newest first", "any"])
def test_the_order_of_observing_does_not_matter(tmp_path: Path, seed: int, order: str) -> None:
    """Confidence is the same within a millionth, ease and the number of sessions exactly."""
    made = []
    for name in ("lived", "late"):
        (tmp_path / name).mkdir()
        made.append(House(connect("sqlite", tmp_path / name), tmp_path / name))
    expected, found = lived(made[0], seed), caught_up(made[1], seed, order)
    decay = STRATEGIES["adaptive"]
    assert expected and set(found) == set(expected)
    for key, one in expected.items():
        other = found[key]
        assert confidence_at(other, NOW, decay) == pytest.approx(confidence_at(one, NOW, decay), abs=1e-6)
        assert other.ease == pytest.approx(one.ease)
        assert (other.reinforced, other.last_seen) == (one.reinforced, one.last_seen)
    for house in made:
        house.db.close()


def test_sessions_wait_for_earlier_ones_that_are_still_to_be_observed(db: Db, data: Path) -> None:
    """Those before them have their say; the job comes again, and goes on once an observation failed for good."""
    house = House(db, data)
    for number, name in enumerate(("first", "second", "third")):
        house.say(name, ("call", f"make {name}"), ("result", "ok"), at=NOW - (9 - number) * DAY)
    with db.write() as tx:
        enqueue(tx, kind=watching.KIND, key="second", project_id=None, now=db.clock())
    observe(house, "first")
    observe(house, "third")
    consolidate(house, NOW)
    assert {name for _, name in beliefs(db, local_identity())} == {"command:make first"}
    with db.read() as tx:
        assert [job.key for job in listing(tx) if job.kind == worker.KIND] == [local_identity()]
    with db.write() as tx:
        tx.run("UPDATE job SET state = 'dead' WHERE kind = :kind", kind=watching.KIND)
    consolidate(house, NOW)
    assert {name for _, name in beliefs(db, local_identity())} == {"command:make first", "command:make third"}


@pytest.mark.parametrize(("name", "days"), [("adaptive", 112.2), ("exponential", 44.9)])
def test_a_belief_outlives_its_last_session_by_so_much_at_most(name: str, days: float) -> None:
    """Even the surest and slowest to fade is gone after that."""
    decay = STRATEGIES[name]
    assert lifetime(decay) == pytest.approx(days, abs=0.05)
    assert decay.left(lifetime(decay) + 0.01, 2.5) < FLOOR <= decay.left(lifetime(decay) - 0.01, 2.5)
    assert watching.horizon(NOW, name) == NOW - int(lifetime(decay) * DAY)
