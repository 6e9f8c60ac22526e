"""Searching a store of each kind: hard filters, lists, order, and what an empty answer says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.index.text_house import APP, MINUTE, NOON, OTHER, House

from flywheel.config import Config
from flywheel.embed import Vectors
from flywheel.errors import BadInput
from flywheel.index.text_read import TextReader
from flywheel.index.vectors import Found
from flywheel.model import (
    Clean,
    EdgeKind,
    Injection,
    Kind,
    Micros,
    ProjectId,
    Status,
    new_id,
)
from flywheel.search import queries
from flywheel.search.query import Searcher
from flywheel.store import Db, mapper
from flywheel.store.forget import forget


class Fixed:
    """Vectors that are always the same: what is nearest is said by the test."""

    model_id = "fixed"
    dim = 2

    def __init__(self, *found: tuple[Kind, str, float]) -> None:
        self.found = list(found)

    def encode(self, texts: Sequence[Clean]) -> Vectors:
        """One unit vector each."""
        return np.tile(np.array([1.0, 0.0], np.float32), (len(texts), 1))

    def search(
        self,
        projects: Sequence[ProjectId],
        kinds: Sequence[Kind],
        model: str,
        vector: NDArray[np.float32],
        limit: int,
    ) -> list[Found]:
        """What the test said."""
        return [one for one in self.found if one[0] in kinds][:limit]

    def count(self, model: str) -> int:
        """How many there are."""
        return len(self.found)

    def watermark(self, model: str) -> tuple[str, int]:
        """Nothing is followed."""
        return "", 0

    def release(self) -> None:
        """Nothing is held."""


@pytest.fixture
def house(db: Db, data: Path) -> Iterator[House]:
    """An index over each store in turn."""
    house = House(db, data / "text")
    yield house
    house.close()


@pytest.fixture
def sqlite_house(sqlite_db: Db, data: Path) -> Iterator[House]:
    """An index over SQLite, where the store does not matter."""
    house = House(sqlite_db, data / "text")
    yield house
    house.close()


def searcher(house: House, *found: tuple[Kind, str, float]) -> Searcher:
    """A searcher as another process has it; with vectors when the test says what they find."""
    fixed = Fixed(*found) if found else None
    return Searcher(house.db, TextReader(house.root), fixed, fixed, Config())  # type: ignore[arg-type]


def found(answer: object) -> list[str]:
    """The ids of an answer."""
    return [hit.id for hit in answer.hits]  # type: ignore[attr-defined]


def test_answers_hold_every_kind_and_read_well(house: House) -> None:
    """One question finds entries, messages and symbols, each with what a person needs to see."""
    house.session("s", [("prompt", "Should the ledger be sharded?")], title="Ledger plans")
    house.entry("e-000001", "Shard the ledger", "The ledger is sharded by tenant.")
    house.symbol("y1", "Ledger.shard", "src/ledger.py", doc="Shards the ledger.")
    house.index()
    answer = searcher(house).search(query="ledger shard")
    assert {hit.kind: hit.title for hit in answer.hits} == {
        "entry": "Shard the ledger",
        "message": "Ledger plans",
        "symbol": "Ledger.shard",
    }
    by_kind = {hit.kind: hit for hit in answer.hits}
    assert by_kind["symbol"].path == "src/ledger.py:7"
    assert (by_kind["message"].role, by_kind["message"].agent, by_kind["message"].session_id) == ("user", "claude", "s")
    assert (by_kind["entry"].status, by_kind["entry"].text) == ("confirmed", "The ledger is sharded by tenant.")
    assert (answer.behind, answer.reason) == (0, "")
    assert answer.notes == ("no embedding model: full text only",)


def test_scope_is_hard(house: House) -> None:
    """Nothing of another project comes back, whichever list proposes it."""
    house.talk("s", "the turbine vibrates", "yes", project=OTHER)
    house.entry("e-000002", "Turbine", "It vibrates.", project=OTHER)
    house.talk("m", "our turbine is fine", "good")
    house.index()
    vectors = (Kind.MESSAGE, "s-0", 0.99), (Kind.ENTRY, "e-000002", 0.99)
    assert found(searcher(house, *vectors).search(query="turbine vibrates", projects=[APP])) == ["m-0", "m-1"]
    everywhere = found(searcher(house, *vectors).search(query="turbine vibrates"))
    assert {"s-0", "e-000002"} <= set(everywhere)


def test_a_stopped_index_serves_nothing_superseded_forgotten_or_retracted(house: House) -> None:
    """With the indexer stopped, what was superseded, forgotten or taken back a moment ago is in no answer."""
    messages = house.talk("s", "the gearbox needs oil", "gearbox noted", "gearbox done", "fine")
    entry = house.entry("e-000003", "Gearbox", "Oil the gearbox.", status=Status.CONFIRMED)
    kept = house.entry("e-000004", "Gearbox seal", "Seal the gearbox.")
    house.index()
    before = found(searcher(house).search(query="gearbox"))
    assert {*messages[:3], entry, kept} <= set(before)
    with house.db.write() as tx:
        tx.run("UPDATE entry SET status = 'superseded' WHERE id = :id", id=entry)
        tx.changed(Kind.ENTRY, entry, APP)
        forget(tx, "message", messages[0], Clean(""), NOON)
    house.retract(messages[1])
    vectors = [(Kind.MESSAGE, id, 0.9) for id in messages] + [(Kind.ENTRY, entry, 0.9)]
    answer = searcher(house, *vectors).search(query="gearbox")
    assert not {messages[0], messages[1], entry} & set(found(answer))
    assert {messages[2], kept} <= set(found(answer))
    assert answer.behind > 0
    asked = searcher(house).search(query="gearbox", kinds=["entry"], statuses=["superseded", "confirmed"])
    assert set(found(asked)) == {entry, kept}


def test_retired_entries_come_only_when_asked_for(house: House) -> None:
    """Superseded and rejected entries are served to who names those states, and to nobody else."""
    house.entry("e-000005", "Kafka", "We use kafka.", status=Status.REJECTED)
    house.index()
    assert found(searcher(house).search(query="kafka")) == []
    assert found(searcher(house).search(query="kafka", statuses=["rejected"])) == ["e-000005"]
    house.entry("e-000006", "Kafka too", "We like kafka.", status=Status.CANDIDATE)
    house.index()
    assert found(searcher(house).search(query="kafka", statuses=["confirmed"])) == []


def test_time_is_hard(house: House) -> None:
    """``since`` is inclusive and ``until`` exclusive, for text and for vectors."""
    house.talk("s", "comet one", "comet two", "comet three")
    house.index()
    at = [Micros(NOON + number * MINUTE) for number in range(3)]
    vectors = [(Kind.MESSAGE, f"s-{number}", 0.9) for number in range(3)]
    answer = searcher(house, *vectors).search(query="comet", since=at[1], until=at[2])
    assert found(answer) == ["s-1"]


def test_only_what_was_said(sqlite_house: House) -> None:
    """Tool output is in an answer unless only what was said is asked for."""
    sqlite_house.session("s", [("prompt", "fix the turbine"), ("tool_result", "turbine turbine stopped")])
    sqlite_house.index()
    assert set(found(searcher(sqlite_house).search(query="turbine"))) == {"s-0", "s-1"}
    assert found(searcher(sqlite_house).search(query="turbine", said=True)) == ["s-0"]


def test_the_plan_leads_with_the_ids(sqlite_db: Db) -> None:
    """The re-read looks up the proposed ids and never walks through a project's entries."""
    for kind, (select, _, refused) in queries._FACTS.items():
        where = " AND ".join(["t.id IN :ids", *refused, "COALESCE(t.project_id, '') IN :projects"])
        with sqlite_db.read() as tx:
            plan = tx.all(f"EXPLAIN QUERY PLAN {select} WHERE {where}", ids=["a", "b"], projects=["p"])
        assert "(id=?)" in plan[0][3], (kind, plan)


