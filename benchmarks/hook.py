"""The hook as an agent feels it: spawn to exit of the real client with a full briefing, beside a bare interpreter."""

from __future__ import annotations

import http.client
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

import orjson

from benchmarks.daemon import Running, import_demo, running_daemon
from flywheel.hooks.client_copy import Setup, base_python, write_client

RUNS: Final = 400
"""Pairs of processes when ``n`` is not given."""

WARM: Final = 20
"""Pairs that are not counted."""


def run(data: Path | None, n: int | None) -> dict[str, Any]:
    """``n`` SessionStarts over the demo store, each of a new session, in turn with ``python -I -S -c pass``.

    ``ratio_p50`` and ``ratio_p99`` compare the two; ``ms_p50`` is the hook's time, ``daemon_ms`` the median of the
    same request over a bare socket. Floor: the bare interpreter.
    """
    pairs = n or RUNS
    with running_daemon() as running:
        project = import_demo(running)
        setup = Setup(data=running.home / "data", socket=running.socket, python=base_python())
        write_client(setup)
        bare = [str(setup.python), "-I", "-S", "-c", "pass"]
        hook = [str(setup.python), "-I", "-S", str(setup.script), "SessionStart"]
        floor, spent = [], []
        for number in range(pairs + WARM):
            payload = _payload(project, number)
            floor.append(_spawn(bare, payload, False))
            spent.append(_spawn(hook, payload, True))
        direct = sorted(_request(running, _payload(project, 10_000_000 + number)) for number in range(min(pairs, 200)))
    floor, spent = sorted(floor[WARM:]), sorted(spent[WARM:])
    half, late = pairs // 2, min(pairs - 1, pairs * 99 // 100)
    return {
        "results": {
            "ratio_p50": round(spent[half] / floor[half], 3),
            "ratio_p99": round(spent[late] / floor[late], 3),
            "ms_p50": round(spent[half], 2),
            "ms_p99": round(spent[late], 2),
            "daemon_ms": round(direct[len(direct) // 2], 2),
        },
        "floor": {"ms_p50": round(floor[half], 2), "ms_p99": round(floor[late], 2)},
        "n": pairs,
    }


def _payload(project: str, number: int) -> bytes:
    return orjson.dumps(
        {"session_id": f"bench-{number}", "hook_event_name": "SessionStart", "source": "startup", "cwd": project}
    )


def _spawn(command: list[str], payload: bytes, answers: bool) -> float:
    """Milliseconds from spawn to exit. Raises when the hook did not print a briefing: that would be no measurement."""
    reader, writer = os.pipe()
    os.write(writer, payload)
    os.close(writer)
    began = time.perf_counter()
    with subprocess.Popen(command, stdin=reader, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        printed = process.stdout.read() if process.stdout else b""
        process.wait()
        spent = (time.perf_counter() - began) * 1000
    os.close(reader)
    if answers and b"flywheel-briefing" not in printed:
        print(f"hook: no briefing in {printed[:200]!r}", file=sys.stderr)
        raise RuntimeError("the hook printed no briefing")
    return spent


class _Unix(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("flywheel")
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(str(self._path))


def _request(running: Running, payload: bytes) -> float:
    """Milliseconds of one SessionStart over a new connection, without a process."""
    began = time.perf_counter()
    connection = _Unix(running.socket)
    connection.request("POST", "/v1/hook/claude/SessionStart", payload)
    body = connection.getresponse().read()
    connection.close()
    if b"flywheel-briefing" not in body:
        raise RuntimeError("the daemon answered without a briefing")
    return (time.perf_counter() - began) * 1000
