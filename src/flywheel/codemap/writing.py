"""Writing the changes of a sync in transactions of at most 20 ms."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from flywheel.codemap.anchored import touch
from flywheel.codemap.past import came, note_former
from flywheel.codemap.rows import Delta, Place
from flywheel.model import Kind, Op
from flywheel.store import Db, Tx, mapper

_AIM: Final = 0.012  # seconds; the slower half of a machine's transactions still ends within 20 ms
_LEAST, _MOST = 50, 2000


class Writer:
    """Writes deltas of one checkout; learns how many rows fit into one transaction."""

    def __init__(self, db: Db, place: Place, clock: Callable[[], float] = time.perf_counter) -> None:
        self._db = db
        self._place = place
        self._clock = clock
        self.rows = 400
        """Rows that one transaction takes now."""
        self.keeps_past = True
        """Whether what changes goes into the history: not when everything is new."""

    def write(self, deltas: Iterable[Delta]) -> None:
        """Write them in order; a file's own row comes last, so that a crash in between means doing it again."""
        batch: list[Delta] = []
        weight = 0
        for delta in deltas:
            for part in split(delta, self.rows):
                if batch and weight + part.weight > self.rows:
                    self._commit(batch)
                    batch, weight = [], 0
                batch.append(part)
                weight += part.weight
        if batch:
            self._commit(batch)

    def _commit(self, batch: Sequence[Delta]) -> None:
        with self._db.write(bulk=True) as tx:
            start = self._clock()
            for delta in batch:
                _mark_changes(tx, delta, self._place)
            now = self._db.clock()
            if self.keeps_past:
                note_former(tx, batch, self._place, now)
            _write(tx, batch, self._place)
            if self.keeps_past:
                came(tx, batch, self._place, now)
            touch(tx, batch, self._place, now)
        took = self._clock() - start
        if took > _AIM:
            self.rows = max(_LEAST, self.rows * 2 // 3)
        elif took < _AIM / 2 and sum(delta.weight for delta in batch) > self.rows // 2:
            self.rows = min(_MOST, self.rows * 5 // 4)


def split(delta: Delta, rows: int) -> Iterator[Delta]:
    """A delta in parts of at most about ``rows`` rows, the last one with the file's own row."""
    while delta.weight > rows and len(delta.puts) + len(delta.dropped) > 1:
        some, delta.puts = delta.puts[: rows // 2], delta.puts[rows // 2 :]
        gone, delta.dropped = delta.dropped[: rows // 2], delta.dropped[rows // 2 :]
        ids = {symbol.id for symbol in some}
        part = Delta(
            path=delta.path, puts=some, dropped=gone, changed=[id for id in delta.changed if id in ids],
            fresh=[id for id in delta.fresh if id in ids], torn=True,
        )  # fmt: skip
        delta.changed = [id for id in delta.changed if id not in ids]
        delta.fresh = [id for id in delta.fresh if id not in ids]
        yield part
    yield delta


def _mark_changes(tx: Tx, delta: Delta, place: Place) -> None:
    project = delta.removed.project_id if delta.removed else place.project_id
    for id in delta.changed:
        tx.changed(Kind.SYMBOL, id, project)
    for id in delta.dropped:
        tx.changed(Kind.SYMBOL, id, project, Op.DEL)


def _write(tx: Tx, batch: Sequence[Delta], place: Place) -> None:
    """The same statement for all files of the batch at a time. A file's hash stands for all its rows, or for none."""
    torn = [{"checkout": place.checkout, "path": delta.path} for delta in batch if delta.torn]
    if torn:
        tx.many("UPDATE source_file SET sha256 = '' WHERE checkout = :checkout AND path = :path", torn)
    mapper.upsert_many(tx, [symbol for delta in batch for symbol in delta.puts])
    mapper.upsert_many(tx, [edge for delta in batch for edge in delta.edges])
    mapper.upsert_many(tx, [delta.names for delta in batch if delta.names])
    mapper.upsert_many(tx, [delta.file for delta in batch if delta.file])
    dropped = [{"id": id} for delta in batch for id in delta.dropped]
    if dropped:
        tx.many("DELETE FROM symbol WHERE id = :id", dropped)
    unneeded = [
        {"checkout": place.checkout, "source": delta.path, "target": target}
        for delta in batch
        for target in delta.unneeded
    ]
    if unneeded:
        tx.many(
            "DELETE FROM module_edge WHERE checkout = :checkout AND source = :source AND target = :target", unneeded
        )
    removed = [{"id": delta.removed.id} for delta in batch if delta.removed and not delta.file]
    if removed:
        tx.many("DELETE FROM source_file WHERE id = :id", removed)
        tx.many("DELETE FROM file_names WHERE file_id = :id", removed)
