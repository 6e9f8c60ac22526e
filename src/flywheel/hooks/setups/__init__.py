"""How each agent is set up: what is put where, for a user or for one repository. One module per agent; the table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from flywheel.errors import BadInput
from flywheel.hooks.plan import Wish
from flywheel.hooks.setups import aider, claude, codex, copilot, cursor, gemini, opencode
from flywheel.hooks.setups.common import Agent, Here, Options, Scope

SETUPS: Final[Mapping[str, Agent]] = {
    one.name: one
    for one in (
        claude.SETUP, codex.SETUP, gemini.SETUP, opencode.SETUP, cursor.SETUP, copilot.SETUP, aider.SETUP,
    )
}  # fmt: skip
"""Agent → how it is set up, in the order in which they are listed."""


def key_of(agent: str, here: Here) -> str:
    """The name of an installation in the record."""
    return f"{agent}:project:{here.root}" if here.scope is Scope.PROJECT else f"{agent}:user"


def wish_of(agent: str, here: Here, options: Options) -> Wish:
    """What the agent shall have. Raises BadInput where it cannot have it in this scope."""
    setup = SETUPS[agent]
    if here.scope not in setup.scopes:
        raise BadInput(f"{setup.title} is set up for one repository only: run `flywheel install {agent}` inside one")
    if here.scope is Scope.PROJECT and here.root is None:
        raise BadInput("no repository here: --project installs into the repository of the current folder")
    edits = list(setup.edits(here, options))
    if options.always_on or setup.always_on:
        if here.root is None:
            raise BadInput("no repository here: an always-on file belongs to the repository of the current folder")
        edits.append(setup.standing(here.root))
    public = here.scope is Scope.PROJECT and here.root is not None
    within = [here.root] if public and here.root is not None else [here.home, *setup.named(here)]
    if not public and here.root is not None:
        within.append(here.root)
    return Wish(
        key=key_of(agent, here),
        agent=agent,
        edits=edits,
        others=list(setup.others(here, options)),
        within=within,
        public=public,
        warnings=list(setup.warnings(here)),
    )


__all__ = ["SETUPS", "Agent", "Here", "Options", "Scope", "key_of", "wish_of"]
