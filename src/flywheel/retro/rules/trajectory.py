"""How a session went: what its steps were for, the first change, how often it mended and checked; pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from flywheel.harvest.rules.values import Quote
from flywheel.model import Clean, Micros
from flywheel.retro.rules.finding import Edits
from flywheel.retro.rules.steps import CHECK, EDIT, LOOK, OTHER, RUN, SEARCH, Step
from flywheel.retro.rules.values import ATTEMPTED, DISTINCT, REPEATED, Point
from flywheel.text.compose import fixed, join, reworded

PHASES: Final = 40
"""Phases of a session that are told one by one: the first ones; the others are only counted."""

FEWEST: Final = 3
"""Steps below which a session that edited nothing had no way worth telling: their number stands in the heading."""

LOOPS: Final = 3
"""A check that was mended and run again so often is worth a line."""

_PHASE: Final = {LOOK: "explore", SEARCH: "explore", EDIT: "edit", CHECK: "test", RUN: "run", OTHER: "other"}


@dataclass(slots=True)
class Trajectory:
    """Takes steps in, in order."""

    phases: list[list[object]] = field(default_factory=list)  # [name, steps], the first `PHASES`
    spent: dict[str, int] = field(default_factory=dict)  # phase → steps
    edits: Edits[Step] = field(default_factory=Edits)  # each file's first one
    loops: int = 0
    turns: int = 0  # how often the phase changed
    _last: str = ""
    _failing: Step | None = None  # the check that failed and is being mended
    _mended: int = 0
    _steps: int = 0
    _cost: int = 0
    _first: Quote | None = None
    _began: Quote | None = None  # the first step
    _latest: Step | None = None

    def step(self, step: Step) -> None:
        """Take one step in."""
        name = _PHASE[step.kind]
        self.spent[name] = self.spent.get(name, 0) + 1
        if name != self._last:
            self.turns += 1
            if len(self.phases) < PHASES:
                self.phases.append([name, 0])
        if self.turns <= PHASES:
            self.phases[-1][1] = int(str(self.phases[-1][1])) + 1
        self._last = name
        self._began = self._began or step.here
        self._change(step)
        self._steps += 1
        self._follow(step)

    @property
    def first_edit(self) -> Step | None:
        """The first useful edit, as `finding` has it."""
        return min(self.edits.kept.values(), key=lambda step: step.number, default=None)

    def _change(self, step: Step) -> None:
        if step.failed:
            return
        if step.kind == EDIT and len(self.edits.kept) < DISTINCT:
            self.edits.edit(step.files, step)
        elif step.command:
            self.edits.ran(step.command)

    def _follow(self, step: Step) -> None:
        """A loop: a check fails, something is changed, a check runs again."""
        if step.kind == EDIT and self._failing is not None:
            self._mended += 1
        if step.kind != CHECK or step.interrupted:
            return
        if self._failing is not None and self._mended:
            self.loops += 1
            self._cost += self._mended + 1
            self._first = self._first or self._failing.here
            self._latest = step
        self._failing, self._mended = (step, 0) if step.failed else (None, 0)

    def points(self, started: Micros, tokens: int) -> Iterator[Point]:
        """``tokens``: what was said until the first edit, about; 0 where that is not known."""
        if self._steps >= FEWEST or self.spent.get("edit"):
            first = self.first_edit
            began = (first.here if first is not None else None) or self._began
            yield Point(
                section=ATTEMPTED,
                kind="trajectory",
                subject=fixed("steps"),
                text=self._told(started, tokens),
                times=self._steps,
                cites=[began] if began is not None else [],
            )
        if self.loops >= LOOPS and self._latest is not None and self._first is not None:
            last = self._latest
            how = fixed("it still fails") if last.failed else fixed("until it passed")
            times = reworded(f"{self.loops} times", last.command)
            yield Point(
                section=REPEATED,
                kind="loop",
                subject=last.command,
                text=join((fixed("Mended and checked again"), times, fixed("with"), ticked(last.command), how)),
                times=self.loops,
                cost=self._cost,
                cites=[one for one in (self._first, last.here) if one is not None],
            )

    def _told(self, started: Micros, tokens: int) -> Clean:
        spent = ", ".join(
            f"{count} {name}" for name, count in sorted(self.spent.items(), key=lambda one: (-one[1], one[0]))
        )
        text = f"{self._steps} step{'s' * (self._steps != 1)} ({spent})"
        first = self.first_edit
        if first is not None:
            seconds = max(0, (first.at - started) // 1_000_000)
            text += f"; first edit after {_lasted(seconds)} and {first.number} other step{'s' * (first.number != 1)}"
            text += f", about {tokens:,} tokens" if tokens else ""
        else:
            text += "; no edit lasted" if self.spent.get("edit") else "; nothing was edited"
        return reworded(text, fixed("steps"))


def ticked(name: Clean) -> Clean:
    """In back quotes."""
    return join((_TICK, name, _TICK), "")


_TICK: Final = fixed("`")


def _lasted(seconds: int) -> str:
    if seconds < 90:
        return f"{seconds} s"
    return f"{seconds // 60} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
