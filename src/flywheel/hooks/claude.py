"""Claude Code's hooks: where they are installed, what their payloads say, and the exact bytes of an answer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import orjson

from flywheel.api import Briefing
from flywheel.hooks import fields
from flywheel.hooks.fields import text
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

WHAT: Final = {
    "SessionStart": What.START,
    "UserPromptSubmit": What.PROMPT,
    "Stop": What.TURN_END,
    "SubagentStop": What.SUBAGENT_END,
    "PreCompact": What.COMPACT,
    "SessionEnd": What.END,
    "PostToolUse": What.TOOL,
    "PostToolUseFailure": What.TOOL,
}
"""What each event is; other agents run Claude Code's hooks under these names, too."""

_TWIN: Final = ("prompt_id", "tool_use_id", "agent_id", "prompt", "source")
"""What tells two events of a kind apart: subagents of one prompt end side by side, for example."""


def settings_file(config_dir: Path) -> Path:
    """The user-level settings; ``config_dir`` is ``$CLAUDE_CONFIG_DIR`` or ``~/.claude``."""
    return config_dir / "settings.json"


def understand(event: str, payload: Mapping[str, object]) -> Moment:
    """The payload as a `Moment`. Fields that are missing or of another type are empty."""
    name = text(payload, "hook_event_name") or event
    what = WHAT.get(name, What.OTHER)
    prompt = text(payload, "prompt")
    tool = what is What.TOOL
    return Moment(
        what=what,
        session=text(payload, "session_id"),
        cwd=text(payload, "cwd"),
        transcript=text(payload, "agent_transcript_path" if what is What.SUBAGENT_END else "transcript_path"),
        source=text(payload, "source", "reason", "trigger"),
        prompt="" if prompt.lstrip().startswith(("<task-notification", "/", "!")) else prompt,
        twin="\0".join(text(payload, key) for key in _TWIN),
        subagent=bool(text(payload, "agent_id")),
        tool=text(payload, "tool_name"),
        failed=name == "PostToolUseFailure",
        facts=fields.tool_facts(
            fields.part(payload, "tool_input"), text(payload, "error"), payload.get("duration_ms")
        ) if tool else {},
    )  # fmt: skip


def answer(event: str, payload: Mapping[str, object], briefing: Briefing) -> bytes:
    """The bytes for Claude Code's stdout; empty when the briefing is, or is larger than Claude Code takes whole."""
    said = briefing.text
    if not said or len(said.encode("utf-16-le", "replace")) > 2 * UNITS:
        return b""
    name = text(payload, "hook_event_name") or event
    output = {"hookEventName": name, "additionalContext": said}
    return orjson.dumps({"hookSpecificOutput": output, "suppressOutput": True})
