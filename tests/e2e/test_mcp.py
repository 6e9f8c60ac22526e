"""``flywheel mcp`` as an agent runs it: a process with pipes, a real daemon behind it, and that daemon's death."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.conftest import House, make_house, until

from flywheel.daemon.single import daemon_pid, stop_process
from flywheel.model import Entry, Feedback, Message
from flywheel.store.connect import connect
from flywheel.store.mapper import find

OPENING = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "claude-code", "version": "2.1.332"},
}


class Agent:
    """A client with a server of its own."""

    def __init__(self, house: House, cwd: Path, **env: str) -> None:
        command = [sys.executable, "-P", "-m", "flywheel.cli", "mcp"]
        pipe = subprocess.PIPE
        calm = {"PYTHONWARNINGS": "error,ignore::ResourceWarning"}  # a daemon that it started outlives it
        given = house.env | calm | env
        self.process = subprocess.Popen(command, env=given, cwd=cwd, stdin=pipe, stdout=pipe, stderr=pipe)
        self._number = 0

    def send(self, line: bytes) -> None:
        """Write bytes."""
        assert self.process.stdin is not None
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """One request; its result, or its error under "error"."""
        self._number += 1
        frame = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        self.send(json.dumps(frame).encode() + b"\n")
        assert self.process.stdout is not None
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        assert answer["id"] == self._number
        result: dict[str, Any] = answer.get("result", answer)
        return result

    def open(self) -> dict[str, Any]:
        """The handshake."""
        told = self.ask("initialize", **OPENING)
        self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        return told

    def call(self, tool: str, **given: Any) -> str:
        """A tool's text; a tool error begins with "ERROR"."""
        result = self.ask("tools/call", name=tool, arguments=given)
        (content,) = result["content"]
        return f"{'ERROR ' if result['isError'] else ''}{content['text']}"

    def close(self) -> tuple[int, bytes]:
        """Close the pipe; exit code and what it said on stderr."""
        assert self.process.stdin is not None and self.process.stderr is not None and self.process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        said = self.process.stderr.read()
        assert self.process.stdout.read() == b""
        self.process.stderr.close()
        self.process.stdout.close()
        return self.process.wait(60), said


def rows(house: House) -> list[int]:
    """How many entries, messages and verdicts the store holds."""
    db = connect("", house.home / "data", migrate=False)
    try:
        with db.read() as tx:
            return [len(find(tx, Entry)), len(find(tx, Message)), len(find(tx, Feedback))]
    finally:
        db.close()


def test_a_session_with_every_tool(any_house: House) -> None:
    """Handshake, list, recall, get, code, propose and feedback, with garbage in between; then the pipe is closed."""
    project = Path(any_house.demo())
    any_house.client.sync(cwd=str(project))
    until("the code", lambda: any_house.client.search(query="Outbox", cwd=str(project), kinds=["symbol"]).hits)
    receipt = any_house.client.why(question="why did we move off Redis?", cwd=str(project)).reasons[0].receipts[0]
    agent = Agent(any_house, project, CLAUDE_CODE_SESSION_ID="native")
    try:
        assert agent.open()["serverInfo"]["name"] == "flywheel"
        assert len(agent.ask("tools/list")["tools"]) == 6
        agent.send(b"garbage\n\n[]\n")
        told = agent.call("recall", question="why did we move off Redis?", kinds=["entry"])
        id = re.search(r"\[fw:(\w{6})\] \(decision, unconfirmed", told)
        assert id is not None, told
        agent.send(b'{"jsonrpc":"2.0"\n\xff\xfe\n')
        assert "“" in agent.call("get", id=id[1], level="receipts")
        assert re.search(r"src/postroom/outbox\.py:\d+ class Outbox", agent.call("code", query="Outbox"))
        filed = agent.call("propose", statement="Mails wait in PostgreSQL, never in Redis.", quote=receipt.quote)
        assert "Cited: user" in filed, filed
        new = re.search(r"\[fw:(\w{6})\]", filed)
        assert new is not None
        assert "word for word" in agent.call("propose", statement="Mails are free.", quote="what nobody ever said here")
        assert "Not done" in agent.call("confirm", id=new[1], quote="Yes, that is so.")  # nobody said that here
        assert "Noted: wrong" in agent.call("feedback", id=new[1], verdict="wrong", note="as a test")
        assert agent.call("feedback", id="nonsense", verdict="wrong").startswith("ERROR")
        assert "unconfirmed" in agent.call("get", id=new[1], level="title")
    finally:
        assert agent.close() == (0, b"")
    shown = any_house.client.show(id=new[1])
    assert shown.facts["status"] == "candidate" and "wrong (claude" in shown.facts["feedback"]


