"""Cursor: hooks and our server in its two files, and a skill."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from flywheel.hooks import cursor
from flywheel.hooks.edits import Edit, Flat, Member
from flywheel.hooks.setups.common import NAME, SHARED_SKILLS, Agent, Here, Options, Scope, commands, server, skill

RULE: Final = "---\ndescription: What Flywheel remembers about this project\nalwaysApply: true\n---\n"
"""The front matter of a rules file that is always loaded."""


def folder(here: Here) -> Path:
    """``~/.cursor`` or a repository's ``.cursor``."""
    return (here.project or here.home) / ".cursor"


def hooks_file(here: Here) -> Path:
    """The hooks."""
    return cursor.settings_file(folder(here))


def servers(here: Here) -> Path:
    """The file that names our server."""
    return folder(here) / "mcp.json"


def _edits(here: Here, options: Options) -> Sequence[Edit]:
    lines = commands(here, cursor.AGENT, cursor.HOOKS)
    handlers = {one.event: one.group(lines[one.event]) for one in cursor.HOOKS}
    edits: list[Edit] = [Flat(path=hooks_file(here), handlers=handlers)]
    if options.mcp:
        edits.append(Member(path=servers(here), keys=("mcpServers", NAME), value=server(here)))
    if options.skill:
        edits.append(skill(here, SHARED_SKILLS))
    return edits


SETUP: Final = Agent(
    name=cursor.AGENT,
    title="Cursor",
    programs=("cursor-agent", "cursor"),
    folders=lambda here: [here.home / ".cursor", here.home / ".config" / "Cursor"],
    edits=_edits,
    hooks_file=hooks_file,
    server_file=servers,
    hooks=cursor.HOOKS,
    start="sessionStart",
    standing_file=".cursor/rules/flywheel.mdc",
    standing_head=RULE,
    after={
        Scope.USER: "Restart Cursor; the next session starts with the briefing.",
        Scope.PROJECT: f"Commit .cursor/ and .agents/skills/{NAME}.",
    },
)
