"""Houses in which something is wrong."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import psutil
from tests.e2e.conftest import House, make_house, until

SESSION = "0f6a2b10-0000-4000-8000-00000000000%d"

WITHOUT_ROOTS_RIGHTS = (
    "import ctypes, os, sys\n"
    "for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH\n"
    "    ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP\n"
    "os.execv(sys.argv[1], sys.argv[1:])\n"
)
"""Runs a command for which file modes hold even when root calls it; anybody else has no such rights to lose."""


@dataclass(slots=True)
class OddHouse(House):
    """A house whose daemon is started through another command, and may fail to start."""

    wrap: tuple[str, ...] = field(default=())

    def start(self) -> None:
        """Start the daemon and wait until it answers."""
        command = [*self.wrap, sys.executable, "-m", "flywheel.cli", "daemon"]
        self.process = subprocess.Popen(command, env=self.env, cwd="/", stderr=subprocess.PIPE)
        until("an answering daemon", self.answers)

    def lanes(self) -> list[psutil.Process]:
        """The daemon's processes but itself."""
        assert self.process is not None
        return list(psutil.Process(self.process.pid).children(recursive=True))


def odd_house(home: Path, settings: str = "", wrap: tuple[str, ...] = ()) -> OddHouse:
    """A house with these settings whose daemon does not run yet."""
    made = make_house(home, settings)
    return OddHouse(made.home, made.env, wrap=wrap)


def living(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Those that have not ended."""
    return [p for p in processes if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]


def said(number: int, text: str, cwd: Path, session: int = 1) -> bytes:
    """One line of a transcript in which the user says something."""
    record: dict[str, Any] = {
        "type": "user",
        "uuid": f"{session:08d}-0000-4000-8000-{number:012d}",
        "parentUuid": None,
        "sessionId": SESSION % session,
        "isSidechain": False,
        "timestamp": f"2026-03-0{session}T10:{number // 60 % 60:02d}:{number % 60:02d}.000Z",
        "cwd": str(cwd),
        "gitBranch": "main",
        "version": "2.1.332",
        "userType": "external",
        "message": {"role": "user", "content": text},
    }
    return orjson.dumps(record) + b"\n"
