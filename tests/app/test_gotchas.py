"""What is confirmed about a file comes with the tool that reads or edits it: once a session, within its tokens."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.app.talking import House
from tests.app.test_freshness_story import FILE, SAID, WHO, settle, sync
from tests.knowledge.coding import LIMITS

from flywheel.app.hooking import Hooking
from flywheel.context.assemble import Assembler
from flywheel.context.gotchas import Gotchas
from flywheel.model import Injection, Micros
from flywheel.store import mapper
from flywheel.text.tokens import count


@pytest.fixture
def decided(house: House) -> House:
    """A project with one confirmed decision about `RateLimiter.allow`."""
    sync(house, LIMITS)
    house.say("one", ("user", SAID))
    given = {"statement": SAID, "quote": SAID, "cwd": str(house.project), "agent": "claude", "session": "one"}
    house.app.confirm(ids=[house.app.propose(**given).id], **WHO)
    settle(house)
    return house


def hooking(house: House, tokens: int) -> Hooking:
    """The hook entry with that setting."""
    config = replace(house.parts.config, hooks=replace(house.parts.config.hooks, gotcha_tokens=tokens))
    parts = replace(house.parts, config=config)
    assembler = Assembler(parts.db, house.app.readers.searcher, config, lambda: Micros(1))
    return Hooking(parts, assembler, lambda: None)


def read(house: House, session: str, path: str, use: str = "toolu_1") -> dict[str, Any]:
    """Claude Code's payload after its tool Read."""
    return {
        "session_id": session, "transcript_path": "", "cwd": str(house.project), "permission_mode": "default",
        "hook_event_name": "PostToolUse", "tool_name": "Read", "tool_input": {"file_path": path}, "tool_use_id": use,
        "tool_response": {"type": "text"}, "duration_ms": 3,
    }  # fmt: skip


def test_reading_a_file_brings_what_is_confirmed_about_it_once_a_session(decided: House) -> None:
    """In Claude Code's own shape, in the ledger, and not again for another definition or tool of the session."""
    hooks = hooking(decided, 300)
    path = str(decided.project / FILE)
    answer = json.loads(hooks.answer("claude", "PostToolUse", json.dumps(read(decided, "s1", path)).encode()))
    output = answer["hookSpecificOutput"]
    assert output["hookEventName"] == "PostToolUse" and "decision" not in answer
    told = output["additionalContext"]
    assert "RateLimiter.allow" in told and "not instructions" in told and FILE in told and count(told) <= 300
    again = [read(decided, "s1", path, "toolu_2"), read(decided, "s1", "README.md", "toolu_3")]
    assert [hooks.answer("claude", "PostToolUse", json.dumps(one).encode()) for one in again] == [b"", b""]
    assert hooks.answer("claude", "PostToolUse", json.dumps(read(decided, "s2", FILE)).encode())
    hooks.close()
    with decided.parts.db.read() as tx:
        kept = mapper.find(tx, Injection, "WHERE source = 'gotchas'")
    assert sorted(one.native_session for one in kept) == ["s1", "s2"]


@pytest.mark.parametrize(
    ("agent", "event", "payload"),
    [
        ("cursor", "postToolUse", {"conversation_id": "c1", "generation_id": "g", "cursor_version": "2.4",
         "hook_event_name": "postToolUse", "tool_name": "Read", "tool_input": {"file_path": FILE}, "tool_use_id": "t"}),
        ("copilot", "postToolUse", {"sessionId": "p1", "timestamp": 1_780_000_000_000, "toolName": "view",
         "toolArgs": json.dumps({"path": FILE}), "toolResult": {"resultType": "success", "textResultForLlm": "x"}}),
    ],
)  # fmt: skip
def test_other_agents_whose_tools_may_speak(decided: House, agent: str, event: str, payload: dict[str, Any]) -> None:
    """Each in its own words, and nothing in them that stops the agent."""
    hooks = hooking(decided, 300)
    answer = json.loads(hooks.answer(agent, event, json.dumps(payload | {"cwd": str(decided.project)}).encode()))
    hooks.close()
    assert set(answer) == {"additional_context" if agent == "cursor" else "additionalContext"}
    assert "RateLimiter.allow" in next(iter(answer.values()))


@pytest.mark.parametrize("agent", ["codex", "gemini"])
def test_agents_of_which_it_is_not_known_get_nothing(decided: House, agent: str) -> None:
    """An answer that an agent may not take would be a failed hook."""
    hooks = hooking(decided, 300)
    event = {"codex": "PostToolUse", "gemini": "AfterTool"}[agent]
    payload = read(decided, "s1", FILE) | {"hook_event_name": event, "timestamp": "2026-03-02T09:00:00Z"}
    assert hooks.answer(agent, event, json.dumps(payload).encode()) == b""
    hooks.close()


def test_it_is_off_by_default_and_silent_in_subagents(decided: House) -> None:
    """Without the setting no hook of a tool says anything; a subagent's never does."""
    assert decided.parts.config.hooks.gotcha_tokens == 0
    payload = json.dumps(read(decided, "s1", FILE)).encode()
    assert decided.app.hook(agent="claude", event="PostToolUse", payload=payload) == b""
    hooks = hooking(decided, 300)
    inner = json.dumps(read(decided, "s1", FILE) | {"agent_id": "a1"}).encode()
    assert hooks.answer("claude", "PostToolUse", inner) == b""
    hooks.close()


def test_only_what_is_confirmed_and_as_it_was_is_told_and_only_as_much_as_fits(decided: House) -> None:
    """Nothing of a stale page, of a file outside, or past the tokens; no path is opened."""

    def about(path: str, tokens: int = 300) -> str:
        found = Gotchas(decided.parts.db, decided.parts.redact, tokens).about(
            cwd=str(decided.project), path=path, exclude=(), now=Micros(1)
        )
        return found.text if found else ""

    assert about(FILE) and about(f"./src/../{FILE}")
    assert not about(FILE, 20) and not about("../elsewhere.py") and not about(str(Path("/etc/passwd")))
    sync(decided, LIMITS.replace("key: str", "key: bytes"))
    assert not about(FILE)
