"""The other names of what a text speaks of, by the confirmed terms of its project's glossary. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from flywheel.search.naming import Names, Term, mentioned

MOST: Final = 8
"""Terms of one text whose other names count."""

Words = Callable[[str], Sequence[str]]
"""The words of a text, in the one form in which texts and names are compared."""


def other_names(terms: Iterable[Term], text: str, words: Words) -> tuple[tuple[str, ...], ...]:
    """For each of the terms that a text names, the names that the text does not have."""
    there = set(words(text))
    found = (
        tuple(name for name in term.names if (mine := words(name)) and not there.issuperset(mine)) for term in terms
    )
    return tuple(group for group in found if group)[:MOST]


def aliases_of(text: str, names: Names, words: Words) -> tuple[tuple[str, ...], ...]:
    """The other names of what a text that nobody typed just now speaks of: it has no slips of the keys."""
    return other_names(mentioned(text, names, words, lambda word: True).terms, text, words)
