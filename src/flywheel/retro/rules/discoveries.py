"""What a session had to find out: files found by searching, commands found by failing; pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from flywheel.harvest.rules.topic import stems
from flywheel.harvest.rules.values import Quote
from flywheel.model import Clean, Message, Micros
from flywheel.retro.rules.steps import EDIT, LOOK, SEARCH, Step
from flywheel.retro.rules.trajectory import ticked
from flywheel.retro.rules.values import DISTINCT, MOST, NEW, Point
from flywheel.text.compose import fixed, join, reworded

SEARCHES: Final = 2
"""Searches in a row after which a file was found, rather than opened."""

NEAR: Final = 30
"""Steps between an attempt that failed and the command that worked."""

_HEARD: Final = 20_000  # characters of prompts in which a file may be named


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
        how = f"after {self.cost} steps" if self.kind == "file" else f"after {self.cost} failed attempts"
        told = fixed("Found") if self.kind == "file" else fixed("Found out that it is")
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
    _seen: set[str] = field(default_factory=set)
    _named: str = ""  # what prompts said, in lower case
    _failed: dict[str, list[Step]] = field(default_factory=dict)  # purpose → attempts in a row
    _worked: set[str] = field(default_factory=set)

    def prompt(self, message: Message) -> None:
        """A file that a prompt names need not be found."""
        if len(self._named) < _HEARD:
            self._named += message.text[:4000].lower() + "\n"
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
        fresh = [name for name in step.files if name not in self._seen]
        if len(self._seen) < DISTINCT:
            self._seen.update(step.files)
        if step.failed or step.here is None:
            return
        if step.kind == LOOK:
            self._looks += 1
        if len(self._searches) >= SEARCHES and fresh and len(self.found) < MOST:
            name = fresh[0]
            if name.rsplit("/", 1)[-1].lower() not in self._named:
                words = frozenset(stem for search in self._searches for stem in stems(search.words))
                first = self._searches[0].here
                self.found.append(
                    Discovery(
                        kind="file",
                        name=name,
                        words=words,
                        cost=len(self._searches) + self._looks,
                        at=step.at,
                        cites=[one for one in (first, step.here) if one is not None],
                    )
                )
                self._searches, self._looks = [], 0
        if step.kind == EDIT:
            self._searches, self._looks = [], 0

    def _ran(self, step: Step) -> None:
        attempts = self._failed.setdefault(step.purpose, [])
        if step.failed:
            attempts.append(step)
            del attempts[:-8]
            return
        others = [one for one in attempts if one.command != step.command and step.number - one.number <= NEAR]
        fresh = step.command not in self._worked and not any(one.command in self._worked for one in others)
        if others and fresh and len(self.found) < MOST and step.here is not None:
            self.found.append(
                Discovery(
                    kind="command",
                    name=step.command,
                    words=frozenset(),
                    cost=len(others),
                    at=step.at,
                    cites=[one for one in (others[0].here, step.here) if one is not None],
                )
            )
        if len(self._worked) < DISTINCT:
            self._worked.add(step.command)
        attempts.clear()

    def points(self, known: Sequence[Discovery]) -> Iterator[Point]:
        """What memory did not have: all but the known ones."""
        for one in self.found:
            if one not in known:
                yield one.point()
