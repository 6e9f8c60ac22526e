"""Trying an installed command: a test event through the shell, the client, the socket and back."""

from __future__ import annotations

import shlex
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from flywheel.hooks import disk
from flywheel.hooks.checks import COMPUTED, commands_in, plugin_command
from flywheel.hooks.setups import SETUPS, Here
from flywheel.hooks.setups.common import NEUTRAL

SECONDS: Final = 10.0
"""How long the command may take before it counts as broken."""

CLOSED: Final = {
    "continue", "stopReason", "suppressOutput", "systemMessage", "decision", "reason", "hookSpecificOutput",
}  # fmt: skip
"""Keys that Codex takes in an answer; with any other one it drops the whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What came of a test event. ``problem`` is "" when the daemon answered through the command."""

    ok: bool
    millis: float
    problem: str = ""


def start_command(agent: str, here: Here, hooks_file: Path | None = None) -> str:
    """The command that the installed file runs at a session's start; "" when there is none. Raises BadInput."""
    path = hooks_file or SETUPS[agent].hooks_file(here)
    text = (disk.read(path) or b"").decode("utf-8-sig", "replace")
    event = SETUPS[agent].start
    if path.suffix not in (".js", ".ts"):
        return next(iter(commands_in(text).get(event, ())), "")
    words = plugin_command(text)
    if words is None:
        return ""
    command = f"python3 -I -S {NEUTRAL}" if words == COMPUTED else shlex.join(words)
    return f"{command} {event} {agent} 2>/dev/null || :"


def verify(
    command: str, cwd: Path, agent: str = "claude", event: str = "SessionStart", env: Mapping[str, str] | None = None
) -> Verified:
    """Run one installed start command as the agent would; it leaves no trace in the memory."""
    began = time.perf_counter()
    try:
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            input=orjson.dumps(_payload(agent, event, cwd) | {"flywheel_test": True}),
            capture_output=True,
            timeout=SECONDS,
            check=False,
            env=env,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Verified(ok=False, millis=_since(began), problem=f"the command does not end: {type(error).__name__}")
    problem = _problem(done.returncode, done.stdout, agent, event)
    return Verified(ok=not problem, millis=_since(began), problem=problem)


def _payload(agent: str, event: str, cwd: Path) -> dict[str, object]:
    """A session's start as the agent would tell it."""
    if agent == "cursor":
        return {"conversation_id": "flywheel-test", "hook_event_name": event, "workspace_roots": [str(cwd)]}
    if agent == "copilot":
        return {"sessionId": "flywheel-test", "timestamp": 0, "cwd": str(cwd), "source": "new"}
    return {"session_id": "flywheel-test", "hook_event_name": event, "source": "startup", "cwd": str(cwd)}


def _problem(code: int, output: bytes, agent: str, event: str) -> str:
    if code != 0:
        return f"the command ended with {code}; the agent may take that for an error"
    if not output:
        return "no answer came: the daemon is down, slow or of another version (see `flywheel status`)"
    try:
        good = _is_understood(agent, event, orjson.loads(output))
    except (orjson.JSONDecodeError, TypeError, KeyError, AttributeError):
        good = False
    return "" if good else "the answer is not one that the agent understands"


def _is_understood(agent: str, event: str, answer: Any) -> bool:
    """Whether the answer has the agent's own shape and says something."""
    if agent == "cursor":
        said = answer["additional_context"]
    elif agent in ("copilot", "opencode"):
        said = answer["additionalContext"]
    else:
        said = answer["hookSpecificOutput"]["additionalContext"]
        if answer["hookSpecificOutput"]["hookEventName"] != event or (agent == "codex" and answer.keys() - CLOSED):
            return False
    return isinstance(said, str) and bool(said)


def _since(began: float) -> float:
    return round((time.perf_counter() - began) * 1000, 1)
