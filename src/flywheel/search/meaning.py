"""Which of the entries that were found a question means: for whom nobody asked to see more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from flywheel.model import Kind
from flywheel.search import queries, rules
from flywheel.search.propose import Ask, Sources
from flywheel.search.rules import Candidate, Facts, Key, Weights
from flywheel.store import Tx
from flywheel.text.words import terms

LOOKED_AT: Final = 40
"""Entries that a question does not name and whose words are compared with it; the best."""

FEW: Final = 5
"""Entries that speak of a thing, past which its name alone does not say which of them is meant."""


def meant(
    tx: Tx, sources: Sources, ask: Ask, candidates: Sequence[Candidate], facts: Mapping[Key, Facts], weights: Weights
) -> list[Candidate]:
    """The candidates without the entries that the question does not mean; in the same order."""
    unnamed = [one for one in candidates if one.key[0] is Kind.ENTRY and not one.named][:LOOKED_AT]
    asked = _asked(sources, ask)
    linked = _linked(tx, sources, [one.key[1] for one in unnamed], asked.left)
    full = queries.read_full(tx, [one.key for one in unnamed])
    kept: set[Key] = set()
    for one in unnamed:
        text = f"{full[one.key].title}\n{full[one.key].text}\n{facts[one.key].subject}"
        said = frozenset(sources.text.words(text))
        if one.key[1] in linked or rules.meant(asked.words, said, weights, vector=one.vector, names=asked.names):
            kept.add(one.key)
    return [one for one in candidates if one.key[0] is not Kind.ENTRY or one.named or one.key in kept]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What a question asks beside the terms of the glossary that it names."""

    words: frozenset[frozenset[str]]  # for each word, the stems that it may stand as
    left: Sequence[str]  # the words as they are written, in order
    names: bool  # whether it names terms


def alternatives(sources: Sources, ask: Ask) -> Mapping[str, frozenset[str]]:
    """Each word of a question that counts and belongs to no name of the glossary, in order, with the stems that it may
    stand as: its own, and those of the names that it is akin to."""
    counted = set(terms(ask.question.words))
    found: dict[str, frozenset[str]] = {}
    for word in dict.fromkeys(ask.mentions.left):
        if word in counted and (stems := sources.text.words(word)):
            akin = sources.lexicon.akin(list(stems))
            found[word] = frozenset((*stems, *(stem for group in akin for stem in group)))
    return found


def _asked(sources: Sources, ask: Ask) -> _Asked:
    counted = set(terms(ask.question.words))
    left = [word for word in dict.fromkeys(ask.mentions.left) if word in counted]
    words = frozenset(alternatives(sources, ask).values())
    return _Asked(words=words, left=left, names=bool(ask.mentions.terms))


def _linked(tx: Tx, sources: Sources, entries: Sequence[str], left: Sequence[str]) -> set[str]:
    """Those of these entries that speak of a thing by its name, which few of them do, and the question does."""
    asked = f" {' '.join(_plain(sources, left))} "
    speak = queries.linked(tx, entries)
    few = (ids for name, ids in speak.items() if len(ids) <= FEW and _within(sources, name, asked))
    return {id for ids in few for id in ids}


def _within(sources: Sources, name: str, asked: str) -> bool:
    words = " ".join(_plain(sources, terms(name)))
    return bool(words) and f" {words} " in asked


def _plain(sources: Sources, words: Sequence[str]) -> list[str]:
    """Each word in one form."""
    return [" ".join(sources.text.words(word)) or word for word in words]
