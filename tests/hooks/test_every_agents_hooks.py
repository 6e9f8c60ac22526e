"""What holds for every agent's hooks: the installed lines, the entries of the settings, and payloads of any kind."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.hooks.delivering import Desk

from flywheel.hooks import claude, codex, copilot, cursor, gemini, opencode
from flywheel.hooks.events import AGENTS
from flywheel.hooks.wanted import Wanted, command_line, is_ours, paths_of

MODULES: Mapping[str, ModuleType] = {
    module.AGENT: module for module in (claude, codex, gemini, opencode, cursor, copilot)
}
EVENTS = sorted({want.event for module in MODULES.values() for want in module.HOOKS} | {"Nonsense"})
PYTHON, SCRIPT = Path("/usr/bin/python3.11"), Path("/home/a user/.local/share/flywheel/hook/flywheel-hook.py")


def wanted(agent: str) -> tuple[Wanted, ...]:
    """The rows of an agent."""
    rows: tuple[Wanted, ...] = MODULES[agent].HOOKS
    return rows


def test_the_table_has_every_agent() -> None:
    """One module per agent, under its own name."""
    assert dict(AGENTS) == dict(MODULES)


@pytest.mark.parametrize("agent", [name for name in MODULES if name != "opencode"])
def test_the_installed_lines_never_change(agent: str) -> None:
    """Codex pins a hash of each entry, and silently skips one that changed; so does whoever reviewed the settings.

    A new version of Flywheel changes what the script does, never the line that runs it. Where this test fails, every
    installation would have to be trusted again: change the client, not the line.
    """
    suffix = "" if agent == "claude" else f" {agent}"
    for want in wanted(agent):
        line = command_line(PYTHON, SCRIPT, want.event, suffix.strip())
        assert line == (
            f"/usr/bin/python3.11 -I -S '/home/a user/.local/share/flywheel/hook/flywheel-hook.py' {want.event}{suffix}"
            " 2>/dev/null || :"
        )
        assert is_ours(line) and paths_of(line) == (PYTHON, SCRIPT)


ENTRIES = {
    "claude": (
        "SessionStart",
        '{"matcher": "startup|resume|clear|compact", "hooks": [{"type": "command", "command": "X", "timeout": 5}]}',
    ),
    "codex": (
        "SessionStart",
        '{"matcher": "startup|resume|clear|compact", "hooks": [{"type": "command", "command": "X", "timeout": 5}]}',
    ),
    "gemini": (
        "BeforeAgent",
        '{"hooks": [{"type": "command", "name": "flywheel", "command": "X", "timeout": 5000}]}',
    ),
    "cursor": ("sessionStart", '{"command": "X", "timeout": 5}'),
    "copilot": ("sessionStart", '{"type": "command", "bash": "X", "timeoutSec": 5}'),
}


@pytest.mark.parametrize("agent", ENTRIES)
def test_the_entries_in_the_settings(agent: str) -> None:
    """Each agent's own spelling, key by key; a hash over the entry stays what it is."""
    event, entry = ENTRIES[agent]
    (want,) = (want for want in wanted(agent) if want.event == event)
    assert json.dumps(want.group("X")) == entry


EVENTS_OF = {
    "claude": "SessionStart UserPromptSubmit PostToolUse PostToolUseFailure PreCompact Stop SubagentStop SessionEnd",
    "codex": "SessionStart UserPromptSubmit PostToolUse PreCompact Stop SubagentStop SessionEnd",
    "gemini": "SessionStart BeforeAgent AfterTool PreCompress AfterAgent SessionEnd",
    "opencode": "",
    "cursor": "sessionStart beforeSubmitPrompt postToolUse postToolUseFailure preCompact stop subagentStop sessionEnd",
    "copilot": "sessionStart userPromptSubmitted postToolUse postToolUseFailure preCompact agentStop subagentStop "
    "sessionEnd",
}


@pytest.mark.parametrize("agent", MODULES)
def test_every_event_means_something_and_has_seconds(agent: str) -> None:
    """The events are those of the table, each one is understood, and its timeout is seconds in whatever unit."""
    assert [want.event for want in wanted(agent)] == EVENTS_OF[agent].split()
    for want in wanted(agent):
        moment = AGENTS[agent].understand(want.event, {"trigger": "manual"})
        assert moment.what != "other", want.event
        assert 1 <= want.seconds <= 10


@pytest.mark.parametrize("agent", MODULES)
@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"42", b'"x"', b"\xff\xfe", b"{}", b"null", b"[" * 50_000, b'{"session_id": 7}']
)
def test_malformed_payloads(agent: str, data: bytes) -> None:
    """No agent's entry raises or answers; each is counted."""
    desk = Desk()
    for event in EVENTS:
        assert desk.hooks.handle(agent, event, data) == (b"", ())
    assert desk.hooks.counts["malformed"] == len(EVENTS)


KEYS = st.sampled_from(
    str.split(
        "session_id sessionId conversation_id hook_event_name hookEventName cwd workspace_roots prompt source "
        "tool_name toolName tool_input toolArgs tool_response toolResult tool_output timestamp transcript_path "
        "agent_id trigger parent_id hook_source cursor_version error exit duration_ms status twin"
    )
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=20),
    st.sampled_from([*EVENTS, "/w/shop", "startup", "2026-11-30T07:29:46.628Z", '{"exitCode": 1}', "\ud83d"]),
)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3))


@settings(max_examples=300, deadline=None)
@given(
    agent=st.sampled_from(sorted(MODULES)),
    event=st.sampled_from(EVENTS),
    payload=st.dictionaries(KEYS, VALUES, max_size=8),
    names=st.sampled_from(["", "CLAUDECODE", "CURSOR_VERSION", "VSCODE_PID", "GEMINI_SESSION_ID TERM_PROGRAM"]),
)
def test_any_payload_is_survived(agent: str, event: str, payload: dict[str, object], names: str) -> None:
    """Whatever stands in a payload: nothing raises, and what is printed is one JSON object or nothing."""
    desk = Desk()
    session = {"session_id": "s", "cwd": "/w/shop"} if "session_id" not in payload else {}
    body, _ = desk.hooks.handle(agent, event, json.dumps(session | payload).encode(), host=names)
    assert not body or isinstance(json.loads(body), dict)
    assert desk.hooks.counts["failed"] == 0
