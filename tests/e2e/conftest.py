"""A real daemon in a folder of its own, over each store."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from flywheel.api import ImportProgress
from flywheel.cli.demo import demo_folder
from flywheel.client import Client, client_at
from flywheel.errors import DaemonDown

PATIENCE = 200.0
"""Seconds that anything may take before a test gives up; nothing is timed here."""


def until(what: str, check: Callable[[], object]) -> None:
    """Look again until ``check`` is true."""
    end = time.monotonic() + PATIENCE
    while not check():
        if time.monotonic() > end:
            raise AssertionError(f"never came: {what}")
        time.sleep(0.02)


@dataclass(slots=True)
class House:
    """A FLYWHEEL_HOME, and the daemon that may run in it."""

    home: Path
    env: dict[str, str]
    process: subprocess.Popen[bytes] | None = None

    @property
    def socket(self) -> Path:
        """Where the daemon listens."""
        return self.home / "run" / "flywheel.sock"

    @property
    def client(self) -> Client:
        """A client of the daemon."""
        return client_at(self.socket)

    def start(self) -> None:
        """Start the daemon and wait until it answers."""
        command = [sys.executable, "-m", "flywheel.cli", "daemon"]
        self.process = subprocess.Popen(command, env=self.env, cwd="/", stderr=subprocess.PIPE)
        until("an answering daemon", self.answers)

    def answers(self) -> bool:
        """Whether the daemon answers; an early end fails the test with what it said."""
        assert self.process is not None
        if self.process.poll() is not None:
            assert self.process.stderr is not None
            raise AssertionError(self.process.stderr.read().decode())
        with contextlib.suppress(DaemonDown):
            self.client.exchange("GET", "/v1/health")
            return True
        return False

    def stop(self, *, kill: bool = False) -> int:
        """End the daemon; its exit code."""
        assert self.process is not None
        (self.process.kill if kill else self.process.terminate)()
        code = self.process.wait(PATIENCE)
        if self.process.stderr is not None:
            self.process.stderr.close()
        self.process = None
        return code

    def command(self, *words: str, input: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        """Run the command line."""
        return subprocess.run(
            [sys.executable, "-m", "flywheel.cli", *words],
            env=self.env,
            cwd=self.home,
            input=input,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )

    def import_all(self, path: Path) -> ImportProgress:
        """Import and wait until everything that follows is done."""
        progress = self.client.import_path(path=str(path))

        def done() -> bool:
            nonlocal progress
            progress = self.client.import_progress(id=progress.id)
            return progress.done

        until("the end of the import", done)
        return progress

    def demo(self) -> str:
        """Import the demo project; its folder."""
        project, transcripts = demo_folder(self.home / "data")
        self.import_all(Path(transcripts))
        return project


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder with a path short enough for a socket."""
    folder = Path(tempfile.mkdtemp(prefix="fw"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def make_house(home: Path, settings: str = "") -> House:
    """A house whose user has no transcripts and no settings but these."""
    patient = {"context": "deadline_ms = 10000", "behaviour": "deadline_ms = 10000"}
    patient |= {"hooks": "deadline_ms = 5000", "daemon": "nice = 0"}
    for table, line in patient.items():  # what is shown here is not how fast it is
        head, found, rest = settings.partition(f"[{table}]\n")
        settings = f"{head}{found}{rest}" if line.split()[0] in rest else f"{head}[{table}]\n{line}\n{rest}"
    (home / "flywheel.toml").write_text(settings, "utf-8")
    env = {k: v for k, v in os.environ.items() if not k.startswith(("CLAUDE", "XDG_", "FLYWHEEL"))}
    env |= {"FLYWHEEL_HOME": str(home), "HOME": str(home / "user"), "PYTHONWARNINGS": "error"}
    (home / "user").mkdir(exist_ok=True)
    return House(home, env)


@pytest.fixture
def house(home: Path) -> Iterator[House]:
    """A running daemon on SQLite."""
    made = make_house(home)
    made.start()
    yield made
    if made.process is not None:
        made.stop()


@pytest.fixture(params=["sqlite", "postgres"])
def any_house(request: pytest.FixtureRequest, home: Path) -> Iterator[House]:
    """A running daemon on each store in turn."""
    settings = ""
    if request.param == "postgres":
        settings = f'[store]\nurl = "{request.getfixturevalue("postgres_url")}"\n'
    made = make_house(home, settings)
    made.start()
    yield made
    if made.process is not None:
        made.stop()
