"""What checks look at: the store entry by entry, the files of the tree, then what concerns the whole project."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from flywheel.knowledge.glossary.checking import worded
from flywheel.knowledge.keys import page_key
from flywheel.knowledge.linting import queries
from flywheel.knowledge.linting.links import links_of
from flywheel.knowledge.linting.names import Names
from flywheel.knowledge.linting.queries import ClaimRow, EntryRow
from flywheel.knowledge.linting.values import (
    CockpitText,
    Link,
    Links,
    Named,
    PageText,
    Placed,
    RawFile,
    RenderedFile,
)
from flywheel.model import Micros, TreeFile
from flywheel.tree import record
from flywheel.tree.disk import sha
from flywheel.tree.edited import Page, facts_of, take_apart
from flywheel.tree.naming import AGENTS, ASIDE, COCKPIT, INDEX, LOG, RAW, page_path
from flywheel.tree.page import UNDERSTANDING
from flywheel.tree.rows import PORTION, batches, entries_page
from flywheel.tree.tree import Tree

FEW: Final = 500
"""Entries of which only the names are read, at once."""

BATCH: Final = 100
"""Entries, or files, that are looked at together."""

_LEFT: Final = "left:"


class Reading:
    """One pass over a project; `values` gives everything once. ``stopping`` ends it early."""

    def __init__(self, tree: Tree, stopping: Callable[[], bool] = lambda: False) -> None:
        self._tree = tree
        self._stopping = stopping
        self._names = Names()
        self._paths: set[str] = set()  # every rendered file
        self._pages: dict[str, str] = {}  # path of a page → its entry
        self._inbound: set[str] = set()  # pages that another page links to
        self._documents: set[str] = set()  # paths of documents, as their sources have them
        self.stopped = False

    def values(self) -> Iterator[object]:
        """Everything that some check reads. The tree has to be rendered."""
        self._learn()
        yield from self._entries()
        yield from self._placed()
        yield from self._files()
        yield from self._evidence()
        yield from self._project()

    # ---- what has to be known before the first page is read

    def _learn(self) -> None:
        tree = self._tree
        for page in record.pages(tree.db, tree.id):
            self._paths.update(file.path for file in page if not file.path.startswith((_LEFT, f"{ASIDE}/")))
        for ids in batches(self._ids, FEW):
            with tree.db.read() as tx:
                rows = queries.entries(tx, ids)
            for row in rows:
                self._name(row)
        with tree.db.read() as tx:
            sql = "SELECT DISTINCT path FROM document WHERE project_id IN :projects"
            self._documents.update(path for (path,) in tx.all(sql, projects=tree.projects))

    def _name(self, row: EntryRow) -> None:
        if not row.live or not row.slug:
            return
        page = Named(id=row.id, title=row.title, path=page_path(row.category, row.slug))
        about = row.key == page_key(row.subject)
        self._names.add(row.title, page, subject=about)
        if about:
            self._names.add(row.subject, page, subject=True)

    # ---- entry by entry

    def _entries(self) -> Iterator[object]:
        tree = self._tree
        for some in batches(self._ids, BATCH):
            if self._halted():
                return
            tree.beat(f"linting {tree.project.name}")
            with tree.db.read() as tx:
                rows = queries.entries(tx, some)
                paths = {row.id: page_path(row.category, row.slug) if row.slug else f"[fw:{row.short}]" for row in rows}
                ids = [row.id for row in rows]
                told = queries.claims(tx, ids)
                found = queries.citations(tx, told, paths)
                files = record.files_for(tx, tree.id, ids)
                lent = queries.origins(tx, ids)
                yield from found.cited
                yield from queries.timeline(told, found.counts, paths)
                yield from queries.standings(rows, told, paths)
                yield from queries.edits(told, paths)
                yield from queries.redirects(tx, rows, paths)
                yield from queries.messages(tx, sorted(found.messages))
            claims: dict[str, list[ClaimRow]] = defaultdict(list)
            for claim in told:
                claims[claim.entry_id].append(claim)
            for row in rows:
                yield from self._page(row, claims[row.id], files[row.id], lent.get(row.id, frozenset()))

    def _ids(self, after: str) -> Sequence[str]:
        with self._tree.db.read() as tx:
            return entries_page(tx, self._tree.projects, after, PORTION)

    def _page(
        self, row: EntryRow, told: Sequence[ClaimRow], files: Sequence[TreeFile], lent: frozenset[str]
    ) -> Iterator[object]:
        """The page of one entry with its further parts, and each file as it was rendered."""
        texts: dict[str, str] = {}
        for file in files:
            data = self._tree.disk.read(file.path)
            found = sha(data) if data is not None else None
            yield RenderedFile(id=row.id, path=file.path, rendered=file.sha256, found=found, page=bool(file.face))
            if data is not None:
                texts[file.path] = data.decode("utf-8", "replace")
        main = next((file.path for file in files if file.face), "")
        if row.redirect_to is not None or main not in texts:
            return
        self._pages[main] = row.id
        parts = {path: take_apart(text) for path, text in texts.items()}
        links: list[Link] = []
        for path, text in texts.items():
            mine = list(links_of(_below_front(text), path))
            yield Links(kind="entry", id=row.id, path=path, links=mine, there=self._there(mine))
            links += mine
        self._inbound.update(link.path for link in links if link.path not in texts)
        facts = [fact for part in parts.values() for fact in facts_of(part.sections.get(UNDERSTANDING, ()))]
        yield PageText(
            id=row.id,
            path=main,
            category=row.category,
            live=row.live,
            facts=facts,
            head=parts[main].head,
            stamp=_stamp(parts[main], row),
            marks=lent.union(claim.short for claim in told),
            links=links,
            named=self._names.find(facts) if row.live else (),
        )

    def _there(self, links: Sequence[Link]) -> frozenset[str]:
        """The links' paths where something is: in the tree, among the documents, or in the checkout."""
        return frozenset(link.path for link in links if self._is_there(link.path, link.target))

    def _is_there(self, path: str, target: str) -> bool:
        if path in self._paths:
            return True
        if path.startswith(".."):
            return self._quoted(target)
        return self._tree.disk.occupied(path) or self._quoted(target)

    def _quoted(self, target: str) -> bool:
        """Whether a link that was quoted from a document or a conversation leads to a document or into the checkout."""
        plain = target.partition("#")[0].lstrip("./")
        return bool(plain) and (plain in self._documents or self._in_checkout(plain))

    def _in_checkout(self, path: str) -> bool:
        root = self._tree.project.root
        return bool(root) and "\0" not in path and ".." not in path.split("/") and os.path.exists(Path(root, path))

    # ---- how pages hang together, and the other files

    def _placed(self) -> Iterator[Placed]:
        listed = self._listed()
        for path, id in self._pages.items():
            alone = len(self._pages) == 1
            yield Placed(id=id, path=path, inbound=path in self._inbound, listed=path in listed, alone=alone)

    def _listed(self) -> set[str]:
        """What index.md leads to, through the lists that it leads to."""
        found: set[str] = set()
        todo = [INDEX]
        while todo:
            path = todo.pop()
            data = self._tree.disk.read(path)
            lines = (data or b"").decode("utf-8", "replace").split("\n")
            for link in links_of(lines, path):
                if link.path not in found:
                    found.add(link.path)
                    todo += [link.path] if _is_list(link.path) else []
        return found

    def _files(self) -> Iterator[object]:
        """Documents as they lie below raw/, lists, the log and the cockpit."""
        tree = self._tree
        after = ""
        while not self._halted():
            with tree.db.read() as tx:
                page = record.below(tx, tree.id, "", after, BATCH)
                ids = [file.entry_id for file in page if file.path.startswith(f"{RAW}/")]
                sql = "SELECT id, sha256 FROM document WHERE id IN :ids"
                stored: dict[str, str] = dict(tx.all(sql, ids=ids)) if ids else {}
            if not page:
                return
            for file in page:
                if file.path.startswith(f"{RAW}/"):
                    yield from self._raw(file, stored)
                elif not file.entry_id and file.path != AGENTS and not file.path.startswith((_LEFT, f"{ASIDE}/")):
                    yield from self._own(file)
            after = page[-1].path

    def _raw(self, file: TreeFile, stored: Mapping[str, str]) -> Iterator[object]:
        data = self._tree.disk.read(file.path)
        found = sha(data) if data is not None else None
        yield RawFile(id=file.entry_id, path=file.path, stored=stored.get(file.entry_id, file.sha256), found=found)
        if data is not None and file.path.endswith((".md", ".markdown", ".txt")):
            lines = data.decode("utf-8", "replace").split("\n")
            links = list(links_of(lines, file.path))
            if links:
                yield Links(kind="document", id=file.entry_id, path=file.path, links=links, there=self._known(links))

    def _known(self, links: Sequence[Link]) -> frozenset[str]:
        """The paths of a document's links that are among the documents or in the checkout."""
        found = set()
        for link in links:
            own = link.path.removeprefix(f"{RAW}/")
            if link.path in self._paths or own in self._documents or self._in_checkout(own):
                found.add(link.path)
        return frozenset(found)

    def _own(self, file: TreeFile) -> Iterator[object]:
        data = self._tree.disk.read(file.path)
        yield RenderedFile(id="", path=file.path, rendered=file.sha256, found=sha(data) if data is not None else None)
        if file.path == COCKPIT and data is not None:
            text = data.decode("utf-8", "replace")
            there = frozenset(link.path for link in links_of(text.split("\n"), COCKPIT) if link.path in self._paths)
            yield CockpitText(path=COCKPIT, text=text, there=there)

    # ---- what concerns the whole project

    def _evidence(self) -> Iterator[object]:
        tree = self._tree
        for ids in batches(self._document_ids, 20):
            if self._halted():
                return
            with tree.db.read() as tx:
                some = queries.documents(tx, ids)
            yield from some

    def _document_ids(self, after: str) -> Sequence[str]:
        with self._tree.db.read() as tx:
            return queries.document_ids(tx, self._tree.projects, after, PORTION)

    def _project(self) -> Iterator[object]:
        tree = self._tree
        with tree.db.read() as tx:

            def where(id: str) -> str:
                row = tx.one("SELECT category, slug, short FROM entry WHERE id = :id", id=id)
                return id if row is None else page_path(row[0], row[1]) if row[1] else f"[fw:{row[2]}]"

            yield from queries.rivals(tx, tree.projects, where, tree.now())
            yield from queries.opposed(tx, tree.projects, where)
            yield from queries.loose_edges(tx, tree.projects, where)
            yield from queries.gone_documents(tx, tree.projects, where)
            mentioned = queries.mentioned(tx, tree.projects, tree.limits.subject_mentions)
            yield from (one for one in mentioned if not self._names.known(one.name))
            yield from queries.unanswered(tx, tree.projects, tree.limits.empty_answers)
            yield from worded(tx, tree.projects, Path(tree.project.root) if tree.project.root else None)

    def _halted(self) -> bool:
        self.stopped = self.stopped or self._stopping()
        return self.stopped


def _stamp(page: Page, row: EntryRow) -> Micros:
    """The freshness stamp as the page says it; the store's, where it says none."""
    for key in ("last_confirmed", "updated_at"):
        try:
            at = datetime.fromisoformat(page.front.get(key, ""))
        except ValueError:
            continue
        if at.tzinfo is not None:
            return Micros(int(at.timestamp()) * 1_000_000)
    return Micros(row.last_confirmed or row.updated_at)


def _below_front(text: str) -> list[str]:
    """The lines of a page; those of its front matter are empty."""
    lines = text.split("\n")
    if lines[0] == "---" and "---" in lines[1:]:
        end = lines.index("---", 1) + 1
        lines[:end] = [""] * end
    return lines


def _is_list(path: str) -> bool:
    leaf = path.rpartition("/")[2]
    return path not in (INDEX, LOG) and (leaf == "index.md" or leaf.startswith("index."))
