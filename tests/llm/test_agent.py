"""An agent's command line as the model: a small program stands where `claude` does, and tells what it was given."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from tests.llm.conftest import GOOD, NOON, SWIFT, ledger, question

from flywheel.config import parse_config
from flywheel.errors import BadInput, Waiting
from flywheel.harvest import discover
from flywheel.hooks import client
from flywheel.llm import GUARD, SPAWNED, ProviderDown, ProviderRefused
from flywheel.llm.seam import Seam
from flywheel.llm.select import open_llm
from flywheel.store import Db
from flywheel.text.redact import Redactor

PROGRAM = """#!{python} -SE
import json, os, sys, time
told = {{"argv": sys.argv[1:], "env": dict(os.environ), "cwd": os.getcwd(), "stdin": sys.stdin.read()}}
path = {told!r}
with open(path, "a") as file:
    file.write(json.dumps(told) + "\\n")
{act}
"""
ANSWERS = (
    "print(json.dumps("
    + repr(
        {
            "type": "result",
            "is_error": False,
            "result": "done",
            "structured_output": dict(GOOD),
            "total_cost_usd": 0.0042,
            "usage": {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 3},
        }
    )
    + "))"
)


class Agent:
    """The program, and what it was told."""

    def __init__(self, folder: Path, db: Db) -> None:
        self.folder, self.db = folder, db
        self.told_file = folder / "told"
        self.program = folder / "bin" / "claude"
        self.program.parent.mkdir()
        self.env = {"PATH": f"{self.program.parent}:/bin:/usr/bin", "HOME": str(folder), "CLAUDECODE": "1"}

    def acts(self, act: str) -> None:
        """What it does from now on."""
        text = PROGRAM.format(python=sys.executable, told=str(self.told_file), act=act)
        self.program.write_text(text)
        self.program.chmod(0o755)

    def seam(self, **more: Any) -> Seam:
        """The model."""
        config = parse_config({"llm": {"provider": "agent", "seconds": 20.0} | more})
        made = open_llm(config, self.env, db=self.db, data=self.folder, redact=Redactor(), now=lambda: NOON)
        assert isinstance(made, Seam)
        made._pace = SWIFT
        return made

    @property
    def told(self) -> list[dict[str, Any]]:
        """Each start of it."""
        return [json.loads(line) for line in self.told_file.read_text().splitlines()]


@pytest.fixture
def agent(tmp_path: Path, sqlite_db: Db) -> Agent:
    """One that answers."""
    made = Agent(tmp_path, sqlite_db)
    made.acts(ANSWERS)
    return made


def test_it_runs_guarded_and_leaves_nothing(agent: Agent) -> None:
    """The guard variable, no hooks, no tools, no servers, no settings, no stored session, a folder of its own."""
    reply = agent.seam().ask(question())
    assert (reply.value, reply.cost, reply.usage.input) == (GOOD, 4200, 10)
    (told,) = agent.told
    argv = told["argv"]
    assert told["env"][GUARD] == "1" and "CLAUDECODE" not in told["env"]
    assert Path(told["cwd"]) == agent.folder / SPAWNED
    assert "--no-session-persistence" in argv and '{"disableAllHooks":true}' in argv and "--strict-mcp-config" in argv
    assert argv[argv.index("--tools") + 1] == "" and argv[argv.index("--setting-sources") + 1] == ""
    assert json.loads(argv[argv.index("--json-schema") + 1])["required"] == ["subject", "sure"]
    assert "We use Postgres now." in told["stdin"] and "We use Postgres now." not in " ".join(argv)
    assert [(row.outcome, row.cost, row.provider) for row in ledger(agent.db)] == [("ok", 4200, "agent")]


def test_it_starts_no_other(agent: Agent) -> None:
    """Inside of an agent that we started, nothing of ours starts another."""
    agent.env[GUARD] = "1"
    with pytest.raises(ProviderRefused, match="starts no other"):
        agent.seam().ask(question())
    assert not agent.told_file.exists()


def test_starts_of_a_day_are_capped(agent: Agent) -> None:
    """Past the cap the work waits until tomorrow."""
    llm = agent.seam(agent_day=2)
    assert [llm.ask(question()).value for _ in range(2)] == [GOOD, GOOD]
    with pytest.raises(Waiting, match=r"started 2 times today, of 2; it goes on at 2026-05-29"):
        llm.ask(question())
    assert len(agent.told) == 2


def test_only_so_many_run_at_once(agent: Agent) -> None:
    """Two callers and one place: the second is put off, and the program was never there twice."""
    agent.acts("time.sleep(0.3)\n" + ANSWERS)
    found: list[object] = []

    def run() -> None:
        try:
            found.append(agent.seam().ask(question()).value)
        except Waiting as error:
            found.append(error.message)

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert GOOD in found and any("1 of the agent run already" in str(one) for one in found)
    assert len(agent.told) == 1


def test_what_hangs_is_killed_with_all_that_it_started(agent: Agent) -> None:
    """At the deadline the program and its children are gone."""
    child = agent.folder / "child"
    write = f"open({str(child)!r}, 'w').write(str(child.pid))"
    agent.acts(f"import subprocess\nchild = subprocess.Popen(['sleep', '30'])\n{write}\ntime.sleep(30)")
    llm = agent.seam(seconds=0.6)
    llm._pace = SWIFT.__class__(tries=1)
    with pytest.raises(ProviderDown, match=r"within 0\.6 s"):
        llm.ask(question())
    state = Path(f"/proc/{int(child.read_text())}/stat")
    end = time.monotonic() + 5
    while state.exists() and state.read_text().rpartition(") ")[2][0] != "Z" and time.monotonic() < end:
        time.sleep(0.01)
    assert time.monotonic() < end


FAILURES = {
    "print('no JSON')": ProviderDown,
    "sys.exit('boom')": ProviderDown,
    "print(json.dumps({'is_error': True, 'result': 'Invalid API key. Please run /login'}))": ProviderRefused,
    "print(json.dumps({'is_error': True, 'result': 'Claude usage limit reached'}))": Waiting,
}


def test_what_it_cannot_do_is_an_error_that_says_so(agent: Agent) -> None:
    """Noise, a crash, no login, a limit; and no program at all."""
    for act, kind in FAILURES.items():
        agent.acts(act)
        with pytest.raises(kind):
            agent.seam().ask(question())
    agent.program.unlink()
    with pytest.raises(ProviderRefused, match=r"llm\.agent_command"):
        agent.seam().ask(question())


def test_transcripts_of_it_are_never_harvested(tmp_path: Path) -> None:
    """Should one be stored after all: neither discovery, nor the watcher, nor a person's import takes it."""
    slug = str(tmp_path / "data" / SPAWNED).replace("/", "-").replace(".", "-").replace("_", "-")
    record = {"type": "user", "sessionId": "s", "message": {"role": "user", "content": "x"}, "uuid": "u", "cwd": "/x"}
    for folder in (slug, "-home-dev-shop"):
        file = tmp_path / ".claude" / "projects" / folder / "11111111-1111-4111-8111-111111111111.jsonl"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps(record) + "\n")
    where = discover.Whereabouts(home=str(tmp_path), env={})
    assert [Path(one.path).parent.name for one in discover.discover(where).found] == ["-home-dev-shop"]
    echo = str(tmp_path / ".claude" / "projects" / slug / "11111111-1111-4111-8111-111111111111.jsonl")
    assert discover.find(echo, where.roots()) is None
    with pytest.raises(BadInput, match="Flywheel itself has started"):
        discover.locate(echo)


def test_the_hook_client_says_nothing_in_such_an_agent(tmp_path: Path) -> None:
    """No answer, no spooled event, no daemon started; exit 0. Without the variable the event is spooled."""
    script = tmp_path / "flywheel-hook.py"
    shutil.copyfile(client.__file__, script)
    spool = tmp_path / "spool"
    (tmp_path / "hook.conf").write_text(f"socket={tmp_path}/none.sock\nspool={spool}\ndeadline_ms=5000\n")
    for guard, spooled in (({GUARD: "1"}, 0), ({}, 1)):
        env = {name: value for name, value in os.environ.items() if name != GUARD} | guard
        command = [sys.executable, "-I", "-S", str(script), "SessionStart"]
        done = subprocess.run(command, input=b"{}", capture_output=True, env=env, check=False)
        assert (done.returncode, done.stdout) == (0, b"")
        assert len(list(spool.iterdir()) if spool.exists() else []) == spooled
