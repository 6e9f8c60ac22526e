"""What the tools cost, and what a call comes to."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.mcp.talking import INITIALIZED, NOON, Stub, calling, hit, opening, request, server

from flywheel.api import CodeHit, Hit, SearchAnswer
from flywheel.errors import BadInput, ConfigError, DaemonDown, Defect, FlywheelError, NotFound, Refused, Unavailable
from flywheel.mcp import answers
from flywheel.mcp.desk import PATIENCE, Answer, Desk, since
from flywheel.mcp.surroundings import Place
from flywheel.mcp.tools import INSTRUCTIONS
from flywheel.text.compose import FENCE_CLOSE, FENCE_OPEN, strip_injected
from flywheel.text.tokens import count

HERE = Place(cwd="/w", agent="claude", session="s1")
NOW = 1_790_000_000.0


def test_the_list_of_tools_is_cheap() -> None:
    """At most 1,500 tokens as clients get it, with the instructions beside it."""
    with server(lambda: Stub().api) as pipes:
        pipes.ask(opening())
        pipes.send(INITIALIZED)
        listed = orjson.dumps(pipes.ask(request(1, "tools/list"))["result"]).decode()
    names = [tool["name"] for tool in orjson.loads(listed)["tools"]]
    assert names == ["recall", "get", "code", "propose", "confirm", "feedback"]
    assert count(listed) + count(INSTRUCTIONS) <= 1500


def ask(stub: Stub, tool: str, place: Place = HERE, pauses: list[float] | None = None, **given: Any) -> Answer:
    """One call at a desk of its own."""
    waited = pauses if pauses is not None else []
    return Desk(lambda: stub.api, now=lambda: NOW, pause=waited.append).call(tool, given, place)


CALLS: Mapping[str, Mapping[str, Any]] = {
    "recall": {"question": "why Valkey?"},
    "get": {"id": "7f3a1c"},
    "code": {"query": "Outbox"},
    "propose": {"statement": "We use Valkey.", "quote": "We use Valkey."},
    "confirm": {"id": "7f3a1c", "quote": "yes, that is so"},
    "feedback": {"id": "7f3a1c", "verdict": "helped"},
}


@pytest.mark.parametrize("tool", CALLS)
def test_every_answer_stands_in_the_fence(tool: str) -> None:
    """An error, too; so nothing of it is evidence when a transcript brings it back, whatever the tool's name there."""
    stub = Stub()
    for answer in (ask(stub, tool, **CALLS[tool]), ask(stub, tool, nonsense=1)):
        assert answer.text.startswith(FENCE_OPEN) and answer.text.endswith(FENCE_CLOSE)
        assert strip_injected(f"Output:\n{answer.text}").strip() == "Output:"
    stub.errors.append(RuntimeError("secret"))
    broken = ask(stub, tool, **CALLS[tool])
    assert broken.failed and "RuntimeError" in broken.text and "secret" not in broken.text and "go on" in broken.text


def test_recall_asks_for_this_project() -> None:
    """By default five of what is known and was said here, of any age; each filter reaches the verb."""
    stub = Stub()
    answer = ask(stub, "recall", question="why Valkey?")
    assert not answer.failed
    assert "[fw:7f3a1c] (decision, unconfirmed, 2026-05-28) Valkey for the price cache: We use Valkey" in answer.text
    (_, given) = stub.asked[-1]
    assert given == {
        "query": "why Valkey?", "cwd": "/w", "kinds": ("entry", "message", "document"), "limit": 5,
        "everywhere": False, "since": None, "until": None,
    }  # fmt: skip
    ask(stub, "recall", question="x", kinds=["entry"], since="14d", scope="everywhere", limit=12)
    (_, given) = stub.asked[-1]
    assert (given["kinds"], given["limit"], given["everywhere"]) == (("entry",), 12, True)
    assert given["since"] == int(NOW * 1e6) - 14 * 86_400_000_000


def test_recall_understands_when() -> None:
    """Words for a time go out of the question and filter by it, which the answer says; ``since`` goes before them."""
    stub = Stub()
    answer = ask(stub, "recall", question="what did we decide about Valkey on 2026-05-28?")
    (_, given) = stub.asked[-1]
    assert given["query"] == "what did we decide about Valkey?" and given["until"] - given["since"] == 86_400_000_000
    assert "Only of 2026-05-28 (on 2026-05-28). " in answer.text
    ask(stub, "recall", question="what about Valkey last week?", since="yesterday")
    (_, given) = stub.asked[-1]
    assert given["query"] == "what about Valkey last week?" and given["until"] is None
    assert 0 < int(NOW * 1e6) - given["since"] < 2 * 86_400_000_000


