"""Reading the text index from any process: queries of terms, never of a query language."""

from __future__ import annotations

import contextlib
import math
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import tantivy

from flywheel.index.analyze import Analyzer, compounds, trigrams
from flywheel.index.text_shelf import Group, Note, current, open_index, read_note, scope_of
from flywheel.model import Micros, ProjectId, Seq

NAME_BOOST: Final = 2.0
"""A compound name that matches whole, against its words one by one."""

GRAM_BOOST: Final = 0.5
"""A compound name that no document has whole, within a longer one."""

AKIN_BOOST: Final = 0.7
"""A word that is akin to one of the question's."""

LARGE: Final = 0.2
"""Share of the index from which a project is filtered after the search: skipping blocks beats reading its list."""

COSTLY: Final = 20_000
"""Documents with a word from which looking it up takes milliseconds."""

MOST_STEMS: Final = 32
"""Words of a question that are looked up."""

OVERFETCH: Final = 4
"""How many more hits are taken when they are filtered after the search."""


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """What a query looks for. ``names`` are compounds, ``runs`` the bigrams of each CJK run.

    Of each group of ``akin``, the one stem that counts most in a document counts, by `AKIN_BOOST`.
    """

    stems: tuple[str, ...]
    names: tuple[str, ...]
    runs: tuple[str, ...]
    akin: tuple[tuple[str, ...], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.stems or self.names or self.runs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The hard filters that the index knows. Empty and None do not filter."""

    projects: Sequence[ProjectId] = ()
    statuses: Sequence[str] = ()
    since: Micros | None = None
    until: Micros | None = None  # exclusive


class TextReader:
    """A reader of the newest commit. Safe to use from several threads."""

    def __init__(self, root: Path) -> None:
        """``root`` is the follower's; it need not exist yet."""
        self._root = root
        self._lock = threading.Lock()
        self._analyzer = Analyzer()
        self._path: Path | None = None
        self._index: tantivy.Index | None = None
        self._seen: tuple[int, ...] = ()
        self._searcher: tantivy.Searcher | None = None
        self._note = Note()

    def terms(self, query: str) -> QueryTerms:
        """What a query looks for; nothing in it is an operator."""
        with self._lock:
            found = self._analyzer.analyze(query)
        names = sorted({name for chunk in query.split() for name in compounds(chunk)})
        stems, runs = dict.fromkeys(found.stems.split()), dict.fromkeys(found.runs.split())
        return QueryTerms(tuple(stems), tuple(names), tuple(runs))

    def words(self, text: str) -> Sequence[str]:
        """The stems and CJK bigrams of a text, as `terms` has them of a query; repeats kept."""
        with self._lock:
            found = self._analyzer.analyze(text)
        return [*found.stems.split(), *found.runs.split()] if found.runs else found.stems.split()

    def search(self, terms: QueryTerms, group: Group, bounds: Bounds, limit: int) -> list[tuple[str, float]]:
        """(id, strength) of the best documents of a group, best first.

        Strength is BM25 over the most that the words could score in any document, so it lies between 0 and 1 (above
        when a compound name is found whole) and can be compared between groups; a word that no document has weakens
        every hit.
        """
        searcher, schema = self._open()
        if searcher is None or schema is None or not terms or limit < 1:
            return []
        held = _held(searcher, bounds)
        terms = _affordable(searcher, terms, group, held)
        most = _most(searcher, terms, group)
        wanted = [(tantivy.Occur.Should, one) for one in _clauses(searcher, schema, terms, group)]
        if held > LARGE * searcher.num_docs and not _narrow(bounds):
            hits = searcher.search(tantivy.Query.boolean_query(wanted), limit * OVERFETCH, count=False).hits
            kept = list(_within(searcher, hits, bounds))
            if len(kept) >= limit or len(hits) < limit * OVERFETCH:
                return _named(searcher, kept[:limit], most)
        must = [(tantivy.Occur.Must, tantivy.Query.const_score_query(one, 0.0)) for one in _filters(schema, bounds)]
        query = tantivy.Query.boolean_query([*must, *wanted], minimum_number_should_match=1)
        return _named(searcher, searcher.search(query, limit, count=False).hits, most)

    def watermark(self) -> tuple[str, Seq]:
        """The feed and the last change that this reader sees."""
        self._open()
        return self._note.feed, self._note.seq

    def count(self) -> int:
        """Documents in the index, the watermark's not counted."""
        searcher, _ = self._open()
        return 0 if searcher is None else max(0, searcher.num_docs - 1)

    def _open(self) -> tuple[tantivy.Searcher | None, tantivy.Schema | None]:
        """The newest commit. Looking costs two system calls while nothing has changed."""
        with self._lock:
            for _ in range(3):
                with contextlib.suppress(FileNotFoundError, ValueError):  # swapped or swept while we looked
                    self._refresh()
                    break
            return self._searcher, None if self._index is None else self._index.schema

    def _refresh(self) -> None:
        pointer = self._root / "current"
        seen = _stamp(pointer) + (_stamp(self._path / "meta.json") if self._path else ())
        if seen == self._seen and self._index is not None:
            return
        path = current(self._root)
        if path is None:
            self._path = self._index = self._searcher = None
            self._note = Note()
            return
        if path != self._path or self._index is None:
            self._index, self._path = open_index(path), path
        stamps = _stamp(pointer) + _stamp(path / "meta.json")
        self._index.reload()
        self._searcher = self._index.searcher()
        self._note = read_note(self._searcher, self._index.schema)
        self._seen = stamps


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        found = path.stat()
    except FileNotFoundError:
        return (0, 0)
    return (found.st_ino, found.st_mtime_ns)


def _clauses(
    searcher: tantivy.Searcher, schema: tantivy.Schema, terms: QueryTerms, group: Group
) -> Iterator[tantivy.Query]:
    for stem in terms.stems:
        yield tantivy.Query.term_query(schema, "stems", group + stem, "freq")
    for group_stems in terms.akin:
        alike = [tantivy.Query.term_query(schema, "stems", group + stem, "freq") for stem in group_stems]
        yield tantivy.Query.boost_query(tantivy.Query.disjunction_max_query(alike), AKIN_BOOST)
    for name in terms.names:
        if searcher.doc_freq("names", group + name):
            found = tantivy.Query.term_query(schema, "names", group + name, "basic")
            yield tantivy.Query.boost_query(found, NAME_BOOST)
            continue
        grams = [tantivy.Query.term_query(schema, "grams", group + gram, "basic") for gram in trigrams(name)]
        if grams:
            within = tantivy.Query.boolean_query([(tantivy.Occur.Must, gram) for gram in grams])
            yield tantivy.Query.boost_query(within, GRAM_BOOST)
    for gram in terms.runs:
        yield tantivy.Query.term_query(schema, "grams", group + gram, "basic")


def _held(searcher: tantivy.Searcher, bounds: Bounds) -> int:
    """About how many documents the bounds leave to look through."""
    if not bounds.projects:
        return searcher.num_docs
    return sum(searcher.doc_freq("project", project) for project in bounds.projects)


def _narrow(bounds: Bounds) -> bool:
    return bool(bounds.statuses) or bounds.since is not None or bounds.until is not None


def _affordable(searcher: tantivy.Searcher, terms: QueryTerms, group: Group, held: int) -> QueryTerms:
    """Without the words that most of a large index has, when others are left: they cost milliseconds and say little.

    Of a very long question the rarest `MOST_STEMS` words.
    """
    if held <= COSTLY and len(terms.stems) <= MOST_STEMS:
        return terms
    counts = {stem: searcher.doc_freq("stems", group + stem) for stem in terms.stems}
    rare = [stem for stem in terms.stems if held <= COSTLY or counts[stem] <= COSTLY]
    kept = rare if sum(1 for stem in rare if counts[stem]) > 1 else list(terms.stems)
    if len(kept) > MOST_STEMS:
        kept = sorted(kept, key=lambda stem: (not counts[stem], counts[stem]))[:MOST_STEMS]
    return replace(terms, stems=tuple(kept))


def _most(searcher: tantivy.Searcher, terms: QueryTerms, group: Group) -> float:
    """What a document could score at most: every stem (a compound counts by its words) and every gram, over and over.

    BM25 as tantivy has it: idf = ln(1 + (N - n + 0.5) / (n + 0.5)), k1 = 1.2.
    """
    total = searcher.num_docs
    wanted = [("stems", stem) for stem in terms.stems] + [("grams", gram) for gram in terms.runs]
    wanted = wanted or [("names", name) for name in terms.names]
    counts = [searcher.doc_freq(name, group + term) for name, term in wanted]
    return sum(2.2 * math.log(1 + (max(total - n, 0) + 0.5) / (n + 0.5)) for n in counts)


def _filters(schema: tantivy.Schema, bounds: Bounds) -> Iterator[tantivy.Query]:
    for name, values in (("project", bounds.projects), ("status", bounds.statuses)):
        if len(values) == 1:
            yield tantivy.Query.term_query(schema, name, values[0], "basic")
        elif values:
            yield tantivy.Query.term_set_query(schema, name, list(values))
    if bounds.since is not None or bounds.until is not None:
        last = None if bounds.until is None else bounds.until - 1
        yield tantivy.Query.range_query(schema, "at", tantivy.FieldType.Integer, bounds.since, last)


Found = Sequence[tuple[float, tantivy.DocAddress]]


def _within(searcher: tantivy.Searcher, hits: Found, bounds: Bounds) -> Iterator[tuple[float, tantivy.DocAddress]]:
    if not bounds.projects:
        yield from hits
        return
    scopes = {scope_of(project) for project in bounds.projects}
    held = searcher.fast_field_values("scope", [address for _, address in hits])
    for hit, scope in zip(hits, held, strict=True):
        if scope in scopes:
            yield hit


def _named(searcher: tantivy.Searcher, hits: Found, most: float) -> list[tuple[str, float]]:
    return [(searcher.doc(address)["id"][0], score / most) for score, address in hits]
