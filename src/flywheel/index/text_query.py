"""Queries of the text index, built term by term: nothing that is typed is an operator."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import tantivy

from flywheel.index.analyze import trigrams
from flywheel.index.text_shelf import Group
from flywheel.model import Micros, ProjectId

NAME_BOOST: Final = 2.0
"""A compound name that matches whole, against its words one by one."""

GRAM_BOOST: Final = 0.5
"""A compound name that no document has whole, within a longer one."""

AKIN_BOOST: Final = 0.7
"""A word that is akin to one of the question's."""

ALIAS_BOOST: Final = 0.7
"""Another name of what the question names, against a word of the question."""

COSTLY: Final = 20_000
"""Documents with a word from which looking it up takes milliseconds."""

MOST_STEMS: Final = 32
"""Words of a question that are looked up."""


Phrase = tuple[tuple[str, str], ...]
"""A name as (field, term) pairs, all of which a document must have."""


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """What a query looks for. ``names`` are compounds, ``runs`` the bigrams of each CJK run.

    Of each group of ``akin``, the one stem that counts most in a document counts, by `AKIN_BOOST`; of each group of
    ``aliases``, the one name that a document has all words of, by `ALIAS_BOOST` as if it were one word.
    """

    stems: tuple[str, ...]
    names: tuple[str, ...]
    runs: tuple[str, ...]
    akin: tuple[tuple[str, ...], ...] = ()
    aliases: tuple[tuple[Phrase, ...], ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)  # of stems that count otherwise than once
    most: int = MOST_STEMS

    def __bool__(self) -> bool:
        return bool(self.stems or self.names or self.runs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The hard filters that the index knows. Empty and None do not filter."""

    projects: Sequence[ProjectId] = ()
    statuses: Sequence[str] = ()
    since: Micros | None = None
    until: Micros | None = None  # exclusive

    @property
    def only_projects(self) -> bool:
        """Whether nothing but the project is filtered."""
        return not self.statuses and self.since is None and self.until is None


@dataclass(frozen=True, slots=True)
class View:
    """One snapshot of the index, and one group of it."""

    searcher: tantivy.Searcher
    schema: tantivy.Schema
    group: Group

    def count(self, field: str, term: str) -> int:
        """Documents of the group that have a term."""
        found: int = self.searcher.doc_freq(field, self.group + term)
        return found

    def term(self, field: str, term: str) -> tantivy.Query:
        """Documents of the group that have a term, scored by BM25."""
        option = "freq" if field == "stems" else "basic"
        return tantivy.Query.term_query(self.schema, field, self.group + term, option)


def clauses(view: View, terms: QueryTerms, counts: Mapping[str, int], *, costly: bool) -> list[tantivy.Query]:
    """One query for each thing that is looked for and that the index has. ``counts`` are those of the stems."""
    wanted = [_weighed(view, terms, stem) for stem in _worth_it(counts, terms.most, costly=costly)]
    for group in terms.akin:
        alike = tantivy.Query.disjunction_max_query([view.term("stems", stem) for stem in group])
        wanted.append(tantivy.Query.boost_query(alike, AKIN_BOOST))
    wanted += _aliases(view, terms.aliases, costly=costly)
    wanted += _names(view, terms.names)
    return wanted + [view.term("grams", gram) for gram in terms.runs]


def _aliases(view: View, groups: Sequence[Sequence[Phrase]], *, costly: bool) -> Iterator[tantivy.Query]:
    for group in groups:
        named = [query for phrase in group if (query := _whole(view, phrase, costly=costly)) is not None]
        if named:
            yield tantivy.Query.disjunction_max_query(named)


def _whole(view: View, phrase: Phrase, *, costly: bool) -> tantivy.Query | None:
    """Documents with every word of a name; None when there is none, or a word alone that most have."""
    counts = [view.count(field, term) for field, term in phrase]
    if not counts or not min(counts) or (costly and min(counts) > COSTLY):
        return None
    words = [(tantivy.Occur.Must, view.term(field, term)) for field, term in phrase]
    return tantivy.Query.boost_query(tantivy.Query.boolean_query(words), ALIAS_BOOST / len(words))


def _names(view: View, names: Sequence[str]) -> Iterator[tantivy.Query]:
    for name in names:
        if view.count("names", name):
            yield tantivy.Query.boost_query(view.term("names", name), NAME_BOOST)
            continue
        grams = [(tantivy.Occur.Must, view.term("grams", gram)) for gram in trigrams(name)]
        if grams:
            yield tantivy.Query.boost_query(tantivy.Query.boolean_query(grams), GRAM_BOOST)


def _weighed(view: View, terms: QueryTerms, stem: str) -> tantivy.Query:
    weight = terms.weights.get(stem, 1.0)
    query = view.term("stems", stem)
    return query if weight == 1.0 else tantivy.Query.boost_query(query, weight)


def _worth_it(counts: Mapping[str, int], limit: int, *, costly: bool) -> list[str]:
    """The stems that are looked up. In a large index not those that most of it has, when two others are left: they cost
    milliseconds and say little. Of a very long question the rarest, ``limit`` of them.
    """
    there = [stem for stem, count in counts.items() if count]
    rare = [stem for stem in there if counts[stem] <= COSTLY] if costly else there
    kept = rare if len(rare) > 1 else there
    return kept if len(kept) <= limit else sorted(kept, key=lambda stem: (counts[stem], stem))[:limit]


def most(view: View, terms: QueryTerms, counts: Mapping[str, int]) -> float:
    """What a document could score at most: every stem (a compound counts by its words) and every gram, over and over.

    BM25 as tantivy has it: idf = ln(1 + (N - n + 0.5) / (n + 0.5)), k1 = 1.2.
    """
    total = view.searcher.num_docs
    found = [*counts.values(), *(view.count("grams", gram) for gram in terms.runs)]
    found = found or [view.count("names", name) for name in terms.names]
    return sum(2.2 * math.log(1 + (max(total - n, 0) + 0.5) / (n + 0.5)) for n in found)


def filters(view: View, bounds: Bounds) -> Iterator[tantivy.Query]:
    """What must hold, and does not score."""
    for name, values in (("project", bounds.projects), ("status", bounds.statuses)):
        if len(values) == 1:
            yield _silent(tantivy.Query.term_query(view.schema, name, values[0], "basic"))
        elif values:
            yield _silent(tantivy.Query.term_set_query(view.schema, name, list(values)))
    if bounds.since is not None or bounds.until is not None:
        last = None if bounds.until is None else bounds.until - 1
        span = tantivy.Query.range_query(view.schema, "at", tantivy.FieldType.Integer, bounds.since, last)
        yield _silent(span)


def _silent(query: tantivy.Query) -> tantivy.Query:
    return tantivy.Query.const_score_query(query, 0.0)
