"""Batches: half the price, one bill, collected by whoever comes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from tests.llm.conftest import GOOD, Made, ledger, question
from tests.llm.loopback import Wire, batches, fails, message

from flywheel.errors import BadInput, Unusable, Waiting
from flywheel.llm import ProviderDown, ProviderRefused, Reply, Request
from flywheel.llm.batches import Backfill
from flywheel.store import Db

USAGE = {"input_tokens": 10_000, "output_tokens": 1_000}


def answers(request: Mapping[str, Any]) -> Mapping[str, Any]:
    """By what was asked: a good one, a wrong form, an error, an expired one."""
    text = request["params"]["messages"][0]["content"]
    if "wrong" in text:
        return {"type": "succeeded", "message": message({"subject": 7}, usage=USAGE)}
    if "error" in text:
        return {
            "type": "errored",
            "error": {"type": "error", "error": {"type": "invalid_request_error", "message": "no"}},
        }
    if "late" in text:
        return {"type": "expired"}
    return {"type": "succeeded", "message": message(dict(GOOD), usage=USAGE)}


def test_a_batch_is_handed_in_looked_at_and_collected(made: Made, wire: Wire, sqlite_db: Db) -> None:
    """The answers come in another order and each finds its question; another process may collect, twice costs once."""
    wire.does(batches(answers, after=1))
    texts = ["good one", "wrong one", "error one", "late one"]
    asked = [question(text) for text in texts]
    first = Backfill(made())
    given = first.hand_in(asked)
    assert [row.outcome for row in ledger(sqlite_db)] == ["open"] * 4
    assert {row.batch for row in ledger(sqlite_db)} == {"msgbatch_1"}
    assert not first.ended(given.batch) and first.ended(given.batch)
    keyed: dict[str, Request] = dict(zip(given.keys, asked, strict=True))
    found = dict(Backfill(made()).collect(given.batch, keyed))
    good, wrong, error, late = (found[key] for key in given.keys)
    assert isinstance(good, Reply) and good.value == GOOD and good.cost == 750  # half of 1,000 + 500 millionths
    assert all(isinstance(one, Unusable) for one in (wrong, error, late)) and "required property" in str(wrong)
    bill = [(row.outcome, row.cost) for row in sorted(ledger(sqlite_db), key=lambda row: given.keys.index(row.id))]
    assert bill == [("ok", 750), ("malformed", 750), ("refused", 0), ("broken", 0)]
    assert len(dict(Backfill(made()).collect(given.batch, keyed))) == 4
    assert sum(row.cost for row in ledger(sqlite_db)) == 1500


def test_a_batch_keeps_to_the_caps_as_a_whole(made: Made, wire: Wire, sqlite_db: Db) -> None:
    """All or none is reserved, and nothing is sent without."""
    wire.does(batches(answers))
    with pytest.raises(Waiting):
        Backfill(made(day_usd=0.0002)).hand_in([question("x" * 400)] * 5)
    assert wire.heard == [] and ledger(sqlite_db) == []


def test_what_goes_wrong_is_said(made: Made, wire: Wire, sqlite_db: Db) -> None:
    """A provider that takes none, one that is down, a wrong key; nothing stays on the bill."""
    with pytest.raises(BadInput, match="takes no batches"):
        Backfill(made("openai"))
    for status, kind in ((500, ProviderDown), (401, ProviderRefused)):
        wire.does(fails(status))
        with pytest.raises(kind):
            Backfill(made()).hand_in([question()])
        with pytest.raises(kind):
            Backfill(made()).ended("msgbatch_1")
    assert {row.cost for row in ledger(sqlite_db)} == {0}
