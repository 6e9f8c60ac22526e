"""Claude Code's hooks: where they are installed, what their payloads say, and the exact bytes of an answer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import orjson

from flywheel.api import Briefing
from flywheel.hooks.moment import Moment, What
from flywheel.hooks.wanted import Wanted

AGENT: Final = "claude"
UNITS: Final = 10_000
"""UTF-16 units of ``additionalContext`` that reach the model whole; more becomes a preview and a file."""

TIMEOUT: Final = 5
"""Seconds that Claude Code gives our command, which ends far sooner; at `SessionEnd` its own limit is 1.5 s."""

# A fork starts without a hook of ours: its context holds the briefing of the session that it was forked from.
HOOKS: Final = (
    Wanted(event="SessionStart", matcher="startup|resume|clear|compact", timeout=TIMEOUT),
    Wanted(event="UserPromptSubmit", timeout=TIMEOUT),
    Wanted(event="PostToolUse", matcher="*", timeout=TIMEOUT),
    Wanted(event="PostToolUseFailure", matcher="*", timeout=TIMEOUT),
    Wanted(event="PreCompact", timeout=TIMEOUT),
    Wanted(event="Stop", timeout=TIMEOUT),
    Wanted(event="SubagentStop", timeout=TIMEOUT),
    Wanted(event="SessionEnd", timeout=TIMEOUT),
)

_WHAT: Final = {
    "SessionStart": What.START,
    "UserPromptSubmit": What.PROMPT,
    "Stop": What.TURN_END,
    "SubagentStop": What.SUBAGENT_END,
    "PreCompact": What.COMPACT,
    "SessionEnd": What.END,
    "PostToolUse": What.TOOL,
    "PostToolUseFailure": What.TOOL,
}
_TWIN: Final = ("prompt_id", "tool_use_id", "agent_id", "prompt", "source")
"""What tells two events of a kind apart: subagents of one prompt end side by side, for example."""

_INPUTS: Final = ("command", "file_path", "notebook_path", "path", "pattern", "url", "subagent_type", "skill")
"""The parts of a tool's input that say what it did; contents of files are not among them."""


def settings_file(config_dir: Path) -> Path:
    """The user-level settings; ``config_dir`` is ``$CLAUDE_CONFIG_DIR`` or ``~/.claude``."""
    return config_dir / "settings.json"


def understand(event: str, payload: Mapping[str, object]) -> Moment:
    """The payload as a `Moment`. Fields that are missing or of another type are empty."""
    name = _text(payload, "hook_event_name") or event
    what = _WHAT.get(name, What.OTHER)
    prompt = _text(payload, "prompt")
    transcript = _text(payload, "agent_transcript_path" if what is What.SUBAGENT_END else "transcript_path")
    return Moment(
        what=what,
        session=_text(payload, "session_id"),
        cwd=_text(payload, "cwd"),
        transcript=transcript,
        source=_text(payload, "source") or _text(payload, "reason") or _text(payload, "trigger"),
        prompt="" if prompt.lstrip().startswith(("<task-notification", "/", "!")) else prompt,
        twin="\0".join(_text(payload, key) for key in _TWIN),
        subagent=bool(_text(payload, "agent_id")),
        foreign="cursor_version" in payload or "conversation_id" in payload,
        test=payload.get("flywheel_test") is True,
        tool=_text(payload, "tool_name"),
        failed=name == "PostToolUseFailure",
        facts=_facts(payload) if what is What.TOOL else {},
    )


def answer(event: str, payload: Mapping[str, object], briefing: Briefing) -> bytes:
    """The bytes for Claude Code's stdout; empty when the briefing is, or is larger than Claude Code takes whole."""
    text = briefing.text
    if not text or len(text.encode("utf-16-le", "replace")) > 2 * UNITS:
        return b""
    name = _text(payload, "hook_event_name") or event
    output = {"hookEventName": name, "additionalContext": text}
    return orjson.dumps({"hookSpecificOutput": output, "suppressOutput": True})


def _text(payload: Mapping[str, object], key: str) -> str:
    value = payload.get(key)
    return value if isinstance(value, str) else ""


def _facts(payload: Mapping[str, object]) -> dict[str, object]:
    """What is worth keeping of a tool's run: small, and no contents."""
    given = payload.get("tool_input")
    facts: dict[str, object] = {}
    if isinstance(given, Mapping):
        facts |= {key: given[key][:300] for key in _INPUTS if isinstance(given.get(key), str)}
    if error := _text(payload, "error"):
        facts["error"] = error[:300]
    if isinstance(millis := payload.get("duration_ms"), int):
        facts["ms"] = millis
    return facts
