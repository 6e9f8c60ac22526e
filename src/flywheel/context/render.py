"""How a briefing reads: for a person at a glance, for a model as recorded statements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from flywheel.api import Item, Slice
from flywheel.context.agents import Agent
from flywheel.context.allocator import Cost, Packed
from flywheel.model import Clean
from flywheel.text.compose import fixed, frame, neutralise
from flywheel.text.redact import Redactor
from flywheel.text.tokens import count

START: Final[Mapping[str, str]] = {
    "slot": "Here and now",
    "skills": "Skills written for other agents",
    "entries": "What is known",
    "history": "Earlier sessions",
    "topology": "How the code hangs together",
    "conventions": "Conventions written for other agents",
}
"""Each source's heading at a session's start."""

PROMPT: Final[Mapping[str, str]] = {
    **START,
    "entries": "What is known about this",
    "history": "Said before",
    "topology": "The code around it",
}
"""Each source's heading in answer to a prompt."""

NOTE: Final = "`flywheel show fw:ID` leads to where each one comes from."


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """What waits for a person: the cockpit's line."""

    candidates: int = 0
    disputed: int = 0
    stale: int = 0
    limit: int = 100  # counting stops there

    def line(self) -> str:
        """One line, or "" when nothing waits."""
        named = ((self.candidates, "unreviewed candidate"), (self.disputed, "dispute"), (self.stale, "stale entry"))
        parts = [f"{self._number(number)} {name if number == 1 else _plural(name)}" for number, name in named if number]
        return f"Waiting for a person: {', '.join(parts)}." if parts else ""

    def _number(self, number: int) -> str:
        return f"{number}+" if number >= self.limit else str(number)


def _plural(name: str) -> str:
    return name[:-1] + "ies" if name.endswith("y") else name + "s"


def heading(source: str, asking: bool) -> str:
    """The line above a source's items, with an empty line before it."""
    return f"\n## {(PROMPT if asking else START)[source]}\n"


def heading_cost(agent: Agent, source: str, asking: bool) -> Cost:
    """What that costs."""
    return agent.cost(heading(source, asking))


def write(
    packed: Sequence[Packed], *, project: str, asking: bool, waiting: str, redact: Redactor
) -> tuple[str, Sequence[Slice]]:
    """The framed text and its slices; neutralised, and redacted once more as a whole."""
    slices, lines = [], list[str]()
    for one in packed:
        items = [
            Item(
                kind=placed.piece.kind,
                id=placed.piece.id,
                short=placed.piece.short,
                level=placed.level.name,
                text=neutralise(redact.text(placed.level.text)),
                tokens=placed.level.cost.tokens,
            )
            for placed in one.placed
        ]
        slices.append(
            Slice(
                source=one.source,
                items=items,
                tokens=one.cost.tokens,
                share=one.share.tokens,
                left_out=one.left_out,
            )
        )
        if items:
            lines.append(heading(one.source, asking).rstrip("\n"))
            lines += [item.text for item in items]
    if waiting:
        lines += ["", waiting]
    return framed("\n".join(lines).lstrip("\n"), project, redact), slices


def framed(body: str, project: str, redact: Redactor) -> Clean:
    """Fence, the line that says what this is, the body, fence."""
    return frame(redact.text(body), project=neutralise(redact.text(project)), note=fixed(NOTE))


def bare_cost(agent: Agent, project: str, waiting: str, redact: Redactor) -> Cost:
    """What a briefing costs before it holds any item."""
    return agent.cost(framed("", project, redact)) + (agent.cost(f"\n\n{waiting}") if waiting else Cost()) + Cost(2, 4)


def tokens_of(text: str) -> int:
    """Tokens of the finished text."""
    return count(text)
