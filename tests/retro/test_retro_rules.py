"""What a session came to: its task, its troubles, its outcome and what it left open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.harvest.rules_talk import PROJECT, Turn, talk

from flywheel.model import Message, MessageKind, Micros, Retrospective, Role, Session, SessionId
from flywheel.retro.rules import condense, lines, look_back
from flywheel.text.redact import Redactor

_text = Redactor().text
SESSION = Session(
    id=SessionId("s"),
    project_id=PROJECT,
    agent="claude",
    native_id="s",
    title=_text("a title"),
    cwd=_text("/srv/shop"),
    started_at=Micros(0),
    last_at=Micros(77),
)
ASK: Turn = ("user", "Make the import faster.")


CONTENT = (
    "Good catch.", "Exactly.", "Fine.", "Right.", "Very good!", "Yes", "Good. The order is by time of entry.",
    "Good, that's it.", "Nice.", "Sounds good", "ok",
)  # fmt: skip
"""Last prompts of people who are content, which need no answer."""
MORE = (
    "Good question, let me think.", "Yes, do that.", "Fine, but now it is slow.", "Good. And the export?",
    "Nothing works.", "That is not great.", "Good. Now the export.", "Right, use the other index instead.",
)  # fmt: skip
"""Last prompts that wait for an answer."""


def _looked(*turns: Turn, extra: Sequence[Message] = ()) -> Retrospective:
    return look_back([*talk(*turns), *extra], SESSION, Micros(99))


def _tool(number: int, tool: str, path: str) -> Message:
    base = talk(("call", path))[0]
    return replace(base, id=f"t{number}", call_id=f"t{number}", tool=_text(tool), meta={"files": [path]})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("outcome", "turns"),
    [
        ("done", [ASK, ("assistant", "I added an index."), ("user", "Great, that works. Thanks!")]),
        ("done", [ASK, ("assistant", "Done."), ("user", "Perfect. Also remember: migrations are forward only.")]),
        ("failed", [ASK, ("assistant", "Done."), ("user", "It is still failing with the same error.")]),
        ("failed", [ASK, ("call", "make test"), ("error", "1 failed"), ("assistant", "One test fails.")]),
        ("failed", [ASK, ("call", "ls /x"), ("error", "denied"), ("assistant", "I could not read the folder.")]),
        ("abandoned", [ASK, ("assistant", "Shall I?"), ("user", "Never mind, leave it.")]),
        ("abandoned", [ASK]),
        ("unclear", [ASK, ("assistant", "There are three ways to do that.")]),
        ("unclear", [("assistant", "Hello.")]),
        *(("done", [ASK, ("assistant", "I added an index."), ("user", said)]) for said in CONTENT),
        *(("abandoned", [ASK, ("assistant", "I added an index."), ("user", said)]) for said in MORE),
        ("unclear", [("user", "Add a button to cancel an order."), ("assistant", "It could sit in the header.")]),
        ("unclear", [ASK, ("assistant", "I see."), ("user", "Abort uploads of 2 GB."), ("assistant", "I see.")]),
        ("abandoned", [ASK, ("assistant", "That is slow."), ("user", "Okay, then leave it.")]),
        (
            "failed",
            [
                ASK,
                ("assistant", "It is in."),
                ("user", "Great. Now the export."),
                ("call", "make test"),
                ("error", "1 failed"),
                ("assistant", "One test fails."),
            ],
        ),
    ],
)
def test_the_outcome_follows_from_how_it_ends(outcome: str, turns: list[Turn]) -> None:
    """The last words and the last check decide; without a sign it is unclear."""
    assert _looked(*turns).outcome == outcome


def test_a_passing_check_after_edits_is_done() -> None:
    """Tests that pass at the end mean success only when something was edited."""
    check: list[Turn] = [("call", "make check"), ("result", "7 passed"), ("assistant", "The check is through.")]
    assert _looked(ASK, *check).outcome == "unclear"
    edit = _tool(1, "Edit", "/srv/shop/src/a.py")
    assert look_back([*talk(ASK), edit, *talk(*check)], SESSION, Micros(0)).outcome == "done"


def test_an_interruption_at_the_end_is_abandonment() -> None:
    """Unless the user goes on afterwards."""
    base = talk(("user", "[Request interrupted by user]"))[0]
    notice = replace(base, kind=MessageKind.NOTICE, role=Role.USER, meta={"notice": "interrupted"})
    assert _looked(ASK, ("assistant", "Working."), extra=[notice]).outcome == "abandoned"
    after = [notice, *talk(("user", "Go on, please."), ("assistant", "It is as you wanted."), ("user", "thanks"))]
    assert _looked(ASK, extra=after).outcome == "done"


def test_calls_errors_and_repeated_failures_are_counted() -> None:
    """Per tool how often it was called and failed; commands that failed twice, however they were wrapped."""
    look = _looked(
        ASK,
        ("call", "npm test"),
        ("error", "1 failing"),
        ("call", "cd app && npm test 2>&1 | tail -3"),
        ("error", "1 failing"),
        ("call", "npm test"),
        ("result", "ok"),
        ("call", "ls"),
        ("error", "no"),
    )
    assert (look.turns, look.tool_calls, look.tool_errors) == (1, 4, 3)
    assert look.facts["tools"] == {"Bash": {"calls": 4, "errors": 3}}
    assert look.facts["failing"] == [{"command": "npm test", "failures": 2, "successes": 1}]


def test_files_read_again_and_again_and_files_edited_are_named_within_the_project() -> None:
    """Three reads of one file are a sign; paths are shown from the session's folder on."""
    extra = [_tool(n, "Read", "/srv/shop/src/a.py") for n in range(3)]
    extra += [
        _tool(8, "Read", "/srv/shop/src/b.py"),
        _tool(9, "Edit", "/srv/shop/src/b.py"),
        _tool(10, "Write", "/else/c"),
    ]
    look = _looked(ASK, extra=extra)
    assert look.facts["reread"] == [{"file": "src/a.py", "reads": 3}]
    assert look.facts["edited"] == ["src/b.py", "/else/c"]


