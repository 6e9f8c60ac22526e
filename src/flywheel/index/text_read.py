"""Reading the text index from any process: queries of terms, never of a query language."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import tantivy

from flywheel.index import text_query
from flywheel.index.analyze import Analyzer, compounds
from flywheel.index.text_query import Bounds, Phrase, QueryTerms, View
from flywheel.index.text_shelf import Group, Note, current, open_index, read_note, scope_of
from flywheel.model import Seq

LARGE: Final = 0.2
"""Share of the index from which a project is filtered after the search: skipping blocks beats reading its list."""

OVERFETCH: Final = 4
"""How many more hits are taken when they are filtered after the search."""


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

    def phrase(self, name: str) -> Phrase:
        """A name as what a document must have to have it."""
        with self._lock:
            found = self._analyzer.analyze(name)
        stems = [("stems", stem) for stem in dict.fromkeys(found.stems.split())]
        return (*stems, *(("grams", run) for run in dict.fromkeys(found.runs.split())))

    def words(self, text: str) -> Sequence[str]:
        """The stems and CJK bigrams of a text, as `terms` has them of a query; repeats kept."""
        with self._lock:
            found = self._analyzer.analyze(text)
        return [*found.stems.split(), *found.runs.split()] if found.runs else found.stems.split()

    def in_entries(self, word: str) -> bool:
        """Whether some entry has a word, in whatever project."""
        searcher, schema = self._open()
        if searcher is None or schema is None:
            return False
        view = View(searcher, schema, Group.ENTRY)
        return any(view.count("stems", stem) for stem in self.words(word))

    def search(self, terms: QueryTerms, group: Group, bounds: Bounds, limit: int) -> list[tuple[str, float]]:
        """(id, strength) of the best documents of a group, best first.

        Strength is BM25 over the most that the words could score in any document, so it lies between 0 and 1 (above
        when a compound name is found whole) and can be compared between groups; a word that no document has weakens
        every hit.
        """
        searcher, schema = self._open()
        if searcher is None or schema is None or not terms or limit < 1:
            return []
        view = View(searcher, schema, group)
        held = _held(searcher, bounds)
        counts = {stem: view.count("stems", stem) for stem in terms.stems}
        most = text_query.most(view, terms, counts)
        found = text_query.clauses(view, terms, counts, costly=held > text_query.COSTLY)
        if not found:
            return []
        wanted = [(tantivy.Occur.Should, clause) for clause in found]
        if held > LARGE * searcher.num_docs and bounds.only_projects:
            hits = searcher.search(tantivy.Query.boolean_query(wanted), limit * OVERFETCH, count=False).hits
            kept = list(_within(searcher, hits, bounds))
            if len(kept) >= limit or len(hits) < limit * OVERFETCH:
                return _named(searcher, kept[:limit], most)
        must = [(tantivy.Occur.Must, one) for one in text_query.filters(view, bounds)]
        query = tantivy.Query.boolean_query([*must, *wanted], minimum_number_should_match=1)
        return _named(searcher, searcher.search(query, limit, count=False).hits, most)

    def watermark(self) -> tuple[str, Seq]:
        """The feed and the last change that this reader sees."""
        self._open()
        note = self._note  # of one commit, whatever another thread opens now
        return note.feed, note.seq

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


def _held(searcher: tantivy.Searcher, bounds: Bounds) -> int:
    """About how many documents the bounds leave to look through."""
    if not bounds.projects:
        return searcher.num_docs
    return sum(searcher.doc_freq("project", project) for project in bounds.projects)


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
