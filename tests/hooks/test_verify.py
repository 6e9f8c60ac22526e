"""The installer's test event, through the shell, the client, a real socket and the hook entry."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from flywheel.api import Briefing
from flywheel.hooks import claude
from flywheel.hooks.client_copy import Setup, base_python
from flywheel.hooks.events import HookDeps, Hooks
from flywheel.hooks.install import apply, plan_install
from flywheel.hooks.settings import our_commands
from flywheel.hooks.verify import verify
from flywheel.model import Micros
from flywheel.text.redact import Redactor


def never(**asked: object) -> Briefing:
    raise AssertionError("the test event must not assemble anything")


@contextmanager
def answering(path: Path, head: bytes = b"x-flywheel-hook: 1\r\n", body: bytes | None = None) -> Iterator[Hooks]:
    """A daemon of one request: the hook entry behind a socket; ``body`` instead of its answer."""
    hooks = Hooks(
        HookDeps(
            assemble=never,
            injected=lambda s: (),
            roots=lambda a: (),
            redact=Redactor(),
            now=lambda: Micros(1),
            reads=lambda agent, path: True,
        )
    )
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(path))
    server.listen(1)

    def serve() -> None:
        connection, _ = server.accept()
        with connection:
            data = b""
            while b"flywheel_test" not in data or not data.endswith(b"}"):
                data += connection.recv(65536)
            answer, _ = hooks.handle("claude", "SessionStart", data.partition(b"\r\n\r\n")[2])
            answer = answer if body is None else body
            connection.sendall(b"HTTP/1.1 200 OK\r\n%scontent-length: %d\r\n\r\n" % (head, len(answer)) + answer)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield hooks
    finally:
        thread.join(10)
        server.close()


@pytest.fixture
def setup(tmp_path: Path) -> Setup:
    return Setup(data=tmp_path / "data", socket=tmp_path / "fw.sock", python=base_python())


@pytest.fixture
def command(tmp_path: Path, setup: Setup) -> str:
    settings = claude.settings_file(tmp_path)
    apply(plan_install("claude", settings, claude.HOOKS, setup, Redactor()), setup)
    return our_commands(settings.read_text())["SessionStart"][0]


def test_way_that_is_open(command: str, setup: Setup, tmp_path: Path) -> None:
    """With a daemon behind the socket the installed command is found good, and the entry saw a test."""
    with answering(setup.socket) as hooks:
        found = verify(command, tmp_path)
    assert found.ok and found.problem == "" and 0 < found.millis < 10_000
    assert hooks.counts == {"test": 1}


def test_no_daemon(command: str, tmp_path: Path) -> None:
    """Without a daemon the problem says so."""
    found = verify(command, tmp_path)
    assert not found.ok and "no answer" in found.problem


def test_daemon_of_another_version(command: str, setup: Setup, tmp_path: Path) -> None:
    """An answer of another protocol is no answer."""
    with answering(setup.socket, head=b"x-flywheel-hook: 9\r\n"):
        assert "no answer" in verify(command, tmp_path).problem


def test_answer_that_the_agent_would_not_understand(command: str, setup: Setup, tmp_path: Path) -> None:
    """Something else in the answer's place is named."""
    with answering(setup.socket, body=b"[1]"):
        assert "not one that the agent understands" in verify(command, tmp_path).problem


def test_command_that_fails(tmp_path: Path) -> None:
    """An exit code other than 0 is a problem, whatever was printed."""
    assert "ended with 2" in verify("exit 2", tmp_path).problem
