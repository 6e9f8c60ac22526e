"""Cursor's hooks: where they are installed, what their payloads say, and the exact bytes of an answer.

| moment | Cursor |
|---|---|
| session starts | ``sessionStart``; injects |
| prompt | ``beforeSubmitPrompt``; its answer could stop the prompt: ours says to go on; does not fire in ``-p`` |
| turn, subagent end | ``stop``, ``subagentStop`` |
| session end | ``sessionEnd``; the IDE sends it when the window closes, if at all |
| compaction | ``preCompact``; no start follows, the next prompt brings the briefing again |
| tool result | ``postToolUse``, ``postToolUseFailure`` |
| subagent start | left out: a subagent gets no briefing |

Cursor runs the hooks of Claude Code's settings as well, with the payloads described here.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import orjson

from flywheel.api import Briefing
from flywheel.hooks import fields
from flywheel.hooks.client import MAX_ANSWER
from flywheel.hooks.fields import text
from flywheel.hooks.moment import Moment, What
from flywheel.hooks.wanted import Shape, Wanted

AGENT: Final = "cursor"
TIMEOUT: Final = 5
"""Seconds."""

SHAPE: Final = Shape(flat=True, typed=False)
"""``{"command", "timeout"}``; the file has ``"version": 1`` beside ``"hooks"``."""

HOOKS: Final = (
    Wanted(event="sessionStart", timeout=TIMEOUT, shape=SHAPE),
    Wanted(event="beforeSubmitPrompt", timeout=TIMEOUT, shape=SHAPE),
    Wanted(event="postToolUse", timeout=TIMEOUT, shape=SHAPE),
    Wanted(event="postToolUseFailure", timeout=TIMEOUT, shape=SHAPE),
    Wanted(event="preCompact", timeout=TIMEOUT, shape=SHAPE),
    Wanted(event="stop", timeout=TIMEOUT, shape=SHAPE),
    Wanted(event="subagentStop", timeout=TIMEOUT, shape=SHAPE),
    Wanted(event="sessionEnd", timeout=TIMEOUT, shape=SHAPE),
)

_WHAT: Final = {
    "sessionStart": What.START,
    "beforeSubmitPrompt": What.PROMPT,
    "userPromptSubmit": What.PROMPT,  # Claude Code's name for it
    "stop": What.TURN_END,
    "subagentStop": What.SUBAGENT_END,
    "preCompact": What.COMPACT,
    "sessionEnd": What.END,
    "postToolUse": What.TOOL,
    "postToolUseFailure": What.TOOL,
}
_TWIN: Final = ("generation_id", "tool_use_id", "subagent_id", "prompt")


def settings_file(home: Path) -> Path:
    """The user-level hooks; ``home`` is ``~/.cursor``."""
    return home / "hooks.json"


def understand(event: str, payload: Mapping[str, object]) -> Moment:
    """The payload as a `Moment`. Fields that are missing, null or of another type are empty."""
    name = _name(event, payload)
    what = _WHAT.get(name, What.OTHER)
    given = fields.part(payload, "tool_input")
    prompt = text(payload, "prompt")
    twin = [text(payload, key) for key in _TWIN]
    if what is What.TOOL and not text(payload, "tool_use_id"):
        twin.append(repr(sorted((key, str(value)[:200]) for key, value in given.items())))
    return Moment(
        what=what,
        session=text(payload, "conversation_id", "session_id"),
        cwd=text(payload, "cwd") or _workspace(payload),
        transcript=text(payload, "agent_transcript_path" if what is What.SUBAGENT_END else "transcript_path"),
        source="startup" if what is What.START else text(payload, "reason", "trigger", "status"),
        prompt="" if prompt.lstrip().startswith("/") else prompt,
        twin="\0".join(twin),
        subagent=bool(text(payload, "parent_conversation_id", "subagent_id")),
        restarts=what is What.COMPACT,
        opens=what is What.PROMPT,
        tool=text(payload, "tool_name"),
        failed=name == "postToolUseFailure" or _exit_code(payload) != 0,
        facts=_facts(payload, given) if what is What.TOOL else {},
    )


def answer(event: str, payload: Mapping[str, object], briefing: Briefing) -> bytes:
    """The bytes for Cursor's stdout; empty when there is nothing to say. Nothing in them stops the agent."""
    what = _WHAT.get(_name(event, payload))
    if not briefing.text or what not in (What.START, What.PROMPT, What.TOOL):
        return b""
    go_on: dict[str, object] = {"continue": True} if what is What.PROMPT else {}
    body = orjson.dumps(go_on | {"additional_context": briefing.text})
    return body if len(body) <= MAX_ANSWER else b""


def _name(event: str, payload: Mapping[str, object]) -> str:
    """The event's name in Cursor's spelling; entries of Claude Code's settings are called in Claude Code's."""
    name = text(payload, "hook_event_name") or event
    return name[:1].lower() + name[1:]


def _workspace(payload: Mapping[str, object]) -> str:
    roots = payload.get("workspace_roots")
    first = roots[0] if isinstance(roots, list) and roots else ""
    return first if isinstance(first, str) else ""


def _exit_code(payload: Mapping[str, object]) -> int:
    """A shell command's exit code: the result is JSON text that holds it."""
    code = fields.part(payload, "tool_output").get("exitCode")
    return code if isinstance(code, int) else 0


def _facts(payload: Mapping[str, object], given: Mapping[str, object]) -> dict[str, object]:
    millis = payload.get("duration")
    return fields.tool_facts(given, text(payload, "error_message", "error"), millis)
