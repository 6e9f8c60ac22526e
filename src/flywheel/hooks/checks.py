"""What is named in an agent's files, and whether it is there: hook commands, the hook client, the MCP server."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from flywheel.errors import BadInput, FlywheelError
from flywheel.hooks import disk
from flywheel.hooks.client_copy import Setup, client_source
from flywheel.hooks.flat import our_command
from flywheel.hooks.jsontext import parse, without_comments
from flywheel.hooks.members import is_ours
from flywheel.hooks.setups.common import NAME
from flywheel.hooks.tables import SERVER, table_of
from flywheel.hooks.wanted import SCRIPT, Wanted

COMPUTED: Final = ["python3", "-I", "-S", f"$HOME/.local/share/flywheel/hook/{SCRIPT}"]
"""The command of a plugin that finds it out where it runs."""

_COMMAND: Final = re.compile(r"^const COMMAND = (\[.*\])$", re.MULTILINE)


def problems(
    agent: str,
    settings: Path,
    hooks: Sequence[Wanted],
    setup: Setup,
    env: Mapping[str, str] = os.environ,
    again: str = "",
) -> Sequence[str]:
    """What keeps the hooks of one file from working, each with its remedy; () when none of ours are in it."""
    again = again or f"run `flywheel install {agent}` again"
    try:
        data = disk.read(settings)
        found = commands_in(data.decode("utf-8-sig")) if data else {}
    except (FlywheelError, UnicodeDecodeError) as error:
        return [f"{settings} cannot be read: {error}"]
    told: list[str] = []
    for command in dict.fromkeys(command for commands in found.values() for command in commands):
        told += client_problems(command, again, env)
    missing = [want.event for want in hooks if want.event not in found]
    if found and missing:
        told.append(f"hooks are missing for {', '.join(missing)}; {again}")
    return list(dict.fromkeys(told))


def commands_in(text: str) -> Mapping[str, Sequence[str]]:
    """Event → the commands of ours that a settings or hooks file runs, in groups or not. Raises BadInput."""
    if not text.strip():
        return {}
    root = parse(text).value
    hooks = root.get("hooks") if isinstance(root, dict) else None
    found: dict[str, list[str]] = {}
    for event, entries in hooks.items() if isinstance(hooks, dict) else ():
        for entry in entries if isinstance(entries, list) else ():
            inner = entry.get("hooks") if isinstance(entry, dict) else None
            for handler in inner if isinstance(inner, list) else [entry]:
                if command := our_command(handler):
                    found.setdefault(event, []).append(command)
    return found


def plugin_command(text: str) -> Sequence[str] | None:
    """The hook client's command in an opencode plugin of ours; None when it is none."""
    found = _COMMAND.search(text)
    try:
        words = json.loads(found.group(1)) if found else None
    except ValueError:
        return COMPUTED
    good = isinstance(words, list) and words and all(isinstance(word, str) for word in words)
    return words if good else None


def _parsed(text: str) -> object:
    """A JSON file's value, with comments where it has some. Raises BadInput."""
    try:
        return parse(text).value
    except BadInput:
        return parse(without_comments(text)[1]).value


def server_in(path: Path) -> Sequence[str] | None:
    """The command of our MCP server in an agent's file; None when there is none. Raises BadInput."""
    data = disk.read(path)
    if not data or not data.strip():
        return None
    text = data.decode("utf-8-sig", "replace")
    if path.suffix == ".toml":
        found: object = table_of(text, SERVER)
    else:
        root = _parsed(text)
        lists = [root.get(name) for name in ("mcpServers", "mcp")] if isinstance(root, dict) else []
        found = next((one[NAME] for one in lists if isinstance(one, dict) and NAME in one), None)
    if not isinstance(found, Mapping) or not is_ours(dict(found)):
        return None
    command, words = found.get("command"), found.get("args") or []
    return [str(word) for word in (command if isinstance(command, list) else [command, *words])]


def client_problems(command: str, again: str, env: Mapping[str, str]) -> list[str]:
    """What is wrong with the interpreter and the script that a command names."""
    paths = _paths_of(command, env)
    if paths is None:
        return [f"the hook command {command!r} has an unknown form; {again}"]
    python, script = paths
    told = []
    if not os.access(python, os.X_OK):
        told.append(f"the hooks' interpreter {python} is missing; {again}")
    if not script.is_file():
        told.append(f"the hook client {script} is missing; {again}")
    elif script.read_bytes() != client_source():
        told.append(f"the hook client {script} is of another version; {again}")
    elif not (script.parent / "hook.conf").is_file():
        told.append(f"{script.parent / 'hook.conf'} is missing; {again}")
    return told


def _paths_of(command: str, env: Mapping[str, str]) -> tuple[Path, Path] | None:
    """Interpreter and script, where a repository's command names the usual places."""
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    if len(words) < 4 or words[1:3] != ["-I", "-S"]:
        return None
    program = words[0] if "/" in words[0] else shutil.which(words[0], path=env.get("PATH")) or words[0]
    base = env.get("XDG_DATA_HOME") or f"{env.get('HOME', '~')}/.local/share"
    return Path(program), Path(f"{base}/flywheel/hook/{SCRIPT}" if words[3].startswith("$") else words[3])


def server_problems(words: Sequence[str], again: str, env: Mapping[str, str]) -> list[str]:
    """Whether the server's program is there."""
    if shutil.which(words[0], path=env.get("PATH")):
        return []
    return [f"the program of the MCP server, {words[0]}, is missing; {again}"]
