"""A backfill as batches: both passes handed in at once, collected when they ended, and written as any other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from tests.harvest.models.house import ModelHouse, answers, cite, sent, tool_of
from tests.llm.loopback import batches, message, tool_name

from flywheel.errors import Waiting
from flywheel.harvest.models import batching, worker
from flywheel.harvest.models.unread import projected, unread
from flywheel.jobs.kinds import EXTRACT_BATCH
from flywheel.llm.pricing import load_prices
from flywheel.model import LlmCall, ProjectId
from flywheel.store.mapper import find

STATEMENT = "The nightly export must stay off the primary database"


def answered(one: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the provider says to one question of a batch; of the third session's, something without a form."""
    body = one["params"]
    value: object = {"spans": [{"first": 1, "last": 1}]}
    if "Tuesdays" in sent(body):
        value = {"spans": "all"}
    if tool_of(body) == "edit":
        value = {
            "operations": [{"op": "create", "statement": STATEMENT, "cites": [cite(1, "off the primary database")]}]
        }
    return {"type": "succeeded", "message": message(value, name=tool_name(one))}


def run(house: ModelHouse) -> bool:
    """One run of the job; whether it waits for answers."""
    try:
        batching.run(replace(house.job("p"), kind=EXTRACT_BATCH), house.deps())
    except Waiting:
        return True
    return False


def test_both_passes_are_handed_in_and_collected(models: ModelHouse) -> None:
    """Two batches for all sessions; what cannot be used is asked for again by itself; a second backfill has nothing."""
    for name in ("a", "b"):
        models.house.say(name, ("user", f"In region {name} the nightly export must stay off the primary database."))
    models.house.say("c", ("user", "Deployments happen on Tuesdays only, after the stand-up."))
    models.wire.does(batches(answered, after=1))
    assert [run(models) for _ in range(4)] == [True, True, True, False]
    handed = [heard.body for heard in models.wire.heard if heard.path == "/v1/messages/batches"]
    assert [len(body["requests"]) for body in handed] == [3, 2]
    assert {row.stage for row in models.reads() if row.source_id != "c"} == {"done"}
    with models.db.read() as tx:
        assert tx.all("SELECT key FROM job WHERE kind = 'extract_model'") == [("c",)]
        assert {call.batch for call in find(tx, LlmCall, "")} == {"msgbatch_1"}
    assert [entry.title for entry in models.entries()] == [STATEMENT]
    assert [tool_of(body) for body in models.read("c", answers([], []))] == ["route"]
    with models.db.read() as tx:
        assert unread(tx, [ProjectId("p")], 0.0) == []


def test_a_sessions_own_job_leaves_what_lies_in_a_batch(models: ModelHouse) -> None:
    """It is not asked twice."""
    models.house.say("a", ("user", "The nightly export must stay off the primary database."))
    models.wire.does(batches(answered, after=9))
    assert run(models)
    models.wire.heard.clear()
    worker.run(models.job("a"), models.deps())
    assert models.wire.heard == [] and models.reads()[0].stage == "begun"


def test_a_cap_that_allows_none_of_it_puts_the_job_back(models: ModelHouse) -> None:
    """Nothing was handed in, and nothing is marked as if it had been."""
    models.house.say("a", ("user", "The nightly export must stay off the primary database."))
    models.open(day_usd=0)
    with pytest.raises(Waiting, match="cap"):
        batching.run(models.job("p"), models.deps())
    assert models.reads()[0].value.keys() == {"marks", "before", "tokens"} and models.wire.heard == []


def test_a_projection_counts_what_is_unread(models: ModelHouse) -> None:
    """Both models at their prices, a batch for less, and only what nobody has read."""
    for name in ("a", "b"):
        models.house.say(name, *[("user", f"The export {at} stays off the primary.") for at in range(300)])
    prices = load_prices().models
    router, editor = prices["claude-haiku-5-5"], prices["claude-sonnet-5-5"]
    with models.db.read() as tx:
        found = unread(tx, [ProjectId("p")], 0.0)
    whole = projected(found, router=router, editor=editor, config=models.config.llm)
    half = projected(found, router=router, editor=editor, config=models.config.llm, batch=True)
    assert len(found) == 2 and whole.calls == 4 and half.cost < 0.6 * whole.cost and whole.tokens == half.tokens
    models.read("a", answers([], []))
    models.house.say("a", *[("user", f"The export {at} stays off the primary.") for at in range(303)])
    with models.db.read() as tx:
        left = unread(tx, [ProjectId("p")], 0.0)
        assert len(unread(tx, [ProjectId("p")], 0.0, all_of_it=True)) == 2
    assert [one.session_id for one in left] == ["a", "b"] and left[0].tokens < left[1].tokens / 10