def test_an_empty_answer_says_why() -> None:
    """And that there is more than this project."""
    stub = Stub()
    stub.hits = []
    assert "Nothing found: no match. With scope everywhere" in ask(stub, "recall", question="x").text
    assert "everywhere" not in ask(stub, "recall", question="x", scope="everywhere").text
    assert "No definition found: no match. full text only" in ask(stub, "code", query="x").text


def test_what_was_held_against_a_hit_is_told() -> None:
    """Before its words."""
    stub = Stub()
    stub.hits = [hit(feedback="called wrong on 2026-05-01")]
    assert (
        "(decision, unconfirmed, called wrong on 2026-05-01, 2026-05-28) Valkey"
        in ask(stub, "recall", question="x").text
    )


@pytest.mark.parametrize(
    ("level", "there", "not_there"),
    [
        ("title", "Valkey for the price cache", "licence"),
        ("summary", "Why: the licence.", "Timeline"),
        ("body", "Timeline:", "session [fw:555555]"),
        ("receipts", "“We use Valkey.” — user, claude, 2026-05-28, session [fw:555555]", "licence"),
    ],
)
def test_levels(level: str, there: str, not_there: str) -> None:
    """Each tells more, with status and feedback in front."""
    text = ask(Stub(), "get", id="[fw:7f3a1c]", level=level).text
    assert there in text and not_there not in text and "(decision, unconfirmed, 2026-05-28, stale (x))" in text


def test_code_names_the_place_first() -> None:
    """path:line, kind, name, signature."""
    stub = Stub()
    stub.code_hits = [
        CodeHit(
            id="0190-7f3a1c", short="7f3a1c", project_id="p", kind="method", name="Outbox.put", path="a.py", line=7,
            stop_line=9, signature="def put(self, row: Row) -> None", doc="Stores a row.",
        )
    ]  # fmt: skip
    assert (
        "- a.py:7 method Outbox.put [fw:7f3a1c]\n  def put(self, row: Row) -> None\n  Stores a row."
        in ask(stub, "code", query="put").text
    )
    assert stub.asked[-1] == ("code", {"query": "put", "cwd": "/w", "limit": 8})


def test_who_calls_goes_along() -> None:
    """Folder, agent and session of a proposal; agent and session of feedback and of a confirmation."""
    stub = Stub()
    text = ask(stub, "propose", **CALLS["propose"], source="a.py:3", type="fact", scope="src").text
    assert "[fw:7f3a1c] Filed as x. Cited: user." in text
    assert stub.asked[-1][1] == {
        **CALLS["propose"], "source": "a.py:3", "type": "fact", "scope": "src",
        "cwd": "/w", "agent": "claude", "session": "s1",
    }  # fmt: skip
    ask(stub, "feedback", **CALLS["feedback"], note="yes")
    assert stub.asked[-1][1] == {**CALLS["feedback"], "note": "yes", "agent": "claude", "session": "s1"}
    ask(stub, "confirm", **CALLS["confirm"])
    assert stub.asked[-1] == ("confirm_by_words", {**CALLS["confirm"], "agent": "claude", "session": "s1"})


def test_what_a_session_was_shown_is_noted() -> None:
    """Entries that were recalled, looked at or proposed, in the session that asked; without a session nothing is."""
    stub = Stub()
    stub.hits = [hit(), hit("aaaaaa", kind="message")]
    for tool in ("recall", "get", "propose"):
        ask(stub, tool, **CALLS[tool])
    assert stub.shown == ["0190-7f3a1c", "i", "i"]
    ask(stub, "recall", Place(cwd="/w"), **CALLS["recall"])
    assert len(stub.shown) == 3


