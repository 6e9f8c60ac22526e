"""Files that were read again and again; pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from flywheel.harvest.rules.values import Quote
from flywheel.retro.rules.steps import EDIT, LOOK, Step
from flywheel.retro.rules.values import REPEATED, Point, Tally
from flywheel.text.compose import reworded

OFTEN: Final = 3
"""A file that was read so often is worth a line."""


@dataclass(slots=True)
class Rereads:
    """Takes steps in, in order."""

    reads: Tally = field(default_factory=Tally)
    edited: Tally = field(default_factory=Tally)
    _cites: dict[str, list[Quote]] = field(default_factory=dict)  # the first and the last read

    def step(self, step: Step) -> None:
        """Take one step in."""
        for name in step.files:
            if step.kind == EDIT:
                self.edited.add(name)
            elif step.kind == LOOK and not step.failed and self.reads.add(name) and step.here is not None:
                cites = self._cites.setdefault(name, [])
                cites[1:] = [step.here] if cites else cites[1:]
                if not cites:
                    cites.append(step.here)

    def points(self) -> Iterator[Point]:
        """The files, those read most often first."""
        for name, count in self.reads.often(OFTEN):
            cites = self._cites.get(name, [])
            if cites:
                changed = f", edited {self.edited[name]} times" if self.edited[name] else ", without an edit of it"
                subject = reworded(name, cites[0].quote)
                yield Point(
                    section=REPEATED,
                    kind="reread",
                    subject=subject,
                    text=reworded(f"Read {count} times: {name}{changed}", subject),
                    times=count,
                    cost=count - 1,
                    cites=list(cites),
                )
