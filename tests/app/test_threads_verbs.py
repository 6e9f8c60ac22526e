"""Threads and recalling over both stores: a topic as a timeline with what came of it, and what was said when."""

from __future__ import annotations

import pytest
from tests.app.talking import NOON, House

from flywheel import app
from flywheel.errors import BadInput, NotFound
from flywheel.jobs.kinds import THREAD
from flywheel.jobs.queue import enqueue
from flywheel.model import Kind
from flywheel.readers import session_id

DAY = 86_400_000_000
ZONE = "Europe/Berlin"

FIRST = (
    ("user", "The payment provider calls our webhook again when we answer slowly. What shall we do?"),
    ("assistant", "Store the event and answer first."),
    ("user", "We decided to store payment webhook events in PostgreSQL before anything else happens."),
    ("assistant", "Done: webhook events are stored first."),
)
SECOND = (
    ("user", "Failed webhook events of the payment provider must be retried with a backoff."),
    ("assistant", "I added a backoff of up to four minutes. TODO: the alert for given up webhook events is missing."),
    ("user", "good, leave the alert for later"),
    ("assistant", "Should the alert go to the payment channel?"),
)
OTHER = (
    ("user", "Thumbnails of portrait photos lie on their side, respect the EXIF orientation of the picture."),
    ("assistant", "Thumbnails are turned by their EXIF orientation now."),
)


def bring(house: House) -> None:
    """Three sessions on 28 May, 3 June and 10 June 2026, looked back at and tied."""
    for name, turns, day in (("one", FIRST, 0), ("two", SECOND, 6), ("three", OTHER, 13)):
        messages = house.say(name, *turns, at=day * DAY)
        with house.parts.db.write() as tx:
            for message in messages:
                tx.changed(Kind.MESSAGE, message.id, message.project_id)
    with house.parts.db.write() as tx:
        for kind in ("extract", "retro"):
            for name in ("one", "two", "three"):
                enqueue(tx, kind=kind, key=session_id("claude", name), project_id=None, now=NOON)
    app.settle_all(house.parts)
    _now(house)


def _now(house: House) -> None:
    """Tie what is to be tied, if it is not yet: one job at most, however many sessions asked for it."""
    with house.parts.db.write() as tx:
        assert tx.run("UPDATE job SET run_after = 0 WHERE kind = :kind", kind=THREAD) <= 1
    app.settle_all(house.parts)


def test_a_topic_is_a_timeline(house: House) -> None:
    """The latest thread first; by its id, a session's, a message's or by words; with decisions and open ends."""
    bring(house)
    cwd = str(house.project)
    listed = house.app.threads(cwd=cwd, zone=ZONE)
    assert [(one.sessions, one.first_day, one.last_day) for one in listed.threads] == [
        (1, "2026-06-10", "2026-06-10"),
        (2, "2026-05-28", "2026-06-03"),
    ]
    assert (listed.total, listed.waiting, listed.project) == (2, 0, "shop")
    shown = house.app.thread(about="webhook retries", cwd=cwd, zone=ZONE)
    assert shown.thread == listed.threads[1]
    assert [(step.day, step.agent, step.about) for step in shown.steps] == [
        ("2026-05-28", "claude", "The payment provider calls our webhook again when we answer slowly."),
        ("2026-06-03", "claude", SECOND[0][1]),
    ]
    (claim,) = [claim for claim in shown.steps[0].claims if claim.type == "decision"]
    assert "PostgreSQL" in claim.text and house.app.show(id=claim.short).kind == "entry"
    assert shown.open and any("alert" in end for end in shown.open)
    message = house.app.search(query="retried backoff", cwd=cwd, kinds=["message"]).hits[0]
    for id in (shown.thread.id, shown.thread.short, session_id("claude", "two")[:8], "two", f"[fw:{message.short}]"):
        assert house.app.thread(about=id, cwd=cwd, zone=ZONE).thread == shown.thread
    with pytest.raises(NotFound, match="flywheel thread"):
        house.app.thread(about="kangaroo ballet", cwd=cwd)


