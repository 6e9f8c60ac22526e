"""Whatever a server does, the one who asks gets a validated answer or an error that says what to do."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from tests.llm.conftest import GOOD, Made, ledger, question
from tests.llm.loopback import Act, Wire, bodies, breaks_off, dawdles, drips, fails, says, sends, serving

from flywheel.errors import FlywheelError, Unusable, Waiting
from flywheel.llm import Cancelled, ProviderDown, ProviderRefused
from flywheel.llm.seam import Seam
from flywheel.model import Micros
from flywheel.store import Db

both = pytest.mark.parametrize("provider", ["anthropic", "openai"])


@both
def test_an_answer_comes_validated_with_what_it_took(provider: str, made: Made, wire: Wire, sqlite_db: Db) -> None:
    """The value, the provider's own count of tokens, and one settled row of the ledger."""
    wire.does(says(dict(GOOD)))
    reply = made(provider).ask(question())
    assert (reply.value, reply.usage.input, reply.usage.output, reply.calls) == (GOOD, 100, 20, 1)
    (row,) = ledger(sqlite_db)
    assert (row.outcome, row.input_tokens, row.output_tokens, row.purpose) == ("ok", 100, 20, "ask")
    assert row.cost == reply.cost == (20 if provider == "anthropic" else 0)  # $0.10 and $0.50 a million
    assert row.settled_at is not None


