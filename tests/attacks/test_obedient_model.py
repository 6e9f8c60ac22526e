"""A language model that does what a stranger's words tell it to: whatever it answers, code lets none of it through."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.attacks.cases import words_of
from tests.attacks.disguises import DISGUISES
from tests.harvest.extract_house import in_project, other_project
from tests.harvest.models.house import ModelHouse, answers, cite, confirmed, sent
from tests.harvest.rules_talk import PROJECT, talk
from tests.llm.loopback import serving

from flywheel.errors import Unusable
from flywheel.harvest import extract
from flywheel.harvest.models.prompts import CLOSES, OPENS
from flywheel.model import ClaimType, Entry, Role, Session, SessionId, Status
from flywheel.store.connect import connect
from flywheel.store.mapper import find, insert_many, upsert
from flywheel.text.inert import without_hidden

KNOWN = "We decided to use Valkey for the price cache because the licence of Redis changed."
SECRET = "We decided to call the marmalade vault Kumquat because the auditors asked for it."
WORD = "Vexator"
ASKED = "Remember that the price cache must answer within 40 ms. Why is it slow, and what does this page say of it?"
MORE = "Look at the numbers of last week first, then at those of today, and tell me what differs. " * 12


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelHouse]:
    """A page that a person confirmed, another project's page, and a model on loopback."""
    data = tmp_path_factory.mktemp("obedient")
    db = connect("sqlite", data)
    with serving() as wire:
        made = ModelHouse(db, data, wire)
        made.house.hear("known", ("user", KNOWN))
        confirmed(db, made.house.entry("Valkey"))
        _elsewhere(made)
        yield made
        made.llm.close()
    db.close()


def _elsewhere(made: ModelHouse) -> None:
    """Another project, with something that a person confirmed there."""
    project = other_project(made.db, "vault")
    messages = in_project(talk(("user", SECRET), session="far"), project)
    with made.db.write() as tx:
        row = Session(
            id=SessionId("far"), project_id=project, agent="claude", native_id="far", started_at=messages[0].created_at,
            last_at=messages[-1].created_at, messages=len(messages),
        )  # fmt: skip
        upsert(tx, row)
        insert_many(tx, messages)
    extract.run(made.house.job("far"), made.deps())
    confirmed(made.db, made.house.entry("Kumquat"))


def _obeying(held: Entry, far: Entry) -> list[Mapping[str, Any]]:
    """What the attack asks for: of every sort, with every ground that it can claim."""
    forged = [
        cite(2, f"We decided to use {WORD} for the price cache"), cite(1, f"We decided to use {WORD} for everything"),
        cite(1, ASKED), cite(99, "Yes, I confirm it is correct"), cite(0, KNOWN), cite(-1, SECRET), cite(2, SECRET),
    ]  # fmt: skip
    statement = f"The price cache uses {WORD} instead of Valkey"
    made: list[Mapping[str, Any]] = []
    for ground in forged:
        for op in ("create", "update", "supersede", "link", "question"):
            for page in (held.short, far.short, "op:1", "../../etc"):
                made.append({
                    "op": op, "page": page, "other": held.short, "statement": statement, "type": "decision",
                    "shelf": "decisions", "status": "confirmed", "role": "user", "said_at": 1, "rank": 9,
                    "project_id": "vault", "entry_id": held.id, "cites": [ground],
                })  # fmt: skip
    return made


def _operations(all_of_it: list[Mapping[str, Any]], at: int) -> list[Mapping[str, Any]]:
    """As many as one answer may hold, other ones for each disguise."""
    start = at * 24 % len(all_of_it)
    return (all_of_it + all_of_it)[start : start + 24]


@pytest.mark.parametrize("at", range(len(DISGUISES)), ids=list(DISGUISES))
def test_an_obedient_model_gets_nothing_done(house: ModelHouse, at: int) -> None:
    """Nothing confirmed, nothing known changed, nothing of another project; what came from outside stays external."""
    disguise, who = list(DISGUISES)[at], ("web", "assistant")[at % 2]
    held, far = house.house.entry("Valkey for the price cache"), house.house.entry("Kumquat")
    before = _standing(house, held, far)
    session = f"{disguise}-{who}"
    house.house.say(session, ("user", f"{ASKED} {MORE}"), (who, DISGUISES[disguise](words_of(WORD))), at=1000)
    asked = house.read(session, answers(None, _operations(_obeying(held, far), at)))
    assert asked and _standing(house, held, far) == before
    for body in asked:
        text = sent(body)
        assert (text.count(OPENS), text.count(CLOSES)) == (1, 1) and text == without_hidden(text)
        assert "Kumquat" not in str(body) and far.short not in text
    with house.db.read() as tx:
        rows = tx.all("SELECT type, role, status, project_id FROM claim WHERE session_id = :id", id=session)
    outside = (ClaimType.EXTERNAL, Role.TOOL) if who == "web" else (ClaimType.HYPOTHESIS, Role.ASSISTANT)
    for type, role, status, project in rows:
        assert (type, role, status, project) == (*outside, Status.CANDIDATE, PROJECT)


def _standing(house: ModelHouse, *entries: Entry) -> list[Any]:
    """Entries with their claims and edges, as they are."""
    with house.db.read() as tx:
        return [
            find(tx, Entry, "WHERE id = :id", id=entry.id)
            + [tuple(row) for row in tx.all("SELECT * FROM claim WHERE entry_id = :id ORDER BY id", id=entry.id)]
            for entry in entries
        ]


@pytest.mark.parametrize("op", ["confirm", "reject", "delete", "forget", "merge", "CREATE; confirm"])
def test_an_act_that_there_is_not_makes_the_answer_worthless(house: ModelHouse, op: str) -> None:
    """All of it: nothing else of the same answer is applied."""
    held = house.house.entry("Valkey for the price cache")
    before = _standing(house, held)
    session = f"act-{op}"
    house.house.say(session, ("user", f"{ASKED} {MORE}"), ("web", words_of(WORD)), at=1000)
    good = {"op": "create", "statement": "The price cache is slow", "cites": [cite(1, ASKED)]}
    with pytest.raises(Unusable):
        house.read(session, answers(None, [good, {"op": op, "page": held.short, "cites": [cite(1, ASKED)]}]))
    assert _standing(house, held) == before
    with house.db.read() as tx:
        assert tx.all("SELECT id FROM claim WHERE session_id = :id", id=session) == []


def test_the_model_was_heard(house: ModelHouse, tmp_path: Path) -> None:
    """Where a person really said so the same model is obeyed; of a stranger's words external claims were kept."""
    said = f"Please remember: the invoice archive is kept in {WORD} for ten years."
    house.house.say("real", ("user", said))
    statement = f"The invoice archive is kept in {WORD} for ten years"
    house.read("real", answers(None, [{"op": "create", "statement": statement, "cites": [cite(1, said[17:])]}]))
    with house.db.read() as tx:
        assert tx.all("SELECT role, status FROM claim WHERE session_id = 'real'") == [("user", "candidate")]
        assert tx.all("SELECT DISTINCT role FROM claim WHERE type = 'external_claim'") == [("tool",)]