TEXTS = st.text(st.sampled_from("aé漢<>/\n \"'‮x"), max_size=3000)
HITS = st.builds(
    lambda kind, title, text, note: hit(kind=kind, title=title, text=text, feedback=note, path="a/b.py:1", role="user"),
    st.sampled_from(["entry", "message", "document", "symbol"]), TEXTS, TEXTS, st.sampled_from(["", "called wrong"]),
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(hits=st.lists(HITS, max_size=8))
def test_answers_are_small(hits: list[Hit]) -> None:
    """At most 600 tokens with their fence unless many hits were asked for, whatever was found; never none of it."""
    stub = Stub()
    stub.hits = hits
    stub.code_hits = [
        CodeHit(
            id=one.id, short=one.short, project_id="p", kind="method", name=one.title, path=one.path, line=1,
            stop_line=1, signature=one.text, doc=one.text, banner=one.feedback,
        )
        for one in hits
    ]  # fmt: skip
    for answer in (ask(stub, "recall", question="x"), ask(stub, "code", query="x")):
        assert count(answer.text) <= 600 and (not hits or "[fw:" in answer.text)
        assert answer.text.count("<flywheel-briefing") == 1
    assert count(ask(stub, "recall", question="x", limit=20).text) <= 1600


@pytest.mark.parametrize("level", answers.LEVELS)
def test_one_thing_is_small(level: str) -> None:
    """A long body is cut, and its cut is seen."""

    class Long(Stub):
        def show(self, **given: Any) -> Any:
            shown = super().show(**given)
            quotes = [shown.receipts[0]] * 80
            return type(shown)(
                **{name: getattr(shown, name) for name in shown.__slots__}
                | {"body": "words and words\n" * 900, "receipts": quotes, "title": "t" * 900}
            )

    text = ask(Long(), "get", id="x", level=level).text
    assert count(text) <= 600 and "…" in text


def test_many_hits_say_that_some_did_not_fit() -> None:
    """And how many."""
    answer = SearchAnswer(query="x", hits=[hit(text="words " * 400)] * 20, behind=3)
    text = answers.found(answer)
    assert f"{20 - text.count('[fw:')} more did not fit" in text and "3 changes behind" in text


@pytest.mark.parametrize(
    ("tool", "given", "told"),
    [
        ("recall", {}, "needs the argument 'question'"),
        ("recall", {"question": "  "}, "needs the argument 'question'"),
        ("recall", {"question": "x", "query": "y"}, "no argument 'query'"),
        ("recall", {"question": 7}, "question must be a text"),
        ("recall", {"question": "x", "limit": "many"}, "whole number"),
        ("recall", {"question": "x", "limit": 1.5}, "whole number"),
        ("recall", {"question": "x", "limit": True}, "whole number"),
        ("recall", {"question": "x", "kinds": ["cheese"]}, "entry, message, document, symbol"),
        ("recall", {"question": "x", "kinds": 7}, "must be a list"),
        ("recall", {"question": "x", "since": "the release"}, "2026-01-31"),
        ("get", {"id": "x", "level": "all"}, "title, summary, body, receipts"),
        ("feedback", {"id": "x", "verdict": "great"}, "helped, wrong, stale"),
        ("forget", {"id": "x"}, "no tool 'forget'"),
    ],
)
def test_bad_arguments_are_explained(tool: str, given: Mapping[str, Any], told: str) -> None:
    """A tool error that says what to write; the daemon is not asked."""
    stub = Stub()
    answer = ask(stub, tool, **given)
    assert answer.failed and told in answer.text and stub.asked == []


@pytest.mark.parametrize(
    "given", [{"limit": "3"}, {"limit": 3.0}, {"limit": 3, "since": None}, {"limit": 3, "kinds": "entry"}]
)
def test_what_models_write_is_taken(given: Mapping[str, Any]) -> None:
    """Numbers as text, null for nothing, one kind without its list; limits are cut to their bounds."""
    stub = Stub()
    assert not ask(stub, "recall", question="x", **given).failed and stub.asked[-1][1]["limit"] == 3
    ask(stub, "recall", question="x", limit=900)
    assert stub.asked[-1][1]["limit"] == 20


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (DaemonDown("no daemon answers at /s"), "go on without memory"),
        (NotFound("nothing here has the id 'x'"), "nothing here has the id 'x'."),
        (NotFound("no such path: /v1/show"), "another version"),
        (BadInput("the quote was not found"), "the quote was not found."),
        (ConfigError("flywheel.toml:1: unknown"), "flywheel.toml:1"),
        (Refused("it is ignored"), "it is ignored."),
        (Defect("KeyError in the daemon"), "go on without memory"),
    ],
)
def test_errors_are_short_texts(error: FlywheelError, told: str) -> None:
    """That say what to do."""
    stub = Stub()
    stub.errors = [error, error]
    answer = ask(stub, "get", id="x")
    assert answer.failed and told.lower() in answer.text.lower() and count(answer.text) < 100


