"""Trying an installed command: a test event through the shell, the client, the socket and back."""

from __future__ import annotations

import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import orjson

SECONDS: Final = 10.0
"""How long the command may take before it counts as broken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What came of a test event. ``problem`` is "" when the daemon answered through the command."""

    ok: bool
    millis: float
    problem: str = ""


def verify(command: str, cwd: Path) -> Verified:
    """Run one installed ``SessionStart`` command as the agent would; it leaves no trace in the memory."""
    payload = {"session_id": "flywheel-test", "hook_event_name": "SessionStart", "source": "startup", "cwd": str(cwd)}
    began = time.perf_counter()
    try:
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            input=orjson.dumps(payload | {"flywheel_test": True}),
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Verified(ok=False, millis=_since(began), problem=f"the command does not end: {type(error).__name__}")
    problem = _problem(done.returncode, done.stdout)
    return Verified(ok=not problem, millis=_since(began), problem=problem)


def _problem(code: int, output: bytes) -> str:
    if code != 0:
        return f"the command ended with {code}; the agent may take that for an error"
    if not output:
        return "no answer came: the daemon is down, slow or of another version (see `flywheel status`)"
    try:
        answer = orjson.loads(output)
        good = answer["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    except (orjson.JSONDecodeError, TypeError, KeyError):
        good = False
    return "" if good else "the answer is not one that the agent understands"


def _since(began: float) -> float:
    return round((time.perf_counter() - began) * 1000, 1)
