"""Gemini CLI's hooks: where they are installed, what their payloads say, and the exact bytes of an answer.

| moment | Gemini CLI |
|---|---|
| session starts, resumes, was cleared | ``SessionStart``; deferred to the first prompt (see below) |
| prompt | ``BeforeAgent``; injects behind the person's words |
| turn, session end | ``AfterAgent``, ``SessionEnd`` (not waited for) |
| subagent end | no event; a subagent's tools are its session's |
| compaction | ``PreCompress`` comes before almost every model call, compressing or not: only ``/compress`` counts |
| tool result | ``AfterTool``, with the error or the exit code in it |

What ``SessionStart`` injects is gone when the session is resumed, and without a terminal it takes the person's first
prompt with it: Gemini CLI puts it before the prompt, and leaves out messages that begin with a hook's context when it
reads a session again. Only JSON is ever printed: plain text is shown to the user, and exit code 2 blocks the prompt.
"""

from __future__ import annotations

import re
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

AGENT: Final = "gemini"
NAME: Final = "flywheel"
TIMEOUT: Final = 5_000
"""Milliseconds, unlike everywhere else."""

SHAPE: Final = Shape(per_second=1000)

# Matchers of events that are no tool's are compared whole with the source or trigger.
HOOKS: Final = (
    Wanted(event="SessionStart", timeout=TIMEOUT, name=NAME, shape=SHAPE),
    Wanted(event="BeforeAgent", timeout=TIMEOUT, name=NAME, shape=SHAPE),
    Wanted(event="AfterTool", matcher="*", timeout=TIMEOUT, name=NAME, shape=SHAPE),
    Wanted(event="PreCompress", matcher="manual", timeout=TIMEOUT, name=NAME, shape=SHAPE),
    Wanted(event="AfterAgent", timeout=TIMEOUT, name=NAME, shape=SHAPE),
    Wanted(event="SessionEnd", timeout=TIMEOUT, name=NAME, shape=SHAPE),
)

_WHAT: Final = {
    "SessionStart": What.START,
    "BeforeAgent": What.PROMPT,
    "AfterAgent": What.TURN_END,
    "PreCompress": What.COMPACT,
    "SessionEnd": What.END,
    "AfterTool": What.TOOL,
}
_OURS: Final = re.compile(r"<hook_context>.*?</hook_context>\s*", re.DOTALL)
_CODE: Final = re.compile(r"^Exit Code: (-?\d+)$", re.MULTILINE)


def settings_file(home: Path) -> Path:
    """The user-level settings; ``home`` is ``~/.gemini``. They run in trusted folders only, an extension's anywhere."""
    return home / "settings.json"


def understand(event: str, payload: Mapping[str, object]) -> Moment:
    """The payload as a `Moment`. Fields that are missing or of another type are empty."""
    name = text(payload, "hook_event_name") or event
    source = text(payload, "source", "reason", "trigger")
    what = _WHAT.get(name, What.OTHER)
    if what is What.COMPACT and source != "manual":
        what = What.OTHER
    prompt = _OURS.sub("", text(payload, "prompt"))
    response = fields.part(payload, "tool_response")
    error = text(fields.part(response, "error"), "message") or text(response, "error")
    return Moment(
        what=what,
        session=text(payload, "session_id"),
        cwd=text(payload, "cwd"),
        transcript=text(payload, "transcript_path"),
        source=source,
        prompt="" if prompt.lstrip().startswith(("/", "!")) else prompt,
        twin="\0".join((fields.when(payload.get("timestamp")), text(payload, "tool_name"), source)),
        restarts=what is What.COMPACT,
        defers=what is What.START,
        opens=what is What.PROMPT,
        tool=text(payload, "tool_name"),
        failed=bool(error) or _exit_code(response) != 0,
        facts=fields.tool_facts(fields.part(payload, "tool_input"), error) if what is What.TOOL else {},
    )


def answer(event: str, payload: Mapping[str, object], briefing: Briefing) -> bytes:
    """The bytes for Gemini CLI's stdout, JSON or nothing."""
    name = text(payload, "hook_event_name") or event
    if not briefing.text or name not in ("SessionStart", "BeforeAgent"):
        return b""
    body = orjson.dumps({"hookSpecificOutput": {"hookEventName": name, "additionalContext": briefing.text}})
    return body if len(body) <= MAX_ANSWER else b""


def _exit_code(response: Mapping[str, object]) -> int:
    """A shell command's exit code; it stands in one of the last lines, and only where it is not 0."""
    said = response.get("llmContent")
    found = _CODE.search(said[-400:]) if isinstance(said, str) else None
    return int(found[1]) if found else 0
