"""Codex CLI: hooks with their trust, our server as a table of its configuration, and a skill."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from flywheel.hooks import codex, disk
from flywheel.hooks.edits import Edit, Groups, Tables
from flywheel.hooks.setups.common import (
    NAME,
    SHARED_SKILLS,
    Agent,
    Here,
    Options,
    Scope,
    commands,
    server,
    skill,
)
from flywheel.hooks.tables import SERVER, Table
from flywheel.hooks.trust import handlers_in


def folder(here: Here) -> Path:
    """``$CODEX_HOME`` or ``~/.codex``; a repository's ``.codex``."""
    return here.project / ".codex" if here.project else here.folder("CODEX_HOME", ".codex")


def hooks_file(here: Here) -> Path:
    """The hooks."""
    return codex.settings_file(folder(here))


def config_file(here: Here) -> Path:
    """The configuration."""
    return folder(here) / "config.toml"


def _edits(here: Here, options: Options) -> Sequence[Edit]:
    hooks = Groups(path=hooks_file(here), hooks=codex.HOOKS, commands=commands(here, codex.AGENT, codex.HOOKS))
    edits: list[Edit] = [hooks]
    trust = _trust(here, hooks)
    tables = [*(_server(here) if options.mcp else ()), *trust]
    if tables:
        hashes = [str(table.values["trusted_hash"]) for table in trust]
        edits.append(Tables(path=config_file(here), tables=tables, hashes=hashes))
    if options.skill:
        edits.append(skill(here, SHARED_SKILLS))
    return edits


def _server(here: Here) -> Sequence[Table]:
    found = server(here)
    env = found.pop("env", {})
    tables = [Table(path=SERVER, values=found)]
    return [*tables, Table(path=(*SERVER, "env"), values=dict(env))] if isinstance(env, dict) and env else tables


def _trust(here: Here, hooks: Groups) -> Sequence[Table]:
    """Codex's own hashes of our handlers, where it can be asked; a repository's hooks everybody trusts for himself."""
    if here.trusted is None or here.scope is Scope.PROJECT:
        return ()
    planned = hooks.put(disk.read(hooks.path))
    hashes = here.trusted(planned)
    return [
        Table(path=("hooks", "state", f"{hooks.path}:{place}"), values={"trusted_hash": hashes[place]}, shared=True)
        for place in handlers_in(planned)
        if place in hashes
    ]


def _others(here: Here, options: Options) -> Sequence[Edit]:
    """The table goes, too, when it is not wanted any more."""
    return [Tables(path=config_file(here), tables=())]


SETUP: Final = Agent(
    name=codex.AGENT,
    title="Codex CLI",
    programs=("codex",),
    folders=lambda here: [here.folder("CODEX_HOME", ".codex")],
    edits=_edits,
    hooks_file=hooks_file,
    server_file=config_file,
    hooks=codex.HOOKS,
    others=_others,
    named=lambda here: [folder(here)] if here.env.get("CODEX_HOME") else [],
    start="SessionStart",
    after={
        Scope.USER: "The next session starts with the briefing.",
        Scope.PROJECT: f"Commit .codex/ and .agents/skills/{NAME}. Everybody trusts the hooks once, in Codex: /hooks",
    },
)
