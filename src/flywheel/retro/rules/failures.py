"""What failed again and again, and what worked at last; tools that fail often; pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from flywheel.harvest.rules import Draft
from flywheel.harvest.rules import Point as Statement
from flywheel.harvest.rules.topic import links_of, title_of
from flywheel.harvest.rules.values import Link, Quote
from flywheel.harvest.rules.wording import shorten
from flywheel.knowledge.parts import FIX, STATES, SYMPTOM
from flywheel.model import Category, ClaimType, Clean, Micros, Role, evidence_id
from flywheel.retro.rules.steps import EDIT, Step
from flywheel.retro.rules.trajectory import ticked
from flywheel.retro.rules.values import DISTINCT, MOST, WRONG, Point
from flywheel.text.compose import fixed, fold, join, reworded, squeeze

OFTEN: Final = 2
"""A command that failed so often is worth a line."""

NEAR: Final = 30
"""Steps between a failure and what worked at last."""

ATTEMPTS: Final = 8
"""Commands for one purpose that failed, which are remembered until one works."""

CALLS: Final = 5
"""Calls of a tool from which on its error rate is told."""

RATE: Final = 0.3
"""The error rate of a tool that is worth a line."""

REMEDIES: Final = ("install", "migrate", "build", "run", "deploy")
"""Purposes of commands that may mend what another command needs."""

_SCORE: Final = 0.6


@dataclass(slots=True)
class _Fared:
    """How one command fared."""

    command: Clean
    failures: int = 0
    wins: int = 0
    first: Step | None = None
    last: Step | None = None
    better: Step | None = None  # another command of the same purpose, which worked
    again: Step | None = None  # the same command, once it worked after failing
    remedy: Step | None = None  # what was run between the last failure and that


@dataclass(slots=True)
class Failures:
    """Takes steps in, in order."""

    fared: dict[str, _Fared] = field(default_factory=dict)
    tools: dict[str, list[int]] = field(default_factory=dict)  # tool → calls, errors
    _firsts: dict[str, Quote] = field(default_factory=dict)  # tool → the first failure's line
    _failed: dict[str, dict[str, Step]] = field(default_factory=dict)  # purpose → command → its last failure
    _between: list[Step] = field(default_factory=list)

    def step(self, step: Step) -> None:
        """Take one step in."""
        if not step.answered or step.interrupted:
            return
        calls = self.tools.setdefault(step.tool, [0, 0]) if len(self.tools) < DISTINCT else [0, 0]
        calls[0] += 1
        calls[1] += step.failed
        if step.failed and step.error is not None:
            self._firsts.setdefault(step.tool, step.error)
        if step.command:
            self._run(step)
        if step.kind == EDIT or step.purpose in REMEDIES:
            self._between = [*self._between[-3:], step]

    def _run(self, step: Step) -> None:
        if step.command not in self.fared and len(self.fared) >= DISTINCT:
            return
        fared = self.fared.setdefault(step.command, _Fared(command=step.command))
        if step.failed:
            fared.failures += 1
            fared.first = fared.first or step
            fared.last = step
            fared.again = fared.remedy = None
            if step.purpose:
                attempts = self._failed.setdefault(step.purpose, {})
                attempts.pop(step.command, None)
                attempts[step.command] = step
                if len(attempts) > ATTEMPTS:
                    del attempts[next(iter(attempts))]
            return
        fared.wins += 1
        if fared.last is not None and fared.again is None and step.number - fared.last.number <= NEAR:
            fared.again = step
            since = [one for one in self._between if one.number > fared.last.number and not one.failed]
            only = since[0] if len(since) == 1 else None
            fared.remedy = only if only is not None and only.kind != EDIT and only.command != step.command else None
        for command, before in self._failed.pop(step.purpose, {}).items():
            beaten = self.fared[command]
            if command != step.command and step.number - before.number <= NEAR and not beaten.wins:
                beaten.better = beaten.better or step

    def often(self) -> list[_Fared]:
        """Commands that failed at least `OFTEN` times, the most first."""
        found = [one for one in self.fared.values() if one.failures >= OFTEN]
        return sorted(found, key=lambda one: -one.failures)[:MOST]

    def points(self) -> Iterator[Point]:
        """Commands that failed again and again, and tools that fail often."""
        told: Counter[str] = Counter()
        for one in self.often():
            told[one.first.tool if one.first else ""] += one.failures
            yield _failing(one)
        for one in self.fared.values():  # what another command was found for is told with that
            if one.better is not None and one.failures < OFTEN:
                told[one.first.tool if one.first else ""] += one.failures
        for tool, (calls, errors) in self.tools.items():
            rate = errors / calls if calls else 0.0
            if calls >= CALLS and rate >= RATE and tool in self._firsts and 2 * told[tool] < errors:
                line = self._firsts[tool]
                yield Point(
                    section=WRONG,
                    kind="errors",
                    subject=reworded(tool, line.quote),
                    text=reworded(f"{tool} failed {errors} of {calls} times ({round(100 * rate)} %)", line.quote),
                    times=errors,
                    cost=errors,
                    cites=[line],
                )

    def drafts(self) -> Iterator[Draft]:
        """What mended a command that had failed: a hypothesis, since it only came after."""
        for one in self.fared.values():
            if one.remedy is not None and one.last is not None and one.last.error is not None and one.last.signature:
                draft = _remedy(one.command, one.last, one.last.error, one.remedy)
                if draft is not None:
                    yield draft


def _failing(one: _Fared) -> Point:
    parts = [ticked(one.command), reworded(f"failed {one.failures} times", one.command)]
    if one.last is not None and one.last.error is not None:
        parts.append(join((fixed(" (“"), shorten(squeeze(one.last.error.quote), 90), fixed("”)")), ""))
    if one.remedy is not None:
        parts += [fixed("; it worked after"), ticked(one.remedy.command)]
    elif one.again is not None:
        parts.append(fixed("; then it worked"))
    elif one.better is not None:
        parts += [fixed("; then"), ticked(one.better.command), fixed("worked")]
    else:
        parts.append(fixed("and never worked"))
    last = one.remedy or one.again or one.better
    cites = [
        one.first.here if one.first else None,
        one.last.error if one.last else None,
        last.here if last is not None else None,
    ]
    text = reworded(" ".join(parts).replace(" ;", ";").replace("  ", " "), one.command)
    return Point(
        section=WRONG,
        kind="failing",
        subject=one.command,
        text=text,
        times=one.failures,
        cost=one.failures,
        cites=[cite for cite in cites if cite is not None],
    )


def _remedy(command: Clean, failed: Step, error: Quote, remedy: Step) -> Draft | None:
    """`X` failed with E and worked after `Y`: the three spans as one draft."""
    if remedy.here is None or failed.here is None or "[redacted:" in command:
        return None
    symptom = shorten(squeeze(error.quote), 120)
    text = join(
        (fixed("When"), ticked(command), fixed("fails with"), join((_OPEN, symptom, _CLOSE), ""), fixed("run"),
         ticked(remedy.command))
    )  # fmt: skip
    points = tuple(
        _statement(attribute, said, remedy.at, quotes)
        for attribute, said, quotes in (
            (STATES, text, (remedy.here, failed.here)),
            (SYMPTOM, squeeze(error.quote), (error,)),
            (FIX, squeeze(remedy.here.quote), (remedy.here,)),
        )
    )
    subject = fold(command.lower().split()[:2], command)
    return Draft(
        type=ClaimType.HYPOTHESIS,
        category=Category.DEBUGGING,
        title=title_of(join((ticked(command), fixed("needs"), ticked(remedy.command)))),
        summary=shorten(text),
        subject=subject,
        tags=("bug", "remedy"),
        links=[*links_of(error.quote, error.quote), Link(kind="subject", name=subject)],
        points=points,
        score=_SCORE,
        signals={"worked after another command": _SCORE},
        key=evidence_id("remedy", command, failed.signature, remedy.command),
    )


_OPEN: Final = fixed("“")
_CLOSE: Final = fixed("”:")


def _statement(attribute: str, text: Clean, at: Micros, quotes: tuple[Quote, ...]) -> Statement:
    return Statement(
        attribute=attribute, type=ClaimType.HYPOTHESIS, text=text, role=Role.TOOL, said_at=at, quotes=quotes
    )