def test_an_exact_name_is_found_by_the_store(sqlite_house: House) -> None:
    """An entry that is tied to a file is found by that file's path, though no word of it says so."""
    sqlite_house.entry("e-000007", "Retries", "Back off twice.", links=["src/net/retry_loop.py"])
    sqlite_house.entry("e-000008", "Retry loops", "A retry loop in the net.")
    sqlite_house.index()
    answer = searcher(sqlite_house).search(query="what about src/net/retry_loop.py?", projects=[APP])
    assert answer.hits[0].id == "e-000007"
    assert "name" in answer.hits[0].why


def test_neighbours_of_the_best_come_along(house: House) -> None:
    """An entry that an edge ties to the best hit is in the answer, though it shares no word with the question."""
    one = house.entry("e-000009", "Retry budget", "Three retries.")
    two = house.entry("e-00000a", "Circuit breaker", "Opens after five failures.")
    lost = house.entry("e-00000b", "Colours", "Blue.")
    house.edge(one, two, EdgeKind.RELATES_TO)
    house.index()
    answer = searcher(house).search(query="retry budget")
    assert found(answer) == [one, two]
    assert "graph" in answer.hits[1].why
    assert lost not in found(answer)


def test_vectors_find_what_words_do_not(house: House) -> None:
    """A message without a word of the question is found when its vector is near."""
    house.talk("s", "the payments provider rejected us", "hm")
    house.index()
    answer = searcher(house, (Kind.MESSAGE, "s-0", 0.8)).search(query="Stripe declined")
    assert found(answer) == ["s-0"]
    assert answer.hits[0].why == ("vector 1",)
    assert answer.notes == ()


def test_near_duplicates_take_one_place(sqlite_house: House) -> None:
    """The same text said in several sessions is shown once."""
    text = "always run the migration check before a deploy because the lock stays for an hour otherwise"
    for number in range(4):
        sqlite_house.session(f"s{number}", [("prompt", text)], start=Micros(NOON + number * MINUTE))
    sqlite_house.session("t", [("prompt", "the migration of birds")])
    sqlite_house.index()
    assert len(found(searcher(sqlite_house).search(query="migration check deploy"))) == 2


