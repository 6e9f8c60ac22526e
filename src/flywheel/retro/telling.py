"""A retrospective as lines for reading; pure, and light: it brings in none of the rules that made it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from flywheel.model import RetroPoint, Retrospective, short_id

VERSION: Final = 3
"""Of the rules: a retrospective made by older ones is made again: by itself, and at once when somebody asks for it."""


def lines(look: Retrospective, points: Sequence[RetroPoint] = ()) -> list[str]:
    """A retrospective for reading, one fact a line; ``points`` where they are stored."""
    facts = look.facts
    because = f" ({facts['because']})" if facts.get("because") else ""
    shown = [f"Task: {look.task}", f"Outcome: {look.outcome}{because}"]
    rate = f", {look.tool_errors} failed ({100 * look.tool_errors // look.tool_calls} %)" if look.tool_errors else ""
    shown.append(f"{_counted(look.turns, 'prompt')}, {_counted(look.tool_calls, 'tool call')}{rate}")
    tools = _mapping(facts.get("tools"))
    shown += [
        f"  {tool}: {_counted(_count(row, 'calls'), 'call')}, {_count(row, 'errors')} failed"
        for tool, row in tools.items()
    ]
    for row in _rows(facts.get("failing")):
        after = f", then {row['successes']} times well" if row.get("successes") else ""
        shown.append(f"Failed {row['failures']} times{after}: {row['command']}")
    shown += [f"Read {row['reads']} times: {row['file']}" for row in _rows(facts.get("reread"))]
    edited = facts.get("edited")
    if isinstance(edited, (list, tuple)) and edited:
        shown.append(f"Edited: {', '.join(map(str, edited))}")
    left = facts.get("open")
    shown += [f"Left open: {end}" for end in left] if isinstance(left, (list, tuple)) else []
    return shown + [f"{point.text} {marks(point)}".rstrip() for point in points if point.kind in _TOLD]


_TOLD = ("correction", "abandoned", "procedure", "loop")
"""Points that say more than the facts above."""


def marks(point: RetroPoint) -> str:
    """The short ids of the messages that a point rests on, as they are cited."""
    ids = dict.fromkeys(str(cite.get("message", "")) for cite in point.cites)
    return " ".join(f"[fw:{short_id(id)}]" for id in ids if id)


def _counted(number: object, one: str) -> str:
    return f"{number} {one}" if number == 1 else f"{number} {one}s"


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _rows(value: object) -> list[Mapping[str, object]]:
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, (list, tuple)) else []


def _count(row: object, name: str) -> object:
    return row.get(name, 0) if isinstance(row, Mapping) else 0
