"""Cursor: what it is answered to the last byte, and that nothing in it ever stops a prompt."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.hooks.delivering import WHY, Desk, briefing, cursor

from flywheel.hooks.cursor import HOOKS, answer
from flywheel.hooks.moment import Harvest, Observe


def test_the_exact_bytes() -> None:
    """A start gets its context; a prompt is told to go on as well."""
    desk = Desk()
    assert desk.send("cursor", "sessionStart", cursor("sessionStart")) == b'{"additional_context":"what is known"}'
    ask = desk.send("cursor", "beforeSubmitPrompt", cursor("beforeSubmitPrompt", prompt=WHY))
    assert ask == b'{"continue":true,"additional_context":"what bears on it"}'


@pytest.mark.parametrize("event", [want.event for want in HOOKS])
def test_nothing_ever_blocks(event: str) -> None:
    """No answer denies, asks, stops, or sends another message, whatever the event."""
    said = answer(event, cursor(event), briefing("e1"))
    found = json.loads(said) if said else {}
    assert set(found) <= {"continue", "additional_context"} and found.get("continue", True) is True


def test_a_byte_order_mark_is_no_damage() -> None:
    """Cursor's command line puts one before every payload."""
    data = b"\xef\xbb\xbf" + json.dumps(cursor("sessionStart")).encode()
    assert Desk().hooks.handle("cursor", "sessionStart", data)[0]


def test_the_folder_is_the_workspace_where_there_is_no_other() -> None:
    """``cwd`` is missing or empty in most payloads; without any folder nothing is said."""
    assert Desk().send("cursor", "sessionStart", cursor("sessionStart", cwd=""))
    for roots in (None, [], [7], "x"):
        assert not Desk().send("cursor", "sessionStart", cursor("sessionStart", workspace_roots=roots))


def test_the_prompt_after_a_compaction_brings_the_briefing_again() -> None:
    """No start follows a compaction in Cursor."""
    desk = Desk(asks=[])
    assert desk.send("cursor", "sessionStart", cursor("sessionStart"))
    desk.later()
    assert not desk.send("cursor", "beforeSubmitPrompt", cursor("beforeSubmitPrompt", prompt=WHY, generation_id="g2"))
    desk.send("cursor", "preCompact", cursor("preCompact", trigger="auto"))
    assert desk.send("cursor", "beforeSubmitPrompt", cursor("beforeSubmitPrompt", prompt="go on", generation_id="g3"))


def test_subagents_get_nothing() -> None:
    """A subagent's events name it, or the conversation that started it."""
    desk = Desk()
    assert not desk.send("cursor", "sessionStart", cursor("sessionStart", parent_conversation_id="c-0"))
    assert not desk.send("cursor", "beforeSubmitPrompt", cursor("beforeSubmitPrompt", subagent_id="a", prompt=WHY))
    assert not desk.asked


def test_transcripts_may_be_null(tmp_path: Path) -> None:
    """Where one is named it is read; SubagentStop names the subagent's."""
    (tmp_path / "c.jsonl").touch()
    desk = Desk(roots=[tmp_path])
    assert not desk.work("cursor", "stop", cursor("stop", status="completed"))
    named = cursor("stop", transcript_path=str(tmp_path / "c.jsonl"), generation_id="g2")
    assert desk.work("cursor", "stop", named) == ["Harvest"]
    ended = cursor("subagentStop", agent_transcript_path=str(tmp_path / "c.jsonl"))
    (action,) = desk.deliver("cursor", "subagentStop", ended)[1]
    assert isinstance(action, Harvest)
    assert desk.work("cursor", "sessionEnd", cursor("sessionEnd", reason="user_close")) == ["Ended"]


@pytest.mark.parametrize(
    ("event", "more", "kind"),
    [
        ("postToolUse", {"tool_output": '{"output":"x","exitCode":0}'}, "tool_success"),
        ("postToolUse", {"tool_output": '{"output":"x","exitCode":3}'}, "tool_failure"),
        ("postToolUse", {"tool_output": "{broken"}, "tool_success"),
        ("postToolUseFailure", {"error_message": "no such file"}, "tool_failure"),
    ],
)
def test_how_a_tool_ended(event: str, more: dict[str, object], kind: str) -> None:
    """A shell's result is JSON text with its exit code."""
    data = cursor(event, tool_name="Shell", tool_input={"command": "make"}, duration=7, **more)
    (seen,) = Desk().deliver("cursor", event, data)[1]
    assert isinstance(seen, Observe) and (seen.kind, seen.facts["command"], seen.facts["ms"]) == (kind, "make", 7)
