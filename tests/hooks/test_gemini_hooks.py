"""Gemini CLI: JSON or nothing, at the prompt and never at the start, and what its events set going."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.hooks.delivering import ASK, START, WHY, Desk, briefing, gemini

from flywheel.hooks.client import MAX_ANSWER
from flywheel.hooks.gemini import answer, understand
from flywheel.hooks.moment import Observe


def ask(desk: Desk, prompt: str = WHY, **more: object) -> bytes:
    """A prompt; each at its own time."""
    desk.later()
    stamp = f"2026-11-30T08:{desk.now // 60_000_000 % 60:02}:00.000Z"
    return desk.send("gemini", "BeforeAgent", gemini("BeforeAgent", prompt=prompt, timestamp=stamp, **more))


def test_the_first_prompt_brings_the_briefing() -> None:
    """Not the start: what that injects stands before the person's words, and is left out with them on a resume."""
    desk = Desk()
    assert desk.send("gemini", "SessionStart", gemini("SessionStart", source="startup")) == b""
    assert not desk.asked
    both = "what is known\\n\\nwhat bears on it"
    expected = f'{{"hookSpecificOutput":{{"hookEventName":"BeforeAgent","additionalContext":"{both}"}}}}'
    assert ask(desk) == expected.encode()
    assert desk.asked == [("gemini", ""), ("gemini", WHY)]
    assert ask(desk) == b"", "nothing is said twice"


def test_a_first_prompt_that_asks_nothing_brings_the_briefing_alone() -> None:
    """ "go on" is searched for by nobody, but the session has not been told anything yet."""
    desk = Desk()
    assert json.loads(ask(desk, "go on"))["hookSpecificOutput"]["additionalContext"] == START
    desk.starts.append("e9")
    assert ask(desk, "go on") == b""
    assert json.loads(ask(desk))["hookSpecificOutput"]["additionalContext"] == ASK


def test_what_went_in_before_a_restart_of_the_daemon_stays_known() -> None:
    """The ledger says that the session had its briefing: a resumed one is not told again."""
    desk = Desk(ledger={"7aed996d-688b": ["e1", "e2"]})
    desk.send("gemini", "SessionStart", gemini("SessionStart", source="resume"))
    assert ask(desk) == b""


@pytest.mark.parametrize(
    ("event", "more", "again"),
    [
        ("PreCompress", {"trigger": "auto"}, False),
        ("PreCompress", {"trigger": "manual"}, True),
        ("SessionStart", {"source": "clear"}, True),
        ("SessionStart", {"source": "resume"}, False),
    ],
)
def test_what_empties_the_context(event: str, more: dict[str, object], again: bool) -> None:
    """Automatic PreCompress comes before almost every model call and says nothing; ``/compress`` and a clear do."""
    desk = Desk()
    assert ask(desk)
    desk.send("gemini", event, gemini(event, timestamp="2026-11-30T09:00:00.000Z", **more))
    assert bool(ask(desk)) is again


def test_never_plain_text_and_never_too_much() -> None:
    """Events without context get nothing, and an answer longer than the client prints is not given."""
    assert answer("AfterAgent", {}, briefing("e1")) == answer("SessionEnd", {}, briefing("e1")) == b""
    assert answer("BeforeAgent", {}, briefing()) == b""
    assert answer("BeforeAgent", {}, briefing("e1", text="x" * MAX_ANSWER)) == b""


def test_what_hooks_put_before_the_prompt_is_no_prompt() -> None:
    """Without a terminal the prompt begins with what hooks injected at the start."""
    prompt = f"<hook_context>&lt;b&gt; one\n two</hook_context>\n\n{WHY}"
    assert understand("BeforeAgent", gemini("BeforeAgent", prompt=prompt)).prompt == WHY
    assert understand("BeforeAgent", gemini("BeforeAgent", prompt="/help me")).prompt == ""


@pytest.mark.parametrize("name", ["session-1.jsonl", "session-1.json"])
def test_both_kinds_of_transcript_are_read(tmp_path: Path, name: str) -> None:
    """Old sessions are one document, new ones lines; what the agent's readers do not take is not followed."""
    (tmp_path / name).touch()
    (tmp_path / "logs.txt").touch()
    desk = Desk(roots=[tmp_path])
    turn = gemini("AfterAgent", transcript_path=str(tmp_path / name))
    assert desk.work("gemini", "AfterAgent", turn) == ["Harvest"]
    other = gemini("AfterAgent", transcript_path=str(tmp_path / "logs.txt"), timestamp="2026-11-30T07:40:00.000Z")
    assert not desk.work("gemini", "AfterAgent", other)
    assert not desk.work("gemini", "PreCompress", gemini("PreCompress", transcript_path=str(tmp_path / name)))
    assert desk.work("gemini", "SessionEnd", gemini("SessionEnd", reason="exit")) == ["Ended"]


@pytest.mark.parametrize(
    ("response", "kind"),
    [
        (
            {"llmContent": "<untrusted_context>\nOutput: ok\nProcess Group PGID: 9\n</untrusted_context>"},
            "tool_success",
        ),
        ({"llmContent": "Output: boom\nExit Code: 1\nProcess Group PGID: 9\n"}, "tool_failure"),
        ({"llmContent": "no file", "error": {"message": "File not found: /x"}}, "tool_failure"),
        ({"llmContent": [{"text": "MCP said so"}]}, "tool_success"),
        (7, "tool_success"),
    ],
)
def test_how_a_tool_ended(response: object, kind: str) -> None:
    """An error, or an exit code in the result, is a failure."""
    data = gemini("AfterTool", tool_name="run_shell_command", tool_input={"command": "x"}, tool_response=response)
    (seen,) = Desk().deliver("gemini", "AfterTool", data)[1]
    assert isinstance(seen, Observe) and seen.kind == kind
