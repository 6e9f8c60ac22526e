"""What a long way came down to: the files that were changed and the commands that worked, once each; pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from flywheel.retro.rules.finding import Edits
from flywheel.retro.rules.steps import CHECK, EDIT, Step
from flywheel.retro.rules.trajectory import ticked
from flywheel.retro.rules.values import ATTEMPTED, DISTINCT, Point
from flywheel.text.compose import fixed, join, reworded

LONG: Final = 15
"""Steps from which on a trajectory is long."""

MOST: Final = 8
"""Files, and commands, of a procedure."""


@dataclass(slots=True)
class Procedure:
    """Takes steps in, in order."""

    edits: Edits[Step] = field(default_factory=Edits)  # each file's first one
    commands: dict[str, Step] = field(default_factory=dict)  # command → its last success
    steps: int = 0
    _edited: int = -1  # number of the last edit

    def step(self, step: Step) -> None:
        """Take one step in."""
        self.steps += 1
        if step.failed or not step.answered or step.interrupted:
            if step.command:
                self.commands.pop(step.command, None)
            return
        if step.kind == EDIT:
            self._edited = step.number
            if len(self.edits.kept) < DISTINCT:
                self.edits.edit(step.files, step)
        if step.command:
            self.edits.ran(step.command)
        if step.purpose and (step.command in self.commands or len(self.commands) < DISTINCT):
            self.commands.pop(step.command, None)
            self.commands[step.command] = step

    def points(self, *, done: bool) -> Iterator[Point]:
        """One point where the way was long and led to its end: a check counts when nothing was edited after it."""
        if not done or self.steps < LONG or not self.edits.kept:
            return
        ran = [
            step
            for step in self.commands.values()
            if step.here is not None and (step.kind != CHECK or step.number > self._edited)
        ]
        ran = sorted(ran, key=lambda step: step.number)[-MOST:]
        edits = [(name, step) for name, step in self.edits.kept.items() if step.here is not None][:MOST]
        if not ran or not edits:
            return
        left = f"Of {self.steps} steps these came to it: edit"
        names = join([reworded(name, fixed("file")) for name, _ in edits], ", ")
        more = f" and {len(self.edits.kept) - len(edits)} more" if len(self.edits.kept) > len(edits) else ""
        commands = join([ticked(step.command) for step in ran], ", ")
        yield Point(
            section=ATTEMPTED,
            kind="procedure",
            subject=ran[-1].command,
            text=join(
                (reworded(left, names), join((names, reworded(more, names), fixed(";")), ""), fixed("run"), commands)
            ),
            times=len(edits) + len(ran),
            cites=[step.here for step in (*(step for _, step in edits), *ran) if step.here is not None][:MOST],
        )
