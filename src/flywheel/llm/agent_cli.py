"""An agent's command line as the model (`claude -p`), only when the user chose it.

A call must never feed on what it leaves behind. So it runs with a guard variable (`GUARD`: our hook client says nothing
then, and nothing of ours starts another agent), with the agent's hooks, tools, servers and settings off, without a
stored session, in a folder of its own whose transcripts are never read (`SPAWNED`), and only so many at once.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import orjson

from flywheel.llm import GUARD, SPAWNED, Answer, Cause, Failure, Request, Usage
from flywheel.llm.openai import parsed
from flywheel.model import Role
from flywheel.store.filelock import FileLock

OVERHEAD: Final = 6_000
"""Tokens that the agent itself may add to a prompt."""

_QUIET: Final = (
    "--tools",
    "",
    "--strict-mcp-config",
    "--setting-sources",
    "",
    "--settings",
    '{"disableAllHooks":true}',
    "--no-session-persistence",
    "--max-turns",
    "4",
)
_TIED: Final = "import ctypes, os, sys; ctypes.CDLL(None).prctl(1, 9); os.execv(sys.argv[1], sys.argv[1:])"
"""Has the kernel kill the program when we die (Linux ``PR_SET_PDEATHSIG``), and becomes it."""

_SYSTEM: Final = "Answer what standard input asks, in the form that is demanded. Use no tool. Do nothing else."
_AGENTS: Final = ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT")
_BUSY: Final = 5.0
"""Seconds after which to ask again when as many run as may."""


class AgentProvider:
    """Satisfies `Provider`. ``env`` is the user's environment, ``at_once`` how many may run at the same time."""

    name = "agent"

    def __init__(self, *, program: str, folder: Path, env: Mapping[str, str], at_once: int) -> None:
        self._program = program
        self._folder = folder / SPAWNED
        self._env = env
        self._at_once = at_once

    def send(self, request: Request, model: str, seconds: float) -> Answer:
        """One run of the program; it is killed with all that it started when it takes longer."""
        if self._env.get(GUARD):
            raise Failure(Cause.REFUSED, f"{GUARD} is set: an agent that was started by Flywheel starts no other")
        program = shutil.which(self._program, path=self._env.get("PATH"))
        if program is None:
            raise Failure(Cause.REFUSED, f"there is no program {self._program!r}; set llm.agent_command")
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        schema = orjson.dumps(request.tool.schema).decode()
        command = [program, "-p", "--output-format", "json", "--model", model, "--system-prompt", _SYSTEM]
        with self._slot():
            raw = self._run([*command, "--json-schema", schema, *_QUIET], prompt_of(request).encode(), seconds)
        return answer_of(raw)

    @contextlib.contextmanager
    def _slot(self) -> Iterator[None]:
        """One of the places; Failure (limited) when all are taken, by whatever process."""
        for number in range(self._at_once):
            lock = FileLock(self._folder / f"slot-{number}")
            try:
                if lock.try_exclusive():
                    yield
                    return
            finally:
                lock.close()
        raise Failure(Cause.LIMITED, f"{self._at_once} of the agent run already", after=_BUSY)

    def _run(self, command: list[str], prompt: bytes, seconds: float) -> bytes:
        env = {name: value for name, value in self._env.items() if name not in _AGENTS} | {GUARD: "1"}
        pipe = subprocess.PIPE
        if sys.platform.startswith("linux"):
            command = [sys.executable, "-I", "-S", "-c", _TIED, *command]
        try:
            process = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=self._folder, env=env, start_new_session=True
            )
        except OSError as error:
            raise Failure(Cause.REFUSED, f"{self._program} cannot be started: {error}") from error
        try:
            out, err = process.communicate(prompt, timeout=seconds)
        except subprocess.TimeoutExpired as error:
            raise Failure(Cause.SLOW, f"no answer within {seconds:g} s") from error
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, 9)  # a session of its own: whatever it left behind
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None:
                    stream.close()
        if process.returncode != 0 and not out.strip():
            said = " ".join(err.decode("utf-8", "replace").split())[-300:]
            raise Failure(Cause.BROKEN, f"{self._program} ended with {process.returncode}: {said}")
        return out

    def close(self) -> None:
        """Nothing stays open between two calls."""


def prompt_of(request: Request) -> str:
    """The whole talk as one text."""
    parts = [str(request.prefix), f"Answer as {request.tool.name}: {request.tool.description}"]
    names = {Role.USER: "", Role.ASSISTANT: "Your answer was:\n"}
    parts += [names.get(said.role, "") + said.text for said in request.messages]
    return "\n\n".join(parts) + "\n"


def answer_of(raw: bytes) -> Answer:
    """What the program printed as an answer: `structured_output` where the schema was kept to, else JSON in its words.

    Raises Failure.
    """
    try:
        found: Any = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise Failure(Cause.GARBLED, f"an answer that is no JSON: {error}") from error
    if isinstance(found, list):  # every message of the run: the last one is the result
        found = next((one for one in reversed(found) if isinstance(one, dict) and one.get("type") == "result"), None)
    if not isinstance(found, dict):
        raise Failure(Cause.GARBLED, "an answer that is no object")
    words = found.get("result")
    said = words if isinstance(words, str) else ""
    if found.get("is_error"):
        raise _error(said or str(found.get("subtype")))
    usage = found.get("usage")
    cost = found.get("total_cost_usd")
    return Answer(
        value=found["structured_output"] if found.get("structured_output") is not None else parsed(said),
        said=said,
        usage=_usage(usage) if isinstance(usage, dict) else Usage(),
        measured=isinstance(usage, dict),
        cost=round(cost * 1e6) if isinstance(cost, int | float) else None,
    )


def _error(said: str) -> Failure:
    low = said.lower()
    if "limit" in low and ("reached" in low or "rate" in low or "429" in low):
        return Failure(Cause.LIMITED, said[:300], after=900.0)
    if "login" in low or "api key" in low or "credit" in low:
        return Failure(Cause.REFUSED, said[:300])
    return Failure(Cause.BROKEN, said[:300])


def _usage(usage: Mapping[str, Any]) -> Usage:
    def count(name: str) -> int:
        value = usage.get(name)
        return value if isinstance(value, int) and value > 0 else 0

    return Usage(
        input=count("input_tokens"),
        output=count("output_tokens"),
        cache_read=count("cache_read_input_tokens"),
        cache_write=count("cache_creation_input_tokens"),
    )
