"""Writes the redacted text of an upload as it streams in: rows of bounded size, each in a short transaction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from flywheel.model import Clean, Micros, ProjectId, UploadPart
from flywheel.store import Db, Tx, mapper
from flywheel.text.compose import join, span

PART: Final = 256 * 1024
"""Characters of a part at most: no more than 1 MB, whatever they are."""


class Parts:
    """The parts of one upload. What is not written yet is at most one of them, or one long line."""

    def __init__(self, db: Db, upload_id: str, project_id: ProjectId, now: Callable[[], Micros]) -> None:
        self._db = db
        self._upload = upload_id
        self._project = project_id
        self._now = now
        self._held: list[Clean] = []
        self._size = 0
        self._next = 0
        self._tail: list[UploadPart] | None = None
        self._head: tuple[int, int] | None = None  # where the open head belongs: (place among what is held, ordinal)

    def add(self, text: Clean) -> None:
        """The next whole lines."""
        if self._size + len(text) > PART and self._held:
            self._flush()
        self._held.append(text)
        self._size += len(text)

    def begin(self) -> None:
        """Here belongs a head that is known only when what follows it has been seen."""
        self._head = (len(self._held), -1)

    def head(self, text: Clean) -> None:
        """The head that belongs where the last `begin` was."""
        assert self._head is not None
        place, ordinal = self._head
        self._head = None
        if ordinal < 0:
            self._held.insert(place, text)
            self._size += len(text)
        else:
            with self._db.write(bulk=True) as tx:
                mapper.insert(tx, self._row(ordinal, text))

    def finish(self, tx: Tx) -> None:
        """Write what is left, in the transaction that makes the upload one; again when that is done again."""
        if self._tail is None:
            self._tail = self._rows(join(self._held, ""))
        for row in self._tail:
            mapper.insert(tx, row)

    def drop(self) -> None:
        """Delete what was written: nothing will come of it."""
        for ordinal in range(self._next):
            with self._db.write(bulk=True) as tx:
                tx.run("DELETE FROM upload_part WHERE upload_id = :id AND ordinal = :n", id=self._upload, n=ordinal)

    def _flush(self) -> None:
        """Write what is held; an open head keeps an ordinal to itself."""
        if self._head is not None and self._head[1] < 0:
            place = self._head[0]
            self._write(join(self._held[:place], ""))
            self._head = (0, self._next)
            self._next += 1
            self._held = self._held[place:]
        self._write(join(self._held, ""))
        self._held, self._size = [], 0

    def _write(self, text: Clean) -> None:
        for row in self._rows(text):
            with self._db.write(bulk=True) as tx:
                mapper.insert(tx, row)

    def _rows(self, text: Clean) -> list[UploadPart]:
        rows = []
        for start in range(0, len(text), PART):
            rows.append(self._row(self._next, span(text, start, start + PART)))
            self._next += 1
        return rows

    def _row(self, ordinal: int, text: Clean) -> UploadPart:
        size = len(text.encode())
        return UploadPart(
            upload_id=self._upload, ordinal=ordinal, project_id=self._project, size=size, created_at=self._now(),
            text=text,
        )  # fmt: skip
