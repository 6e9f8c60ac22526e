"""Exact nearest vectors over the mapped segments, for any number of threads beside one writer in another process."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from flywheel.embed import quantise
from flywheel.index.vectors import Found
from flywheel.index.vectors_manifest import NAME, DeadRows, Manifest, Part, Shelf, read_dead, read_manifest
from flywheel.index.vectors_segment import Bytes8, Damaged, Group, Segment, open_segment
from flywheel.model import Kind, ProjectId, Seq

CHUNK: Final = 65_536
"""Rows that are scored at a time."""

TRIES: Final = 5
"""How often a file that went away (the writer merges segments) makes the reader look at the manifest again."""

_UNIT: Final = 127.0 * 127.0
_NEVER: Final = np.iinfo(np.int32).min

Stamp = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class _Open:
    """One segment with its dead rows."""

    part: Part
    segment: Segment
    dead: DeadRows


@dataclass(slots=True)
class _State:
    """One reading of the manifest; segments are mapped when a search first needs them."""

    stamp: Stamp | None
    manifest: Manifest
    opened: dict[str, _Open] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Best:
    """The best rows of one slice of a segment."""

    kind: Kind
    segment: Segment
    rows: NDArray[np.intp]
    scores: NDArray[np.int32]


class SegmentReader:
    """The vector index beside SQLite. A folder that is not there, or damaged, finds nothing."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._mutex = threading.Lock()
        self._state = _State(None, Manifest())

    def search(
        self,
        projects: Sequence[ProjectId],
        kinds: Sequence[Kind],
        model: str,
        vector: NDArray[np.float32],
        limit: int,
    ) -> list[Found]:
        """The ``limit`` nearest, best first; see `vectors.VectorIndex.search`."""
        query = quantise(vector)
        if limit <= 0 or not query.any():
            return []
        best: list[_Best] = []
        for opened in self._segments(model):
            if opened.segment.vectors.shape[1] == len(query):
                for kind, start, stop in _slices(opened.segment, projects, kinds):
                    best += _score(opened, kind, start, stop, query, limit)
        return _merge(best, limit)

    def count(self, model: str) -> int:
        """Vectors of the model that can be found."""
        return self._current().manifest.shelf(model).alive()

    def watermark(self, model: str) -> tuple[str, Seq]:
        """How far the index follows the change feed for a model."""
        shelf = self._current().manifest.shelf(model)
        return shelf.feed, shelf.seq

    def release(self) -> None:
        """Unmap everything; the next search maps what it needs."""
        with self._mutex:
            self._state = _State(None, Manifest())

    def _segments(self, model: str) -> list[_Open]:
        """Every segment of the model. One that stays away after several looks is left out: the writer mends it."""
        for _ in range(TRIES):
            state = self._current()
            found, damaged = self._open_all(state, state.manifest.shelf(model))
            if not damaged:
                return found
            self.release()
        return found

    def _open_all(self, state: _State, shelf: Shelf) -> tuple[list[_Open], bool]:
        found, damaged = [], False
        for part in shelf.parts:
            try:
                found.append(self._open(state, part))
            except Damaged:
                damaged = True
        return found, damaged

    def _open(self, state: _State, part: Part) -> _Open:
        opened = state.opened.get(part.name)
        if opened is None or opened.part.dead != part.dead:
            segment = opened.segment if opened else open_segment(self._folder, part.name)
            opened = state.opened[part.name] = _Open(part, segment, read_dead(self._folder, part))
        return opened

    def _current(self) -> _State:
        stamp = _stamp(self._folder)
        state = self._state
        if state.stamp != stamp:
            with self._mutex:
                if self._state.stamp != stamp:
                    try:
                        manifest = read_manifest(self._folder)
                    except Damaged:
                        manifest = Manifest()
                    listed = manifest.files()
                    kept = {name: opened for name, opened in self._state.opened.items() if name in listed}
                    self._state = _State(stamp, manifest, kept)
                state = self._state
        return state


def _stamp(folder: Path) -> Stamp | None:
    try:
        status = os.stat(folder / NAME)  # noqa: PTH116 -- a microsecond of every search
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def _slices(segment: Segment, projects: Sequence[ProjectId], kinds: Sequence[Kind]) -> Iterator[tuple[Kind, int, int]]:
    """Runs of rows of one kind that belong to the projects; neighbouring ranges are one run."""
    wanted = set(kinds) or set(Kind)
    ranges: list[tuple[Group, tuple[int, int]]]
    if projects:
        groups = [(kind, project) for kind in sorted(wanted) for project in sorted(set(projects))]
        ranges = [(group, segment.ranges[group]) for group in groups if group in segment.ranges]
    else:
        ranges = [(group, rows) for group, rows in segment.ranges.items() if group[0] in wanted]
    run: tuple[Kind, int, int] | None = None
    for (kind, _), (start, stop) in ranges:
        if run and run[0] is kind and run[2] == start:
            run = (kind, run[1], stop)
        else:
            if run:
                yield run
            run = (kind, start, stop)
    if run:
        yield run


def _score(opened: _Open, kind: Kind, start: int, stop: int, query: Bytes8, limit: int) -> Iterator[_Best]:
    for first in range(start, stop, CHUNK):
        last = min(first + CHUNK, stop)
        scores = dot(opened.segment.vectors[first:last], query)
        dead = opened.dead[np.searchsorted(opened.dead, first) : np.searchsorted(opened.dead, last)]
        scores[dead.astype(np.intp) - first] = _NEVER
        top = np.arange(last - first)
        if len(scores) > limit:
            top = _first_by_score(scores, limit)
        yield _Best(kind, opened.segment, first + top, scores[top])


def _first_by_score(scores: NDArray[np.int32], limit: int) -> NDArray[np.intp]:
    """The places of the ``limit`` highest scores and of all that equal the last of them, so that ties stay exact."""
    floor = np.partition(scores, len(scores) - limit)[len(scores) - limit]
    return np.flatnonzero(scores >= floor)


def _merge(best: Sequence[_Best], limit: int) -> list[Found]:
    if not best:
        return []
    scores = np.concatenate([part.scores for part in best])
    source = np.repeat(np.arange(len(best)), [len(part.rows) for part in best])
    rows = np.concatenate([part.rows for part in best])
    top = _first_by_score(scores, limit) if len(scores) > limit else np.arange(len(scores))
    found = [
        (best[source[place]].kind, best[source[place]].segment.ids[rows[place]].decode(), int(scores[place]))
        for place in top
        if scores[place] != _NEVER
    ]
    found.sort(key=lambda hit: (-hit[2], hit[0], hit[1]))
    return [(kind, id, score / _UNIT) for kind, id, score in found[:limit]]


def dot(vectors: Bytes8, query: Bytes8) -> NDArray[np.int32]:
    """Dot products of int8 rows with one int8 vector; shape (rows,)."""
    import numkong  # 17 ms, which only a process that searches pays

    scores: NDArray[np.int32] = np.asarray(numkong.dots_packed(vectors, numkong.dots_pack(query.reshape(1, -1))))
    return scores.reshape(-1)
