"""Digests in briefings, over both stores: the levels of past sessions, and one item for those that have no place."""

from __future__ import annotations

from dataclasses import replace

import pytest

from flywheel.context.allocator import Piece
from flywheel.context.history import FEWEST, HistorySource
from flywheel.context.telling import Told
from flywheel.digests import LONG, SHORT
from flywheel.model import Citation, ClaimId, Clean, Digest, MessageKind, Retraction, Retrospective, Session, Status
from flywheel.store import Db
from flywheel.store.mapper import insert_many

from .conftest import NOW, MakeAsk
from .rows import P, claim, entry, message, session, store

ONE = "The queue is Redis."
TWO = "Retries stop after three."


def digest(owner: str, length: str, lines: list[tuple[str, str, list[str]]], kind: str = "session") -> Digest:
    """Lines as (kind, text as it is written down, ids)."""
    return Digest(
        owner_kind=kind,
        owner_id=owner,
        length=length,
        project_id=P,
        text=Clean("\n".join(text for _, text, _ in lines)),
        sources=[{"kind": of, "ids": ids} for of, _, ids in lines],
        mark="m",
        model="rules",
        created_at=NOW,
        updated_at=NOW,
    )


@pytest.fixture
def past(db: Db) -> list[Session]:
    """Seven sessions, a day apart, the newest first; the newest is summed up, and so is the project."""
    found = [session(f"s{number}", days=number) for number in range(1, 8)]
    looks = [
        Retrospective(
            session_id=one.id, project_id=P, task=Clean(f"Task {one.native_id}"), outcome="done", turns=1, tool_calls=0,
            tool_errors=0, created_at=NOW, updated_at=one.last_at,
        )
        for one in found
    ]  # fmt: skip
    said = [message(found[0], 1, MessageKind.PROMPT, ONE), message(found[0], 2, MessageKind.REPLY, TWO)]
    held = entry("Redis")
    kept = replace(claim(held, ONE, days=1), id=ClaimId("k1"))
    ids = [[f"message:{said[0].id}", "claim:k1"], [f"message:{said[1].id}"]]
    long = [("task", "Task s1", []), ("user", f"Asked: {ONE}", ids[0]), ("agent", f"Answered: {TWO}", ids[1])]
    many = [("session", f"Task {one.native_id} (done)", [f"session:{one.id}"]) for one in found]
    known = ("known", "Decided: Redis", [f"entry:{held.id}"])
    rows = [
        digest(found[0].id, LONG, long),
        digest(found[0].id, SHORT, long[1:2]),
        digest(P, LONG, [*many, known], "project"),
        digest(P, SHORT, [many[4], known], "project"),
    ]
    store(db, *found, *looks, *said, held, kept)
    with db.write() as tx:
        insert_many(tx, rows)
    return found


def pieces(db: Db, make_ask: MakeAsk, budget: int = 2000) -> dict[str, Piece]:
    """What is offered at a session's start, by id."""
    return {piece.id: piece for piece in HistorySource(db).offer(replace(make_ask(), budget=budget))}


def test_a_session_has_its_digests_as_levels(db: Db, past: list[Session], make_ask: MakeAsk) -> None:
    """Long, short, heading; the task stands in the heading only. A session without a digest is told as before."""
    found = pieces(db, make_ask)
    levels = found[past[0].id].levels
    assert [level.name for level in levels] == ["body", "summary", "title"]
    assert levels[0].text.count("Task s1") == 1 and levels[0].text.endswith(f"    Answered: {TWO}")
    assert levels[1].text.endswith(f"    Asked: {ONE}") and TWO not in levels[1].text
    assert [level.name for level in found[past[1].id].levels] == ["title"]


def test_what_no_longer_holds_is_not_told(db: Db, past: list[Session], make_ask: MakeAsk) -> None:
    """A sentence whose claim was superseded, or whose message was taken back, drops out at once."""
    with db.write() as tx:
        tx.run("UPDATE claim SET status = :gone", gone=Status.SUPERSEDED.value)
    first = pieces(db, make_ask)[past[0].id]
    assert ONE not in first.levels[0].text and f"    Answered: {TWO}" in first.levels[0].text
    with db.write() as tx:
        row = tx.one("SELECT id FROM message WHERE text = :two", two=TWO)
        assert row is not None
        insert_many(tx, [Retraction(message_id=row[0], project_id=P, reason=Clean("rewind"), created_at=NOW)])
    assert [level.name for level in pieces(db, make_ask)[past[0].id].levels] == ["title"]


