"""How a briefing reads: for a person at a glance, for a model as recorded statements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from flywheel.api import Item, Slice
from flywheel.context.agents import Agent
from flywheel.context.allocator import Cost, Packed, Placed
from flywheel.model import Clean
from flywheel.text.compose import fixed, frame, join, neutralise
from flywheel.text.redact import Redactor

START: Final[Mapping[str, Clean]] = {
    "slot": fixed("## Here and now"),
    "skills": fixed("## Skills written for other agents"),
    "entries": fixed("## What is known"),
    "history": fixed("## Earlier sessions"),
    "topology": fixed("## How the code hangs together"),
    "conventions": fixed("## Conventions written for other agents"),
}
"""Each source's heading at a session's start."""

PROMPT: Final[Mapping[str, Clean]] = {
    **START,
    "entries": fixed("## What is known about this"),
    "history": fixed("## Said before"),
    "topology": fixed("## The code around it"),
}
"""Each source's heading in answer to a prompt."""

NOTE: Final = "`flywheel show fw:ID` leads to where each one comes from."


LIMIT: Final = 100
"""What waits for a person is counted so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """What waits for a person: the cockpit's line."""

    candidates: int = 0
    disputed: int = 0
    stale: int = 0

    def line(self) -> str:
        """One line, or "" when nothing waits."""
        named = ((self.candidates, "unreviewed candidate"), (self.disputed, "dispute"), (self.stale, "stale entry"))
        parts = [f"{_number(number)} {name if number == 1 else _plural(name)}" for number, name in named if number]
        return f"Waiting for a person: {', '.join(parts)}." if parts else ""


def _number(number: int) -> str:
    return f"{number}+" if number >= LIMIT else str(number)


def _plural(name: str) -> str:
    return name[:-1] + "ies" if name.endswith("y") else name + "s"


def heading_cost(agent: Agent, source: str, asking: bool) -> Cost:
    """What the line above a source's items costs, with the empty line before it."""
    return agent.cost(f"\n{(PROMPT if asking else START)[source]}\n")


def write(
    packed: Sequence[Packed], *, project: str, asking: bool, waiting: str, redact: Redactor
) -> tuple[Clean, Sequence[Slice]]:
    """The framed text and its slices; every item neutralised, and redacted once more."""
    slices, lines = [], list[Clean]()
    for one in packed:
        written = [_item(placed, _inert(placed.level.text, redact)) for placed in one.placed]
        if written:
            lines += [fixed(""), (PROMPT if asking else START)[one.source]]
        lines += [text for _, text in written]
        slices.append(
            Slice(
                source=one.source,
                items=[item for item, _ in written],
                tokens=one.cost.tokens,
                share=one.share.tokens,
                left_out=one.left_out,
            )
        )
    if waiting:
        lines += [fixed(""), redact.text(waiting)]
    return framed(join(lines[1:], "\n"), project, redact), slices


def framed(body: Clean, project: str, redact: Redactor) -> Clean:
    """Fence, the line that says what this is, the body, fence."""
    return frame(body, project=neutralise(redact.text(project)), note=fixed(NOTE))


def _item(placed: Placed, text: Clean) -> tuple[Item, Clean]:
    piece, level = placed.piece, placed.level
    item = Item(kind=piece.kind, id=piece.id, short=piece.short, level=level.name, text=text, tokens=level.cost.tokens)
    return item, text


@lru_cache(1024)
def _inert(text: str, redact: Redactor) -> Clean:
    """The text redacted and neutralised; sessions of one project are told much the same."""
    return neutralise(redact.text(text))


def bare_cost(agent: Agent, project: str, waiting: str, redact: Redactor) -> Cost:
    """What a briefing costs before it holds any item."""
    return (
        agent.cost(framed(fixed(""), project, redact))
        + (agent.cost(f"\n\n{waiting}") if waiting else Cost())
        + Cost(2, 4)
    )