def test_a_quote_that_is_being_read_is_awaited() -> None:
    """With growing pauses, a bounded number of times; then the agent is told to try again."""
    late = Unavailable("what was said last is not read yet; try again in a moment", again_seconds=0.5)
    stub, pauses = Stub(), list[float]()
    stub.errors = [late, late]
    assert not ask(stub, "propose", pauses=pauses, **CALLS["propose"]).failed and pauses == [0.5, 1.0]
    stub.errors = [late] * PATIENCE
    answer = ask(stub, "propose", pauses=pauses, **CALLS["propose"])
    assert answer.failed and "try again in a moment" in answer.text and stub.errors == []
    stub.errors = [Unavailable("the store is busy")]
    waited: list[float] = []
    assert ask(stub, "propose", pauses=waited, **CALLS["propose"]).failed and waited == []


def test_a_daemon_that_died_is_reached_for_once_more() -> None:
    """The first reach is remembered; after a failure there is one more, and one more try."""
    stub, reached = Stub(), list[int]()

    def reach() -> Any:
        reached.append(1)
        return stub.api

    desk = Desk(reach)
    for _ in range(3):
        assert not desk.call("get", {"id": "x"}, HERE).failed
    assert len(reached) == 1
    stub.errors = [DaemonDown("gone")]
    assert not desk.call("get", {"id": "x"}, HERE).failed and len(reached) == 2
    stub.errors = [DaemonDown("gone"), DaemonDown("gone again")]
    assert desk.call("get", {"id": "x"}, HERE).failed and len(reached) == 3


def test_a_daemon_that_cannot_be_started_is_no_crash() -> None:
    """Each call tries anew."""
    errors: list[FlywheelError] = [ConfigError("flywheel.toml:3: no"), DaemonDown("it was stopped with: flywheel down")]

    def reach() -> Any:
        if errors:
            raise errors.pop(0)
        return Stub().api

    desk = Desk(reach)
    assert "flywheel.toml:3" in desk.call("get", {"id": "x"}, HERE).text
    assert "flywheel down" in desk.call("get", {"id": "x"}, HERE).text
    assert not desk.call("get", {"id": "x"}, HERE).failed


def test_two_calls_at_once_start_one_daemon() -> None:
    """Whoever comes second waits for the first one's."""
    reached, gate, stub = list[int](), threading.Event(), Stub()

    def reach() -> Any:
        reached.append(1)
        gate.wait(60)
        return stub.api

    desk = Desk(reach)
    threads = [threading.Thread(target=desk.call, args=("get", {"id": "x"}, HERE)) for _ in range(2)]
    for thread in threads:
        thread.start()
    gate.set()
    for thread in threads:
        thread.join(60)
    assert len(reached) == 1 and len(stub.asked) == 2


@pytest.mark.parametrize(
    ("text", "days"), [("1d", 1), ("2w", 14), ("12h", 0.5), ("1m", 30), ("1y", 365), (" 14D ", 14), ("99999y", None)]
)
def test_ages(text: str, days: float | None) -> None:
    """Hours to years back from now, not before there was time."""
    assert since(text, NOW) == (0 if days is None else int(NOW * 1e6 - days * 86_400_000_000))


def test_dates() -> None:
    """A day's beginning, UTC; a time of day is not looked at."""
    assert since("1970-01-02", NOW) == 86_400_000_000 == since("1970-01-02T10:00:00Z", NOW)
    assert since("2026-05-28", NOW) < NOON


def test_calls_with_odd_arguments_do_not_end_the_server() -> None:
    """No arguments, unknown tools, wrong types: answers, and the next call is served."""
    stub = Stub()
    odd: Sequence[Any] = [
        request(1, "tools/call", {"name": "get"}),
        request(2, "tools/call", {"name": "nope", "arguments": {}}),
        request(3, "tools/call", {"name": "get", "arguments": None}),
        request(4, "tools/call", {"name": "get", "arguments": [1]}),
        request(5, "tools/call", {}),
    ]
    with server(lambda: stub.api) as pipes:
        pipes.ask(opening())
        for frame in odd:
            answer = pipes.ask(frame)
            assert answer["id"] == frame["id"] and (answer.get("error") or answer["result"]["isError"])
        assert not pipes.ask(calling(6, "get", id="x"))["result"]["isError"]
