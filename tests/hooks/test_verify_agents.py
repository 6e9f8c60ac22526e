"""The test event through what was installed for each agent: the file read back, its command run, its answer read."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
from tests.hooks.delivering import Desk
from tests.hooks.setting_up import make_here

from flywheel.hooks.install import apply
from flywheel.hooks.plan import plan_wish
from flywheel.hooks.setups import SETUPS, Here, Options, Scope, wish_of
from flywheel.hooks.verify import start_command, verify
from flywheel.text.redact import Redactor

AGENTS = [name for name, setup in SETUPS.items() if setup.start]


@contextlib.contextmanager
def answering(path: Path, body: bytes | None = None) -> Iterator[list[str]]:
    """A daemon of one request: the hook entry behind a socket, or ``body``; the paths that were asked."""
    desk, asked = Desk(), list[str]()
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(path))
    server.listen(1)

    def serve() -> None:
        connection, _ = server.accept()
        with connection:
            data = b""
            while b"flywheel_test" not in data or not data.endswith(b"}"):
                data += connection.recv(65536)
            head, _, payload = data.partition(b"\r\n\r\n")
            target = head.split(b" ")[1].decode()
            asked.append(target)
            agent, event = target.split("/")[-2:]
            answer = desk.hooks.handle(agent, event, payload)[0] if body is None else body
            head = b"HTTP/1.1 200 OK\r\nx-flywheel-hook: 1\r\ncontent-length: %d\r\n\r\n" % len(answer)
            connection.sendall(head + answer)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield asked
    finally:
        thread.join(10)
        server.close()


def installed(agent: str, here: Here) -> str:
    """The start command as it stands in the installed file."""
    apply(plan_wish(wish_of(agent, here, Options()), here.setup, Redactor()), here.setup)
    return start_command(agent, here)


@pytest.mark.parametrize("agent", AGENTS)
def test_each_agents_answer_is_understood(tmp_path: Path, agent: str) -> None:
    """Through shell, client and socket to the agent's own entry, and back in the agent's own shape."""
    here = make_here(tmp_path)
    command = installed(agent, here)
    with answering(here.setup.socket) as asked:
        found = verify(command, tmp_path, agent, SETUPS[agent].start)
    assert found.ok and found.problem == "" and asked == [f"/v1/hook/{agent}/{SETUPS[agent].start}"]


@pytest.mark.parametrize("agent", AGENTS)
def test_a_repositorys_command_finds_the_client(tmp_path: Path, agent: str) -> None:
    """The command that names no machine reaches the daemon where Flywheel is installed the usual way."""
    here = make_here(tmp_path, Scope.PROJECT)
    command = installed(agent, here)
    assert str(tmp_path) not in command
    env = {"PATH": "/usr/bin:/bin", "HOME": str(here.home)}
    assert not verify(command, tmp_path, agent, SETUPS[agent].start, env).ok
    usual = here.home / ".local" / "share" / "flywheel" / "hook"
    usual.parent.mkdir(parents=True)
    usual.symlink_to(here.setup.script.parent)
    with answering(here.setup.socket):
        assert verify(command, tmp_path, agent, SETUPS[agent].start, env).ok


WRONG = [
    b"[1]",
    b'"text"',
    b"{}",
    b"plain",
    b'{"hookSpecificOutput": {"hookEventName": "Other", "additionalContext": "x"}}',
]
OTHERS = {
    "cursor": b'{"additionalContext": "x"}',
    "copilot": b'{"additional_context": "x"}',
    "opencode": b'{"hookSpecificOutput": {"additionalContext": "x"}}',
    "codex": orjson.dumps({"x": 1, "hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "x"}}),
    "claude": b'{"additionalContext": "x"}',
    "gemini": b'{"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": 1}}',
}


@pytest.mark.parametrize("agent", AGENTS)
def test_another_agents_answer_is_not_understood(tmp_path: Path, agent: str) -> None:
    """Whatever the agent would drop or misread counts as broken."""
    here = make_here(tmp_path)
    command = installed(agent, here)
    for body in [*WRONG, OTHERS[agent]]:
        here.setup.socket.unlink(missing_ok=True)
        with answering(here.setup.socket, body):
            found = verify(command, tmp_path, agent, SETUPS[agent].start)
        assert not found.ok and "understands" in found.problem, body


@pytest.mark.parametrize("agent", AGENTS)
def test_nothing_installed_has_no_command(tmp_path: Path, agent: str) -> None:
    """No file, no command."""
    assert start_command(agent, make_here(tmp_path)) == ""
