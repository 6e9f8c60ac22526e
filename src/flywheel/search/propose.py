"""Candidates for an answer: what full text, vectors, exact names and graph neighbours propose."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from flywheel.embed import Embedder
from flywheel.index.analyze import compounds
from flywheel.index.text_query import Bounds
from flywheel.index.text_read import TextReader
from flywheel.index.text_shelf import Group
from flywheel.index.vectors import VectorIndex
from flywheel.model import SERVED, Kind, Status
from flywheel.search import queries
from flywheel.search.lexicon import Lexicon
from flywheel.search.queries import Filters
from flywheel.search.question import Question
from flywheel.search.rules import Candidate, Key, Listing, Weights, fuse
from flywheel.store import Tx
from flywheel.text.redact import Redactor
from flywheel.text.words import STOP_WORDS

GROUPS: Final[dict[Kind, tuple[Group, ...]]] = {
    Kind.MESSAGE: (Group.TALK, Group.WORK),
    Kind.DOCUMENT: (Group.FILE,),
    Kind.SYMBOL: (Group.SYMBOL,),
}
"""Where the text index holds a kind. An entry's group depends on its status."""

BEST: Final = 5
"""Entries whose neighbours in the graph are candidates."""

MOST_WORDS: Final = 24
"""Words of a question in which subjects are looked for."""

LONGEST_NAME: Final = 6
"""Words of a subject's name."""

EDGES: Final = ".,;:!?()[]{}<>\"'`"
"""What stands around a name in prose."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What is looked for."""

    question: Question
    kinds: Sequence[Kind]
    filters: Filters
    pool: int  # how many candidates each list may propose
    said: bool = False  # of messages only prompts, replies and summaries

    @property
    def heirs(self) -> bool:
        """Whether superseded entries are looked for, so that what took their place is found by their words."""
        return Kind.ENTRY in self.kinds and set(self.filters.statuses) == set(SERVED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """What can propose candidates."""

    text: TextReader
    vectors: VectorIndex | None
    embedder: Embedder | None
    lexicon: Lexicon
    redact: Redactor


def propose(tx: Tx, sources: Sources, ask: Ask, weights: Weights) -> list[Candidate]:
    """Everything that some list proposes, fused, best first. The store has not confirmed it yet."""
    listings = [*_by_text(sources, ask), *_by_vector(sources, ask)]
    named = queries.named(tx, names_in(ask.question.text), ask.filters.projects, ask.kinds)
    named += _named_subjects(tx, ask)
    if named:
        listings.append(Listing(name="name", hits=[(key, 1.0) for key in dict.fromkeys(named)]))
    fused = fuse(listings, weights)
    if Kind.ENTRY in ask.kinds:
        best = [one for one in fused if one.key[0] is Kind.ENTRY][:BEST]
        near = queries.neighbours(tx, [one.key[1] for one in best])
        if near:
            strength = best[0].score
            listings.append(Listing(name="graph", hits=[((Kind.ENTRY, id), strength) for id in near]))
            fused = fuse(listings, weights)
    return fused


def _named_subjects(tx: Tx, ask: Ask) -> list[Key]:
    """The pages of the subjects that a question names, of names within one another the longest."""
    if Kind.ENTRY not in ask.kinds:
        return []
    phrases = subjects_in(ask.question.text)
    found = queries.subjects(tx, list(phrases), ask.filters.projects)
    spans = {name: phrases[name] for name, _ in found}
    return [
        key
        for name, key in found
        if not any(
            one[0] <= spans[name][0] and spans[name][1] <= one[1] and one != spans[name] for one in spans.values()
        )
    ]


def subjects_in(text: str) -> dict[str, tuple[int, int]]:
    """The phrases of a question that may be the subject of a page, also in the singular, with their place in words."""
    words = [re.sub(r"['’]s$", "", chunk.strip(EDGES)).lower() for chunk in text.split()[:MOST_WORDS]]
    found: dict[str, tuple[int, int]] = {}
    for start in range(len(words)):
        for stop in range(start + 1, min(start + LONGEST_NAME, len(words)) + 1):
            last = words[stop - 1]
            if words[start] in STOP_WORDS or last in STOP_WORDS:
                continue
            front = words[start : stop - 1]
            for form in dict.fromkeys(
                (last, last.removesuffix("s"), re.sub("ies$", "y", last), re.sub("es$", "", last))
            ):
                found.setdefault(" ".join((*front, form)), (start, stop))
    return found


def names_in(text: str) -> list[str]:
    """The words of a question that look like a path or identifier, as they are written."""
    found = (chunk.strip(EDGES) for chunk in text.split())
    return [name for name in dict.fromkeys(found) if compounds(name)][:20]


def _by_text(sources: Sources, ask: Ask) -> Iterator[Listing]:
    terms = sources.text.terms(ask.question.words)
    if not terms:
        return
    terms = replace(terms, akin=sources.lexicon.akin(terms.stems))
    filters = ask.filters
    for kind in ask.kinds:
        for group in _groups(kind, ask):
            narrow = filters.statuses if kind is Kind.ENTRY and set(filters.statuses) != set(SERVED) else ()
            if group is Group.RETIRED and ask.heirs:
                narrow = (Status.SUPERSEDED,)
            timed = kind is not Kind.SYMBOL
            bounds = Bounds(
                projects=filters.projects,
                statuses=narrow,
                since=filters.since if timed else None,
                until=filters.until if timed else None,
            )
            hits = sources.text.search(terms, group, bounds, ask.pool)
            yield Listing(name="text", hits=[((kind, id), strength) for id, strength in hits])


def _groups(kind: Kind, ask: Ask) -> tuple[Group, ...]:
    if kind is Kind.MESSAGE and ask.said:
        return (Group.TALK,)
    if kind is not Kind.ENTRY:
        return GROUPS[kind]
    wanted = set(ask.filters.statuses)
    groups = ((Group.ENTRY, wanted & set(SERVED)), (Group.RETIRED, wanted - set(SERVED)))
    return tuple(group for group, statuses in groups if statuses or (group is Group.RETIRED and ask.heirs))


def _by_vector(sources: Sources, ask: Ask) -> Iterator[Listing]:
    if sources.vectors is None or sources.embedder is None:
        return
    question = sources.redact.text(ask.question.text)
    vector = sources.embedder.encode([question])[0]
    if not vector.any():
        return
    for kind in ask.kinds:
        found = sources.vectors.search(ask.filters.projects, [kind], sources.embedder.model_id, vector, ask.pool)
        hits: list[tuple[Key, float]] = [((kind, id), similarity) for kind, id, similarity in found]
        yield Listing(name="vector", hits=hits, full=len(hits) >= ask.pool)