def test_the_stable_prefix_and_the_tool_are_cached(made: Made, wire: Wire, sqlite_db: Db) -> None:
    """Anthropic gets cache marks, the forced tool and no thinking; what came from the cache costs its own price."""
    usage = {
        "input_tokens": 10,
        "output_tokens": 2,
        "cache_read_input_tokens": 900_0,
        "cache_creation_input_tokens": 400,
    }
    wire.does(says(dict(GOOD), usage=usage))
    reply = made().ask(question())
    (body,) = bodies(wire)
    assert body["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert body["tool_choice"]["name"] == "note" and body["tools"][0]["input_schema"]["required"]
    assert body["thinking"] == {"type": "disabled"} and "temperature" not in body
    sent = [value for name, value in wire.heard[0].headers.items() if name in ("authorization", "x-api-key")]
    assert [value.removeprefix("Bearer ") for value in sent] == ["test-key"]
    assert (reply.usage.cache_read, reply.usage.cache_write) == (9000, 400)
    assert reply.cost == 142  # 10 × 0.10 + 2 × 0.50 + 9,000 × 0.01 + 400 × 0.125 = 142 millionths of a dollar
    assert ledger(sqlite_db)[0].cache_read == 9000


def test_cached_tokens_of_openai_are_counted_once(made: Made, wire: Wire) -> None:
    """Their prompt tokens hold the cached ones; ours do not."""
    used = {"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 80}}
    wire.does(says(dict(GOOD), usage=used))
    usage = made("openai").ask(question()).usage
    assert (usage.input, usage.cache_read, usage.output, usage.total) == (20, 80, 5, 105)


PASSING: dict[str, Act] = {
    "429 with retry-after": fails(429, "rate_limit_error", retry_after="0"),
    "429 in milliseconds": fails(429, "rate_limit_error", retry_after_ms="1"),
    "500": fails(500, "api_error"),
    "529": fails(529, "overloaded_error"),
    "503 without JSON": sends(b"<html>busy</html>", 503),
    "a truncated body": breaks_off,
    "no JSON": sends(b'{"content": [{"type": "tool_'),
    "JSON of another shape": sends(b'{"ok": true}'),
    "a list": sends(b"[1]"),
    "nothing": sends(b""),
}


@both
def test_what_may_pass_is_tried_again(provider: str, made: Made, wire: Wire, sqlite_db: Db) -> None:
    """One failure, then an answer: whoever asks notices nothing, and both calls are in the ledger."""
    llm = made(provider)
    for name, act in PASSING.items():
        before = {row.id for row in ledger(sqlite_db)}
        wire.does(act, says(dict(GOOD)))
        assert llm.ask(question()).value == GOOD, name
        failed, *more = sorted(
            (row for row in ledger(sqlite_db) if row.id not in before), key=lambda row: row.outcome == "ok"
        )
        assert [row.outcome for row in more] == ["ok"] and failed.outcome != "ok", name
        free = name[0] in "45"  # an answer that was lost may have been counted, an error was not
        assert (failed.input_tokens + failed.cache_write == 0) is free, name


@both
def test_what_does_not_pass_is_an_error_that_can_be_tried_later(provider: str, made: Made, wire: Wire) -> None:
    """Three tries, no more; a job that hears it is put back and not lost."""
    llm = made(provider)
    for name, act in PASSING.items():
        wire.does(act)
        wire.heard.clear()
        with pytest.raises(FlywheelError) as caught:
            llm.ask(question())
        assert isinstance(caught.value, ProviderDown | Waiting) and caught.value.retryable, name
        assert len(wire.heard) == 3, name


@both
@pytest.mark.parametrize("slow", [dawdles, drips])
def test_a_slow_server_meets_the_deadline(
    provider: str, slow: Callable[[float], Act], made: Made, wire: Wire, sqlite_db: Db
) -> None:
    """Silent, or sending a byte now and then: the call ends in time and its estimate stays on the bill."""
    wire.does(slow(0.8))
    llm = made(provider, seconds=0.15)
    llm._pace = llm._pace.__class__(tries=1)
    began = time.monotonic()
    with pytest.raises(ProviderDown, match="no answer within"):
        llm.ask(question())
    assert time.monotonic() - began < 0.7
    (row,) = ledger(sqlite_db)
    assert row.outcome == "slow" and row.cache_write > 0


@both
def test_a_long_retry_after_puts_the_work_back_until_then(provider: str, made: Made, wire: Wire) -> None:
    """Nobody sits and waits for an hour: the error carries the time."""
    wire.does(fails(429, "rate_limit_error", retry_after="3600"))
    llm = made(provider)
    with pytest.raises(Waiting) as caught:
        llm.ask(question())
    assert caught.value.until == Micros(llm.now() + 3_600_000_000) and len(wire.heard) == 1


ADVICE = {400: "HTTP 400", 401: "key is wrong", 403: "may not", 404: "model", 413: "too large"}


@both
def test_what_will_not_pass_is_not_tried_again(provider: str, made: Made, wire: Wire, sqlite_db: Db) -> None:
    """A wrong key or model is said at once, in words that say what to do, and costs nothing."""
    llm = made(provider)
    for status, advice in ADVICE.items():
        wire.does(fails(status, "some_error", "bad thing"))
        with pytest.raises(ProviderRefused, match=advice):
            llm.ask(question())
    assert len(wire.heard) == len(ADVICE)
    assert {(row.outcome, row.cost) for row in ledger(sqlite_db)} == {("refused", 0)}


@both
def test_no_server_is_no_bill(provider: str, made: Made, sqlite_db: Db) -> None:
    """Where nothing listens, nothing was sent and nothing is charged."""
    with serving(says(GOOD)) as gone:
        url = gone.url
    with pytest.raises(ProviderDown):
        made(provider, at=url).ask(question())
    assert {(row.outcome, row.cost) for row in ledger(sqlite_db)} == {("broken", 0)}


MALFORMED: dict[str, Act] = {
    "a field is missing": says({"subject": "x"}),
    "a wrong type": says({"subject": 7, "sure": True}),
    "one too many": says({"subject": "x", "sure": True, "more": 1}),
    "no object": says([1]),
    "only words": says("I think the subject is the queue."),
    "cut": says({"subject": "x", "sure": True}, stop="cut"),
}


@both
def test_a_wrong_form_is_told_to_the_model_and_asked_again(
    provider: str, made: Made, wire: Wire, sqlite_db: Db
) -> None:
    """The model hears what is wrong; the second answer counts, and both are paid for."""
    llm = made(provider)
    for name, act in MALFORMED.items():
        wire.does(act, says(dict(GOOD)))
        wire.heard.clear()
        reply = llm.ask(question())
        assert (reply.value, reply.calls, reply.usage.output) == (GOOD, 2, 40), name
        talk = bodies(wire)[1]["messages"]
        assert "cannot be used" in talk[-1]["content"] and talk[-2]["role"] == "assistant", name
    outcomes = [row.outcome for row in ledger(sqlite_db)]
    assert outcomes.count("malformed") == outcomes.count("ok") == len(MALFORMED)


@both
def test_who_never_learns_is_given_up(provider: str, made: Made, wire: Wire, sqlite_db: Db) -> None:
    """After two corrections it is an error that kills the job at once; nothing of the answer is handed on."""
    wire.does(says({"subject": 7, "sure": True}))
    with pytest.raises(Unusable, match="at subject"):
        made(provider).ask(question())
    assert [row.outcome for row in ledger(sqlite_db)] == ["malformed"] * 3 and not Unusable.retryable


def test_a_declined_answer_is_not_asked_for_again(made: Made, wire: Wire) -> None:
    """A refusal by the provider's safeguards stays one."""
    wire.does(says("no", stop="refusal"))
    with pytest.raises(Unusable, match="declined"):
        made().ask(question())
    assert len(wire.heard) == 1


def test_a_model_that_refuses_the_forced_tool_is_asked_without(made: Made, wire: Wire) -> None:
    """Some models take no forced tool; that is learned once."""

    def picky(asked: object) -> None:
        body = asked.got.body  # type: ignore[attr-defined]
        refuse = body["tool_choice"]["type"] == "tool"
        act = (
            fails(400, "invalid_request_error", "tool_choice: forced tool use is not supported")
            if refuse
            else says(GOOD)
        )
        act(asked)  # type: ignore[arg-type]

    wire.does(picky)
    llm = made()
    assert llm.ask(question()).value == llm.ask(question()).value == GOOD
    assert [body["tool_choice"]["type"] for body in bodies(wire)] == ["tool", "auto", "auto"]


def test_a_server_without_tools_is_asked_for_json(made: Made, wire: Wire) -> None:
    """A local model that knows no tools answers in JSON of the schema, in a fence or not."""

    def simple(asked: object) -> None:
        body = asked.got.body  # type: ignore[attr-defined]
        act = (
            fails(400, words="local does not support tools")
            if "tools" in body
            else says('```json\n{"subject": "the queue", "sure": true}\n```')
        )
        act(asked)  # type: ignore[arg-type]

    wire.does(simple)
    assert made("openai").ask(question()).value == GOOD
    assert bodies(wire)[1]["response_format"]["json_schema"]["schema"]["required"] == ["subject", "sure"]


def test_a_server_with_another_name_for_the_limit(made: Made, wire: Wire) -> None:
    """Newer models want `max_completion_tokens`."""
    wire.does(fails(400, words="Unsupported parameter: use 'max_completion_tokens'"), says(dict(GOOD)))
    assert made("openai").ask(question()).value == GOOD
    assert bodies(wire)[1]["max_completion_tokens"] == 100 and "max_tokens" not in bodies(wire)[1]


@both
def test_secrets_are_taken_out_on_both_ways(provider: str, made: Made, wire: Wire) -> None:
    """What somebody forgot to redact is not sent; what a model makes up that looks like a secret is not handed on."""
    key = "ghp_" + "a1B2" * 9
    wire.does(says({"subject": f"token {key}", "sure": True}))
    asked = question()
    leaky = asked.messages[0].__class__(role=asked.messages[0].role, text=f"my token is {key}")  # type: ignore[arg-type]
    reply = made(provider).ask(question(messages=[leaky], prefix=f"also {key}"))
    assert key not in str(bodies(wire)) and "[redacted:" in str(bodies(wire))
    assert key not in str(reply.value)


def test_whoever_is_told_to_stop_stops(made: Made, wire: Wire, sqlite_db: Db) -> None:
    """A worker that has to end does not wait for the server; what it asked for stays on the bill."""
    wire.does(dawdles(1.0))
    beats: list[str] = []
    with pytest.raises(Cancelled):
        made().ask(question(), stopping=lambda: bool(beats), beat=beats.append)
    (row,) = ledger(sqlite_db)
    assert row.outcome == "cancelled" and row.cache_write > 0 and beats


def test_pauses_are_the_same_for_the_same_seed(made: Made) -> None:
    """Jitter that a test can repeat."""
    one, two = made(), made()
    for llm in (one, two):
        llm._pace = Seam.__init__.__globals__["Pace"]()
    assert [one._backoff(n) for n in (1, 2, 3)] == [two._backoff(n) for n in (1, 2, 3)]
    assert 1 <= one._backoff(1) <= 1.25


@both
@pytest.mark.parametrize(
    "usage",
    [{"output_tokens": 9}, {"input_tokens": "many", "prompt_tokens": None}, {"input_tokens": -5, "prompt_tokens": -5}],
)
def test_who_does_not_say_what_it_took_is_taken_at_the_estimate(
    provider: str, usage: dict[str, Any], made: Made, wire: Wire, sqlite_db: Db
) -> None:
    """A count that is missing, no number or negative makes no call free, and takes nothing off the bill."""
    wire.does(says(dict(GOOD), usage=usage))
    made(provider).ask(question())
    row = ledger(sqlite_db)[-1]
    assert row.outcome == "ok" and row.input_tokens + row.cache_write > 100 and row.output_tokens == 100


@both
def test_another_tool_than_the_one_asked_for_is_no_answer(provider: str, made: Made, wire: Wire) -> None:
    """However well what it was called with fits; the model is told, and may put it right."""
    wire.does(says(dict(GOOD), name="rm_rf"), says(dict(GOOD)))
    assert made(provider).ask(question()).calls == 2
    assert "there is no tool" in str(wire.heard[-1].body["messages"][-1]["content"])
