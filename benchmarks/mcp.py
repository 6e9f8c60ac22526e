"""The MCP server as an agent feels it: spawn to an answered ``initialize``, the first call, and the calls after it."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

import orjson

from benchmarks.daemon import Running, import_demo, running_daemon
from flywheel.hooks.client_copy import base_python

RUNS: Final = 100
"""Starts when ``n`` is not given."""

WARM: Final = 5
"""Starts that are not counted."""

FIRST: Final = 10
"""Of so many starts' the first call is measured, too."""

CALLS: Final = 200
"""Later calls."""

_OPENING: Final = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"elicitation": {}},
    "clientInfo": {"name": "bench", "version": "1"},
}
_RECALL: Final = {"name": "recall", "arguments": {"question": "why did we move off Redis?"}}


def run(data: Path | None, n: int | None) -> dict[str, Any]:
    """``n`` starts over the demo store, each in turn with ``python -I -S -c pass`` (spawn to exit).

    ``start_ms`` is spawn to the answered ``initialize``, ``first_call_ms`` the first tool's call, which loads the SDK,
    ``call_ms`` every later one; ``mb`` is resident memory before and after the first call. Floor: the bare
    interpreter, and the same search over the bare socket.
    """
    starts = n or RUNS
    with running_daemon() as running:
        project = import_demo(running)
        floor, spent = [], []
        for _ in range(starts + WARM):
            floor.append(_bare())
            with _Server(running, project) as server:
                spent.append(server.started)
        first, before, after, later = [], [], [], list[float]()
        for _ in range(FIRST):
            with _Server(running, project) as server:
                before.append(server.megabytes())
                first.append(server.call())
                after.append(server.megabytes())
                later += [server.call() for _ in range(CALLS // FIRST)]
        direct = [_timed(lambda: _search(running, project)) for _ in range(CALLS)]
    floor, spent = floor[WARM:], spent[WARM:]
    return {
        "results": {
            "start_ms_p50": _part(spent, 0.5),
            "start_ms_p99": _part(spent, 0.99),
            "start_ratio_p50": round(_part(spent, 0.5) / _part(floor, 0.5), 2),
            "first_call_ms_p50": _part(first, 0.5),
            "call_ms_p50": _part(later, 0.5),
            "call_ms_p99": _part(later, 0.99),
            "mb_before": _part(before, 0.5),
            "mb_after": _part(after, 0.5),
        },
        "floor": {"ms_p50": _part(floor, 0.5), "ms_p99": _part(floor, 0.99), "socket_ms_p50": _part(direct, 0.5)},
        "n": starts,
    }


def _part(values: list[float], part: float) -> float:
    return round(sorted(values)[min(len(values) - 1, int(len(values) * part))], 2)


def _timed(work: Any) -> float:
    """Milliseconds."""
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def _bare() -> float:
    command = [str(base_python()), "-I", "-S", "-c", "pass"]
    return _timed(lambda: subprocess.run(command, stdin=subprocess.DEVNULL, check=True))


def _search(running: Running, project: str) -> None:
    running.client.search(query="why did we move off Redis?", cwd=project, kinds=("entry", "message", "document"))


class _Server:
    """One server with its pipes, from spawn to the end. Raises when an answer is not what it should be."""

    def __init__(self, running: Running, project: str) -> None:
        env = {"FLYWHEEL_HOME": str(running.home), "HOME": str(running.home), "PATH": "/usr/bin:/bin"}
        command = [sys.executable, "-P", "-m", "flywheel.cli", "mcp"]
        pipe = subprocess.PIPE
        began = time.perf_counter()
        self._process = subprocess.Popen(command, env=env, cwd=project, stdin=pipe, stdout=pipe)
        if b"serverInfo" not in self._ask("initialize", _OPENING):
            raise RuntimeError("the server did not open")
        self.started = (time.perf_counter() - began) * 1000

    def __enter__(self) -> _Server:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def _ask(self, method: str, params: object) -> bytes:
        assert self._process.stdin is not None and self._process.stdout is not None
        frame = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        self._process.stdin.write(orjson.dumps(frame) + b"\n")
        self._process.stdin.flush()
        return self._process.stdout.readline()

    def call(self) -> float:
        """Milliseconds of one recall."""
        answer = b""

        def ask() -> None:
            nonlocal answer
            answer = self._ask("tools/call", _RECALL)

        spent = _timed(ask)
        if b"[fw:" not in answer:
            raise RuntimeError(f"nothing was recalled: {answer[:200]!r}")
        return spent

    def megabytes(self) -> float:
        """Resident memory."""
        pages = int(Path(f"/proc/{self._process.pid}/statm").read_text("ascii").split()[1])
        return pages * 4096 / 1e6