def test_what_was_useful_comes_first(house: House) -> None:
    """Between two equal entries, the one that sessions made use of comes first."""
    for id in ("e-00000c", "e-00000d"):
        house.entry(id, f"Rule {id}", "Pin the linter.")
    with house.db.write() as tx:
        mapper.insert_many(
            tx,
            [
                Injection(
                    briefing_id=new_id(Micros(NOON + number)),
                    project_id=APP,
                    session_id=None,
                    native_session="n",
                    agent="claude",
                    event="SessionStart",
                    source="entries",
                    item_kind="entry",
                    item_id=id,
                    tokens=9,
                    used=id == "e-00000d",
                    created_at=NOON,
                )
                for number in range(3)
                for id in ("e-00000c", "e-00000d")
            ],
        )
    house.index()
    assert found(searcher(house).search(query="pin linter"))[0] == "e-00000d"


def test_the_working_set_comes_first(house: House) -> None:
    """An entry that is tied to a file at hand comes before its equal."""
    house.entry("e-00000e", "Rule one", "Pin the linter soon.", links=["src/a.py"])
    house.entry("e-00000f", "Rule two", "Pin the linter hard.", links=["src/b.py"])
    house.index()
    assert found(searcher(house).search(query="pin linter", working=["src/b.py"]))[0] == "e-00000f"
    assert found(searcher(house).search(query="pin linter", working=["src/a.py"]))[0] == "e-00000e"


def test_a_question_that_names_a_project_prefers_it(house: House) -> None:
    """Everywhere, "in the billing-api" means that project; its name's words do not drown the rest."""
    house.project(APP, "billing-api")
    house.project(OTHER, "shop-front")
    house.talk("s", "the cache is redis", "ok")
    house.talk(
        "t", "in shop front the cache is memory, unlike the billing api, says the api of billing", "ok", project=OTHER
    )
    house.index()
    assert found(searcher(house).search(query="which cache does the billing-api use"))[0] == "s-0"


def test_sessions_are_ranked_by_all_their_hits(house: House) -> None:
    """Grouped by session, the one that speaks of the subject most comes first, with its hits."""
    house.talk("s", "tea", "invoice")
    house.talk("t", "invoice numbers", "invoice sums", "invoice dates")
    house.index()
    grouped = searcher(house).sessions(query="invoice numbers", projects=[APP])
    assert [one.session_id for one in grouped] == ["t", "s"]
    assert grouped[0].hits[0].id == "t-0"
    assert searcher(house).sessions(query="xylophone") == []


@pytest.mark.parametrize(
    ("query", "reason"),
    [("zebra", "no match"), ("???", "no match"), ("", "no match"), ("the", "no match")],
)
def test_an_empty_answer_says_why(house: House, query: str, reason: str) -> None:
    """Nothing stored, no match, and an index that is behind are told apart."""
    assert searcher(house).search(query=query).reason == "nothing stored"
    house.talk("s", "horses", "cows")
    assert searcher(house).search(query=query).reason == "index behind by 2"
    house.index()
    answer = searcher(house).search(query=query)
    assert (found(answer), answer.reason) == ([], reason)


def test_filtered_and_weak_answers_say_so(house: House) -> None:
    """An answer that a hard filter emptied, and one that is not relevant enough, say so."""
    (message, _) = house.talk("s", "granite", "marble")
    house.index()
    house.retract(message)
    house.retract(house.session("s", [("reply", "x")], first=5)[0])
    with house.db.write() as tx:
        forget(tx, "message", "s-1", Clean(""), NOON)
    assert searcher(house).search(query="granite marble").reason == "filtered out (2)"
    house.talk("t", "chalk and many other words", "limestone")
    house.index()
    weak = "chalk " + " ".join(f"unheard{letter}" for letter in "abcdefghijklmnopqrst")
    assert searcher(house).search(query=weak).reason == "below the floor"


def test_unknown_kinds_and_states_are_refused(sqlite_house: House) -> None:
    """A kind or state that does not exist is the caller's mistake, and the message lists what exists."""
    for wrong in ({"kinds": ["mesage"]}, {"statuses": ["nice"]}, {"kinds": ["session"]}):
        with pytest.raises(BadInput, match="entry"):
            searcher(sqlite_house).search(query="x", **wrong)  # type: ignore[arg-type]


def test_a_long_answer_looks_further_when_the_store_refuses_much(sqlite_house: House) -> None:
    """Though the first hundred proposals are gone from the store, the answer is filled from what follows."""
    house = sqlite_house
    house.session("s", [("prompt", f"falcon falcon {number}") for number in range(130)])
    texts = [f"a falcon in a much longer sentence about {thing} things" for thing in ("other", "new", "odd")]
    house.session("t", [("reply", text) for text in texts])
    house.index()
    with house.db.write() as tx:
        forget(tx, "session", "s", Clean(""), NOON)
    assert set(found(searcher(house).search(query="falcon", kinds=["message"], limit=5))) == {"t-0", "t-1", "t-2"}