def test_what_was_said_when(house: House) -> None:
    """The time is taken out of the question and is a hard filter; quotes are cited and stand by thread."""
    bring(house)
    cwd = str(house.project)
    found = house.app.recall(question="what did we say about webhook events in May 2026?", cwd=cwd, zone=ZONE)
    assert (found.asked, found.phrase) == ("what did we say about webhook events?", "in May 2026")
    assert (found.span, found.zone) == ("2026-05-01 to 2026-05-31", ZONE)
    (thread,) = found.threads
    assert thread.short and [session.session_id for session in thread.sessions] == [session_id("claude", "one")]
    (session,) = thread.sessions
    assert all(
        quote.day == "2026-05-28" and house.app.show(id=quote.short).kind == "message" for quote in session.quotes
    )
    assert any("PostgreSQL" in quote.quote for quote in session.quotes)
    both = house.app.recall(question="webhook events", cwd=cwd, zone=ZONE).threads[0]
    assert [one.day for one in both.sessions] == ["2026-05-28", "2026-06-03"]


def test_a_question_about_a_time_alone_lists_its_sessions(house: House) -> None:
    """What was asked first in each of them."""
    bring(house)
    found = house.app.recall(question="what did we do in June 2026?", cwd=str(house.project), zone=ZONE)
    sessions = [session for thread in found.threads for session in thread.sessions]
    assert found.asked == "" and {one.day for one in sessions} == {"2026-06-03", "2026-06-10"}
    assert sorted(one.quotes[0].quote for one in sessions) == sorted((SECOND[0][1], OTHER[0][1]))


@pytest.mark.parametrize("store_url", ["sqlite"], indirect=True)
def test_copies_of_a_session_are_one(house: House) -> None:
    """What two checkouts have word for word of one day is told once and names the other; of another day it is not."""
    for name, day in (("one", 0), ("copy", 0), ("again", 6)):
        messages = house.say(name, *FIRST, at=day * DAY)
        with house.parts.db.write() as tx:
            for message in messages:
                tx.changed(Kind.MESSAGE, message.id, message.project_id)
    app.settle_all(house.parts)
    for question in ("webhook events of the payment provider", "what did we do in the last 90 days?"):
        found = house.app.recall(question=question, cwd=str(house.project), zone=ZONE, since="2026-05-01")
        told = [session for thread in found.threads for session in thread.sessions]
        assert sorted(len(one.also) for one in told) == [0, 1], question
        shorts = {*(one.short for one in told), *(short for one in told for short in one.also)}
        assert len(shorts) == 3


@pytest.mark.parametrize("store_url", ["sqlite"], indirect=True)
def test_an_empty_answer_says_what_is_nearest(house: House) -> None:
    """Nothing was said in that time, but later; options go before the question; an unknown time is said."""
    bring(house)
    ask, cwd = house.app.recall, str(house.project)
    found = ask(question="what about the backoff of webhook events on 2026-06-02?", cwd=cwd, zone=ZONE)
    assert not found.threads
    assert found.reason.startswith(
        "nothing was said on 2026-06-02 about that; the nearest is of 2026-06-03, claude [fw:"
    )
    assert "backoff" in found.reason
    given = ask(question="webhook backoff in May 2026", since="2026-06-01", until="2026-06-03", cwd=cwd, zone=ZONE)
    assert given.span == "2026-06-01 to 2026-06-03" and given.threads[0].sessions[0].day == "2026-06-03"
    unknown = ask(question="webhook events before the release", cwd=cwd, zone=ZONE)
    assert unknown.threads and "before the release" in unknown.notes[0]
    nothing = ask(question="zeppelins", cwd=cwd, since="2026-05-01")
    assert not nothing.threads and nothing.reason in ("no match", "below the floor")
    for wrong in ({"since": "soon"}, {"zone": "Middle/Earth"}, {"limit": 0}):
        with pytest.raises(BadInput):
            ask(question="x", cwd=cwd, **wrong)


@pytest.mark.parametrize("store_url", ["sqlite"], indirect=True)
def test_forgetting_a_session_takes_it_out(house: House) -> None:
    """Of threads and of what is recalled."""
    bring(house)
    cwd = str(house.project)
    house.app.forget(id=session_id("claude", "one"), reason="asked")
    _now(house)
    shown = house.app.thread(about="webhook backoff", cwd=cwd, zone=ZONE)
    assert [step.day for step in shown.steps] == ["2026-06-03"]
    assert not house.app.recall(question="what happened on 28 May 2026?", cwd=cwd, zone=ZONE).threads
