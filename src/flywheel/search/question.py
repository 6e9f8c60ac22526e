"""What a question says besides its words: which project it names. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from flywheel.text.words import split_identifier, terms

_FRAMING: Final = """
    across compare compared comparison current currently describe different discuss discussed encountered entire exact
    exactly explain full give going happen happened kind know list mention mentioned original originally overall
    particular project projects remind repo repository sequence session sessions show sort specific specifically tell
    thing things time type various walk way whole
"""
FRAMING: Final = frozenset(_FRAMING.split())
"""Words by which a question speaks of itself or of the record, and not of its subject.

With them LoCoMo (turn recall@10) falls from 78.1 to 77.8 %, DevMemBench (session recall, frac@3) from 93.0 to 91.9."""

_EDGES: Final = ".,;:!?()[]{}<>\"'`"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, the words that discriminate in it, and the projects that it names."""

    text: str
    words: str  # without framing words and names of projects; the whole text when nothing else would be left
    projects: frozenset[str] = frozenset()
    aliases: tuple[tuple[str, ...], ...] = ()  # of each term of the glossary that it uses, the other names

    @property
    def sought(self) -> str:
        """The words with what else they are called: what a passage that answers may hold."""
        return " ".join((self.words, *(name for group in self.aliases for name in group)))


def understand(text: str, names: Mapping[str, str]) -> Question:
    """``names`` gives each searched project's id its name.

    A name of several words (``billing-api``) that occurs in the text names that project: its hits count more, and
    the name's words no longer count, since they are everywhere in that project. A name that is one plain word may
    mean anything and is left alone.
    """
    wanted: dict[tuple[str, ...], set[str]] = {}
    for id, name in names.items():
        parts = tuple(split_identifier(name))
        if len(parts) > 1:
            wanted.setdefault(parts, set()).add(id)
    chunks = text.split()
    plain = [re.sub(r"['’]s$", "", chunk.strip(_EDGES)) for chunk in chunks]
    parted = [tuple(split_identifier(chunk)) for chunk in plain] if wanted else []
    named: set[str] = set()
    dropped = {number for number, chunk in enumerate(plain) if chunk.lower() in FRAMING}
    for start in range(len(parted)):
        for parts, ids in wanted.items():
            stop = _match(parted, start, parts)
            if stop:
                named |= ids
                dropped.update(range(start, stop))
    left = " ".join(chunk for number, chunk in enumerate(chunks) if number not in dropped)
    return Question(text=text, words=left if terms(left) else text, projects=frozenset(named))


def _match(parted: list[tuple[str, ...]], start: int, parts: tuple[str, ...]) -> int:
    """Where a name that begins at chunk ``start`` ends, or 0: ``billing-api`` and ``billing api`` are one name."""
    found: tuple[str, ...] = ()
    for stop in range(start, min(start + len(parts), len(parted))):
        found += parted[stop]
        if found == parts:
            return stop + 1
        if found != parts[: len(found)]:
            return 0
    return 0
