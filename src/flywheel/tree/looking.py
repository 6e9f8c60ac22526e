"""Comparing a tree's folder with what was rendered: edits, deletions, and files that somebody dropped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from flywheel.errors import BadInput, FlywheelError, Refused
from flywheel.model import Clean, Document, Micros, Project, TreeFile
from flywheel.store import Tx
from flywheel.store.mapper import get
from flywheel.text.compose import fixed
from flywheel.tree import glossary, record, taking
from flywheel.tree.disk import Seen, sha
from flywheel.tree.naming import AGENTS, GLOSSARY, LOG, RAW, SCRATCH, TRANSCRIPTS
from flywheel.tree.tree import Tree

DROPPED: Final = (".md", ".txt", ".eml", ".vtt", ".html", ".json")
"""What is taken in when somebody drops it below ``raw/``."""

LARGEST: Final = 8 << 20
"""Bytes of such a file that are read; what takes it in has its own limit below that."""

Ingest = Callable[[Project, str, bytes, Micros], str]
"""Takes a file in as evidence, by its name below ``raw/`` and when it was written; the id of the document's version.

Raises BadInput or Refused for what is not taken in.
"""

_LEFT: Final = "left:"
"""Before the path of a dropped file that was not taken in, in the record: it is not tried again until it changes."""

_RESTORED: Final = fixed("it is evidence and not to be edited")
_PART: Final = fixed("this part of the page is not to be edited; edit the first one")


class Look:
    """One look at the folder. What it finds is taken in, or due."""

    def __init__(self, tree: Tree, ingest: Ingest | None) -> None:
        self._tree = tree
        self._ingest = ingest
        self.listed = False  # a list or another file of ours has to be written anew

    def at(self, paths: Iterable[str]) -> None:
        """Look at some paths."""
        for path in paths:
            if any(part.startswith(SCRATCH) for part in path.split("/")):
                continue
            if (self._tree.root / path).is_dir():
                with self._tree.db.read() as tx:
                    file = self._tree.known(tx, path)
                if file is not None:  # a folder is where a file of ours was
                    self._known(file)
                for seen in self._tree.disk.walk(path):
                    self._one(seen.path)
            else:
                self._one(path)
        self._tree.flush()

    def everywhere(self, *, thoroughly: bool) -> None:
        """Look at every file; unless ``thoroughly``, those that were not written since are taken for untouched."""
        tree = self._tree
        for page in record.pages(tree.db, tree.id):
            tree.beat(f"comparing the memory tree of {tree.project.name}")
            for file in page:
                at = tree.disk.changed(file.path)
                if thoroughly or at is None or at > file.rendered_at:
                    self._known(file)
            tree.flush()
        for some in _batches(tree.disk.walk(RAW)):
            with tree.db.read() as tx:
                known = record.files_of(tx, tree.id, [seen.path for seen in some])
            for seen in some:
                if seen.path not in known:
                    self._drop(seen.path)
            tree.flush()

    def _one(self, path: str) -> None:
        with self._tree.db.read() as tx:
            file = self._tree.known(tx, path)
        if file is not None:
            self._known(file)
        elif path.startswith(f"{RAW}/") and not path.startswith(f"{TRANSCRIPTS}/"):
            self._drop(path)

    def _known(self, file: TreeFile) -> None:
        """A rendered file: untouched, gone, or edited."""
        tree, path = self._tree, file.path
        if path == AGENTS or path.startswith(_LEFT):
            return
        data = tree.disk.read(path)
        if data is not None and sha(data) == file.sha256:
            return
        if data is not None:
            data = tree.steady(path, data)
            if sha(data) == file.sha256:
                return
        if path == LOG:
            self.listed = True
            return
        if path == GLOSSARY:
            if data is not None:
                glossary.take(tree, data)
            self.listed = True
            return
        with tree.db.read() as tx:
            kind = _kind(tx, file)
        if kind == record.DOCUMENT:
            self._put_back(file, data, _RESTORED)
            self._due(record.DOCUMENT, file.entry_id)
        elif kind == record.ENTRY:
            if data is not None and not file.face:
                self._put_back(file, data, _PART)
            elif data is not None:
                taking.take(tree, file.entry_id, path, data)
            self._due(record.ENTRY, file.entry_id)
        else:
            self._put_back(file, data, fixed("it is rendered and not to be edited"))
            self.listed = True

    def _put_back(self, file: TreeFile, data: bytes | None, why: Clean) -> None:
        if data is not None:
            self._tree.set_aside(file.path, data, why)
            self._tree.adopt(file.path, data, file.entry_id)

    def _due(self, kind: str, id: str) -> None:
        with self._tree.db.write() as tx:
            record.mark(tx, self._tree.id, kind, [id])

    def _drop(self, path: str) -> None:
        """A file below ``raw/`` that we did not write: taken in, unless it is of another sort or was refused before."""
        tree = self._tree
        leaf = path.rpartition("/")[2]
        if self._ingest is None or leaf.startswith(".") or not leaf.lower().endswith(DROPPED):
            return
        data = tree.disk.read(path, LARGEST)
        if data is None:
            self._too_much(path)
        if not data:
            return
        data = tree.steady(path, data)
        if self._was_left(path, data):
            return
        try:
            written = Micros(tree.disk.changed(path) or tree.now())
            id = self._ingest(tree.project, path.removeprefix(f"{RAW}/"), data, written)
        except FlywheelError as error:
            if error.retryable or not isinstance(error, BadInput | Refused):
                raise
            self._leave(path, data, tree.redact.text(error.message))
            return
        self._taken_in(path, data, id)

    def _too_much(self, path: str) -> None:
        """A dropped file that is not read at all: the log says why, once."""
        tree = self._tree
        size = tree.disk.size(path)
        if size is None and tree.disk.occupied(path) and not (tree.root / path).is_dir():
            mark, why = b"no file", fixed("it is a link or no plain file; put the file itself there")
        elif size is not None and size > LARGEST:
            mark, why = str(size).encode(), fixed("it is larger than 8 MB; add its parts")
        else:
            return
        if not self._was_left(path, mark):
            self._leave(path, mark, why)

    def _was_left(self, path: str, data: bytes) -> bool:
        with self._tree.db.read() as tx:
            left = self._tree.known(tx, f"{_LEFT}{path}")
        return left is not None and left.sha256 == sha(data)

    def _leave(self, path: str, data: bytes, why: Clean) -> None:
        self._tree.adopt(f"{_LEFT}{path}", data)
        self._tree.say("left", path, note=why)

    def _taken_in(self, path: str, data: bytes, id: str) -> None:
        """A dropped file is evidence now: the same bytes, or the stored text in its place and the original aside."""
        tree = self._tree
        with tree.db.read() as tx:
            document = get(tx, Document, id=id)
        text = document.text.encode("utf-8", "replace") if document is not None else b""
        if text == data:
            tree.adopt(path, data, id)
            tree.history.note([path])
            tree.say("taken in", path, id)
        else:
            where = tree.disk.move_aside(path, f"{tree.stamp()}-dropped")
            tree.adopt(where, data, id)
            tree.say("taken in", path, id, tree.redact.text(f"as text; the original is in {where}"))
        self._due(record.DOCUMENT, id)


def _kind(tx: Tx, file: TreeFile) -> str:
    """Whether a file is an entry's, a document's, or of no single one."""
    if not file.entry_id:
        return ""
    if tx.one("SELECT 1 FROM entry WHERE id = :id", id=file.entry_id) is not None:
        return record.ENTRY
    return record.DOCUMENT


def _batches(found: Iterator[Seen], size: int = 200) -> Iterator[Sequence[Seen]]:
    batch: list[Seen] = []
    for one in found:
        batch.append(one)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
