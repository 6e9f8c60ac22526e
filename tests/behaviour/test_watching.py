"""The observe job over both stores: each range of messages once, redacted, with the outermost session's name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.harvest.extract_house import NOW, House, deps_for
from tests.harvest.rules_talk import DAY, PROJECT, Turn

from flywheel.behaviour import watching
from flywheel.behaviour.identity import local_identity
from flywheel.jobs.queue import listing
from flywheel.jobs.worker import Stopped
from flywheel.model import Observation
from flywheel.store import Db
from flywheel.store.mapper import find

FIRST: tuple[Turn, ...] = (("user", "Fix the outbox."), ("call", "make test"))
MORE: tuple[Turn, ...] = (
    *FIRST,
    ("result", "7 passed"),
    ("call", "make lint"),
    ("error", "E501 is a failure of style"),
)


@pytest.fixture
def house(db: Db, data: Path) -> House:
    """A project in a store of each kind."""
    return House(db, data)


def observe(house: House, session: str = "s1") -> None:
    """Run the job."""
    watching.run(replace(house.job(session), kind=watching.KIND), deps_for(house.db, house.data))


def observations(house: House) -> list[Observation]:
    """What is stored, in order."""
    with house.db.read() as tx:
        return find(tx, Observation, "ORDER BY created_at, id")


def told(house: House) -> list[tuple[str, str]]:
    return [(one.kind, one.subject) for one in observations(house)]


def test_a_session_is_observed_as_it_grows(house: House) -> None:
    """A call whose result came later is known by its name, and a second run adds nothing."""
    house.say("s1", *FIRST, at=DAY)
    observe(house)
    assert told(house) == [("query_pattern", "task:fix")]
    house.say("s1", *MORE, at=DAY)
    observe(house)
    expected = [
        ("query_pattern", "task:fix"),
        ("tool_success", "command:make test"),
        ("tool_failure", "command:make lint"),
    ]
    assert told(house) == expected
    before = observations(house)
    observe(house)
    assert observations(house) == before
    assert {(one.identity, one.native_session, one.project_id) for one in before} == {(local_identity(), "s1", PROJECT)}
    assert all(one.message_id and one.consolidated_at is None for one in before)


def test_a_range_that_is_read_again_is_stored_once(house: House) -> None:
    """A job that died before it noted how far it was writes the same rows again: there is one of each."""
    house.say("s1", *MORE, at=DAY)
    observe(house)
    with house.db.write() as tx:
        tx.run("DELETE FROM observed")
    before = observations(house)
    observe(house)
    assert observations(house) == before and len(before) == 3


def test_long_sessions_are_read_a_page_at_a_time(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the size of a page, the same is observed; and it stops between two pages when asked to."""
    monkeypatch.setattr(watching, "PAGE", 2)
    house.say("s1", *MORE, at=DAY)
    stopping = deps_for(house.db, house.data, stopping=lambda: True)
    with pytest.raises(Stopped):
        watching.run(house.job("s1"), stopping)
    assert told(house) == [("query_pattern", "task:fix")]
    observe(house)
    assert len(told(house)) == 3


def test_what_helpers_do_is_their_sessions_doing(house: House) -> None:
    """A subagent's observations bear the native id of the session that began it."""
    house.say("s1", ("user", "Fix it."), at=DAY)
    house.say("s2", ("user", "Look."), at=DAY, parent="s1")
    house.say("s3", ("call", "make test"), ("result", "ok"), at=DAY, parent="s2")
    observe(house, "s3")
    assert {one.native_session for one in observations(house)} == {"s1"}


def test_what_was_taken_back_is_not_observed(house: House) -> None:
    """A message that its agent took back says nothing."""
    messages = house.say("s1", *MORE, at=DAY)
    with house.db.write() as tx:
        tx.run(
            "INSERT INTO retraction (message_id, project_id, reason, created_at) VALUES (:id, 'p', 'rewind', 1)",
            id=messages[0].id,
        )
    observe(house)
    assert ("query_pattern", "task:fix") not in told(house)


def test_a_secret_in_a_command_is_not_kept(house: House) -> None:
    """Subjects and facts are redacted like everything that is stored."""
    token = "ghp_" + "a1B2c3D4e5" * 4
    house.say("s1", ("call", "make " + "a" * 5), ("error", f"error: bad token {token} was refused"), at=DAY)
    observe(house)
    rows = observations(house)
    assert rows and all(token[:20].lower() not in f"{one.subject}{one.facts}".lower() for one in rows)


def test_consolidation_follows_when_the_session_is_quiet(house: House) -> None:
    """One job for the identity: soon for an old session, after the pause for one that goes on."""
    house.say("s1", *MORE, at=NOW - 60_000_000)
    observe(house)
    with house.db.read() as tx:
        (job,) = [one for one in listing(tx) if one.kind == "consolidate"]
    assert job.key == local_identity()
    assert job.run_after - house.db.clock() > 60_000_000
    house.say("s2", *MORE, at=DAY)
    observe(house, "s2")
    with house.db.read() as tx:
        (job,) = [one for one in listing(tx) if one.kind == "consolidate"]
    assert job.run_after - house.db.clock() <= 3_000_000


def test_a_session_that_is_gone_is_nobodys(house: House) -> None:
    """Nothing is observed, nothing fails."""
    observe(house, "nobody")
    assert observations(house) == []


def test_observations_are_append_only(house: House) -> None:
    """Neither store lets anybody change what was observed."""
    house.say("s1", *MORE, at=DAY)
    observe(house)
    with pytest.raises(Exception, match="append only"), house.db.write() as tx:
        tx.run("UPDATE observation SET subject = 'tool:Other'")
