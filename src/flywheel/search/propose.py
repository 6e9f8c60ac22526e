"""Candidates for an answer: what full text, vectors, exact names and graph neighbours propose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import structlog
from numpy.typing import NDArray

from flywheel.embed import Asked, Away, Embedder, EmbedderDown, ModelMismatch, ModelMissing, Sided, encode_queries
from flywheel.index.analyze import compounds
from flywheel.index.text_query import Bounds
from flywheel.index.text_read import TextReader
from flywheel.index.text_shelf import Group
from flywheel.index.vectors import VectorIndex
from flywheel.model import SERVED, Clean, Kind, Status
from flywheel.search import queries
from flywheel.search.lexicon import Lexicon
from flywheel.search.naming import NOTHING, KnownNames, Mentions
from flywheel.search.queries import Filters
from flywheel.search.question import Question
from flywheel.search.rules import Candidate, Key, Listing, Weights, fuse
from flywheel.search.serving import ServingEmbedder
from flywheel.store import Tx
from flywheel.text.called import called
from flywheel.text.phrases import EDGES, subjects_in
from flywheel.text.redact import Redactor
from flywheel.text.signatures import marks_in

GROUPS: Final[dict[Kind, tuple[Group, ...]]] = {
    Kind.MESSAGE: (Group.TALK, Group.WORK),
    Kind.DOCUMENT: (Group.FILE,),
    Kind.SYMBOL: (Group.SYMBOL,),
}
"""Where the text index holds a kind. An entry's group depends on its status."""

log = structlog.get_logger("search")

HURRY: Final = 0.03
"""Seconds that a prompt to an agent waits for a server's vector: half of what a briefing has."""

BEST: Final = 5
"""Entries whose neighbours in the graph are candidates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What is looked for."""

    question: Question
    kinds: Sequence[Kind]
    filters: Filters
    pool: int  # how many candidates each list may propose
    said: bool = False  # of messages only prompts, replies and summaries
    code: NDArray[np.float32] | None = None  # the question as the model of code understands it
    mentions: Mentions = NOTHING  # what it names of the glossary
    meant: bool = False  # of entries only those that the question means (`rules.meant`)
    unasked: bool = False  # nobody asked memory anything: a prompt to an agent

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
    names: KnownNames
    redact: Redactor
    code: Asked | None = None  # embeds definitions, instead of ``embedder``


def propose(tx: Tx, sources: Sources, ask: Ask, weights: Weights) -> list[Candidate]:
    """Everything that some list proposes, fused, best first. The store has not confirmed it yet."""
    listings = [*_by_text(sources, ask, weights), *_by_vector(tx, sources, ask, weights)]
    names = [*names_in(ask.question.text), *marks_in(ask.question.text)]
    named = queries.named(tx, names, ask.filters.projects, ask.kinds)
    named += _named_subjects(tx, ask)
    named += _named_terms(tx, ask)
    named += queries.beacons(tx, _called(ask.question.text), ask.filters.projects, ask.kinds)
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


def _named_terms(tx: Tx, ask: Ask) -> list[Key]:
    """What the terms of the glossary that a question names stand for."""
    projects = ask.filters.projects
    if not projects:
        return []
    targets = [target for term in ask.mentions.terms for target in term.targets]
    found = queries.entries_of(tx, targets, projects) if Kind.ENTRY in ask.kinds else []
    return found + queries.named(tx, targets, projects, ask.kinds)


def _called(text: str) -> list[str]:
    """The phrases of a question that may be the name of a beacon, as these are compared."""
    return list(dict.fromkeys(map(called, subjects_in(text))))


def names_in(text: str) -> list[str]:
    """The words of a question that look like a path or identifier, as they are written."""
    found = (chunk.strip(EDGES) for chunk in text.split())
    return [name for name in dict.fromkeys(found) if compounds(name)][:20]


def _by_text(sources: Sources, ask: Ask, weights: Weights) -> Iterator[Listing]:
    terms = sources.text.terms(ask.question.words)
    if not terms:
        return
    aliases = tuple(tuple(map(sources.text.phrase, group)) for group in ask.question.aliases)
    terms = replace(terms, akin=sources.lexicon.akin(terms.stems), aliases=aliases)
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
            weight = weights.code_text if kind is Kind.SYMBOL and ask.code is not None else None
            yield Listing(name="text", hits=[((kind, id), strength) for id, strength in hits], weight=weight)


def _groups(kind: Kind, ask: Ask) -> tuple[Group, ...]:
    if kind is Kind.MESSAGE and ask.said:
        return (Group.TALK,)
    if kind is not Kind.ENTRY:
        return GROUPS[kind]
    wanted = set(ask.filters.statuses)
    groups = ((Group.ENTRY, wanted & set(SERVED)), (Group.RETIRED, wanted - set(SERVED)))
    return tuple(group for group, statuses in groups if statuses or (group is Group.RETIRED and ask.heirs))


def _by_vector(tx: Tx, sources: Sources, ask: Ask, weights: Weights) -> Iterator[Listing]:
    if sources.vectors is None or sources.embedder is None:
        return
    others = [kind for kind in ask.kinds if kind is not Kind.SYMBOL or sources.code is None]
    understood: list[tuple[Kind, str, NDArray[np.float32]]] = []
    if others:
        embedder = sources.embedder.at(tx) if isinstance(sources.embedder, ServingEmbedder) else sources.embedder
        vector = _asked(tx, embedder, sources.redact.text(ask.question.text), hurried=ask.meant)
        understood = [(kind, embedder.model_id, vector) for kind in others if vector is not None]
    if sources.code is not None and ask.code is not None:
        understood.append((Kind.SYMBOL, sources.code.model_id, ask.code))
    for kind, model, vector in understood:
        if not vector.any():
            continue
        found = sources.vectors.search(ask.filters.projects, [kind], model, vector, ask.pool)
        hits: list[tuple[Key, float]] = [((kind, id), similarity) for kind, id, similarity in found]
        weight = weights.code_vector if vector is ask.code else None
        yield Listing(name="vector", hits=hits, full=len(hits) >= ask.pool, weight=weight)


def _asked(tx: Tx, embedder: Embedder, question: Clean, *, hurried: bool) -> NDArray[np.float32] | None:
    """The question's vector; None where the model does not answer (in time), and full text has to do."""
    vector: NDArray[np.float32] | None
    try:
        if hurried and isinstance(embedder, Away):
            vector = embedder.encode_soon(question, HURRY)
        else:
            vector = encode_queries(embedder, [question])[0]
    except (ModelMissing, EmbedderDown, ModelMismatch) as error:
        log.warning("question_not_embedded", model=embedder.model_id, error=error.message)
        return None
    if vector is not None and isinstance(embedder, Sided):  # its weights are not ours
        row = tx.one("SELECT dim FROM embedding WHERE model = :model LIMIT 1", model=embedder.model_id)
        if row is not None and row[0] != len(vector):
            log.warning("model_mismatch", model=embedder.model_id, stored=row[0], given=len(vector))
            return None
    return vector
