"""Whether what is installed works: hooks, trust, the MCP server; each problem with its remedy."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from flywheel.errors import BadInput, FlywheelError
from flywheel.hooks import disk
from flywheel.hooks.checks import (
    client_problems,
    commands_in,
    plugin_command,
    problems,
    server_in,
    server_problems,
)
from flywheel.hooks.ledger import Ledger
from flywheel.hooks.setups import SETUPS, Here, Options, Scope, claude
from flywheel.hooks.trust import untrusted
from flywheel.text.blocks import Damaged, find_block

NOT_INSTALLED, INSTALLED, NOT_TRUSTED, BROKEN = "not installed", "installed", "not trusted", "broken"


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What is installed for one agent in one scope."""

    scope: str  # "user", "project", "plugin"
    path: str  # the file with the hooks; of an agent without any, its always-on file
    hooks: str  # one of the four words above
    mcp: bool = False
    problems: Sequence[str] = ()


def healths(agent: str, here: Here) -> Sequence[Health]:
    """What is installed for an agent: for the user, as a plugin, in the current repository. Reads only."""
    places: list[tuple[str, Here]] = [(Scope.USER, replace(here, scope=Scope.USER))]
    if here.root is not None:
        places.append((Scope.PROJECT, replace(here, scope=Scope.PROJECT)))
    found = [_health(agent, scope, at) for scope, at in places if Scope(scope) in SETUPS[agent].scopes]
    if agent == "claude" and (plugin := _plugin(here)):
        found = [one for one in found if one.scope != Scope.USER or one.hooks != NOT_INSTALLED] + [plugin]
    return found


def all_problems(here: Here) -> Sequence[str]:
    """What keeps anything that was installed from working, wherever it was installed."""
    told = [problem for agent in SETUPS for one in healths(agent, replace(here, root=None)) for problem in one.problems]
    ledger = Ledger(here.setup.script.parent)
    for key in ledger.installations():
        agent, scope, root = (*key.split(":", 2), "")[:3]
        if scope == Scope.PROJECT and agent in SETUPS and os.path.isdir(root):
            at = replace(here, scope=Scope.PROJECT, root=Path(root))
            told += [f"{root}: {problem}" for problem in _health(agent, scope, at).problems]
    return list(dict.fromkeys([*told, *_damaged(ledger)]))


def _health(agent: str, scope: str, here: Here) -> Health:
    setup = SETUPS[agent]
    if setup.always_on:
        return _standing_health(agent, scope, here)
    path = setup.hooks_file(here)
    again = f"run `flywheel install {agent}{' --project' if scope == Scope.PROJECT else ''}` again"
    try:
        data = disk.read(path)
        there, told = _hooks(agent, path, (data or b"").decode("utf-8-sig", "replace"), here, again)
        state = (BROKEN if told else INSTALLED) if there else NOT_INSTALLED
        if state == INSTALLED and agent == "codex" and data and (missing := _untrusted(here, path, data)):
            told.append(f"Codex does not trust {len(missing)} of the hooks in {path}: {again}, or open /hooks in Codex")
            state = NOT_TRUSTED
        words = server_in(setup.server_file(here))
        told += server_problems(words, again, here.env) if words else []
    except (FlywheelError, ValueError) as error:
        return Health(scope=scope, path=str(path), hooks=BROKEN, problems=[f"{path} cannot be read: {error}"])
    return Health(scope=scope, path=str(path), hooks=state, mcp=words is not None, problems=told)


def _hooks(agent: str, path: Path, text: str, here: Here, again: str) -> tuple[bool, list[str]]:
    """Whether hooks of ours are there, and what is wrong with them."""
    if path.suffix in (".js", ".ts"):
        words = plugin_command(text)
        return words is not None, client_problems(shlex.join(words), again, here.env) if words else []
    told = problems(agent, path, SETUPS[agent].hooks, here.setup, here.env, again)
    return bool(commands_in(text)), list(told)


def _plugin(here: Here) -> Health | None:
    """Claude Code's plugin, where it is installed in its usual place."""
    user = replace(here, scope=Scope.USER)
    path = claude.plugin_folder(user) / "hooks" / "hooks.json"
    if not path.is_file():
        return None
    again = "run `flywheel install claude --plugin` again"
    told = list(problems("claude", path, claude.SETUP.hooks, here.setup, here.env, again))
    mcp = (words := server_in(path.parent.parent / ".mcp.json")) is not None
    told += server_problems(words, again, here.env) if words else []
    return Health(scope="plugin", path=str(path), hooks=BROKEN if told else INSTALLED, mcp=mcp, problems=told)


def _standing_health(agent: str, scope: str, here: Here) -> Health:
    """An agent without hooks has its always-on file."""
    root = here.root or here.home
    edits = SETUPS[agent].edits(replace(here, root=root), Options())
    path = SETUPS[agent].standing(root).path
    state = NOT_INSTALLED
    try:
        inside = all((data := disk.read(edit.path)) is not None and edit.put(data) == data for edit in edits)
        text = (disk.read(path) or b"").decode("utf-8-sig", "replace")
        state = INSTALLED if inside and find_block(text) else NOT_INSTALLED
    except (FlywheelError, Damaged):
        state = BROKEN
    return Health(scope=scope, path=str(path), hooks=state)


def _untrusted(here: Here, hooks_file: Path, data: bytes) -> Sequence[str]:
    """Handlers without trust; a hash that Codex itself has told is as good as the one that we compute."""
    config = here.folder("CODEX_HOME", ".codex") / "config.toml"
    told = {
        hash
        for entry in Ledger(here.setup.script.parent).files.values()
        for edits in entry.users.values()
        for one in edits
        for hash in one.get("hashes", ())
    }
    return untrusted(hooks_file, data, (disk.read(config) or b"").decode("utf-8-sig", "replace"), told)


def _damaged(ledger: Ledger) -> list[str]:
    """Always-on files whose markers are no pair any more."""
    told = []
    for path, entry in ledger.files.items():
        if not any(one.get("kind") == "block" for edits in entry.users.values() for one in edits):
            continue
        try:
            find_block((disk.read(Path(path)) or b"").decode("utf-8-sig", "replace"))
        except Damaged as error:
            told.append(f"{path} is not kept up to date: {error}; mend them or delete both")
        except BadInput as error:
            told.append(error.message)
    return told
