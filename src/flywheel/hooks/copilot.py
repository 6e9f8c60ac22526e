"""GitHub Copilot's hooks (CLI, and VS Code, which reads the same files): payloads and the exact bytes of an answer.

| moment | Copilot CLI | VS Code |
|---|---|---|
| session starts, resumes | ``sessionStart``; injects, anew where it resumes | ``SessionStart``; injects |
| prompt | ``userPromptSubmitted``; injects (seen in 1.0.102; older versions drop the answer) | no injection |
| turn, subagent end | ``agentStop``, ``subagentStop``; these name the transcript | ``Stop``, ``SubagentStop`` |
| session end | ``sessionEnd`` | none |
| compaction | ``preCompact``; no start follows, the next prompt brings the briefing | ``PreCompact`` |
| tool result | ``postToolUse``, ``postToolUseFailure``; a failing command is a success whose text ends so | the same |

``preToolUse`` is left out on purpose: a command that fails there denies the tool. A payload has camelCase keys and a
time in milliseconds where the entry's event is in camelCase, Claude Code's keys and an ISO time where it is in
PascalCase, as in ``.claude/settings.json``, which Copilot CLI runs, too; VS Code says ``hookEventName``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import orjson

from flywheel.api import Briefing
from flywheel.hooks import fields
from flywheel.hooks.fields import text
from flywheel.hooks.moment import Moment, What
from flywheel.hooks.wanted import Shape, Wanted

AGENT: Final = "copilot"
BYTES: Final = 10_000
"""UTF-8 bytes of context; more is cut."""

TIMEOUT: Final = 5
"""Seconds."""

SHAPE: Final = Shape(flat=True, command="bash", timeout="timeoutSec")
"""``{"type", "bash", "timeoutSec"}``; the file has ``"version": 1`` beside ``"hooks"``."""

HOOKS: Final = (
    Wanted(event="sessionStart", timeout=TIMEOUT, shape=SHAPE),
    Wanted(event="userPromptSubmitted", timeout=TIMEOUT, shape=SHAPE),
    Wanted(event="postToolUse", timeout=TIMEOUT, shape=SHAPE),
    Wanted(event="postToolUseFailure", timeout=TIMEOUT, shape=SHAPE),
    Wanted(event="preCompact", timeout=TIMEOUT, shape=SHAPE),
    Wanted(event="agentStop", timeout=TIMEOUT, shape=SHAPE),
    Wanted(event="subagentStop", timeout=TIMEOUT, shape=SHAPE),
    Wanted(event="sessionEnd", timeout=TIMEOUT, shape=SHAPE),
)

_WHAT: Final = {
    "sessionstart": What.START,
    "userpromptsubmitted": What.PROMPT,
    "userpromptsubmit": What.PROMPT,
    "agentstop": What.TURN_END,
    "stop": What.TURN_END,
    "subagentstop": What.SUBAGENT_END,
    "precompact": What.COMPACT,
    "sessionend": What.END,
    "posttooluse": What.TOOL,
    "posttoolusefailure": What.TOOL,
}
_CODE: Final = re.compile(r"exit code (-?\d+)>?\s*$")


def settings_file(home: Path) -> Path:
    """A hooks file of our own; ``home`` is ``$COPILOT_HOME`` or ``~/.copilot``."""
    return home / "hooks" / "flywheel.json"


def understand(event: str, payload: Mapping[str, object]) -> Moment:
    """The payload, in whichever of its spellings, as a `Moment`. Fields missing or of another type are empty."""
    name = _name(event, payload)
    what = _WHAT.get(name, What.OTHER)
    source = text(payload, "source", "reason", "trigger", "stopReason", "stop_reason")
    prompt = text(payload, "prompt")
    helper = text(payload, "agentName", "agent_name", "agentId", "agent_id")
    return Moment(
        what=what,
        session=text(payload, "sessionId", "session_id"),
        cwd=text(payload, "cwd"),
        transcript=text(payload, "transcriptPath", "transcript_path"),
        source="startup" if what is What.START else source,  # a resumed session has lost what a start injected
        prompt="" if prompt.lstrip().startswith("/") else prompt,
        twin="\0".join((fields.when(payload.get("timestamp")), helper)),
        subagent=what is not What.SUBAGENT_END and bool(helper),
        restarts=what is What.COMPACT,
        opens=what is What.PROMPT,
        tool=text(payload, "toolName", "tool_name"),
        failed=name == "posttoolusefailure" or _failed(payload),
        facts=_facts(payload) if what is What.TOOL else {},
    )


def answer(event: str, payload: Mapping[str, object], briefing: Briefing) -> bytes:
    """The bytes for Copilot CLI's or VS Code's stdout; empty when there is nothing to say or it would be cut."""
    said = briefing.text
    what = _WHAT.get(_name(event, payload))
    if not said or what not in (What.START, What.PROMPT, What.TOOL) or len(said.encode("utf-8", "replace")) > BYTES:
        return b""
    if not in_vscode(payload):
        return orjson.dumps({"additionalContext": said})
    if what is not What.START:
        return b""
    return orjson.dumps({"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": said}})


def in_vscode(payload: Mapping[str, object]) -> bool:
    """Whether VS Code sent it: its own key, or a transcript's path where the CLI with Claude Code's keys sends none."""
    name = payload.get("hook_event_name")
    return "hookEventName" in payload or (name in ("SessionStart", "UserPromptSubmit") and "transcript_path" in payload)


def _name(event: str, payload: Mapping[str, object]) -> str:
    return (text(payload, "hook_event_name", "hookEventName") or event).lower()


def _failed(payload: Mapping[str, object]) -> bool:
    result = fields.part(payload, "toolResult", "tool_result", "tool_response")
    kind = text(result, "resultType", "result_type") or "success"
    found = _CODE.search(text(result, "textResultForLlm", "text_result_for_llm")[-100:])
    return kind != "success" or (found is not None and found[1] != "0")


def _facts(payload: Mapping[str, object]) -> dict[str, object]:
    error = text(payload, "error") or text(fields.part(payload, "error"), "message")
    return fields.tool_facts(fields.part(payload, "toolArgs", "tool_input"), error)
