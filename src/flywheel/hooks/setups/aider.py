"""aider: no hooks; an always-on file of the repository, which its configuration reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from flywheel.hooks.edits import Edit, Read
from flywheel.hooks.setups.common import Agent, Here, Options, Scope

FILE: Final = "CONVENTIONS.md"


def _edits(here: Here, options: Options) -> Sequence[Edit]:
    return [Read(path=here.root / ".aider.conf.yml", name=FILE)] if here.root else []


SETUP: Final = Agent(
    name="aider",
    title="aider",
    programs=("aider",),
    folders=lambda here: [here.home / ".aider"],
    edits=_edits,
    scopes=(Scope.PROJECT,),
    always_on=True,
    standing_file=FILE,
    after={Scope.PROJECT: "aider reads CONVENTIONS.md at its next start; Flywheel keeps its block up to date."},
)