@pytest.fixture
def quiet(home: Path) -> Iterator[House]:
    """A house in which no daemon runs yet; whatever one a server starts is stopped."""
    house = make_house(home)
    yield house
    if pid := daemon_pid(house.home / "data"):
        assert stop_process(pid, 30)


def test_the_server_outlives_the_daemon(quiet: House) -> None:
    """It starts one where none runs, survives that one's kill -9, and goes on with the next one."""
    project = quiet.home / "user"
    agent = Agent(quiet, project)
    try:
        agent.open()
        assert not (quiet.home / "data").exists()  # nothing is started before something is asked
        assert "Nothing found" in agent.call("recall", question="anything at all")
        first = daemon_pid(quiet.home / "data")
        assert first is not None
        subprocess.run(["kill", "-9", str(first)], check=True)
        until("the daemon's end", lambda: daemon_pid(quiet.home / "data") is None)
        assert "Nothing found" in agent.call("recall", question="anything at all")
        assert daemon_pid(quiet.home / "data") not in (None, first)
    finally:
        assert agent.close() == (0, b"")


def test_a_daemon_that_a_person_stopped_stays_stopped(quiet: House) -> None:
    """As for hooks, until the next ``flywheel up``: the agent is told, and the server goes on."""
    (quiet.home / "data" / "hook").mkdir(parents=True, mode=0o700)
    assert quiet.command("down").returncode == 0
    agent = Agent(quiet, quiet.home)
    try:
        agent.open()
        for _ in range(2):
            told = agent.call("recall", question="anything at all")
            assert told.startswith("ERROR") and "flywheel down" in told and "flywheel up" in told
        assert agent.ask("ping") == {}
        assert daemon_pid(quiet.home / "data") is None
    finally:
        assert agent.close() == (0, b"")


@pytest.mark.parametrize("settings", ["[search]\nlimit = 'many'\n", "[[["], ids=["wrong", "no TOML"])
def test_settings_that_cannot_be_read_are_told(quiet: House, settings: str) -> None:
    """File, line and remedy; once they are mended the same server answers."""
    file = quiet.home / "flywheel.toml"
    good = file.read_text()
    file.write_text(settings)
    agent = Agent(quiet, quiet.home)
    try:
        agent.open()
        assert "flywheel.toml" in agent.call("recall", question="anything at all")
        file.write_text(good)
        assert "Nothing found" in agent.call("recall", question="anything at all")
    finally:
        assert agent.close() == (0, b"")


def test_a_deleted_folder_is_no_crash(quiet: House) -> None:
    """The session's folder went away after the start."""
    folder = quiet.home / "gone"
    folder.mkdir()
    agent = Agent(quiet, folder)
    try:
        agent.open()
        shutil.rmtree(folder)
        assert "flywheel-briefing" in agent.call("recall", question="anything at all")
        assert agent.ask("ping") == {}
    finally:
        assert agent.close() == (0, b"")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("loaded", [False, True])
def test_signals_end_it_in_silence(house: House, number: signal.Signals, loaded: bool) -> None:
    """Before and after the SDK has the stream: no traceback, no waiting."""
    agent = Agent(house, house.home)
    agent.open()
    if loaded:
        agent.call("recall", question="anything at all")
    agent.process.send_signal(number)
    assert agent.close() == (-number, b"")


def test_the_variables_of_an_agent_do_not_reach_the_daemon(quiet: House) -> None:
    """Tokens and keys that the agent handed to its server end there."""
    agent = Agent(quiet, quiet.home, CLAUDE_CODE_MESSAGING_TOKEN="secret", ANTHROPIC_API_KEY="secret", CLAUDECODE="1")
    try:
        agent.open()
        agent.call("recall", question="anything at all")
        pid = daemon_pid(quiet.home / "data")
        given = Path(f"/proc/{pid}/environ").read_bytes()
        assert b"secret" not in given and b"CLAUDECODE" not in given and b"FLYWHEEL_HOME" in given
    finally:
        assert agent.close() == (0, b"")


def test_two_agents_at_once(house: House) -> None:
    """Each with its own server; both are served by one daemon."""
    agents = [Agent(house, house.home) for _ in range(2)]
    try:
        for agent in agents:
            agent.open()
        frames: Mapping[str, Any] = {"name": "recall", "arguments": {"question": "anything"}}
        for agent in agents:
            assert agent.ask("tools/call", **frames)["isError"] is False
    finally:
        assert [agent.close() for agent in agents] == [(0, b"")] * 2
    assert not any(rows(house))
