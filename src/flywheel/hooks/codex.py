"""Codex CLI's hooks: where they are installed, what their payloads say, and the exact bytes of an answer.

| moment | Codex |
|---|---|
| session starts, resumes, was cleared or compacted | ``SessionStart``; injects |
| prompt | ``UserPromptSubmit``; injects; fires in subagents, too, which get nothing |
| turn, subagent, session end | ``Stop``, ``SubagentStop``, ``SessionEnd`` (not after TERM, HUP or KILL) |
| compaction | ``PreCompact``; ``SessionStart`` with the source ``compact`` follows and injects again |
| tool result | ``PostToolUse``; a shell command's exit code is not told, so that its outcome stays open |

A hook that is not trusted does not run; trust pins a hash of the entry, its command line included.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import orjson

from flywheel.api import Briefing
from flywheel.hooks import fields
from flywheel.hooks.claude import WHAT
from flywheel.hooks.fields import text
from flywheel.hooks.moment import Moment, What
from flywheel.hooks.wanted import Wanted
from flywheel.text.tokens import count

AGENT: Final = "codex"
BYTES: Final = 10_000
"""UTF-8 bytes of context that reach the model whole; more becomes head, tail and a file."""

TOKENS: Final = 2_500
"""The same limit as Codex states it."""

TIMEOUT: Final = 5
END_TIMEOUT: Final = 3
"""Seconds that Codex grants at most at ``SessionEnd``; without a word it is one."""

HOOKS: Final = (
    Wanted(event="SessionStart", matcher="startup|resume|clear|compact", timeout=TIMEOUT),
    Wanted(event="UserPromptSubmit", timeout=TIMEOUT),
    Wanted(event="PostToolUse", timeout=TIMEOUT),
    Wanted(event="PreCompact", timeout=TIMEOUT),
    Wanted(event="Stop", timeout=TIMEOUT),
    Wanted(event="SubagentStop", timeout=TIMEOUT),
    Wanted(event="SessionEnd", timeout=END_TIMEOUT),
)

_TWIN: Final = ("turn_id", "tool_use_id", "agent_id", "prompt", "source")
_CODE: Final = re.compile(r"Exit code: (-?\d+)")


def settings_file(home: Path) -> Path:
    """The user-level hooks; ``home`` is ``$CODEX_HOME`` or ``~/.codex``."""
    return home / "hooks.json"


def understand(event: str, payload: Mapping[str, object]) -> Moment:
    """The payload as a `Moment`. Fields that are missing, null or of another type are empty."""
    name = text(payload, "hook_event_name") or event
    what = WHAT.get(name, What.OTHER)
    source = text(payload, "source", "reason", "trigger")
    return Moment(
        what=what,
        session=text(payload, "session_id"),
        cwd=text(payload, "cwd"),
        transcript=text(payload, "agent_transcript_path" if what is What.SUBAGENT_END else "transcript_path"),
        source=source,
        prompt=text(payload, "prompt"),
        twin="\0".join(text(payload, key) for key in _TWIN),
        subagent=bool(text(payload, "agent_id")) or source == "subagent",
        tool=text(payload, "tool_name"),
        failed=_failed(payload.get("tool_response")),
        facts=fields.tool_facts(fields.part(payload, "tool_input")) if what is What.TOOL else {},
    )


def answer(event: str, payload: Mapping[str, object], briefing: Briefing) -> bytes:
    """The bytes for Codex's stdout: no key that its closed schema does not know; empty when there is nothing to say."""
    name = text(payload, "hook_event_name") or event
    said = briefing.text
    if not said or name not in ("SessionStart", "UserPromptSubmit"):
        return b""
    if len(said.encode("utf-8", "replace")) > BYTES or count(said) > TOKENS:
        return b""
    return orjson.dumps({"hookSpecificOutput": {"hookEventName": name, "additionalContext": said}})


def _failed(response: object) -> bool | None:
    """How a tool ended, where its result says so: an MCP tool's mark, or a first line with the exit code."""
    if isinstance(response, Mapping):
        mark = response.get("isError")
        return mark if isinstance(mark, bool) else None
    found = _CODE.match(response) if isinstance(response, str) else None
    return found[1] != "0" if found else None
