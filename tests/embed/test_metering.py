"""Every request to an embedding server or a reranker is on the ledger, and none is made past a cap in money."""

from __future__ import annotations

from dataclasses import replace
from email.utils import formatdate
from typing import Any

import pytest
from tests.embed.wire_server import Answer, Wired, said, serving

from flywheel.config import Config, EmbedConfig
from flywheel.embed import EmbedderDown, ModelMissing, encode_queries
from flywheel.embed.calling import Server
from flywheel.embed.metering import tokens_of
from flywheel.embed.remote import RemoteEmbedder
from flywheel.embed.rerank import HttpReranker
from flywheel.embed.select import open_embedder
from flywheel.errors import Waiting
from flywheel.llm import Purpose, Usage
from flywheel.llm.ledger import Estimate, Ledger, by_purpose, spending
from flywheel.llm.metering import LedgerMeter
from flywheel.llm.pricing import load_prices
from flywheel.model import GLOBAL, LlmCall, Micros
from flywheel.store import Db
from flywheel.store.mapper import find
from flywheel.text.redact import Redactor

CLEAN = Redactor().text
NOON = Micros(1_780_000_000_000_000)
TEXTS = [CLEAN(f"The mail queue of region {at} retries five times.") for at in range(3)]


def meter(db: Db, purpose: Purpose = Purpose.EMBED, *, usd: float = 1000.0, **caps: Any) -> LedgerMeter:
    """Over a store, at a thousand dollars per million tokens, so that each token is seen."""
    price = load_prices().of_vectors("any", own=False, given=usd)
    config = replace(Config().llm, **caps)
    return LedgerMeter(db, config, purpose=purpose, provider="openai", price=price, now=lambda: NOON)


def embedder(server: Wired, account: LedgerMeter) -> RemoteEmbedder:
    """The model behind the server, without pauses."""
    found = open_embedder("openai:any", EmbedConfig(url=server.url), redact=CLEAN, meter=lambda name: account)
    assert isinstance(found, RemoteEmbedder)
    found._sleep = lambda seconds: None
    return found


def rows(db: Db) -> list[LlmCall]:
    """What is on the bill."""
    with db.read() as tx:
        return find(tx, LlmCall, "ORDER BY rowid")


def told(db: Db) -> list[tuple[str, str, int, int]]:
    """The same in short: purpose, outcome, tokens, micro-dollars."""
    return [(row.purpose, row.outcome, row.input_tokens, row.cost) for row in rows(db)]


def test_passages_and_questions_are_on_the_bill(sqlite_db: Db) -> None:
    """With what the server says that it counted."""
    with serving() as server:
        model = embedder(server, meter(sqlite_db))
        model.encode(TEXTS)
        encode_queries(model, TEXTS[:1])
    assert told(sqlite_db) == [("embed", "ok", 7, 7000)] * 2 and len(server.asked) == 2
    with sqlite_db.read() as tx:
        assert by_purpose(tx, Micros(0))["embed"].tokens == 14
        assert (spending(tx, NOON).day.cost, spending(tx, NOON).day.tokens) == (14_000, 0)


def cut(body: dict[str, Any]) -> Answer:
    """Less than was announced."""
    return 200, {"Content-Length": "5000"}, b'{"data": ['


@pytest.mark.parametrize(
    ("fault", "outcome", "free"),
    [(said(500, "boom"), "refused", True), (said(429, "slow down"), "refused", True), (cut({}), "broken", False)],
)
def test_a_failure_costs_what_the_server_may_have_counted(
    sqlite_db: Db, fault: Answer, outcome: str, free: bool
) -> None:
    """Nothing where it said no; the estimate where its answer was lost. Each try is a row."""
    with serving() as server:
        server.faults = [lambda body: fault]
        embedder(server, meter(sqlite_db)).encode(TEXTS)
    first, second = told(sqlite_db)
    assert first[1] == outcome and (first[2] == first[3] == 0) is free and second[1:] == ("ok", 7, 7000)


def test_a_server_that_is_not_there_costs_nothing(sqlite_db: Db) -> None:
    """Nothing was sent, and nothing is on the bill: it is tried again and again."""
    account = meter(sqlite_db)
    model = open_embedder(
        "openai:a", EmbedConfig(url="http://127.0.0.1:9/v1"), redact=CLEAN, meter=lambda name: account
    )
    with pytest.raises(EmbedderDown):
        encode_queries(model, TEXTS[:1])
    with sqlite_db.read() as tx:
        assert rows(sqlite_db) == [] and spending(tx, NOON).day.calls == spending(tx, NOON).day.cost == 0


