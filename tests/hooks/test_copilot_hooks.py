"""Copilot CLI and VS Code: three spellings of a payload, two of an answer, and what the events set going."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.hooks.delivering import WHY, Desk, briefing, copilot, pascal, vscode

from flywheel.hooks.copilot import BYTES, HOOKS, answer
from flywheel.hooks.moment import Observe


def test_the_exact_bytes() -> None:
    """Copilot CLI takes the context at the top, and drops Claude Code's shape."""
    desk = Desk()
    start = desk.send("copilot", "sessionStart", copilot(source="new", initialPrompt=WHY))
    assert start == b'{"additionalContext":"what is known"}'
    ask = desk.send("copilot", "userPromptSubmitted", copilot(prompt=WHY, timestamp=1_796_023_786_689))
    assert ask == b'{"additionalContext":"what bears on it"}'
    assert Desk().send("copilot", "SessionStart", pascal("SessionStart", source="new")) == start


def test_the_exact_bytes_for_vscode() -> None:
    """VS Code takes Claude Code's shape, at the start of a session only."""
    expected = b'{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"what is known"}}'
    desk = Desk()
    assert desk.send("copilot", "sessionStart", vscode("SessionStart", source="new")) == expected
    assert desk.send("copilot", "userPromptSubmitted", vscode("UserPromptSubmit", prompt=WHY)) == b""
    keys = pascal("SessionStart", source="new", transcript_path="/h/.config/Code/x.json")
    assert Desk().send("copilot", "sessionStart", keys) == expected


def test_a_resumed_session_is_told_again() -> None:
    """Copilot CLI does not keep what a start injected: a resumed session begins without it."""
    desk = Desk()
    for source in ("new", "resume"):
        assert desk.send("copilot", "sessionStart", copilot(source=source))
        desk.later()


def test_the_prompt_after_a_compaction_brings_the_briefing_again() -> None:
    """No start follows a compaction in Copilot CLI."""
    desk = Desk(asks=[])
    assert desk.send("copilot", "sessionStart", copilot(source="new"))
    assert not desk.send("copilot", "userPromptSubmitted", copilot(prompt=WHY, timestamp=2))
    desk.send("copilot", "preCompact", copilot(trigger="auto", timestamp=3))
    assert desk.send("copilot", "userPromptSubmitted", copilot(prompt=WHY, timestamp=4))


def test_no_event_that_can_deny() -> None:
    """A command that fails at preToolUse denies the tool: there is none of ours."""
    assert not any("pretool" in want.event.lower() or "permission" in want.event.lower() for want in HOOKS)


def test_what_would_be_cut_is_not_said() -> None:
    """10,000 bytes are kept; a briefing with its prompt's part that is longer goes without that part."""
    assert answer("sessionStart", {}, briefing("e1", text="x" * BYTES))
    assert not answer("sessionStart", {}, briefing("e1", text="x" * (BYTES + 1)))


def test_transcripts_are_named_at_the_end_of_turns_only(tmp_path: Path) -> None:
    """agentStop names it; a start, a prompt and a session's end do not."""
    (tmp_path / "events.jsonl").touch()
    desk = Desk(roots=[tmp_path])
    assert not desk.work("copilot", "sessionStart", copilot(source="resume", cwd=""))
    stop = copilot(transcriptPath=str(tmp_path / "events.jsonl"), stopReason="end_turn", stop_hook_active=False)
    assert desk.work("copilot", "agentStop", stop) == ["Harvest"]
    ended = stop | {"agentName": "explore", "timestamp": 5}
    assert desk.work("copilot", "subagentStop", ended) == ["Harvest"]
    assert desk.work("copilot", "sessionEnd", copilot(reason="complete")) == ["Ended"]


@pytest.mark.parametrize(
    ("event", "result", "kind"),
    [
        (
            "postToolUse",
            {"resultType": "success", "textResultForLlm": "hi\n<shellId: 0 completed with exit code 0>"},
            0,
        ),
        ("postToolUse", {"resultType": "success", "textResultForLlm": "\n<shellId: 1 completed with exit code 3>"}, 1),
        ("postToolUse", {"resultType": "denied"}, 1),
        ("postToolUse", "done", 0),
        ("postToolUseFailure", None, 1),
    ],
)
def test_how_a_tool_ended(event: str, result: object, kind: int) -> None:
    """A failing command is a success to Copilot; its exit code says otherwise. Arguments may be JSON text."""
    for args in ({"command": "make"}, '{"command": "make"}'):
        data = copilot(toolName="bash", toolArgs=args, toolResult=result)
        (seen,) = Desk().deliver("copilot", event, data)[1]
        assert isinstance(seen, Observe)
        assert (seen.kind, seen.facts) == (["tool_success", "tool_failure"][kind], {"command": "make"})


def test_times_that_are_none_do_no_harm() -> None:
    """Huge, negative and odd times: no error."""
    for stamp in (10**30, -5, 1.5, True, "9999-99-99", "0001-01-01T00:00:00+23:59", None, [1]):
        assert Desk().send("copilot", "sessionStart", copilot(source="new", timestamp=stamp))
