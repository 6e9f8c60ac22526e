"""The text index: follows the change feed into tantivy, and is rebuilt beside itself when words must vanish."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from flywheel.index.analyze import Analyzer
from flywheel.index.follow import DEFINITIONS
from flywheel.index.text_documents import forgotten, read_batch
from flywheel.index.text_shelf import LEAST_HEAP, Note, Shelf, current, following, numbered, point, sweep
from flywheel.model import Change, Kind, Seq
from flywheel.store import Db

HEAP: Final = 48_000_000
"""Bytes that documents take before tantivy writes a segment."""

TOOL_CHARS: Final = 2000
"""Characters of a tool's call, output or thought that are findable."""

REBUILD_STEP: Final = 2000
"""Changes that a rebuild takes in before it looks at new ones again."""


class TextFollower:
    """The follower "text", and the only writer of the index below ``root``. Not for sharing between threads."""

    name = "text"
    definitions = DEFINITIONS

    def __init__(self, root: Path, *, heap: int = HEAP, tool_chars: int = TOOL_CHARS) -> None:
        """``root`` is the folder of all generations; ``heap`` is in bytes. A broken index is dropped and begun anew."""
        self._root = root
        self._heap = heap
        self._tool_chars = tool_chars
        self._analyzer = Analyzer()
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = current(root)
        self._main = self._opened(found, heap) if found else self._begin()
        self._next = self._unfinished()
        sweep(root, [shelf.path for shelf in (self._main, self._next) if shelf])

    def watermark(self) -> tuple[str, Seq]:
        """The feed that is followed and the last change that is in."""
        return self._main.note.feed, self._main.note.seq

    def apply(self, db: Db, changes: Sequence[Change], feed: str, upto: Seq) -> None:
        """Bring in ``changes``: one commit. Idempotent. Raises DiskFull or Unavailable, with nothing changed."""
        self._apply(self._main, db, changes, feed, upto)

    def reset(self) -> None:
        """Start anew: the index is empty at once."""
        self._drop_next()
        old, self._main = self._main, self._begin()
        old.close()
        sweep(self._root, [self._main.path])

    def scrub(self) -> None:
        """Rebuild beside the running index when next idle: deleted words leave the disk when it swaps."""
        if self._next is None:
            self._next = self._opened(following(self._root), LEAST_HEAP)

    def settle(self, db: Db) -> int:
        """One piece of a rebuild that is due; 0 when none is. The old index serves until the new one is whole."""
        if self._next is None and self._main.note.scrub:
            self.scrub()
        if self._next is None:
            return 0
        feed, upto = self.watermark()
        if self._next.note.feed not in ("", feed) or self._next.note.seq > upto:
            self._drop_next()
            return 1
        changes = [one for one in db.changes(self._next.note.seq, REBUILD_STEP) if one.seq <= upto]
        if changes:
            self._apply(self._next, db, changes, feed, changes[-1].seq)
            return len(changes)
        self._swap()
        return 1

    def close(self) -> None:
        """Let go of the writers."""
        self._main.close()
        if self._next is not None:
            self._next.close()

    def _apply(self, shelf: Shelf, db: Db, changes: Sequence[Change], feed: str, upto: Seq) -> None:
        with db.read() as tx:
            batch = read_batch(tx, changes, self._analyzer, tool_chars=self._tool_chars)
            held = [
                (kind, id) for kind, id in batch.missing if shelf.holds(id, "session" if kind is Kind.SESSION else "id")
            ]
            scrub = shelf.note.scrub or forgotten(tx, held)
        note = Note(feed=feed, seq=upto, scrub=scrub)
        shelf.replace(batch.gone, batch.documents, note, sessions=batch.sessions)

    def _swap(self) -> None:
        if self._next is None:
            return
        old, self._main, self._next = self._main, self._next, None
        point(self._root, self._main.path)
        old.close()
        sweep(self._root, [self._main.path])
        self._main.grow(self._heap)

    def _begin(self) -> Shelf:
        shelf = self._opened(following(self._root), self._heap)
        point(self._root, shelf.path)
        return shelf

    def _opened(self, path: Path, heap: int) -> Shelf:
        try:
            return Shelf(path, heap)
        except (ValueError, KeyError):  # what tantivy and a foreign note raise: the index is derived, begin anew
            shutil.rmtree(path, ignore_errors=True)
            return Shelf(path, heap)

    def _unfinished(self) -> Shelf | None:
        """A rebuild that a stop interrupted goes on."""
        number = int(self._main.path.name.rpartition("-")[2])
        later = [path for one, path in numbered(self._root) if one > number]
        return self._opened(later[-1], LEAST_HEAP) if later else None

    def _drop_next(self) -> None:
        if self._next is not None:
            self._next.close()
            shutil.rmtree(self._next.path, ignore_errors=True)
            self._next = None
