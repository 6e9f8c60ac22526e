"""The verb of retrospectives: made on demand, of one session, of the last ones, or summed over a week."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.app.talking import NOON, House, open_house

from flywheel.app import settle_all
from flywheel.app.verbs import retro as verb
from flywheel.errors import BadInput, NotFound
from flywheel.jobs import queue
from flywheel.model import Micros

DAY = 86_400_000_000
ASKED = ("user", "Make the nightly import faster, please.")
WRONG = [
    ASKED,
    ("call", "npm install left-pad"),
    ("result", "ok"),
    ("assistant", "Installed."),
    ("user", "No, we use pnpm here, not npm."),
]


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """A house over SQLite."""
    made = open_house(tmp_path, f"sqlite://{tmp_path / 'flywheel.db'}", git=False)
    yield made
    made.app.close()
    made.parts.close()


@pytest.fixture
def houses(store_url: str, tmp_path: Path) -> Iterator[House]:
    """A house over each store in turn."""
    made = open_house(tmp_path, store_url, git=False)
    yield made
    made.app.close()
    made.parts.close()


def test_a_session_is_looked_back_at_when_somebody_asks(house: House) -> None:
    """At first it waits; once the job ran it is there, under any of its ids and those of its messages."""
    messages = house.say("one", *WRONG)
    first = house.app.retro(cwd=str(house.project))
    assert (first.waiting, first.looks, first.reason) == (1, [], "")
    settle_all(house.parts)
    found = house.app.retro(cwd=str(house.project))
    (look,) = found.looks
    assert (found.waiting, look.task, look.turns) == (0, "Make the nightly import faster, please.", 2)
    (line,) = [line for line in look.lines if line.kind == "correction"]
    assert [cite.quote for cite in line.cites] == ["No, we use pnpm here, not npm.", "npm install left-pad"]
    assert house.app.show(id=line.cites[0].short).id == line.cites[0].id == messages[-1].id
    for id in (look.id, look.short, "one", messages[0].id):
        assert house.app.retro(session=id).looks == found.looks
    assert "You corrected “npm install left-pad”" in house.app.show(id=look.id).body


def test_a_session_that_went_on_is_looked_at_again(house: House) -> None:
    """What there is is shown meanwhile."""
    house.say("one", ASKED, ("assistant", "Done."))
    house.app.retro(session="one")
    settle_all(house.parts)
    house.say("one", ASKED, ("assistant", "Done."), ("user", "It is still failing."))
    found = house.app.retro(session="one")
    assert (found.waiting, [look.outcome for look in found.looks]) == (1, ["unclear"])
    settle_all(house.parts)
    found = house.app.retro(session="one")
    assert (found.waiting, [look.outcome for look in found.looks]) == (0, ["failed"])


def test_a_week_is_summed_the_costliest_first(houses: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same trouble of two sessions is one line; what is older than seven days is left out."""
    monkeypatch.setattr(verb, "wall_clock", lambda: Micros(NOON + 8 * DAY))
    for name, at in (("old", 0), ("one", 3), ("two", 4)):
        houses.say(name, *WRONG, at=at * DAY)
    assert houses.app.retro(week=True, cwd=str(houses.project)).waiting == 2
    settle_all(houses.parts)
    found = houses.app.retro(week=True, cwd=str(houses.project))
    assert (found.sessions, found.looks, sum(found.outcomes.values())) == (2, [], 2)
    (line,) = [line for line in found.repeats if line.kind == "correction"]
    assert (line.times, len(line.sessions), len(line.cites)) == (2, 2, 2)
    assert houses.app.retro(last=5, everywhere=True).waiting == 1  # the old one, whose turn has not come
    assert len(houses.app.retro(last=2, cwd=str(houses.project)).looks) == 2


def test_with_nothing_it_says_what_to_do(house: House) -> None:
    """In words that name the command."""
    assert "flywheel import" in house.app.retro(cwd=str(house.project)).reason
    assert "flywheel retro" in house.app.retro(week=True, cwd=str(house.project)).reason


def test_what_makes_no_sense_is_refused(house: House) -> None:
    """One of three ways to ask, and sessions only."""
    house.say("one", ASKED)
    with pytest.raises(BadInput, match="one of the three"):
        house.app.retro(session="one", week=True)
    with pytest.raises(BadInput, match="1 to 50"):
        house.app.retro(last=51, cwd=str(house.project))
    with pytest.raises(BadInput, match="not a session"):
        house.app.retro(session="shop")
    with pytest.raises(NotFound):
        house.app.retro(session="nonsense")


def test_asking_again_and_again_asks_for_one_job(house: House) -> None:
    """Whoever waits polls; a session that looking back failed at is given up, and the reason says where to look."""
    house.say("one", ASKED)
    for _ in range(3):
        assert house.app.retro(session="one").waiting == 1
    with house.parts.db.write() as tx:
        (job,) = [job for job in queue.listing(tx) if job.kind == "retro"]
        tx.run("UPDATE job SET state = 'dead' WHERE kind = 'retro'")
    found = house.app.retro(session="one")
    assert (job.rerun, found.waiting, found.looks) == (False, 0, [])
    assert "flywheel jobs" in found.reason
