"""GitHub Copilot CLI: a hooks file of our own, our server in its configuration, and the skill where it looks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from flywheel.hooks import copilot
from flywheel.hooks.edits import Edit, Member, Whole
from flywheel.hooks.setups import claude
from flywheel.hooks.setups.common import NAME, Agent, Here, Options, Scope, commands, grouped, pretty, server


def folder(here: Here) -> Path:
    """``$COPILOT_HOME`` or ``~/.copilot``; a repository's ``.github``."""
    return here.project / ".github" if here.project else here.folder("COPILOT_HOME", ".copilot")


def hooks_file(here: Here) -> Path:
    """A hooks file of our own."""
    return copilot.settings_file(folder(here))


def servers(here: Here) -> Path:
    """The file that names our server; a repository's is the one that Claude Code reads."""
    return claude.servers(here) if here.project else folder(here) / "mcp-config.json"


def _edits(here: Here, options: Options) -> Sequence[Edit]:
    lines = commands(here, copilot.AGENT, copilot.HOOKS)
    data = pretty({"version": 1, "hooks": grouped(copilot.HOOKS, lines)})
    edits: list[Edit] = [Whole(path=hooks_file(here), data=data)]
    if options.mcp and here.project:
        edits.append(claude.member(here))
    elif options.mcp:
        value = server(here, type="local") | {"tools": ["*"]}
        edits.append(Member(path=servers(here), keys=("mcpServers", NAME), value=value))
    if options.skill:
        edits.append(claude.skill(here))
    return edits


SETUP: Final = Agent(
    name=copilot.AGENT,
    title="Copilot CLI",
    programs=("copilot",),
    folders=lambda here: [here.folder("COPILOT_HOME", ".copilot")],
    edits=_edits,
    hooks_file=hooks_file,
    server_file=servers,
    hooks=copilot.HOOKS,
    named=lambda here: [folder(here)] if here.env.get("COPILOT_HOME") else [],
    start="sessionStart",
    after={
        Scope.USER: "The next session starts with the briefing.",
        Scope.PROJECT: "Commit .github/hooks/, .mcp.json and .claude/skills/. They work in trusted folders.",
    },
)
