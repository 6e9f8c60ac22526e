"""A user with one repository and one or more real clients, our daemon beside them, and a model on loopback."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import pytest
from tests.clients.model import StubModel
from tests.clients.programs import PROGRAMS, Program
from tests.e2e.conftest import House, make_house, until

from flywheel.model import Message, MessageKind
from flywheel.store.connect import connect
from flywheel.store.mapper import find

T = TypeVar("T")

FENCE = "flywheel-briefing"
DECISION = "We decided to use Valkey for the price cache because the licence of Redis changed."
QUESTION = "Which store holds the price cache, and why was it chosen?"
ROUNDS = 3


REPORT: list[str] = []
"""What the tests measured, printed at the end."""


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The wall times of the clients."""
    for line in REPORT:
        terminalreporter.write_line(line)


@dataclass(slots=True)
class Desk:
    """Where somebody works: the repository, the house with the daemon, the model that every client talks to."""

    house: House
    model: StubModel
    repository: Path
    seconds: dict[str, list[float]] = field(default_factory=dict)

    @property
    def user(self) -> Path:
        """The user's home."""
        return Path(self.house.env["HOME"])

    def say(self, program: Program, prompt: str, *, resume: bool = False, timed: str = "") -> str:
        """One prompt to a client; what it printed."""
        told, seconds = program.say(prompt, home=self.user, cwd=self.repository, url=self.model.url, resume=resume)
        if timed:
            self.seconds.setdefault(timed, []).append(seconds)
        return told

    def install(self, program: Program, *more: str) -> str:
        """Run our installer for a client, as the user would."""
        self.house.env["PATH"] = f"{program.path.parent}:{os.environ['PATH']}"
        done = self.house.command("install", program.name, "--yes", *more)
        assert done.returncode == 0, (done.stdout + done.stderr).decode()
        return done.stdout.decode()

    def settle(self) -> None:
        """Wait until all that was written is read, and what follows from it is done."""
        client = self.house.client
        until("an idle harvester", lambda: not any(j["kind"] in ("harvest", "extract") for j in client.jobs().jobs))
        until("the indexes", lambda: not any(client.status().behind.values()))

    def decided(self) -> None:
        """Wait until the decision is known."""
        client = self.house.client
        until("the decision", lambda: client.why(question="why Valkey?", cwd=str(self.repository)).reasons)
        self.settle()

    def spoken(self) -> list[str]:
        """Every prompt and reply that the store holds, in the order of its sessions."""
        kinds = (MessageKind.PROMPT, MessageKind.REPLY)
        return [message.text for message in self.messages() if message.kind in kinds]

    def rows(self, cls: type[T], tail: str = "") -> list[T]:
        """What the store holds of one class."""
        db = connect("", self.house.home / "data", migrate=False)
        try:
            with db.read() as tx:
                return find(tx, cls, tail)
        finally:
            db.close()

    def messages(self) -> list[Message]:
        """Everything that was read, in the order in which it was said."""
        return self.rows(Message, "ORDER BY created_at, session_id, ordinal")

    def files(self, folder: Path) -> Mapping[str, bytes]:
        """Every file below a folder, by its path in it."""
        return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def desk_for() -> Iterator[Callable[[Sequence[str]], Desk]]:
    """Makes a desk with the named clients prepared and nothing of ours installed; skips where one is missing."""
    made: list[tuple[Desk, Path]] = []

    def make(names: Sequence[str]) -> Desk:
        missing = [name for name in names if not PROGRAMS[name].path.exists()]
        if missing:
            pytest.skip(
                f"NOT TESTED: {', '.join(missing)} is not installed; `make clients` installs it from its registry"
            )
        home = Path(tempfile.mkdtemp(prefix="fw"))
        house = make_house(home, "[hooks]\ndeadline_ms = 4000\nstart_daemon = false\n")
        repository = home / "user" / "shop"
        subprocess.run(["git", "init", "-q", str(repository)], check=True)
        house.start()
        model = StubModel()
        model.__enter__()
        desk = Desk(house, model, repository)
        for name in names:
            PROGRAMS[name].prepare(desk.user, model.url)
        made.append((desk, home))
        return desk

    yield make
    for desk, home in made:
        desk.model.__exit__()
        if desk.house.process is not None:
            desk.house.stop()
        shutil.rmtree(home, ignore_errors=True)
