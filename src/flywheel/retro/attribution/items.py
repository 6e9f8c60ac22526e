"""What gives an injected item away: its id, the files and symbols it is about, its commands, its words. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from flywheel.harvest.rules.commands import normal, purpose_of
from flywheel.harvest.rules.topic import stems
from flywheel.model import Micros

NAME: Final = 5
"""Characters from which the name of a symbol is distinctive, when it also has a dot, an underscore or a hump."""

WORDS: Final = 4
"""Words without which the text of an item is not distinctive."""

TEXT: Final = 600
"""Characters of an item's text that are looked at."""

COMMON: Final = 3
"""A word that more than a third of a session's items have in common tells none of them."""

_TICKED: Final = re.compile(r"`([^`\n]{3,120})`")
_DISTINCT: Final = re.compile(r"[._:]|[a-z][A-Z]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One injected item. Paths run from the project's root."""

    id: str
    kind: str
    at: Micros  # when it was first told
    short: str  # lower case
    files: frozenset[str] = frozenset()
    symbols: frozenset[str] = frozenset()
    commands: frozenset[str] = frozenset()  # in their normal form
    words: frozenset[str] = frozenset()  # stems of its text


def item_of(
    *, id: str, kind: str, at: Micros, short: str, text: str, files: Iterable[str] = (), symbols: Iterable[str] = ()
) -> Item:
    """An item by its text and by what it is tied to; commands are what stands in back quotes and is one."""
    text = text[:TEXT]
    words = frozenset(stems(text))
    return Item(
        id=id,
        kind=kind,
        at=at,
        short=short.lower(),
        files=frozenset(name.removeprefix("./") for name in files if name),
        symbols=frozenset(name for name in symbols if distinct(name)),
        commands=frozenset(command for part in _TICKED.findall(text) if purpose_of(command := normal(part))),
        words=words if len(words) >= WORDS else frozenset(),
    )


def distinct(name: str) -> bool:
    """Whether the name of a symbol is found nowhere by chance."""
    return len(name) >= NAME and _DISTINCT.search(name) is not None


def distinguish(items: Sequence[Item]) -> list[Item]:
    """The items without the words that many of them share, which say what the project is about and not which item."""
    often = Counter(word for item in items for word in item.words)
    common = {word for word, times in often.items() if times > 2 and times * COMMON > len(items)}
    return [_without(item, common) for item in items]


def _without(item: Item, common: Collection[str]) -> Item:
    words = item.words.difference(common)
    return replace(item, words=words if len(words) >= WORDS else frozenset())
