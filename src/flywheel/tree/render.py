"""Rendering what is due: pages and documents in batches, then the lists, each file only when it reads otherwise."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import Any, Final

from flywheel.knowledge.filed import KINDS
from flywheel.model import Clean, Document, DocumentHead, Entry, Micros, Project, ProjectId, TreeFile
from flywheel.store import Db, Tx
from flywheel.store.chunks import chunks
from flywheel.store.mapper import columns, decode, find, get
from flywheel.text.compose import fixed
from flywheel.tree import record, taking
from flywheel.tree.edited import take_apart
from flywheel.tree.listing import Lists, put_own
from flywheel.tree.naming import crowded_out, page_path, place_of, raw_path
from flywheel.tree.page import render_page, shelf_face
from flywheel.tree.ring import preceding
from flywheel.tree.rows import PORTION, UNSEEN, batches, entries_page, merged_into, neighbours, sheets
from flywheel.tree.shapes import Rendered, Sheet
from flywheel.tree.slugs import Slugs
from flywheel.tree.tree import Foreign, Tree

BATCH: Final = 100
"""Entries or documents that are rendered together."""

Extra = Callable[[Db, Project, Micros], str]
"""A file that another part of the product draws: its text from the store, the project and the time."""

_WHY: Final = (
    "SELECT v.entry_id, v.reason, v.created_at FROM entry_version v JOIN entry e ON e.id = v.entry_id"
    " AND v.version = e.version - 1 WHERE e.id IN :ids"
)
_PART: Final = fixed("this part of the page is not to be edited; edit the first one")
_RESTORED: Final = fixed("it is evidence and not to be edited")


class Renderer:
    """Renders one tree. ``stopping`` is asked between batches."""

    def __init__(self, tree: Tree, stopping: Callable[[], bool] = lambda: False) -> None:
        self.tree = tree
        self._stopping = stopping
        self._lists = Lists(tree)
        self._slugs = Slugs(tree)
        self._touched: dict[str, set[str]] = defaultdict(set)
        self._documents = False

    def due(self) -> bool:
        """Render the entries and documents that are due; whether there is nothing left (False: told to stop)."""
        tree = self.tree
        while True:
            with tree.db.read() as tx:
                entries = record.due(tx, tree.id, record.ENTRY, BATCH)
                documents = record.due(tx, tree.id, record.DOCUMENT, BATCH)
            if not entries and not documents:
                return True
            if self._stopping():
                return False
            tree.beat(f"rendering the memory tree of {tree.project.name}")
            self._entries([one.id for one in entries], ripple=True)
            self._files([one.id for one in documents])
            tree.flush((*entries, *documents))

    def everything(self) -> bool:
        """Render all of it and remove what is of nothing any more; whether it came to its end."""
        tree = self.tree
        for work in (self._slugs.give, lambda ids: self._entries(ids, ripple=False)):
            for ids in batches(self._page, BATCH):
                if self._stopping():
                    return False
                tree.beat(f"rendering the whole memory tree of {tree.project.name}")
                work(ids)
                tree.flush()
                self._touched.clear()  # all lists are made anew
        for ids in batches(self._document_page, BATCH):
            if self._stopping():
                return False
            tree.beat(f"rendering the documents of {tree.project.name}")
            self._files(ids)
            tree.flush()
        self._left_over()
        self.lists(everything=True)
        return True

    def lists(self, *, everything: bool = False) -> None:
        """Bring the lists up to date with the pages that changed."""
        if self._touched or self._documents or everything:
            self._lists.refresh(self._touched, everything=everything)
            self._touched.clear()
            self._documents = False
            self.tree.flush()

    def extras(self, some: Mapping[str, Extra]) -> None:
        """Render what other parts draw."""
        tree = self.tree
        for path, draw in some.items():
            text = draw(tree.db, tree.project, tree.now())
            with tree.db.read() as tx:
                put_own(tree, tx, path, text)

    # ---- entries

    def _page(self, after: str) -> list[str]:
        with self.tree.db.read() as tx:
            return entries_page(tx, self.tree.projects, after, PORTION)

    def _entries(self, ids: Sequence[str], *, ripple: bool) -> None:
        if not ids:
            return
        self._slugs.give(ids)
        tree = self.tree
        with tree.db.read() as tx:
            found = sheets(tx, ids, tree.projects)
            known = record.files_for(tx, tree.id, ids)
            why = _reasons(tx, ids, known)
        drawn: dict[str, Sheet] = {sheet.entry.id: sheet for sheet in found}
        spread: list[str] = []
        places: set[tuple[str, str]] = set()
        together = set(ids)  # they were read together, so that each knows the next one
        for id in ids:
            sheet = drawn.get(id)
            before = {file.path: file for file in known[id]}
            face = next((file.face for file in known[id] if file.face), "")
            after = self._sheet(sheet, before, why.get(id, Clean(""))) if sheet is not None else self._gone(before)
            if after != face:
                spread.append(id)
            if shelf_face(after) != shelf_face(face):
                places |= {place_of(path) for path in [*before, *([sheet.path] if sheet else [])]}
                if sheet is not None:  # it may read as before and stand on no list any more
                    self._note(sheet.path)
            if sheet is not None and not after:  # its place was taken: who was read with it knows a wrong one
                together.clear()
                places.add(place_of(sheet.path))
        if (spread or places) and ripple:
            self._ripple(spread, places, together)

    def _ripple(self, ids: Sequence[str], places: Iterable[tuple[str, str]], together: Set[str]) -> None:
        """What other pages show of these, which lie or lay in these places, has changed: they are due as well."""
        tree = self.tree
        with tree.db.write() as tx:
            others = neighbours(tx, ids) | merged_into(tx, tree.projects, ids)
            others |= preceding(tx, tree.projects, places) - together
            record.mark(tx, tree.id, record.ENTRY, others)

    def _sheet(self, sheet: Sheet, before: Mapping[str, TreeFile], note: Clean) -> str:
        """Render one page with its parts; its face."""
        tree = self.tree
        files = render_page(sheet, tree.limits, tree.now())
        face = files[0].face
        try:
            written = self._put_page(sheet, files[0], before.get(sheet.path), note)
        except _Elsewhere:
            self._slugs.again(sheet.entry)
            with tree.db.write() as tx:
                record.mark(tx, tree.id, record.ENTRY, [sheet.entry.id])
            return ""
        for file in files[1:]:
            written |= self._put_part(file, before.get(file.path))
        paths = {file.path for file in files}
        for path in before:
            if path not in paths:
                tree.remove(path, sheet.entry.id)
                self._note(path)
                written = True
        if written:
            self._note(sheet.path)
        return face

    def _put_page(self, sheet: Sheet, file: Rendered, known: TreeFile | None, note: Clean) -> bool:
        """Write a page; what somebody else wrote into it is taken in first. Raises _Elsewhere for another's file."""
        tree = self.tree
        for _ in range(3):
            try:
                return tree.put(file, known, note)
            except Foreign as found:
                data = tree.steady(file.path, found.data)
                mine = take_apart(data.decode("utf-8", "replace")).front.get("id") == sheet.entry.id
                if not found.known and not mine:
                    raise _Elsewhere from None
                taking.take(tree, sheet.entry.id, file.path, data)
                with tree.db.read() as tx:
                    fresh = sheets(tx, [sheet.entry.id], tree.projects)
                if not fresh:
                    return False
                file = render_page(fresh[0], tree.limits, tree.now())[0]
        return False

    def _put_part(self, file: Rendered, known: TreeFile | None) -> bool:
        tree = self.tree
        try:
            return tree.put(file, known)
        except Foreign as found:
            tree.set_aside(file.path, found.data, _PART)
            tree.adopt(file.path, found.data, file.entry_id)
            return tree.put(file, known)

    def _gone(self, before: Mapping[str, TreeFile]) -> str:
        """An entry that has no page any more."""
        for path, file in before.items():
            self.tree.remove(path, file.entry_id)
            self._note(path)
        return ""

    def _note(self, path: str) -> None:
        """The list that this page stands on has to change."""
        category, slug = place_of(path)
        self._touched[category].add(slug)

    # ---- documents

    def _document_page(self, after: str) -> list[str]:
        with self.tree.db.read() as tx:
            rows = tx.all(
                "SELECT id FROM document WHERE project_id IN :projects AND kind NOT IN :edits AND id > :after"
                " ORDER BY id LIMIT :limit",
                projects=self.tree.projects,
                edits=list(KINDS),
                after=after,
                limit=PORTION,
            )
        return [id for (id,) in rows]

    def _files(self, ids: Sequence[str]) -> None:
        """Render the documents that these versions are of, as they read today."""
        if not ids:
            return
        tree = self.tree
        with tree.db.read() as tx:
            rows = [row for some in chunks(ids) for row in tx.all(_PATHS, ids=some, edits=list(KINDS))]
            known = record.files_for(tx, tree.id, ids)
        seen = {id for id, _ in rows}
        for path in dict.fromkeys(path for _, path in rows):
            with tree.db.read() as tx:
                document = today(tx, tree.projects, path)
            if document is not None:
                self._documents |= self._document(document)
        for id in ids:
            for file in known[id] if id not in seen else ():
                tree.remove(file.path, file.entry_id)
                self._documents = True

    def _document(self, document: Document) -> bool:
        tree = self.tree
        path = raw_path(document.path)
        with tree.db.read() as tx:
            known = tree.known(tx, path)
        file = Rendered(path=path, text=document.text, entry_id=document.id)
        try:
            return tree.put(file, known)
        except Foreign as found:
            if found.known:
                tree.set_aside(path, found.data, _RESTORED)
                tree.adopt(path, found.data, document.id)
                return tree.put(file, known)
        except (IsADirectoryError, NotADirectoryError, FileExistsError):
            pass
        elsewhere = crowded_out(path, document.path)
        with tree.db.read() as tx:
            known = tree.known(tx, elsewhere)
        return tree.put(Rendered(path=elsewhere, text=document.text, entry_id=document.id), known)

    def _left_over(self) -> None:
        """Remove the files of entries and documents that are not there any more."""
        tree = self.tree
        after = ""
        while True:
            with tree.db.read() as tx:
                page = record.below(tx, tree.id, "", after)
                stale = _stale(tx, page)
            for file in stale:
                tree.remove(file.path, file.entry_id)
                self._documents |= file.path.startswith("raw/")
            tree.flush()
            if not page:
                return
            after = page[-1].path


