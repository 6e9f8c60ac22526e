"""An upload as the harvest job reads it: its parts as one file, let go as they become messages."""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from flywheel.harvest.tail import Cursor, Opened
from flywheel.model import Project, SessionId, Upload, UploadSession
from flywheel.projects.queries import canonical
from flywheel.store import Db, mapper

PREFIX: Final = "upload:"
"""Before an upload's id, where a transcript on disk has its path."""

_SIZES: Final = "SELECT ordinal, size FROM upload_part WHERE upload_id = :id ORDER BY ordinal"
_TEXT: Final = "SELECT text FROM upload_part WHERE upload_id = :id AND ordinal = :ordinal"
_EMPTY: Final = "UPDATE upload_part SET text = '' WHERE upload_id = :id AND ordinal = :ordinal"
_GONE: Final = "DELETE FROM upload_part WHERE upload_id = :id"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Whole(Opened):
    """The parts behind each other. Never appended to: a cursor is an offset."""

    db: Db
    id: str
    ordinals: Sequence[int]
    starts: Sequence[int]
    last: list[tuple[int, bytes]] = field(default_factory=list)  # the part that was read last

    def read(self, offset: int, length: int) -> bytes:
        """The bytes from ``offset`` to the end of its part, ``length`` at most; b"" when it is gone."""
        place = bisect_right(self.starts, offset) - 1
        if offset >= self.size or place < 0:
            return b""
        within = offset - self.starts[place]
        return self._part(place)[within : within + length]

    def _part(self, place: int) -> bytes:
        if not self.last or self.last[0][0] != place:
            with self.db.read() as tx:
                row = tx.one(_TEXT, id=self.id, ordinal=self.ordinals[place])
            self.last[:] = [(place, str(row[0]).encode() if row else b"")]
        return self.last[0][1]

    def resume(self, cursor: Cursor) -> int:
        """Where the cursor is."""
        return cursor.offset

    def shortened(self, cursor: Cursor) -> bool:
        """Never."""
        return False

    def cursor(self, offset: int) -> Cursor:
        """The cursor of having read up to ``offset``."""
        return Cursor(size=self.size, offset=offset)


class StoredUpload:
    """One upload, for the job that reads it."""

    def __init__(self, db: Db, row: Upload, home: Project) -> None:
        self.row = row
        self.home = home  # the project of what says nothing of its own, or of all when the client named it
        self._db = db
        self._told: set[SessionId] = set()
        self._left: list[tuple[int, int]] = []  # (ordinal, where it ends) of parts that hold text

    @contextmanager
    def opened(self) -> Iterator[Opened]:
        """Its parts as one file."""
        with self._db.read() as tx:
            sizes = tx.all(_SIZES, id=self.row.id)
        starts, size = [], 0
        for ordinal, length in sizes:
            starts.append(size)
            size += int(length)
            self._left.append((int(ordinal), size))
        yield _Whole(
            fd=-1, path=f"{PREFIX}{self.row.id}", device=0, inode=0, size=size, mtime_ns=self.row.created_at * 1000,
            db=self._db, id=self.row.id, ordinals=[int(ordinal) for ordinal, _ in sizes], starts=starts,
        )  # fmt: skip

    def release(self, offset: int) -> None:
        """Everything before ``offset`` is stored as messages: its text goes."""
        while self._left and self._left[0][1] <= offset:
            ordinal, _ = self._left.pop(0)
            with self._db.write(bulk=True) as tx:
                tx.run(_EMPTY, id=self.row.id, ordinal=ordinal)

    def finish(self) -> None:
        """It is read: its parts go."""
        self.release(sys.maxsize)
        with self._db.write(bulk=True) as tx:
            tx.run(_GONE, id=self.row.id)

    def told(self, sessions: Sequence[SessionId]) -> None:
        """It tells of these sessions; noted before their messages are stored, so that `forget` finds its way here."""
        news = [session for session in sessions if session not in self._told]
        if news:
            self._told.update(news)
            rows = [UploadSession(upload_id=self.row.id, session_id=id, project_id=self.home.id) for id in news]
            with self._db.write(bulk=True) as tx:
                mapper.insert_many(tx, rows)


def find_upload(db: Db, key: str) -> StoredUpload | None:
    """The upload that a harvest job's key names; None for a transcript on disk, and for one that is no more."""
    if not key.startswith(PREFIX):
        return None
    with db.read() as tx:
        row = mapper.get(tx, Upload, id=key.removeprefix(PREFIX))
        home = mapper.get(tx, Project, id=canonical(tx, row.project_id)) if row else None
    return StoredUpload(db, row, home) if row and home else None
