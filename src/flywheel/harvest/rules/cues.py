"""Cues: ways of stating knowledge, found in two steps.

Trigger words select a cue (one set intersection per sentence), its pattern confirms it. The weight is what the cue
alone says for the sentence being knowledge, before who said it and how counts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from flywheel.harvest.rules.cue_table import TABLE
from flywheel.model import Category, ClaimType, Role

_WORD: Final = re.compile(r"[a-z]+(?:'[a-z]+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cue:
    """One way of stating one sort of knowledge."""

    order: int
    name: str
    category: Category
    type: ClaimType
    weight: float
    triggers: frozenset[str]
    beside: frozenset[str]  # of these one must stand in the sentence too; empty asks for nothing
    pattern: re.Pattern[str]
    role: Role | None = None  # whose words only; None is anybody's
    firm: bool = False  # holds only when settled: no "could", no "if we"
    choice: bool = False  # a word of deciding, which "not yet" turns around


@dataclass(frozen=True, slots=True)
class Found:
    """A cue and where it stands in a sentence."""

    cue: Cue
    match: re.Match[str]


_SHELVES: Final = {
    "decision": (Category.DECISIONS, ClaimType.DECISION),
    "convention": (Category.CONVENTIONS, ClaimType.DECISION),
    "policy": (Category.POLICIES, ClaimType.DECISION),
    "preference": (Category.PREFERENCES, ClaimType.JUDGMENT),
    "task": (Category.TASKS, ClaimType.FACT),
    "judgment": (Category.KNOWLEDGE, ClaimType.JUDGMENT),
    "hypothesis": (Category.DEBUGGING, ClaimType.HYPOTHESIS),
    "fact": (Category.KNOWLEDGE, ClaimType.FACT),
    "project": (Category.PROJECTS, ClaimType.FACT),
    "architecture": (Category.ARCHITECTURE, ClaimType.FACT),
    "people": (Category.PEOPLE, ClaimType.FACT),
    "dead-end": (Category.DEBUGGING, ClaimType.FACT),
}


def _cue(order: int, name: str, shelf: str, weight: float, triggers: str, flags: str, pattern: str) -> Cue:
    category, type_ = _SHELVES[shelf]
    words = flags.split()
    triggers, _, beside = triggers.partition(" & ")
    return Cue(
        order=order,
        name=name,
        category=category,
        type=type_,
        weight=weight,
        triggers=frozenset(triggers.split()),
        beside=frozenset(beside.split()),
        pattern=re.compile(pattern, re.IGNORECASE),
        role=Role.USER if "user" in words else None,
        firm="firm" in words,
        choice="choice" in words,
    )


CUES: Final = tuple(_cue(order, *row) for order, row in enumerate(TABLE))

_BY_WORD: Final = {
    role: {
        word: tuple(cue for cue in CUES if word in cue.triggers and cue.role in (None, role))
        for word in {word for cue in CUES if cue.role in (None, role) for word in cue.triggers}
    }
    for role in (Role.USER, Role.ASSISTANT)
}
TRIGGERS: Final = {role: frozenset(table) for role, table in _BY_WORD.items()}
"""Every word that some cue of a role needs; text without any of them holds no cue."""


@lru_cache(maxsize=256)
def words_of(plain: str) -> frozenset[str]:
    """The lower-case words of a text, contractions whole."""
    lower = plain.lower()
    return frozenset(_WORD.findall(lower if lower.isascii() else lower.replace("’", "'")))


def found(plain: str, words: frozenset[str], role: Role) -> list[Found]:
    """The cues that stand in a sentence with these words, each once."""
    table = _BY_WORD[role]
    seen: dict[int, Cue] = {}
    for word in words & TRIGGERS[role]:
        for cue in table[word]:
            if not cue.beside or not cue.beside.isdisjoint(words):
                seen[cue.order] = cue
    if not seen:
        return []
    return [
        Found(seen[order], match) for order in sorted(seen) if (match := seen[order].pattern.search(plain)) is not None
    ]


def may_hold(words: frozenset[str], role: Role) -> bool:
    """Whether some cue of the role could stand in a text with these words."""
    table = _BY_WORD[role]
    return any(
        not cue.beside or not cue.beside.isdisjoint(words) for word in words & TRIGGERS[role] for cue in table[word]
    )
