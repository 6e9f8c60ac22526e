"""What our hooks add to a session of the real Claude Code client: the wall time of one prompt with and without them."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import orjson
from tests.clients.model import StubModel

from benchmarks.daemon import Running, import_demo, running_daemon
from flywheel.errors import BadInput

RUNS: Final = 20
"""Prompts of each sort when ``n`` is not given."""

_PATIENT: Final = "[hooks]\ndeadline_ms = 4000\n[context]\ndeadline_ms = 4000\n"
"""On a busy machine a briefing may be late, and then there would be nothing to measure."""

_QUIET: Final = (
    "IS_SANDBOX",
    "DISABLE_TELEMETRY",
    "DISABLE_AUTOUPDATER",
    "DISABLE_ERROR_REPORTING",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
)

_VARIANTS: Final[Mapping[str, Sequence[str] | None]] = {
    "bare": None,
    "hooks": ("--no-mcp", "--no-skill"),
    "all": (),
}
"""Options of `flywheel install claude`; None installs nothing."""


def run(data: Path | None, n: int | None) -> dict[str, Any]:
    """``n`` prompts of each sort in turn; ``data`` is the folder that ``make clients`` fills.

    ``start_added_ms``: the hook of a session's start alone; ``hooks_added_ms``: session start, prompt and stop hooks;
    each with a full briefing of the demo project; ``all_added_ms``:
    with the MCP server and the skill. Floor: the client alone.
    """
    program = (data or Path(".clients")) / "claude" / "node_modules" / ".bin" / "claude"
    if not program.exists():
        raise BadInput(f"{program} is missing: `make clients` installs it; name its folder with --data")
    spent: dict[str, list[float]] = {name: [] for name in (*_VARIANTS, "start")}
    with running_daemon(_PATIENT) as running, StubModel() as model:
        project = import_demo(running)
        homes = _homes(running)
        for number in range((n or RUNS) + 1):
            for name, home in homes.items():
                taken = _prompt(program, home, project, model.url)
                if number:  # the first ones are warm-up
                    spent[name].append(taken)
            print(f"client_start: {number} of {n or RUNS}", file=sys.stderr)
        told = sum("flywheel-briefing" in body for body in model.heard())
    if told < 3 * (n or RUNS):
        raise RuntimeError(f"the briefing reached the model {told} times of {3 * (n or RUNS)}: that is no measurement")
    median = {name: statistics.median(times) for name, times in spent.items()}
    return {
        "results": {
            "start_added_ms": round(median["start"] - median["bare"], 1),
            "hooks_added_ms": round(median["hooks"] - median["bare"], 1),
            "all_added_ms": round(median["all"] - median["bare"], 1),
            "hooks_ratio": round(median["hooks"] / median["bare"], 3),
            "all_ratio": round(median["all"] / median["bare"], 3),
        },
        "floor": {"bare_ms": round(median["bare"], 1)},
        "n": n or RUNS,
    }


def _homes(running: Running) -> Mapping[str, Path]:
    """A home for each variant: copies of one whose Claude Code got more and more from our installer.

    ``start`` is one that keeps the hook of a session's start alone.
    """
    home = running.home / "user"
    (home / ".claude").mkdir(parents=True)
    env = {**os.environ, "FLYWHEEL_HOME": str(running.home), "HOME": str(home)}
    env.pop("CLAUDE_CONFIG_DIR", None)
    made: dict[str, Path] = {}
    for name, options in _VARIANTS.items():
        if options is not None:
            command = [sys.executable, "-m", "flywheel.cli", "install", "claude", "--yes", *options]
            subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL)
        made[name] = running.home / f"user-{name}"
        shutil.copytree(home, made[name])
    made["start"] = running.home / "user-start"
    shutil.copytree(made["hooks"], made["start"])
    settings = made["start"] / ".claude" / "settings.json"
    given = orjson.loads(settings.read_bytes())
    given["hooks"] = {"SessionStart": given["hooks"]["SessionStart"]}
    settings.write_bytes(orjson.dumps(given))
    return made


def _prompt(program: Path, home: Path, project: str, url: str) -> float:
    """Milliseconds of one prompt, spawn to exit."""
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "TERM": "dumb", "LANG": "C.UTF-8"}
    env |= {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "none"} | dict.fromkeys(_QUIET, "1")
    began = time.perf_counter()
    command = [str(program), "-p", "Please say hello to the postroom.", "--output-format", "json"]
    done = subprocess.run(command, cwd=project, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    taken = (time.perf_counter() - began) * 1000
    if done.returncode:
        raise RuntimeError(done.stderr.decode() or done.stdout.decode())
    shutil.rmtree(home / ".claude" / "projects", ignore_errors=True)
    return taken
