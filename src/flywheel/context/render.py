"""How a briefing reads: for a person at a glance, for a model as recorded statements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from flywheel.api import Item, Slice
from flywheel.context.agents import Agent
from flywheel.context.allocator import Cost, Packed, Piece, Placed
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

HABITS: Final = fixed("## How you work here")
"""The heading of what is known of how somebody works."""

NOTE: Final = "`flywheel show fw:ID` leads to where each one comes from."


LIMIT: Final = 100
"""More than this of what waits for a person is not counted out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """What waits for a person: the cockpit's line."""

    candidates: int = 0
    disputed: int = 0
    stale: int = 0

    def line(self) -> str:
        """One line, or "" when nothing waits."""
        disputed = f"{_number(self.disputed)} dispute{'s' if self.disputed > 1 else ''}" if self.disputed else ""
        stale = f"{_number(self.stale)} stale page{'s' if self.stale > 1 else ''}" if self.stale else ""
        candidates = f"{_number(self.candidates)} unconfirmed" if self.candidates else ""
        parts = [part for part in (disputed, stale, candidates) if part]
        return f"Cockpit: {', '.join(parts)}; for a person: `flywheel cockpit`." if parts else ""


def _number(number: int) -> str:
    return f"{LIMIT}+" if number >= LIMIT else str(number)


def heading_cost(agent: Agent, source: str, asking: bool) -> Cost:
    """What the line above a source's items costs, with the empty line before it."""
    return agent.cost(f"\n{(PROMPT if asking else START)[source]}\n")


def write(
    packed: Sequence[Packed], *, project: str, asking: bool, waiting: str, redact: Redactor, habits: str = ""
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
    if habits:
        lines += [fixed(""), HABITS, _inert(habits, redact)]
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


def habits_cost(agent: Agent, habits: str) -> Cost:
    """What is known of how somebody works costs, with its heading."""
    return agent.cost(f"\n{HABITS}\n{habits}\n") if habits else Cost()


def habits_slice(piece: Piece, redact: Redactor) -> Slice:
    """That section as a slice of its own, which no other source has a part of."""
    level = piece.levels[0]
    item = Item(
        kind=piece.kind,
        id=piece.id,
        short=piece.short,
        level=level.name,
        text=_inert(level.text, redact),
        tokens=level.cost.tokens,
    )
    return Slice(source=piece.kind, items=[item], tokens=level.cost.tokens, share=level.cost.tokens, left_out=0)


def bare_cost(agent: Agent, project: str, waiting: str, redact: Redactor, *, habits: str = "") -> Cost:
    """What a briefing costs before it holds any item."""
    return (
        agent.cost(framed(fixed(""), project, redact))
        + (agent.cost(f"\n\n{waiting}") if waiting else Cost())
        + habits_cost(agent, habits)
        + Cost(2, 4)
    )
