"""The digest jobs over both stores: made once, made anew when something changed, gone with what is forgotten."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.harvest.extract_house import NOW, House, deps_for
from tests.harvest.rules_talk import PROJECT, Turn

from flywheel.digests import LONG, SHORT, TOKENS, again, gather, worker
from flywheel.digests.kept import digests_of, lines_of
from flywheel.digests.telling import shown
from flywheel.jobs.kinds import DIGEST, GATHER
from flywheel.model import Digest, Job, Micros, Retraction, Retrospective, SessionId, Status, Thread, ThreadSegment
from flywheel.store import Db
from flywheel.store.forget import forget
from flywheel.store.mapper import find, insert, upsert
from flywheel.text.redact import Redactor
from flywheel.text.tokens import count

TURNS: tuple[Turn, ...] = (
    ("user", "We decided to keep Redis for the queue, because NOTIFY lost jobs."),
    ("assistant", "Redis stays. The queue now retries 3 times with a pause of 20 seconds."),
)


@pytest.fixture
def house(db: Db, data: Path) -> House:
    """A project in a store of each kind."""
    return House(db, data)


def job(kind: str, key: str) -> Job:
    return Job(
        id=f"{kind}-{key}", kind=kind, key=key, project_id=PROJECT, run_after=Micros(0), created_at=Micros(0),
        updated_at=Micros(0),
    )  # fmt: skip


def sum_up(house: House, session: str, task: str = "Keep Redis") -> None:
    """What the look back leaves, and both jobs."""
    with house.db.write() as tx:
        look = Retrospective(
            session_id=SessionId(session), project_id=PROJECT, task=Redactor().text(task), outcome="done", turns=1,
            tool_calls=0, tool_errors=0, created_at=NOW, updated_at=NOW,
        )  # fmt: skip
        upsert(tx, look)
    worker.run(job(DIGEST, session), deps_for(house.db, house.data))
    gather.run(job(GATHER, PROJECT), deps_for(house.db, house.data))


def digests(house: House) -> list[Digest]:
    with house.db.read() as tx:
        return find(tx, Digest, "ORDER BY owner_kind, owner_id, length")


def test_a_session_and_its_project_are_summed_up_once(house: House) -> None:
    """Both lengths of both, within their tokens, and running the jobs again changes nothing."""
    house.hear("s1", *TURNS)
    sum_up(house, "s1")
    rows = digests(house)
    assert [(row.owner_kind, row.length) for row in rows] == [
        ("project", LONG), ("project", SHORT), ("session", LONG), ("session", SHORT),
    ]  # fmt: skip
    assert all(count(row.text) <= TOKENS[row.length] and len(row.sources) == len(row.text.split("\n")) for row in rows)
    assert any(id.startswith("claim:") for row in rows for line in lines_of(row) for id in line.ids)
    with house.db.write() as tx:
        tx.run("UPDATE digest SET created_at = 1")
    sum_up(house, "s1")
    assert {row.created_at for row in digests(house)} == {1}


def test_what_is_said_later_and_taken_back_changes_it(house: House) -> None:
    """More messages, another look back, or a retraction: the digest is made anew."""
    house.say("s1", *TURNS)
    sum_up(house, "s1")
    before = digests(house)
    messages = house.say("s1", *TURNS, ("user", "Use Valkey 8 instead, the licence of Redis changed."))
    sum_up(house, "s1")
    assert "Valkey 8" in digests(house)[2].text and digests(house)[:2] == before[:2]
    with house.db.write() as tx:
        row = Retraction(
            message_id=messages[-1].id, project_id=PROJECT, reason=Redactor().text("rewind"), created_at=NOW
        )
        insert(tx, row)
    sum_up(house, "s1", "Something else")
    after = digests(house)
    assert "Valkey" not in after[2].text and "Something else" in after[0].text


@pytest.mark.parametrize("fell", [Status.SUPERSEDED, Status.REJECTED])
def test_a_decision_that_fell_is_not_summed_up_again(house: House, fell: Status) -> None:
    """A digest that is made since does not tell the sentence in any other guise; what the agent answered stays."""
    house.hear("s1", *TURNS)
    sum_up(house, "s1")
    assert any("decided to keep Redis" in row.text for row in digests(house))
    with house.db.write() as tx:
        tx.run("UPDATE claim SET status = :fell WHERE text LIKE '%keep Redis%'", fell=fell.value)
    sum_up(house, "s1")
    texts = [row.text for row in digests(house) if row.owner_kind == "session"]
    assert texts and not any("decided to keep Redis" in text for text in texts)
    assert any("retries 3 times" in text for text in texts)


def test_forgetting_takes_digests_along_and_has_them_made_again(house: House) -> None:
    """What a forgotten message or entry said is in no digest; what is left is summed up anew."""
    house.hear("s1", *TURNS)
    house.hear("s2", ("user", "The demo is on Friday in room 12."), at=10)
    for session in ("s1", "s2"):
        sum_up(house, session)
    with house.db.write() as tx:
        before = again.owners(tx)
        forget(tx, "message", _first(house, "s1"), Redactor().text("x"), NOW)
        again.make_again(tx, before, NOW)
        jobs = set(tx.all("SELECT kind, key FROM job WHERE kind IN ('digest', 'gather')"))
    assert {(DIGEST, "s1"), (GATHER, str(PROJECT))} <= jobs
    assert {(row.owner_kind, row.owner_id) for row in digests(house)} == {("session", "s2")}
    worker.run(job(DIGEST, "s1"), deps_for(house.db, house.data))
    assert all("NOTIFY" not in row.text for row in digests(house) if row.owner_id == "s1")
    with house.db.write() as tx:
        before = again.owners(tx)
        forget(tx, "session", "s2", Redactor().text("x"), NOW)
    assert {row.owner_id for row in digests(house)} == {"s1"}


def _first(house: House, session: str) -> str:
    with house.db.read() as tx:
        row = tx.one("SELECT id FROM message WHERE session_id = :s ORDER BY ordinal", s=session)
    assert row is not None
    return str(row[0])


def test_threads_get_digests_of_their_stretches(house: House) -> None:
    """A thread of two sessions is told by the lines that lie in its stretches, not by the rest of those sessions."""
    house.say("s1", *TURNS, ("user", "Also order 40 chairs for the Berlin office."))
    house.say("s2", ("user", "Redis now needs maxmemory 2gb for the queue."), at=10)
    for session in ("s1", "s2"):
        sum_up(house, session, f"Queue work of {session}")
    with house.db.write() as tx:
        thread = Thread(id="t", project_id=PROJECT, model="", first_at=NOW, last_at=NOW, created_at=NOW)
        stretch = ThreadSegment(
            id="s1", thread_id="t", project_id=PROJECT, session_id=SessionId("s1"), ordinal=0, start=0, stop=1,
            about=Redactor().text("the queue"), model="", vector="", sha256="", first_at=NOW, last_at=NOW,
        )  # fmt: skip
        for row in (thread, stretch, replace(stretch, id="s2", session_id=SessionId("s2"))):
            insert(tx, row)
    gather.run(job(GATHER, PROJECT), deps_for(house.db, house.data))
    with house.db.read() as tx:
        rows = digests_of(tx, "thread", ["t"])
    assert [row.length for row in rows] == [LONG, SHORT]
    assert "maxmemory 2gb" in rows[0].text and "retries 3 times" in rows[0].text and "chairs" not in rows[0].text


def test_show_prints_both_with_receipts(house: House) -> None:
    """Each line that somebody said ends with the short id of its message."""
    house.say("s1", *TURNS)
    sum_up(house, "s1")
    with house.db.read() as tx:
        lines = shown(tx, "session", "s1")
        assert shown(tx, "session", "nothing") == []
    assert "In short (made by rules):" in lines and "At more length (made by rules):" in lines
    assert all("[fw:" in line for line in lines if "Asked:" in line or "Answered:" in line)