def test_a_question_without_an_answer_and_work_left_are_open_ends() -> None:
    """What the next session should know first."""
    look = _looked(
        ASK,
        ("user", "The unique index on parcel and status is still to do."),
        ("assistant", "Noted. Should the notice be sent once per parcel?"),
    )
    assert look.facts["open"] == [
        "Should the notice be sent once per parcel?",
        "The unique index on parcel and status is still to do.",
    ]


@pytest.mark.parametrize(
    ("prompt", "task"),
    [
        (
            "Hi!\n\nMake the import faster. It takes four hours. We tried everything.",
            "Make the import faster. It takes four hours.",
        ),
        ("```\ncode\n```\nExplain this code to me please.", "Explain this code to me please."),
        ("fix it", "fix it"),
        ("> quoted words that are not mine\n\nWhat does this mean here?", "What does this mean here?"),
    ],
)
def test_the_task_is_the_first_prompt_condensed(prompt: str, task: str) -> None:
    """Without greetings, code and quotations; two sentences at most."""
    assert condense(_text(prompt)) == task


def test_a_session_without_a_prompt_has_its_title_for_a_task() -> None:
    """Something to call it by."""
    assert _looked(("assistant", "Hello.")).task == "a title"


def test_the_lines_for_reading_say_everything_once() -> None:
    """What `flywheel show` prints of a session."""
    look = _looked(
        ASK, ("call", "npm test"), ("error", "x"), ("call", "npm test"), ("error", "x"), ("assistant", "Shall I go on?")
    )
    assert lines(look) == [
        "Task: Make the import faster.",
        "Outcome: failed (the last check failed)",
        "1 prompt, 2 tool calls, 2 failed (100 %)",
        "  Bash: 2 calls, 2 failed",
        "Failed 2 times: npm test",
        "Left open: Shall I go on?",
    ]


def test_one_call_is_not_many() -> None:
    """A session with a single call is told of in the singular."""
    told = lines(_looked(ASK, ("call", "npm test"), ("result", "ok")))
    assert told[2:4] == ["1 prompt, 1 tool call", "  Bash: 1 call, 0 failed"]


def test_the_lines_survive_facts_of_other_versions() -> None:
    """Facts of another shape are passed over."""
    odd = replace(_looked(ASK), facts={"tools": [1], "failing": "x", "reread": None, "edited": 3, "open": {}})
    assert lines(odd)[0] == "Task: Make the import faster."


_TURN = st.tuples(st.sampled_from(["user", "assistant", "call", "result", "error", "summary"]), st.text(max_size=40))


@settings(max_examples=80, deadline=None)
@given(turns=st.lists(_TURN, max_size=8))
def test_any_conversation_has_a_retrospective(turns: list[Turn]) -> None:
    """Whatever was said, it is counted right, has one of four outcomes and can be shown."""
    look = _looked(*turns)
    assert look.outcome in ("done", "failed", "abandoned", "unclear")
    assert look.turns == sum(who == "user" for who, *_ in turns)
    assert look.tool_errors <= sum(who == "error" for who, *_ in turns)
    assert all(isinstance(line, str) for line in lines(look))
