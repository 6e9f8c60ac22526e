"""How long a briefing takes over the socket, in a large store, while an import runs at full rate."""

from __future__ import annotations

import contextlib
import http.client
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import orjson

from benchmarks.big_store import Words, fill, make_checkouts, make_words
from benchmarks.daemon import Running, import_all
from benchmarks.transcripts import write_corpus
from flywheel.app.parts import open_parts, wall_clock
from flywheel.client import client_at
from flywheel.config import Config, locate
from flywheel.errors import DaemonDown

MESSAGES: Final = 1_000_000
"""Messages of the bar; a tenth as many entries."""

PROJECTS: Final = 20

LINES: Final = 60_000
"""Transcript lines that are imported meanwhile."""

REQUESTS: Final = 2_000


def run(data: Path | None, n: int | None) -> dict[str, Any]:
    """``n`` messages (1,000,000 unless given) and a tenth as many entries; requests as long as an import runs.

    Starts and prompts in turn, each of a session of its own, over all projects, as often as the larger ones are
    larger. ``p50_ms``, ``p95_ms``, ``p99_ms`` are of both, over a new connection each; the same of each kind beside
    them, and ``filled``, the part of the answers that held a briefing. Floor: ``/v1/health`` in the same way, in the
    same time.

    ``data`` is a folder that keeps the filled store for the next time; its path must be short enough for a socket.
    """
    messages = n or MESSAGES
    with contextlib.ExitStack() as stack:
        folder = data or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fwlatency")))
        home, work, filled = folder / "home", folder / "work", folder / f"filled-{messages}"
        if filled.exists():
            checkouts = sorted(str(path) for path in work.iterdir())
        else:
            checkouts = make_checkouts(work, PROJECTS)
            home.mkdir()
            parts = open_parts(Config(), locate({"FLYWHEEL_HOME": str(home)}, home), {}, home)
            with contextlib.closing(parts):
                fill(parts, checkouts, messages, messages // 10, wall_clock())
            filled.touch()
        root = folder / f"corpus-{time.time_ns()}" / "projects"
        write_corpus(root, checkouts, max(2_000, min(LINES, messages // 10)), seed=time.time_ns() % 1_000_003)
        with _daemon(home) as running:
            return {**_measure(running, checkouts, root), "n": messages}


def _measure(running: Running, checkouts: list[str], root: Path) -> dict[str, Any]:
    asks = _asks(checkouts, make_words(5))
    for _ in range(4 * len(checkouts)):  # first requests for a folder wait for git and the project
        _request(running.socket, "/v1/context", next(asks)[1])
    importing = threading.Thread(target=_import, args=(running, root), daemon=True)
    importing.start()
    times: dict[str, list[float]] = {"start": [], "prompt": [], "floor": []}
    filled = 0
    while importing.is_alive() or len(times["start"]) < REQUESTS // 20:
        kind, body = next(asks)
        spent, answer = _request(running.socket, "/v1/context", body)
        times[kind].append(spent)
        filled += b"flywheel-briefing" in answer
        if len(times["start"]) % 5 == 0:
            times["floor"].append(_request(running.socket, "/v1/health", b"")[0])
        if len(times["start"]) + len(times["prompt"]) >= REQUESTS:
            break
    if not importing.is_alive():
        print("context_latency: the import ended before the requests did", file=sys.stderr)
    both = [*times["start"], *times["prompt"]]
    results = _quantiles("", both) | _quantiles("start_", times["start"]) | _quantiles("prompt_", times["prompt"])
    results |= {"filled": round(filled / len(both), 3), "requests": len(both)}
    return {"results": results, "floor": _quantiles("", times["floor"])}


@contextlib.contextmanager
def _daemon(home: Path) -> Iterator[Running]:
    """A daemon on a folder that holds a store already."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("CLAUDE", "XDG_"))}
    variables |= {"FLYWHEEL_HOME": str(home), "HOME": str(home)}
    path = home / "run" / "flywheel.sock"
    with subprocess.Popen([sys.executable, "-m", "flywheel.cli", "daemon"], env=variables, cwd="/") as process:
        try:
            end = time.monotonic() + 120
            while not path.exists() and process.poll() is None and time.monotonic() < end:
                time.sleep(0.05)
            _request(path, "/v1/health", b"")
            yield Running(home=home, pid=process.pid, client=client_at(path), socket=path)
        finally:
            process.terminate()


def _import(running: Running, root: Path) -> None:
    with contextlib.suppress(DaemonDown):  # the measuring ended first
        import_all(running.client, root)


def _asks(checkouts: list[str], words: Words) -> Iterator[tuple[str, bytes]]:
    """Bodies of requests, a start and a prompt in turn."""
    weights = [1 / (rank + 2) for rank in range(len(checkouts))]
    number = 0
    while True:
        number += 1
        (cwd,) = words.rng.choices(checkouts, weights)
        base = {"cwd": cwd, "agent": "claude", "session": f"bench-{os.getpid()}-{number}"}
        yield "start", orjson.dumps(base)
        yield "prompt", orjson.dumps(base | {"query": words.text(7), "budget": 600})


class _Unix(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("flywheel")
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(str(self._path))


def _request(path: Path, url: str, body: bytes) -> tuple[float, bytes]:
    """Milliseconds and answer of one request over a new connection. Raises when it is no 200."""
    began = time.perf_counter()
    connection = _Unix(path)
    connection.request("POST" if body else "GET", url, body or None)
    response = connection.getresponse()
    answer = response.read()
    connection.close()
    spent = (time.perf_counter() - began) * 1000
    if response.status != 200:
        raise RuntimeError(f"{url} answered {response.status}: {answer[:300]!r}")
    return spent, answer


def _quantiles(prefix: str, values: list[float]) -> dict[str, float]:
    ordered = sorted(values) or [0.0]
    last = len(ordered) - 1
    return {f"{prefix}p{q}_ms": round(ordered[last * q // 100], 2) for q in (50, 95, 99)}
