"""`flywheel install` and `flywheel agents` against a running daemon: the words, the files, and the way back."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console
from tests.e2e.conftest import House, make_house

from flywheel.api import AgentState, Installed, Retention
from flywheel.cli.agents import COLUMNS, WIDEST, _notes, _print_table, _row
from flywheel.model import Micros


@pytest.fixture
def house(home: Path) -> House:
    """A user with a repository, the folders of some agents and no programs; the daemon starts when it is asked for."""
    made = make_house(home)
    user = home / "user"
    for name in (".claude", ".codex", ".cursor", ".aider"):
        (user / name).mkdir()
    subprocess.run(["git", "init", "-q", str(home / "shop")], check=True)
    made.env["PATH"] = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    return made


@pytest.fixture
def home() -> Iterator[Path]:
    """Short enough for a socket."""
    folder = Path(tempfile.mkdtemp(prefix="fw", dir="/tmp"))
    yield folder
    shutil.rmtree(folder)


def say(house: House, *words: str, code: int = 0, cwd: str = "shop") -> str:
    """Run the command in a folder below home; what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "flywheel.cli", *words],
        env=house.env,
        cwd=house.home / cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == code, (done.stdout.decode(), done.stderr.decode())
    return done.stdout.decode() + done.stderr.decode()


def files(folder: Path) -> dict[str, bytes]:
    """Every file below it, but for git's."""
    found = (path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def test_all_that_are_found(house: House) -> None:
    """The plan first, then every agent that was ever used here; a line each; twice is once; and back to the byte."""
    user = house.home / "user"
    (user / ".codex" / "config.toml").write_text('model = "x"\n')
    before = files(user)
    plan = say(house, "install", "--dry-run")
    assert files(user) == before and not (house.home / "data" / "hook").exists()
    assert "Claude Code" in plan and "config.toml would change" in plan and "+[mcp_servers.flywheel]" in plan
    assert "Gemini" not in plan and "aider is set up per repository" in plan
    assert "nobody can be asked" in say(house, "install", code=2) and files(user) == before
    house.start()
    try:
        told = say(house, "install", "--yes")
        assert told.count("Verified") == 3 and "/hooks" in told, told  # Codex could not be asked for its hashes
        installed = files(user)
        assert say(house, "install", "--yes").count("already is as wanted") == 9
        assert files(user) == installed
        listed = say(house, "agents")
        assert "not trusted" in listed and "Not found: Gemini CLI" in listed
        assert all(len(line) <= 100 for line in listed.partition("Not found")[0].splitlines())
        rows = {one["name"]: one for one in json.loads(say(house, "agents", "--json"))["agents"]}
        assert rows["claude"]["installed"][0] == {
            "scope": "user", "path": str(user / ".claude" / "settings.json"), "hooks": "installed", "mcp": True,
        }  # fmt: skip
        assert "trust" in say(house, "status")
        say(house, "install", "--uninstall", "--yes")
        assert files(user) == before
        assert "Nothing is installed" in say(house, "install", "--uninstall")
    finally:
        house.stop()


def test_into_a_repository(house: House) -> None:
    """Of several agents, with always-on files that are filled in at once; outside of one it says what is missing."""
    shop = house.home / "shop"
    (shop / "AGENTS.md").write_text("# Rules\n")
    before = files(shop)
    assert "no repository here" in say(house, "install", "claude", "--project", "--yes", code=2, cwd=".")
    house.start()
    try:
        told = say(house, "install", "aider", "--yes")
        assert "CONVENTIONS.md" in told and "Flywheel keeps its block" in told
        told = say(house, "install", "codex", "copilot", "--project", "--always-on", "--yes", code=2)
        assert "2 agents were not set up" in told  # FLYWHEEL_HOME is not where a repository's commands look
        assert told.count("but FLYWHEEL_HOME is set") == 2 and "the daemon is down" not in told
        assert (shop / "AGENTS.md").read_text().startswith("# Rules\n\n<!-- flywheel:begin")
        assert json.loads((shop / ".github" / "hooks" / "flywheel.json").read_bytes())["version"] == 1
        for agent in ("codex", "copilot", "aider"):
            say(house, "install", agent, "--project", "--uninstall", "--yes")
        assert files(shop) == before
    finally:
        house.stop()


def test_one_that_cannot_be_set_up_stops_no_other(house: House) -> None:
    """Its error is told, the others are installed, and the exit code says that something is left to do."""
    user = house.home / "user"
    (user / ".cursor" / "hooks.json").write_text("nope")
    house.start()
    try:
        told = say(house, "install", "claude", "cursor", "--yes", code=2)
        assert "hooks.json: not valid JSON" in told and "Claude Code: Verified" in told
        assert (user / ".cursor" / "hooks.json").read_text() == "nope"
        assert say(house, "install", "cursor", "--yes", code=2).count("not valid JSON") == 1
    finally:
        house.stop()


def test_the_plugin_way(house: House) -> None:
    """``--plugin`` before or behind the agent's name; for another agent it is refused."""
    house.start()
    try:
        assert "Verified" in say(house, "install", "--plugin", "claude", "--yes")
        folder = house.home / "user" / ".claude" / "skills" / "flywheel"
        assert (folder / ".claude-plugin" / "plugin.json").is_file()
        assert "yes (plugin)" in say(house, "agents")
        assert "Claude Code's" in say(house, "install", "codex", "--plugin", "--yes", code=2)
        say(house, "install", "claude", "--uninstall", "--yes")
        assert not folder.exists()
    finally:
        house.stop()


def test_without_server_and_skill(house: House) -> None:
    """``--no-mcp --no-skill`` leaves the hooks alone; an unknown name is a mistake with the known ones."""
    house.start()
    try:
        say(house, "install", "claude", "--no-mcp", "--no-skill", "--yes")
        assert set(files(house.home / "user")) == {".claude/settings.json"}
    finally:
        house.stop()
    assert "opencode" in say(house, "install", "pinball", code=2)


def test_a_test_event_that_fails_is_told(house: House) -> None:
    """Installed, but no daemon can start: the error says which."""
    (house.home / "flywheel.toml").write_text("[store]\nurl = 'mysql://x'\n")
    assert "mysql" in say(house, "install", "claude", "--yes", code=2)


def state(**more: object) -> AgentState:
    """An agent with more of everything than anybody has."""
    given: dict[str, object] = {
        "name": "claude", "title": "Claude Code", "found": True, "program": "/p", "version": "2.1.332-beta.1",
        "roots": ["/r"], "files": {"seen": 1234567, "parsed": 1234567, "failed": 3}, "messages": 123456789,
        "last": Micros(1_790_000_000_000_000),
        "installed": [
            Installed(scope="user", path="/s", hooks="not trusted", mcp=True),
            Installed(scope="project", path="/s", hooks="broken", mcp=False),
        ],
        "retention": Retention(days=30.0, note="x", soon=1234, next=Micros(1_790_000_000_000_000)),
    }  # fmt: skip
    return AgentState(**(given | more))  # type: ignore[arg-type]


@pytest.mark.parametrize("terminal", [True, False])
def test_the_table_fits_100_columns(terminal: bool) -> None:
    """However much there is, in a terminal and piped; every column is there."""
    paper = Console(width=100, force_terminal=terminal, color_system=None, soft_wrap=True, highlight=False)
    with paper.capture() as caught:
        _print_table(paper, [state(), state(title="Gemini CLI", installed=[])])
    lines = caught.get().splitlines()
    assert len(lines) == 3 and max(map(len, lines)) <= 100
    assert all(name in lines[0] for name in COLUMNS) and sum(WIDEST) + 2 * (len(WIDEST) - 1) == 100


def test_nothing_is_noted_of_an_agent_that_is_not_there() -> None:
    """A checkout, where aider would write, is no folder of its transcripts as long as it has written none."""
    assert _notes(state(roots=["/w/shop"]))[0] == "transcripts in /w/shop"
    assert _notes(state(found=False, roots=["/w/shop"])) == []


def test_what_the_cells_say() -> None:
    """Nothing installed is a dash; what is never deleted is said so."""
    row = _row(state(installed=[], last=None, retention=Retention(note="never (compressed after 7 days)")))
    assert row[3:] == ("–", "–", "–", "never")
