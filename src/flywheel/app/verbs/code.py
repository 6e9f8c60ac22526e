"""The verbs of `api.code` in process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from flywheel.api import CodeAnswer, CodeFile, CodeHit, CodeRef, Hit
from flywheel.app.verbs.base import Verbs, absolute
from flywheel.codemap import queries as codemap
from flywheel.codemap.folding import fold
from flywheel.codemap.referring import Question, Uses, find_uses
from flywheel.codemap.using import files_to_read, used_in
from flywheel.errors import BadInput
from flywheel.index.follow import lag
from flywheel.model import Kind, ProjectId, Symbol, short_id
from flywheel.projects.queries import checkout
from flywheel.search.files import locate_files
from flywheel.search.warned import warnings_of
from flywheel.store import mapper

MOST: Final = 100
"""Definitions of an answer."""

MOST_REFS: Final = 200
"""Uses of an answer."""


class CodingVerbs(Verbs):
    """See `api.Coding`."""

    def code(
        self,
        *,
        query: str = "",
        symbol: str = "",
        files: bool = False,
        refs: bool = False,
        callers: bool = False,
        cwd: str = "",
        project: str = "",
        limit: int = 10,
    ) -> CodeAnswer:
        if bool(query.strip()) == bool(symbol.strip()):
            raise BadInput("say what is looked for: a question (query), or the name of a definition (symbol)")
        if (refs or callers) and not symbol:
            raise BadInput("refs and callers are of a definition: name it (symbol)", field="symbol")
        if files and not query.strip():
            raise BadInput("files are found by a question (query), not by the name of a definition", field="files")
        if not 1 <= limit <= MOST:
            raise BadInput(f"the field 'limit' must be between 1 and {MOST}", field="limit")
        among = self.family(cwd, project)
        here = (checkout(absolute(cwd, "cwd")) if cwd else None) or ""
        if files:
            return self._about(query, among, here, limit)
        if query.strip():
            return self._meant(query, among, here, limit)
        return self._named(symbol.strip(), among, here, limit, refs=refs, callers=callers)

    def _about(self, query: str, among: Sequence[ProjectId], here: str, limit: int) -> CodeAnswer:
        """Files, by the definitions in them and by name."""
        with self.parts.db.read() as tx:
            found = locate_files(tx, self.readers.text, query, projects=among, checkout=here, limit=limit)
        files = [
            CodeFile(
                path=one.path, score=round(one.score, 4), named=one.named,
                hits=self._warned([_hit(symbol) for symbol in one.definitions]),
            )
            for one in found
        ]  # fmt: skip
        behind = lag(self.parts.db, self.readers.text.watermark())
        reason = "" if files else f"index behind by {behind}" if behind else "no match"
        return CodeAnswer(query=query, hits=[], files=files, behind=behind, reason=reason)

    def _meant(self, query: str, among: Sequence[ProjectId], here: str, limit: int) -> CodeAnswer:
        """By words and meaning, definitions of that very name first; each once, however many work trees have it."""
        wanted, kinds = limit, (Kind.SYMBOL.value,)
        called: list[Symbol] = []
        if len(query.split()) == 1:
            with self.parts.db.read() as tx:
                called = codemap.symbols_called(tx, among, query.strip(), here, limit)
        while True:
            found = self.readers.searcher.search(query=query, projects=among, kinds=kinds, limit=wanted)
            with self.parts.db.read() as tx:
                ids = [hit.id for hit in found.hits]
                rows = {row.id: row for row in mapper.find(tx, Symbol, "WHERE id IN :ids", ids=ids)} if ids else {}
                shown = fold(tx, [rows[id] for id in ids if id in rows], here)
            if len(shown) >= limit or len(ids) < wanted or wanted == MOST:
                break
            wanted = min(MOST, 3 * wanted)
        by_id = {hit.id: hit for hit in found.hits}
        meant = {symbol.id: _hit(symbol, by_id[first.id]) for first, symbol in shown}
        named = [meant.pop(symbol.id) if symbol.id in meant else _hit(symbol) for symbol in called]
        hits = self._warned([*named, *meant.values()][:limit])
        reason = "" if hits else found.reason
        return CodeAnswer(query=query, hits=hits, behind=found.behind, reason=reason, notes=found.notes)

    def _warned(self, hits: Sequence[CodeHit]) -> list[CodeHit]:
        """With what became since of the files that they stand in, each in its own checkout."""
        with self.parts.db.read() as tx:
            told = warnings_of(tx, [(Kind.SYMBOL, hit.id) for hit in hits], self.parts.db.clock())
        return [replace(hit, banner=told.get((Kind.SYMBOL, hit.id), "")) for hit in hits]

    def _named(
        self, name: str, among: Sequence[ProjectId], here: str, limit: int, *, refs: bool, callers: bool
    ) -> CodeAnswer:
        """By name alone: of several checkouts of the project those of the one asked from, where it has any."""
        with self.parts.db.read() as tx:
            found = codemap.symbols_called(tx, among, name, here, limit)
            last = name.replace("#", ".").rpartition(":")[2].rpartition(".")[2]
            files = files_to_read(tx, among, last, here) if refs or callers else []
            used = used_in(tx, among, last, here, found) if found else None
        notes = [] if found else [f"no definition is called {name!r}; ask for it in words without --symbol"]
        uses = Uses()
        if files:
            uses = find_uses(Question(name=last, files=files, max_bytes=self.parts.config.code.max_file_kb << 10))
            notes += _doubts(last, found, uses)
        kept = [use for use in uses.uses if use.within] if callers else uses.uses
        told = [
            CodeRef(
                path=use.path, line=use.line, text=self.parts.redact.text(use.text), within=use.within, kind=use.kind,
                within_line=use.within_line, count=use.count,
            )
            for use in kept[:MOST_REFS]
        ]  # fmt: skip
        behind = lag(self.parts.db, self.readers.text.watermark())
        more = len(kept) - len(told)
        reason = "" if found else "no match"
        hits = self._warned([replace(_hit(one), used_in=used) for one in found])
        return CodeAnswer(query=name, hits=hits, refs=told, more=more, behind=behind, reason=reason, notes=notes)


def _doubts(last: str, found: Sequence[Symbol], uses: Uses) -> list[str]:
    """What keeps the uses from being all, or all of this definition."""
    notes = []
    if len({one.qualified for one in found}) > 1:
        notes.append(f"{len(found)} definitions are called {last!r}: a use may mean any of them")
    if uses.unread:
        notes.append(f"{uses.unread} files were not looked through for want of time")
    return notes


def _hit(symbol: Symbol, found: Hit | None = None) -> CodeHit:
    return CodeHit(
        id=symbol.id,
        short=short_id(symbol.id),
        project_id=symbol.project_id,
        kind=symbol.kind,
        name=symbol.qualified,
        path=symbol.path,
        line=symbol.start_line,
        stop_line=symbol.stop_line,
        signature=symbol.signature,
        doc=symbol.doc,
        score=found.score if found else 0.0,
        why=found.why if found else ("name",),
    )