def test_at_a_cap_nothing_is_sent_and_it_says_until_when(sqlite_db: Db) -> None:
    """The indexer rests till the cap is lifted; who asks is told why, and is not told of the server's health."""
    with serving() as server:
        model = embedder(server, meter(sqlite_db, day_usd=0.001))
        with pytest.raises(EmbedderDown, match="the day's cap of") as caught:
            model.encode(TEXTS)
        assert server.asked == [] and rows(sqlite_db) == [] and 3600 < caught.value.after <= 86_400
        for _ in range(2):
            with pytest.raises(EmbedderDown, match="cap of"):
                encode_queries(model, TEXTS[:1])


def test_the_tokens_of_vectors_count_against_no_cap_in_tokens(sqlite_db: Db) -> None:
    """A store's worth of vectors from one's own server does not use up what language models may read."""
    with serving() as server:
        model = embedder(server, meter(sqlite_db, usd=0.0, day_tokens=5, month_tokens=5))
        for _ in range(3):
            model.encode(TEXTS)
        assert told(sqlite_db) == [("embed", "ok", 7, 0)] * 3
        full = Ledger(sqlite_db, replace(Config().llm, day_tokens=100))
        one = Estimate(usage=Usage(input=50), cost=0)
        given: dict[str, Any] = {"project_id": GLOBAL, "provider": "p", "model": "m", "estimates": [one], "now": NOON}
        full.reserve(purpose=Purpose.ASK, **given)
        with pytest.raises(Waiting):
            full.reserve(purpose=Purpose.ASK, **given)
        model.encode(TEXTS)


def test_reranking_is_on_the_bill(sqlite_db: Db) -> None:
    """As it is when the server does not say what it counted; a refusal costs nothing."""
    with serving() as server:
        body = b'{"results": [{"index": 0, "relevance_score": 1}, {"index": 1, "relevance_score": 2}]}'
        server.faults = [lambda asked: (200, {}, body), lambda asked: said(401, "no")]
        reranker = HttpReranker(server.url, "m", redact=CLEAN, meter=meter(sqlite_db, Purpose.RERANK))
        assert reranker.score(TEXTS[0], TEXTS[1:], 5)[0] == [1.0, 2.0]
        assert reranker.score(TEXTS[0], TEXTS[1:], 5)[0] is None
    first, second = told(sqlite_db)
    assert first[:2] == ("rerank", "ok") and first[2] > 40 and second == ("rerank", "refused", 0, 0)


@pytest.mark.parametrize(
    ("after", "least", "most"), [("3", 3, 3), (formatdate(4_000_000_000, usegmt=True), 3600, 3600)]
)
def test_a_server_may_name_a_date(after: str, least: float, most: float) -> None:
    """`retry-after` in seconds, or as a date (RFC 9110)."""
    with serving() as server:
        server.faults = [lambda body: said(429, "slow down", Retry_After=after)]
        with pytest.raises(EmbedderDown) as caught:
            Server(server.url, key="", seconds=5).post("/embeddings", b'{"input": ["a"]}')
    assert least <= caught.value.after <= most


@pytest.mark.parametrize(
    ("model", "own", "given", "usd", "known"),
    [
        ("text-embedding-3-small", False, -1.0, 0.02, True),
        ("text-embedding-3-small", False, 0.5, 0.5, True),
        ("nobody-knows", False, -1.0, 0.18, False),
        ("nomic-embed-text", True, -1.0, 0.0, True),
    ],
)
def test_what_vectors_cost(model: str, own: bool, given: float, usd: float, known: bool) -> None:
    """As a setting says, else the table; unknown models of others are as dear as the dearest, one's own are free."""
    price = load_prices().of_vectors(model, own=own, given=given)
    assert (price.input, price.known) == (usd, known)


def test_what_a_server_counted_is_found_in_its_answer() -> None:
    """Whichever name it has; none is None."""
    assert tokens_of(b'{"usage": {"prompt_tokens": 5, "total_tokens": 9}}') == 9
    assert tokens_of(b'{"usage": {}}') is None and tokens_of(b'{"usage": {"total_tokens": 0}}') is None


def test_offline_and_a_wrong_name_are_on_no_bill(sqlite_db: Db) -> None:
    """They are refused before anything is asked."""
    with pytest.raises(ModelMissing):
        open_embedder("openai:a", EmbedConfig(), redact=CLEAN, offline=True, meter=lambda name: meter(sqlite_db))
    assert rows(sqlite_db) == []
