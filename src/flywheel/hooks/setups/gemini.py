"""Gemini CLI: an extension, whose hooks run whether or not a folder is trusted; in a repository, its settings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from flywheel import __version__
from flywheel.hooks import gemini
from flywheel.hooks.edits import Edit, Groups, Member, Whole
from flywheel.hooks.setups.common import (
    NAME,
    SHARED_SKILLS,
    Agent,
    Here,
    Options,
    Scope,
    commands,
    grouped,
    pretty,
    server,
    skill,
)


def folder(here: Here) -> Path:
    """``$GEMINI_CLI_HOME/.gemini`` or ``~/.gemini``; a repository's ``.gemini``."""
    if here.project:
        return here.project / ".gemini"
    return here.folder("GEMINI_CLI_HOME", ".") / ".gemini"


def extension(here: Here) -> Path:
    """Our extension's folder."""
    return folder(here) / "extensions" / NAME


def hooks_file(here: Here) -> Path:
    """The file with the hooks."""
    return gemini.settings_file(folder(here)) if here.project else extension(here) / "hooks" / "hooks.json"


def servers(here: Here) -> Path:
    """The file that names our server."""
    return gemini.settings_file(folder(here)) if here.project else extension(here) / "gemini-extension.json"


def _edits(here: Here, options: Options) -> Sequence[Edit]:
    lines = commands(here, gemini.AGENT, gemini.HOOKS)
    edits: list[Edit] = []
    if here.project:
        edits.append(Groups(path=hooks_file(here), hooks=gemini.HOOKS, commands=lines))
        if options.mcp:
            edits.append(Member(path=servers(here), keys=("mcpServers", NAME), value=server(here)))
    else:
        manifest: dict[str, object] = {"name": NAME, "version": __version__}
        if options.mcp:
            manifest["mcpServers"] = {NAME: server(here)}
        edits.append(Whole(path=servers(here), data=pretty(manifest)))
        edits.append(Whole(path=hooks_file(here), data=pretty({"hooks": grouped(gemini.HOOKS, lines)})))
    if options.skill:
        edits.append(skill(here, SHARED_SKILLS))
    return edits


SETUP: Final = Agent(
    name=gemini.AGENT,
    title="Gemini CLI",
    programs=("gemini",),
    folders=lambda here: [here.folder("GEMINI_CLI_HOME", ".") / ".gemini"],
    edits=_edits,
    hooks_file=hooks_file,
    server_file=servers,
    hooks=gemini.HOOKS,
    named=lambda here: [folder(here)] if here.env.get("GEMINI_CLI_HOME") else [],
    start="SessionStart",
    standing_file="GEMINI.md",
    after={
        Scope.USER: "The next session starts with the briefing; the MCP tools work in folders that Gemini trusts.",
        Scope.PROJECT: f"Commit .gemini/settings.json and .agents/skills/{NAME}. Both work in trusted folders only.",
    },
)
