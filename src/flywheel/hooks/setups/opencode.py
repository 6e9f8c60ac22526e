"""opencode: a plugin of ours, our server in its configuration, and a skill."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from flywheel.hooks import opencode
from flywheel.hooks.edits import Edit, Member, Whole
from flywheel.hooks.programs import version_of
from flywheel.hooks.setups.common import NAME, SHARED_SKILLS, Agent, Here, Options, Scope, skill, words_of_server

EMPTY: Final = '{\n  "$schema": "https://opencode.ai/config.json"\n}\n'


NEUTRAL: Final = (
    'const COMMAND = ["python3", "-I", "-S", '
    "`${process.env.XDG_DATA_HOME || `${process.env.HOME}/.local/share`}/flywheel/hook/flywheel-hook.py`]"
)
"""The hook client's command as a repository's plugin finds it."""


def folder(here: Here) -> Path:
    """``$XDG_CONFIG_HOME/opencode`` or ``~/.config/opencode``; a repository's ``.opencode``."""
    return here.project / ".opencode" if here.project else here.folder("XDG_CONFIG_HOME", ".config") / "opencode"


def config_file(here: Here) -> Path:
    """The configuration that is there, or the one to make."""
    base = here.project or folder(here)
    return next(
        (base / name for name in ("opencode.jsonc", "opencode.json") if os.path.exists(base / name)),
        base / "opencode.json",
    )


def major(here: Here) -> str:
    """The generation of plugins that the installed opencode runs."""
    program = here.which("opencode")
    version = version_of(program) if program else ""
    return "2" if version.partition(".")[0] not in ("", "0", "1") else "1"


def plugin_files(here: Here, generation: str) -> Sequence[Whole]:
    """The plugin of one generation."""
    base = folder(here) / "plugins"
    return [Whole(path=base / name, data=_plugin(here, asset)) for name, asset in opencode.ASSETS[generation].items()]


def plugin_file(here: Here) -> Path:
    """The plugin's code."""
    return next(one.path for one in plugin_files(here, major(here)) if one.path.suffix in (".js", ".ts"))


def _plugin(here: Here, asset: str) -> bytes:
    if not here.project:
        return opencode.plugin(asset, [str(here.setup.python), "-I", "-S", str(here.setup.script)])
    return opencode.plugin(asset, []).replace(f"\n{opencode.MARKER}\n".encode(), f"\n{NEUTRAL}\n".encode())


def _edits(here: Here, options: Options) -> Sequence[Edit]:
    edits: list[Edit] = [*plugin_files(here, major(here))]
    if options.mcp:
        env = dict(here.setup.env) if here.scope is Scope.USER else {}
        value = {"type": "local", "command": list(words_of_server(here)), "enabled": True}
        value |= {"environment": env} if env else {}
        keys = ("mcp", NAME)
        edits.append(Member(path=config_file(here), keys=keys, value=value, comments=True, empty=EMPTY))
    if options.skill:
        edits.append(skill(here, SHARED_SKILLS))
    return edits


def _others(here: Here, options: Options) -> Sequence[Edit]:
    """The other generation's plugin."""
    return plugin_files(here, "1" if major(here) == "2" else "2")


SETUP: Final = Agent(
    name=opencode.AGENT,
    title="opencode",
    programs=("opencode",),
    folders=lambda here: [folder(here), here.folder("XDG_DATA_HOME", ".local/share") / "opencode"],
    edits=_edits,
    hooks_file=plugin_file,
    server_file=config_file,
    hooks=opencode.HOOKS,
    others=_others,
    named=lambda here: [folder(here)] if here.env.get("XDG_CONFIG_HOME") else [],
    start="SessionStart",
    after={
        Scope.USER: "The next session starts with the briefing.",
        Scope.PROJECT: f"Commit .opencode/plugins/, opencode.json and .agents/skills/{NAME}.",
    },
)
