"""What the agents' setups have in common: where we are, what is wanted, commands, servers, the skill."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from importlib.resources import files
from pathlib import Path
from typing import Final

import orjson

from flywheel.hooks.client_copy import Setup
from flywheel.hooks.edits import Block, Edit, Whole
from flywheel.hooks.wanted import SCRIPT, Wanted, command_line

NAME: Final = "flywheel"
"""What our server, skill, plugin and extension are called."""

SHARED_SKILLS: Final = ".agents/skills"
CLAUDE_SKILLS: Final = ".claude/skills"

NEUTRAL: Final = f'"${{XDG_DATA_HOME:-$HOME/.local/share}}/flywheel/hook/{SCRIPT}"'
"""The hook client as a repository's files name it: on any machine where Flywheel is installed the usual way."""

PENDING: Final = "Flywheel writes here what is known about this project, as soon as something is."
"""What an always-on block holds before the daemon has written it."""


class Scope(StrEnum):
    """For whom something is installed."""

    USER = "user"  # in the user's own settings, for every folder
    PROJECT = "project"  # into one repository, for everybody who has it


@dataclass(frozen=True, slots=True, kw_only=True)
class Here:
    """This user, this machine, and the folder."""

    home: Path
    env: Mapping[str, str]
    setup: Setup
    scope: Scope = Scope.USER
    root: Path | None = None  # the repository of the current folder
    mcp: Sequence[str] = ()  # the command of our MCP server on this machine
    trusted: Callable[[bytes], Mapping[str, str]] | None = None  # Codex's hooks.json → hash by "event:group:handler"

    def which(self, program: str) -> Path | None:
        """Where a program lies on the user's PATH."""
        found = shutil.which(program, path=self.env.get("PATH"))
        return Path(found) if found else None

    def folder(self, variable: str, otherwise: str) -> Path:
        """The folder that the environment names, or the usual one below home."""
        named = self.env.get(variable)
        return Path(os.path.abspath(named)) if named else self.home / otherwise  # noqa: PTH100 - no links followed

    @property
    def project(self) -> Path | None:
        """The repository, where something is installed into it."""
        return self.root if self.scope is Scope.PROJECT else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What is wanted besides the hooks."""

    mcp: bool = True
    skill: bool = True
    always_on: bool = False
    plugin: Path | None = None  # Claude Code: a plugin folder instead of settings


def _none(here: Here, options: Options) -> Sequence[Edit]:
    return ()


def _nowhere(here: Here) -> Path:
    return here.home


def _silent(here: Here) -> Sequence[str]:
    return ()


def _unnamed(here: Here) -> Sequence[Path]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """How one agent is set up."""

    name: str
    title: str  # as its maker writes it
    programs: Sequence[str]
    folders: Callable[[Here], Sequence[Path]]  # one of them is there where the agent was ever used
    edits: Callable[[Here, Options], Sequence[Edit]]
    hooks_file: Callable[[Here], Path] = _nowhere
    server_file: Callable[[Here], Path] = _nowhere
    hooks: Sequence[Wanted] = ()
    others: Callable[[Here, Options], Sequence[Edit]] = _none  # of the other ways to set it up
    named: Callable[[Here], Sequence[Path]] = _unnamed  # folders that the environment names
    warnings: Callable[[Here], Sequence[str]] = _silent
    start: str = ""  # the event with which an installation is tried; "" where there are no hooks
    scopes: Sequence[Scope] = (Scope.USER, Scope.PROJECT)
    always_on: bool = False  # its standing file is all there is
    standing_file: str = "AGENTS.md"
    standing_head: str = ""
    after: Mapping[Scope, str] = field(default_factory=dict)  # what a person does next

    def standing(self, root: Path) -> Block:
        """The always-on block of a repository."""
        path = root / self.standing_file
        return Block(path=path, text=PENDING, agent=self.name, root=root, head=self.standing_head)


def commands(here: Here, agent: str, hooks: Iterable[Wanted]) -> Mapping[str, str]:
    """Event → the command line; in a repository one that names no machine and is harmless without Flywheel."""
    suffix = "" if agent == "claude" else agent
    if here.scope is Scope.PROJECT:
        tail = f" {suffix}" if suffix else ""
        return {one.event: f"python3 -I -S {NEUTRAL} {one.event}{tail} 2>/dev/null || :" for one in hooks}
    return {one.event: command_line(here.setup.python, here.setup.script, one.event, suffix) for one in hooks}


def server(here: Here, **more: object) -> dict[str, object]:
    """Our MCP server as most agents want it: ``command``, ``args``, ``env``."""
    program, *words = words_of_server(here)
    env = dict(here.setup.env) if here.scope is Scope.USER else {}
    return {**more, "command": program, "args": words, **({"env": env} if env else {})}


def words_of_server(here: Here) -> Sequence[str]:
    """The command of our MCP server; in a repository the one on the PATH."""
    return ["flywheel", "mcp"] if here.scope is Scope.PROJECT else list(here.mcp)


def skill(here: Here, folder: str) -> Whole:
    """Our skill below a folder of skills of the user or the repository."""
    base = here.root if here.scope is Scope.PROJECT and here.root else here.home
    return Whole(path=base / folder / NAME / "SKILL.md", data=skill_text())


def skill_text() -> bytes:
    """The portable SKILL.md."""
    return files("flywheel.hooks").joinpath("assets", "skill", "SKILL.md").read_bytes()


def pretty(value: object) -> bytes:
    """A JSON file of our own."""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def grouped(hooks: Sequence[Wanted], lines: Mapping[str, str]) -> dict[str, object]:
    """The ``hooks`` object of a file of our own."""
    return {one.event: [one.group(lines[one.event])] for one in hooks}
