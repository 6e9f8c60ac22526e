"""A real daemon on a folder of its own, for the benchmarks that need one."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from flywheel.cli.demo import demo_folder
from flywheel.client import Client, client_at
from flywheel.errors import DaemonDown


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A daemon that answers."""

    home: Path  # its FLYWHEEL_HOME
    pid: int
    client: Client
    socket: Path


@contextlib.contextmanager
def running_daemon(settings: str = "", env: dict[str, str] | None = None) -> Iterator[Running]:
    """Start a daemon in a fresh folder with ``settings`` as its flywheel.toml, and stop it at the end.

    It sees no transcripts but those that the benchmark imports: HOME is the folder, too.
    """
    home = Path(tempfile.mkdtemp(prefix="fwbench"))
    (home / "flywheel.toml").write_text(settings, "utf-8")
    variables = {k: v for k, v in os.environ.items() if not k.startswith(("CLAUDE", "XDG_"))}
    variables |= {"FLYWHEEL_HOME": str(home), "HOME": str(home)} | (env or {})
    process = subprocess.Popen([sys.executable, "-m", "flywheel.cli", "daemon"], env=variables, cwd="/")
    client = client_at(home / "run" / "flywheel.sock")
    try:
        _wait(client, process)
        yield Running(home=home, pid=process.pid, client=client, socket=home / "run" / "flywheel.sock")
    finally:
        process.terminate()
        process.wait(30)
        shutil.rmtree(home, ignore_errors=True)


def _wait(client: Client, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with contextlib.suppress(DaemonDown):
            client.exchange("GET", "/v1/health")
            return
        if process.poll() is not None:
            raise RuntimeError(f"the daemon ended with {process.returncode}")
        time.sleep(0.02)
    raise RuntimeError("the daemon does not answer")


def import_all(client: Client, path: Path) -> None:
    """Import a folder and wait until everything that follows from it is done."""
    progress = client.import_path(path=str(path))
    while not progress.done:
        time.sleep(0.05)
        progress = client.import_progress(id=progress.id)


def import_demo(running: Running) -> str:
    """Import the demo project; its folder."""
    project, transcripts = demo_folder(running.home / "data")
    import_all(running.client, Path(transcripts))
    running.client.sync(cwd=project)
    return project
