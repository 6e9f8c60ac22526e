"""Why: from entries with their receipts, and from conversations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.index.text_house import APP, MINUTE, NOON, OTHER, House

from flywheel.config import Config
from flywheel.index.text_read import TextReader
from flywheel.model import ClaimType, EdgeKind, Micros, Status
from flywheel.search.query import Searcher
from flywheel.store import Db


@pytest.fixture
def house(db: Db, data: Path) -> Iterator[House]:
    """An index over each store in turn."""
    house = House(db, data / "text")
    yield house
    house.close()


def searcher(house: House) -> Searcher:
    """A searcher as another process has it."""
    return Searcher(house.db, TextReader(house.root), None, None, Config())


def test_an_entry_answers_with_its_receipt(house: House) -> None:
    """A decision comes with the verbatim span, who said it, in which session, and when."""
    said = "Use PostgreSQL, because two writers must never block each other."
    house.session("s", [("prompt", f"I thought about it. {said}")], title="Store choice")
    entry = house.entry("e-000001", "PostgreSQL is the store", "PostgreSQL holds everything.", type=ClaimType.DECISION)
    house.cite(entry, "s-0", said)  # type: ignore[arg-type]
    house.index()
    answer = searcher(house).why(question="why did we choose PostgreSQL?", projects=[APP])
    (reason,) = answer.reasons
    (receipt,) = reason.receipts
    assert (reason.kind, reason.id, reason.status, reason.type) == ("entry", entry, "confirmed", "decision")
    assert (receipt.quote, receipt.said_by, receipt.session_title, receipt.session_id) == (
        said,
        "user",
        "Store choice",
        "s",
    )
    assert (receipt.at, receipt.message_id, receipt.agent) == (NOON, "s-0", "claude")


def test_superseded_decisions_show_what_replaced_them(house: House) -> None:
    """What was decided first is shown after what holds now, with a link each way."""
    old = house.entry("e-000002", "Queue is RabbitMQ", "RabbitMQ is the queue.", status=Status.SUPERSEDED)
    new = house.entry("e-000003", "Queue is Kafka", "Kafka is the queue now.", at=Micros(NOON + MINUTE))
    house.edge(new, old, EdgeKind.SUPERSEDES)
    house.index()
    reasons = searcher(house).why(question="why is our queue what it is").reasons
    assert [one.id for one in reasons] == [new, old]
    assert reasons[0].supersedes == ["000002 Queue is RabbitMQ"]
    assert (reasons[0].superseded_by, reasons[1].superseded_by) == ("", "000003 Queue is Kafka")


def test_decisions_come_before_facts(house: House) -> None:
    """Who asks why gets the decision before a fact about the same thing."""
    house.entry("e-000004", "Cache facts", "The cache is in memory.", type=ClaimType.FACT)
    house.entry("e-000005", "Cache choice", "The cache is in memory.", type=ClaimType.DECISION)
    house.index()
    assert [one.type for one in searcher(house).why(question="why cache").reasons] == ["decision", "fact"]


def test_conversations_answer_where_no_entry_does(house: House) -> None:
    """Without an entry, the message that gives the reason answers, quoted verbatim."""
    text = "Fine. We went with gRPC instead of REST because streams were needed. Anything else?"
    house.talk("s", "What about transports?", text, "gRPC listens on 50051")
    house.index()
    answer = searcher(house).why(question="why gRPC?", projects=[APP])
    first = answer.reasons[0]
    assert (first.kind, first.id) == ("message", "s-1")
    assert first.statement == "We went with gRPC instead of REST because streams were needed."
    assert first.receipts[0].quote in text
    assert "s-2" not in [one.id for one in answer.reasons]


def test_a_receipt_is_not_told_twice(house: House) -> None:
    """A message that is an entry's receipt is not a second reason of its own."""
    said = "We pinned numpy because 2.0 broke pickles."
    house.talk("s", said, "ok")
    entry = house.entry("e-000006", "Pin numpy", "numpy is pinned.", type=ClaimType.DECISION)
    house.cite(entry, "s-0", said)  # type: ignore[arg-type]
    house.index()
    assert [one.id for one in searcher(house).why(question="why is numpy pinned").reasons] == [entry]


def test_tool_output_and_other_projects_are_no_reason(house: House) -> None:
    """A cue in tool output, or in another project's talk, answers nothing here."""
    house.session("s", [("tool_result", "error: use tokio because async-std is gone")])
    house.talk("t", "tokio because of timers", "sure", project=OTHER)
    house.index()
    answer = searcher(house).why(question="why tokio", projects=[APP])
    assert answer.reasons == []
    assert answer.reason


def test_retracted_receipts_are_not_shown(house: House) -> None:
    """A citation whose message was taken back is no receipt any more."""
    house.talk("s", "Let us drop IPv4, because nobody has it.", "ok")
    entry = house.entry("e-000007", "Drop IPv4", "IPv4 is dropped.", type=ClaimType.DECISION)
    house.cite(entry, "s-0", "Let us drop IPv4")  # type: ignore[arg-type]
    house.index()
    house.retract("s-0")  # type: ignore[arg-type]
    (reason,) = searcher(house).why(question="why drop IPv4").reasons
    assert (reason.kind, list(reason.receipts)) == ("entry", [])


def test_nothing_known_says_so(house: House) -> None:
    """With nothing stored and with no match the answer is empty and says why."""
    assert searcher(house).why(question="why?").reason == "nothing stored"
    house.talk("s", "hello", "hi")
    house.index()
    assert searcher(house).why(question="why zookeeper").reason == "no match"
