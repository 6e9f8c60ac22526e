"""Whether what a briefing put into a session was taken up in it; pure.

An item counts as used when a later reply or tool call holds its short id (``fw:7f3a1c``), its whole title (12 or more
characters), or a file or symbol that it is about (5 or more characters). That is simple and errs on both sides:
an agent may find the same file by itself, and may use a fact in words of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from flywheel.model import Message, MessageKind, Micros

TITLE: Final = 12
"""Characters from which a title is distinctive."""

NAME: Final = 5
"""Characters from which the name of a file or symbol is distinctive."""

_HEAD: Final = 6000  # characters of a message that are looked at


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One injected item and what gives its use away; all in lower case."""

    id: str
    at: Micros
    marks: tuple[str, ...]


def marks_of(*, short: str, title: str = "", names: Iterable[str] = ()) -> tuple[str, ...]:
    """What to look for: the short id, the title and the names that are distinctive enough."""
    found = [f"fw:{short}"] if short else []
    if len(title) >= TITLE:
        found.append(" ".join(title.split()))
    found += [name for name in names if len(name) >= NAME]
    return tuple(dict.fromkeys(mark.lower() for mark in found))


@dataclass(slots=True)
class Watch:
    """Looks for items in a session's messages."""

    items: list[Item]
    used: set[str] = field(default_factory=set)

    def hear(self, message: Message) -> None:
        """Look at one message: only what the agent says or does counts."""
        if not self.items or message.kind not in (MessageKind.REPLY, MessageKind.TOOL_CALL):
            return
        text = " ".join(message.text[:_HEAD].lower().split())
        for item in self.items:
            if message.created_at >= item.at and any(mark in text for mark in item.marks):
                self.used.add(item.id)
        self.items = [item for item in self.items if item.id not in self.used]


def verdict(injected: Mapping[str, bool | None], judged: Iterable[str], used: Iterable[str]) -> dict[str, bool]:
    """What the ledger should say of each judged item, where it says something else now."""
    taken = set(used)
    wanted = {id: id in taken for id in judged}
    return {id: value for id, value in wanted.items() if injected.get(id) is not value}