@pytest.mark.parametrize(
    ("status", "again", "told"),
    [(Status.SUPERSEDED, False, False), (Status.REJECTED, False, False), (Status.SUPERSEDED, True, True)],
)
def test_a_digest_made_since_does_not_tell_it_either(
    db: Db, past: list[Session], make_ask: MakeAsk, status: Status, again: bool, told: bool
) -> None:
    """Such a digest names no claim for the sentence; what was cited of its message tells, unless something served cites
    the same words."""
    with db.write() as tx:
        row = tx.one("SELECT id FROM message WHERE text = :one", one=ONE)
        assert row is not None
        held = replace(claim(entry("Redis"), ONE, days=1), id=ClaimId("k2"), status=Status.CANDIDATE)
        insert_many(tx, [held] if again else [])
        for of in ("k1", "k2") if again else ("k1",):
            cited = Citation(
                id=of, project_id=P, claim_id=ClaimId(of), message_id=row[0], start=0, stop=len(ONE), quote=Clean(ONE),
                sha256="s", created_at=NOW,
            )  # fmt: skip
            insert_many(tx, [cited])
        tx.run("UPDATE claim SET status = :gone WHERE id = 'k1'", gone=status.value)
        tx.run("DELETE FROM digest WHERE owner_id = :id", id=past[0].id)
        lines = [("user", f"Asked: {ONE}", [f"message:{row[0]}"]), ("agent", f"Answered: {TWO}", [])]
        insert_many(tx, [digest(past[0].id, length, lines) for length in (LONG, SHORT)])
    first = pieces(db, make_ask)[past[0].id]
    assert (ONE in first.levels[0].text) is told and TWO in first.levels[0].text


def test_what_was_left_open_is_said_once(db: Db, past: list[Session], make_ask: MakeAsk) -> None:
    """The sentence in which somebody said so stands below "Left open" and not above it again."""
    lines: list[tuple[str, str, list[str]]] = [
        ("user", f"Asked: {TWO}", []),
        ("user", ONE, []),
        ("open", f"Left open: {ONE}", []),
    ]
    with db.write() as tx:
        tx.run("DELETE FROM digest WHERE owner_id = :id", id=past[0].id)
        insert_many(tx, [digest(past[0].id, LONG, lines)])
    told = pieces(db, make_ask)[past[0].id].levels[0].text
    assert told.endswith(f"    Asked: {TWO}\n    Left open: {ONE}")


def test_where_it_is_tight_one_item_stands_for_many(db: Db, past: list[Session], make_ask: MakeAsk) -> None:
    """A small briefing tells of few sessions by themselves and of the others together; a large one of all by itself."""
    tight = pieces(db, make_ask, budget=200)
    assert set(tight) == {*(one.id for one in past[:FEWEST]), P}
    told = tight[P].levels[0].text
    assert all(f"Task s{number}" in told for number in (4, 5, 6, 7)) and "Task s3" not in told
    assert tight[P].relevance <= min(tight[one.id].relevance for one in past[:FEWEST])
    assert [level.name for level in tight[P].levels] == ["body", "summary"]
    ample = pieces(db, make_ask)
    assert {one.id for one in past} < set(ample) and "Task" not in ample[P].levels[0].text


def test_a_decision_that_fell_leaves_the_projects_digest(db: Db, past: list[Session], make_ask: MakeAsk) -> None:
    """What stood when the project was summed up is looked at again; with nothing left there is no item."""
    with db.write() as tx:
        tx.run("UPDATE entry SET status = :gone", gone=Status.REJECTED.value)
    assert "Decided" not in pieces(db, make_ask, budget=200)[P].levels[0].text
    assert P not in pieces(db, make_ask)


def test_a_decision_that_is_told_already_leaves_the_projects_digest(
    db: Db, past: list[Session], make_ask: MakeAsk
) -> None:
    """It stands with the entry; the sessions before stay."""
    held = entry("Every order is written to the ledger first")
    store(db, held)
    lines = [
        ("session", "Task s7: see that every order is written to the ledger first (done)", [f"session:{past[6].id}"]),
        ("known", f"Decided: {held.title}", [f"entry:{held.id}"]),
    ]
    with db.write() as tx:
        tx.run("DELETE FROM digest WHERE owner_kind = 'project'")
        insert_many(tx, [digest(P, LONG, lines, "project")])
    whole = pieces(db, make_ask, budget=200)[P]
    assert "Decided: Every order" in whole.levels[0].text and whole.less is not None
    left = whole.less(Told([held.title]))
    assert left is not None and "Decided" not in left.levels[0].text and "Task s7" in left.levels[0].text
