"""Claude Code: hooks in its settings, our server beside them and a skill; or all of it as one plugin folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from flywheel import __version__
from flywheel.hooks import claude
from flywheel.hooks.edits import Edit, Groups, Member, Whole
from flywheel.hooks.setups.common import (
    CLAUDE_SKILLS,
    NAME,
    Agent,
    Here,
    Options,
    Scope,
    commands,
    grouped,
    pretty,
    server,
    skill_text,
)

ABOUT: Final = "A memory for coding agents: every session starts with what earlier ones decided and learned."

README: Final = f"""# Flywheel

{ABOUT}

The hooks hand each event to the Flywheel daemon on this machine and give the session its briefing; the MCP server
answers questions about recorded decisions; the skill says when to ask. Nothing leaves the machine. Needs Flywheel
itself (`flywheel up` starts its daemon); without it the hooks do nothing. Made by `flywheel install claude --plugin`.
"""


def folder(here: Here) -> Path:
    """``$CLAUDE_CONFIG_DIR`` or ``~/.claude``."""
    return here.folder("CLAUDE_CONFIG_DIR", ".claude")


def plugin_folder(here: Here) -> Path:
    """Where a plugin is found without any marketplace: ``flywheel@skills-dir``."""
    return folder(here) / "skills" / NAME


def settings(here: Here) -> Path:
    """The settings that hold the hooks."""
    return claude.settings_file(here.project / ".claude" if here.project else folder(here))


def servers(here: Here) -> Path:
    """The file that holds the MCP servers."""
    if here.project:
        return here.project / ".mcp.json"
    return folder(here) / ".claude.json" if here.env.get("CLAUDE_CONFIG_DIR") else here.home / ".claude.json"


def member(here: Here) -> Member:
    """Our server in that file; Copilot CLI reads a repository's, too."""
    return Member(path=servers(here), keys=("mcpServers", NAME), value=server(here, type="stdio"))


def _settings_way(here: Here, options: Options) -> Sequence[Edit]:
    lines = commands(here, claude.AGENT, claude.HOOKS)
    edits: list[Edit] = [Groups(path=settings(here), hooks=claude.HOOKS, commands=lines)]
    if options.mcp:
        edits.append(member(here))
    if options.skill:
        edits.append(skill(here))
    return edits


def skill(here: Here) -> Whole:
    """Our skill where Claude Code and Copilot look."""
    base = here.project / CLAUDE_SKILLS if here.project else folder(here) / "skills"
    return Whole(path=base / NAME / "SKILL.md", data=skill_text())


def _plugin_way(here: Here, options: Options, base: Path) -> Sequence[Edit]:
    """The plugin's files; a folder that a person names may be handed on: its commands name no machine."""
    own = base == plugin_folder(here)
    at = here if own else Here(home=here.home, env=here.env, setup=here.setup, scope=Scope.PROJECT)
    about = {"name": NAME, "version": __version__, "description": ABOUT}
    manifest = {**about, "author": {"name": "Flywheel"}, "license": "Apache-2.0"}
    hooks = {"hooks": grouped(claude.HOOKS, commands(at, claude.AGENT, claude.HOOKS))}
    files = [
        (".claude-plugin/plugin.json", pretty(manifest)),
        ("hooks/hooks.json", pretty(hooks)),
        ("README.md", README.encode()),
    ]
    if options.mcp:
        files.append((".mcp.json", pretty({"mcpServers": {NAME: server(at, type="stdio")}})))
    if options.skill:  # in its usual place the folder is a skill as well, which Copilot reads, too: listed once
        files.append(("SKILL.md" if own else f"skills/{NAME}/SKILL.md", skill_text()))
    return [Whole(path=base / name, data=data) for name, data in files]


def _edits(here: Here, options: Options) -> Sequence[Edit]:
    return _plugin_way(here, options, options.plugin) if options.plugin else _settings_way(here, options)


def _others(here: Here, options: Options) -> Sequence[Edit]:
    """With both ways everything would come twice."""
    everything = Options()
    if options.plugin:
        return _settings_way(here, everything)
    return _plugin_way(here, everything, plugin_folder(here)) if here.scope is Scope.USER else ()


SETUP: Final = Agent(
    name=claude.AGENT,
    title="Claude Code",
    programs=("claude",),
    folders=lambda here: [folder(here)],
    edits=_edits,
    hooks_file=settings,
    server_file=servers,
    hooks=claude.HOOKS,
    others=_others,
    named=lambda here: [folder(here)] if here.env.get("CLAUDE_CONFIG_DIR") else [],
    start="SessionStart",
    standing_file="CLAUDE.local.md",
    after={
        Scope.USER: "The next session starts with the briefing.",
        Scope.PROJECT: "Commit .claude/ and .mcp.json. Claude Code asks everybody once whether to trust them.",
    },
)
