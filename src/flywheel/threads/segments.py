"""Cutting a session where its topic shifts. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from flywheel.embed import Embedder
from flywheel.text.words import terms
from flywheel.threads.rules import Rarity, alike
from flywheel.threads.topics import PROMPT, Turn, topic_of

TELLING: Final = 4
"""Content words from which a prompt says what it is about; "yes, go on" belongs to what was before."""

LEFT: Final = 4
"""Turns before a place that are compared with those after it."""

RIGHT: Final = 2

CUT: Final = 0.21
"""Likeness below which the topic has shifted."""

CUT_WORDS: Final = 0.03
"""The same where no embedder is."""

ANNOUNCED: Final = 0.12
"""How much more likeness does not help where a prompt says that something else begins."""

MOST: Final = 12
"""Segments of one session; what comes after belongs to the last."""

TURNS: Final = 400
"""Turns of one session that are looked at for shifts; what comes after belongs to the last segment."""

_ANNOUNCES: Final = re.compile(
    r"\s*(?:(?:ok(?:ay)?|good|great|thanks|thank\s+you|done|perfect|now|so|alright)[,.!]*\s+){0,3}"
    r"(?:(?:new|next|another|different|other|second)\s+(?:topic|task|thing|subject|issue|question|problem)\b"
    r"|(?:on\s+to\s+|let'?s\s+(?:move|switch|turn)\s+(?:on\s+)?to\b)|switching\s+to\b|something\s+(?:else|different)\b"
    r"|(?:completely\s+)?unrelated\b|by\s+the\s+way\b|separately\b|apart\s+from\s+that\b)",
    re.IGNORECASE,
)


def segments_of(turns: Sequence[Turn], embedder: Embedder | None) -> Sequence[Sequence[Turn]]:
    """The turns of a session in runs that are about one thing each; none when nothing tells of a topic."""
    units = _units(turns)
    if not units:
        return []
    rarity = Rarity()
    found = [list(units[0])]
    begun = 0  # where the present segment begins
    for at in range(1, len(units)):
        left = [turn for unit in units[max(begun, at - LEFT) : at] for turn in unit]
        if at < TURNS and len(found) < MOST and _shifts(left, units, at, embedder, rarity):
            found.append([])
            begun = at
        found[-1] += units[at]
    return found


def _units(turns: Sequence[Turn]) -> list[list[Turn]]:
    """Turns that say what they are about, each with those after it that do not."""
    units: list[list[Turn]] = []
    first: list[Turn] = []
    for turn in turns:
        if len(terms(turn.prompt[:PROMPT])) >= TELLING:
            units.append([*first, turn])
            first = []
        elif units:
            units[-1].append(turn)
        else:
            first.append(turn)
    return units


def _shifts(
    left: Sequence[Turn], units: Sequence[Sequence[Turn]], at: int, embedder: Embedder | None, rarity: Rarity
) -> bool:
    """Whether another topic begins with this unit: neither it nor what follows is like what was before."""
    bar = CUT if embedder is not None else CUT_WORDS
    if _ANNOUNCES.match(units[at][0].prompt):
        bar += ANNOUNCED
    before = topic_of(left, embedder)
    if alike(topic_of(units[at], embedder), before, rarity) >= bar:
        return False
    after = [turn for unit in units[at : at + RIGHT] for turn in unit]
    return alike(topic_of(after, embedder), before, rarity) < bar
