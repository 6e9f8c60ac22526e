"""Words against what a person confirmed: the page is stale, and nothing of it falls to code."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.harvest.extract_house import House
from tests.harvest.rules_talk import DAY, Turn

from flywheel.knowledge.confirming import confirm
from flywheel.knowledge.deciding import Act
from flywheel.model import Clean, Micros
from flywheel.store import Db

REDIS: Turn = ("user", "We decided to use Redis for the mail queue because it is already running.")
POSTGRES: Turn = ("user", "We are switching from Redis to PostgreSQL for the mail queue because mail was lost.")


@pytest.fixture
def house(db: Db, data: Path) -> House:
    """Sessions of one project."""
    return House(db, data)


def test_a_reversal_makes_a_confirmed_decision_stale_and_no_more(house: House) -> None:
    """Its words stay, however often the reversal is said; what reverses it stays a candidate."""
    house.hear("s1", REDIS, at=DAY)
    with house.db.write() as tx:
        confirm(tx, house.entry("Redis"), Act(actor=Clean("user:mara via terminal"), now=Micros(DAY + 10)))
    before = house.entry("Redis for the mail queue")
    for number in range(2, 5):
        house.hear(f"s{number}", POSTGRES, at=number * DAY)
    after, other = house.entry("Redis for the mail queue"), house.entry("PostgreSQL")
    assert (before.status.value, after.status.value, other.status.value) == ("confirmed", "stale", "candidate")
    assert f"[fw:{other.short}]" in after.stale_reason
    assert (after.title, after.summary, after.body) == (before.title, before.summary, before.body)
    assert {claim.status.value for claim in house.claims(after)} == {"confirmed"}
