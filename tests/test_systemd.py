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
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from flywheel.client import client_at
from flywheel.config import Config
from flywheel.daemon.single import daemon_pid
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


def test_what_the_daemon_writes_is_writable() -> None:
    """Home (data, settings), the runtime folder (socket) and the folder for what is temporary (a replay's memory)."""
    assert service()["ProtectSystem"] == "strict" and service()["ReadWritePaths"].split() == ["%h", "%t", "%T"]


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


def started(home: Path) -> subprocess.Popen[bytes]:
    """ExecStart, as written, in the bare environment that systemd gives."""
    run = home / "run"
    run.mkdir(mode=0o700)
    words = [word.replace("%h", str(home)) for word in shlex.split(service()["ExecStart"])]
    assert Path(words[0]).is_absolute() and Path(words[0]).exists()
    env = {"HOME": str(home), "XDG_RUNTIME_DIR": str(run)}
    return subprocess.Popen(words, env=env, cwd="/", stderr=subprocess.PIPE)


def until(process: subprocess.Popen[bytes], seen: Callable[[], bool]) -> None:
    """Wait for what the daemon does, which must not end meanwhile."""
    end = time.monotonic() + PATIENCE
    while not seen():
        assert process.poll() is None and time.monotonic() < end, process.communicate()
        time.sleep(0.002)


def test_the_units_command_runs_the_daemon(home: Path) -> None:
    """The daemon answers, and SIGTERM ends it."""
    client = client_at(home / "run" / "flywheel" / "flywheel.sock")

    def answers() -> bool:
        try:
            return client.status().pid == process.pid
        except DaemonDown:
            return False

    with started(home) as process:
        try:
            until(process, answers)
            process.terminate()
            assert process.wait(PATIENCE) == 0
        finally:
            process.kill()


def test_a_daemon_that_is_starting_can_be_stopped(home: Path) -> None:
    """As soon as its lock tells its pid, which is long before it answers, SIGTERM ends it in good order."""
    data = home / ".local" / "share" / "flywheel"
    with started(home) as process:
        try:
            until(process, lambda: daemon_pid(data) == process.pid)
            process.terminate()
            assert process.wait(PATIENCE) == 0
            assert daemon_pid(data) is None and not (home / "run" / "flywheel" / "flywheel.sock").exists()
        finally:
            process.kill()
