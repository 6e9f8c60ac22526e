"""What a session found out at some length: files found by searching, commands found by failing; pure.

What counts as found out is defined in `finding`; a retrospective tells of a file only that took two searches or more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from flywheel.harvest.rules.topic import stems
from flywheel.harvest.rules.values import Quote
from flywheel.model import Clean, Message, Micros
from flywheel.retro.rules.finding import Attempts, Met, shows
from flywheel.retro.rules.steps import EDIT, LOOK, SEARCH, Step
from flywheel.retro.rules.trajectory import ticked
from flywheel.retro.rules.values import MOST, NEW, Point
from flywheel.text.compose import fixed, join, reworded

SEARCHES: Final = 2
"""Searches in a row after which a file was found, rather than opened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """Something that was found out, and what it took."""

    kind: str  # file, command
    name: Clean
    words: frozenset[str]  # what was searched, as stems
    cost: int  # tool calls
    at: Micros
    cites: Sequence[Quote]

    def point(self) -> Point:
        """As something new."""
        how = f"after {self.cost} steps" if self.kind == "file" else f"works, after {self.cost} failed attempts"
        told = fixed("Found") if self.kind == "file" else fixed("Found out that")
        name = self.name if self.kind == "file" else ticked(self.name)
        return Point(
            section=NEW,
            kind=f"found {self.kind}",
            subject=self.name,
            text=join((told, name, reworded(how.replace("1 failed attempts", "1 failed attempt"), self.name))),
            cost=self.cost,
            cites=self.cites,
        )


@dataclass(slots=True)
class Discoveries:
    """Takes steps and prompts in, in order."""

    found: list[Discovery] = field(default_factory=list)
    _searches: list[Step] = field(default_factory=list)
    _looks: int = 0
    _met: Met = field(default_factory=Met)
    _attempts: Attempts[Quote | None] = field(default_factory=Attempts)

    def prompt(self, message: Message) -> None:
        """A file that a prompt names need not be found."""
        self._met.prompt(message.text)
        self._searches.clear()
        self._looks = 0

    def step(self, step: Step) -> None:
        """Take one step in."""
        if step.kind == SEARCH:
            self._searches = [*self._searches[-7:], step]
        elif step.kind in (LOOK, EDIT):
            self._opened(step)
        if step.purpose and step.answered and not step.interrupted:
            self._ran(step)

    def _opened(self, step: Step) -> None:
        fresh = [name for name in step.files if not self._met.has(name)]
        for name in step.files:
            self._met.touch(name)
        if step.failed or step.here is None:
            return
        if step.kind == LOOK:
            self._looks += 1
        shown = [name for name in fresh if any(shows(search.shown, name) for search in self._searches)]
        if shown and len(self._searches) >= SEARCHES and len(self.found) < MOST:
            self.found.append(self._searched(shown[0], step, step.here))
            self._searches, self._looks = [], 0
        if step.kind == EDIT:
            self._searches, self._looks = [], 0

    def _searched(self, name: Clean, step: Step, here: Quote) -> Discovery:
        first = self._searches[0].here
        return Discovery(
            kind="file",
            name=name,
            words=frozenset(stem for search in self._searches for stem in stems(search.words)),
            cost=len(self._searches) + self._looks,
            at=step.at,
            cites=[here] if first is None else [first, here],
        )

    def _ran(self, step: Step) -> None:
        if step.failed:
            self._attempts.fail(step.purpose, step.command, step.here, step.shown)
            return
        others = self._attempts.work(step.purpose, step.command)
        if others and len(self.found) < MOST and step.here is not None:
            self.found.append(
                Discovery(
                    kind="command",
                    name=step.command,
                    words=frozenset(),
                    cost=len(others),
                    at=step.at,
                    cites=[one for one in (others[0], step.here) if one is not None],
                )
            )

    def points(self, known: Sequence[Discovery]) -> Iterator[Point]:
        """What memory did not have: all but the known ones."""
        for one in self.found:
            if one not in known:
                yield one.point()
