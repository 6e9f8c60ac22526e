"""What our installer writes, as the real clients read it: listed once, trusted, connected, and valid as a plugin."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from tests.clients.conftest import Desk
from tests.clients.programs import PROGRAMS
from tests.hooks.setting_up import make_here

from flywheel.hooks import codex
from flywheel.hooks.edits import Groups
from flywheel.hooks.setups.common import commands
from flywheel.hooks.trust import ask_codex, handlers_in

MakeDesk = Callable[[Sequence[str]], Desk]
NAMES = ("claude", "codex", "gemini", "opencode")


@pytest.fixture(scope="module")
def desk(desk_for: MakeDesk) -> Desk:
    """Somebody with every client, for all of which everything was installed."""
    made = desk_for(NAMES)
    for name in NAMES:
        made.install(PROGRAMS[name])
    return made


def run(desk: Desk, name: str, *words: str) -> str:
    """What a client's own command prints."""
    program = PROGRAMS[name]
    env = {key: os.environ[key] for key in ("PATH", "LANG") if key in os.environ}
    env |= {"HOME": str(desk.user), "TERM": "dumb", **program.env(desk.model.url)}
    env["GEMINI_CLI_TRUST_WORKSPACE"] = "true"
    done = subprocess.run(
        [str(program.path), *words], cwd=desk.repository, env=env, stdin=subprocess.DEVNULL, capture_output=True,
        timeout=180, check=False,
    )  # fmt: skip
    said = done.stdout.decode("utf-8", "replace") + done.stderr.decode("utf-8", "replace")
    assert done.returncode == 0, said
    return said


@pytest.mark.parametrize("name", NAMES)
def test_the_server_is_listed(desk: Desk, name: str) -> None:
    """Each client's own list of MCP servers names ours; those that try it, reach it."""
    said = run(desk, name, "mcp", "list")
    assert "flywheel.cli mcp" in said and "✗" not in said
    assert name == "codex" or "onnected" in said, said


def test_the_plugin_is_valid_and_fires_once(desk: Desk) -> None:
    """Claude Code validates the plugin folder; beside it nothing of ours is left in the settings."""
    desk.install(PROGRAMS["claude"], "--plugin")
    try:
        folder = desk.user / ".claude" / "skills" / "flywheel"
        said = run(desk, "claude", "plugin", "validate", str(folder))
        assert "Validation passed" in said and "SessionStart" in said, said
        listed = run(desk, "claude", "mcp", "list")
        assert "plugin:flywheel:flywheel" in listed and listed.count("flywheel.cli mcp") == 1, listed
        assert desk.house.command("install", "copilot", "--yes").returncode == 0  # which reads the same folder
        desk.say(PROGRAMS["claude"], "Say something.")
        body = json.dumps(desk.model.asked[-1])
        assert body.count("flywheel: Project memory with receipts") == 1, "the skill is listed once"
    finally:
        desk.install(PROGRAMS["claude"])
        assert desk.house.command("install", "copilot", "--uninstall", "--yes").returncode == 0


def test_gemini_loads_the_extension_and_the_skill_once(desk: Desk) -> None:
    """Enabled for the user, with the server; one skill of our name and no conflict over it."""
    assert "Enabled (User): true" in run(desk, "gemini", "extensions", "list")
    said = run(desk, "gemini", "skills", "list")
    assert said.count("flywheel [Enabled]") == 1 and "conflict" not in said, said


def test_opencode_lists_the_skill_once(desk: Desk) -> None:
    """It reads both folders that hold our skill, and keeps one of that name."""
    for folder in (".claude", ".agents"):
        assert (desk.user / folder / "skills" / "flywheel" / "SKILL.md").is_file()
    listed = run(desk, "opencode", "debug", "skill")
    assert listed.count('"name": "flywheel"') == 1


def test_codex_computes_the_hashes_that_we_do(desk: Desk) -> None:
    """Asked about our hooks, it gives what `handlers_in` says: only so can trust be told without running it."""
    here = replace(make_here(desk.user / "x"), home=desk.user)
    hooks = Groups(
        path=desk.user / "hooks.json", hooks=codex.HOOKS, commands=commands(here, codex.AGENT, codex.HOOKS)
    ).put(b'{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}')
    found = handlers_in(hooks)
    assert len(found) == len(codex.HOOKS) and "stop:1:0" in found
    assert ask_codex(PROGRAMS["codex"].path, hooks, {"PATH": os.environ["PATH"], "HOME": str(desk.user)}) == found


def test_the_agents_verb_agrees(desk: Desk) -> None:
    """All four are found with their versions, hooks installed and trusted, and the server."""
    desk.house.env["PATH"] = ":".join([*(str(PROGRAMS[name].path.parent) for name in NAMES), os.environ["PATH"]])
    listed = {one["name"]: one for one in json.loads(desk.house.command("agents", "--json").stdout)["agents"]}
    for name in NAMES:
        (there,) = [one for one in listed[name]["installed"] if one["scope"] == "user"]
        assert (there["hooks"], there["mcp"]) == ("installed", True), listed[name]
        assert not listed[name]["problems"]
