"""The user unit: systemd accepts it, and what it says fits the daemon."""

from __future__ import annotations

import configparser
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from flywheel.client import client_at
from flywheel.config import Config
from flywheel.errors import BadInput, Conflict, DaemonDown, Refused
from flywheel.resources import resource_dir

UNIT = resource_dir("systemd") / "flywheel.service"

PATIENCE = 60.0
"""Seconds that the daemon may take before the test gives up; nothing is timed here."""


def service() -> configparser.SectionProxy:
    """The unit's [Service]."""
    parsed = configparser.ConfigParser(interpolation=None, delimiters=("=",))
    parsed.optionxform = str  # type: ignore[assignment,method-assign]
    parsed.read(UNIT)
    return parsed["Service"]


def verify(unit: Path, runtime: Path) -> str:
    """What systemd has against a user unit; "" for nothing."""
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd-analyze is not installed: nobody here can say whether systemd accepts the unit")
    env = os.environ | {"XDG_RUNTIME_DIR": str(runtime)}
    done = subprocess.run(
        [analyze, "verify", "--user", str(unit)], env=env, capture_output=True, text=True, check=False
    )
    return done.stderr + done.stdout if done.returncode or done.stderr else ""


def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    """`systemd-analyze verify` finds nothing, neither errors nor warnings."""
    assert verify(UNIT, tmp_path) == ""


def test_systemd_would_say_what_is_wrong(tmp_path: Path) -> None:
    """The check above can fail: a misspelt setting and a program that is not there are both reported."""
    odd = tmp_path / "flywheel.service"
    odd.write_text(UNIT.read_text().replace("UMask=", "UMaks=").replace("/usr/bin/env", "/usr/bin/not-there"))
    told = verify(odd, tmp_path)
    assert "UMaks" in told and "/usr/bin/not-there" in told


def test_stopping_leaves_time_to_drain() -> None:
    """systemd waits longer for the end than the daemon lets its jobs finish, and kills what is left of the lanes."""
    assert int(service()["TimeoutStopSec"]) > Config().daemon.drain_seconds + 5
    assert service()["KillMode"] == "mixed"


def test_what_a_restart_cannot_mend_is_not_restarted() -> None:
    """A wrong setting, a file in the socket's place and a second daemon end it for good; a full disk does not."""
    codes = {kind.exit_code for kind in (BadInput, Refused, Conflict)}
    assert set(map(int, service()["RestartPreventExitStatus"].split())) == codes


@pytest.fixture
def home() -> Iterator[Path]:
    """A user's home that is short enough for a socket, with the command where `pip install --user` puts it."""
    folder = Path(tempfile.mkdtemp(prefix="fw", dir="/tmp"))
    command = folder / ".local" / "bin" / "flywheel"
    command.parent.mkdir(parents=True)
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m flywheel.cli "$@"\n')
    command.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def test_the_units_command_runs_the_daemon(home: Path) -> None:
    """ExecStart, as written, in the bare environment that systemd gives: the daemon answers, and SIGTERM ends it."""
    run = home / "run"
    run.mkdir(mode=0o700)
    words = [word.replace("%h", str(home)) for word in shlex.split(service()["ExecStart"])]
    assert Path(words[0]).is_absolute() and Path(words[0]).exists()
    env = {"HOME": str(home), "XDG_RUNTIME_DIR": str(run)}
    with subprocess.Popen(words, env=env, cwd="/", stderr=subprocess.PIPE) as process:
        try:
            client = client_at(run / "flywheel" / "flywheel.sock")
            end = time.monotonic() + PATIENCE
            while True:
                assert process.poll() is None and time.monotonic() < end, process.communicate()
                try:
                    assert client.status().pid == process.pid
                    break
                except DaemonDown:
                    time.sleep(0.02)
            process.terminate()
            assert process.wait(PATIENCE) == 0
        finally:
            process.kill()