class _Elsewhere(Exception):
    """The page's place has a file that is not ours."""


_PATHS: Final = "SELECT id, path FROM document WHERE id IN :ids AND kind NOT IN :edits"


def today(tx: Tx, projects: Sequence[ProjectId], path: str) -> Document | None:
    """The version of a document that its source has today, else the last one that was read."""
    heads = find(tx, DocumentHead, "WHERE project_id IN :projects AND path = :path", projects=projects, path=path)
    for head in sorted(heads, key=lambda head: -head.seen_at):
        document = get(tx, Document, id=head.document_id)
        if document is not None:
            return document
    rows = tx.all(
        f"SELECT {columns(Document)} FROM document WHERE project_id IN :projects AND path = :path"
        " AND kind NOT IN :edits ORDER BY created_at DESC, id LIMIT 1",
        projects=projects,
        path=path,
        edits=list(KINDS),
    )
    return decode(Document, rows[0]) if rows else None


def _reasons(tx: Tx, ids: Sequence[str], known: Mapping[str, Sequence[TreeFile]]) -> dict[str, Clean]:
    """Why pages were rewritten since they were rendered last."""
    rows = [row for some in chunks(ids) for row in tx.all(_WHY, ids=some)]
    return {id: reason for id, reason, at in rows if any(at > file.rendered_at for file in known[id])}


def _stale(tx: Tx, page: Sequence[TreeFile]) -> list[TreeFile]:
    """The files of a page of the record that belong to no entry and no document as they are now."""
    ids = sorted({file.entry_id for file in page if file.entry_id})
    rows: list[Any] = []
    documents: set[str] = set()
    for some in chunks(ids):
        rows += find(tx, Entry, "WHERE id IN :ids", ids=some)
        documents.update(id for (id,) in tx.all("SELECT id FROM document WHERE id IN :ids", ids=some))
    stems = {
        entry.id: page_path(entry.category, entry.slug).removesuffix("md")
        for entry in rows
        if entry.slug and entry.status not in UNSEEN
    }
    return [
        file
        for file in page
        if file.entry_id and file.entry_id not in documents and not file.path.startswith(stems.get(file.entry_id, "\0"))
    ]
