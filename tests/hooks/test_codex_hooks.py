"""Codex CLI: what it is answered to the last byte, and what its events set going."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.hooks.delivering import WHY, Desk, briefing, codex

from flywheel.hooks.codex import BYTES, HOOKS, TOKENS, answer
from flywheel.hooks.moment import Harvest, Observe
from flywheel.text.tokens import count


def test_the_exact_bytes() -> None:
    """Only keys of Codex's closed schema: one more, and the hook counts as failed."""
    desk = Desk()
    start = desk.send("codex", "SessionStart", codex("SessionStart", source="startup"))
    assert start == b'{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"what is known"}}'
    ask = desk.send("codex", "UserPromptSubmit", codex("UserPromptSubmit", turn_id="t1", prompt=WHY))
    assert ask == b'{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"what bears on it"}}'


@pytest.mark.parametrize(
    "event", [want.event for want in HOOKS if want.event not in ("SessionStart", "UserPromptSubmit")]
)
def test_other_events_get_no_context(event: str) -> None:
    """Context at Stop would force another turn, and elsewhere is not known to the schema."""
    assert answer(event, codex(event), briefing("e1")) == b""


def test_what_would_become_a_file_is_not_said() -> None:
    """10,000 UTF-8 bytes and 2,500 tokens reach the model whole; more would be cut, so nothing is said."""
    fits = "word " * (BYTES // 5)
    assert len(fits) == BYTES and count(fits) <= TOKENS
    assert answer("SessionStart", {}, briefing("e1", text=fits))
    assert not answer("SessionStart", {}, briefing("e1", text=fits + "x"))
    assert not answer("SessionStart", {}, briefing("e1", text="é" * (BYTES // 2) + "é"))
    assert not answer("SessionStart", {}, briefing("e1", text="1 " * (BYTES // 3)))


def test_subagents_get_nothing() -> None:
    """A subagent's prompt names the parent's session and an agent: no briefing, and the parent's is not spent."""
    desk = Desk()
    assert not desk.send("codex", "UserPromptSubmit", codex("UserPromptSubmit", agent_id="a1", prompt=WHY))
    assert not desk.send("codex", "SessionStart", codex("SessionStart", source="subagent"))
    assert not desk.asked and desk.hooks.counts["subagent"] == 2
    assert desk.send("codex", "UserPromptSubmit", codex("UserPromptSubmit", prompt=WHY))


def test_after_a_compaction_the_start_tells_everything_again() -> None:
    """PreCompact itself says nothing; the start with the source ``compact`` that follows is told all."""
    desk = Desk()
    assert desk.send("codex", "SessionStart", codex("SessionStart", source="startup"))
    desk.later()
    assert not desk.send("codex", "SessionStart", codex("SessionStart", source="resume"))
    assert not desk.send("codex", "PreCompact", codex("PreCompact", trigger="auto"))
    assert desk.send("codex", "SessionStart", codex("SessionStart", source="compact"))


def test_transcripts_may_be_null_and_a_subagents_is_its_own(tmp_path: Path) -> None:
    """Null and missing paths set nothing going; SubagentStop has the subagent's file read, not the parent's."""
    parent, child = tmp_path / "rollout-1.jsonl", tmp_path / "rollout-2.jsonl"
    parent.touch()
    child.touch()
    desk = Desk(roots=[tmp_path])
    assert not desk.work("codex", "Stop", codex("Stop", turn_id="t0"))
    assert not desk.work("codex", "Stop", codex("Stop", turn_id="t1", transcript_path=str(tmp_path / "no.jsonl")))
    assert desk.work("codex", "Stop", codex("Stop", turn_id="t2", transcript_path=str(parent))) == ["Harvest"]
    ended = codex("SubagentStop", transcript_path=str(parent), agent_transcript_path=str(child), agent_id="a1")
    (action,) = desk.deliver("codex", "SubagentStop", ended)[1]
    assert isinstance(action, Harvest) and action.path == child and action.agent == "codex"
    end = codex("SessionEnd", transcript_path=str(parent), reason="other")
    assert desk.work("codex", "SessionEnd", end) == ["Harvest", "Ended"]


@pytest.mark.parametrize(
    ("response", "kind"),
    [
        ("total 20\n", "tool_run"),
        ("Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.", "tool_success"),
        ("Exit code: 2\nWall time: 0 seconds\nOutput:\nno such file", "tool_failure"),
        ("a log that ends so\nExit code: 1", "tool_run"),
        ({"content": [], "isError": False}, "tool_success"),
        ({"content": [], "isError": True}, "tool_failure"),
        ({"content": []}, "tool_run"),
        (None, "tool_run"),
        ([1], "tool_run"),
    ],
)
def test_how_a_tool_ended(response: object, kind: str) -> None:
    """A shell command's result does not say how it ended: that stays open instead of counting as a success."""
    data = codex(
        "PostToolUse", tool_name="Bash", tool_input={"command": "ls"}, tool_use_id="c1", tool_response=response
    )
    (seen,) = Desk().deliver("codex", "PostToolUse", data)[1]
    assert isinstance(seen, Observe)
    assert (seen.kind, seen.subject, seen.facts) == (kind, "Bash", {"command": "ls"})


def test_a_patch_is_known_by_its_files() -> None:
    """Of apply_patch the names of the files are kept, not a line of what is in them."""
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-secret\n+x\n*** Add File: b c.py\n+y\n*** End Patch\n"
    data = codex("PostToolUse", tool_name="apply_patch", tool_input={"command": patch}, tool_response="Exit code: 0")
    (seen,) = Desk().deliver("codex", "PostToolUse", data)[1]
    assert isinstance(seen, Observe) and json.dumps(seen.facts) == '{"files": ["a.py", "b c.py"]}'
