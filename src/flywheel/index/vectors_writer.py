"""The one writer of the segments: new ones in, dead rows out, small ones merged, and the manifest that makes it so.

Files are written first and the manifest last, so whatever dies in between leaves the index as it was and some files
that nobody names, which the next writer sweeps away.
"""

from __future__ import annotations

import errno
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from flywheel.errors import Conflict, DiskFull
from flywheel.index import vectors_manifest as manifests
from flywheel.index.vectors import Batch, drop_mark, read_mark, retire_others
from flywheel.index.vectors_batch import grouped, keys, leaving, slab, sorted_ids, without
from flywheel.index.vectors_manifest import DEAD, DeadRows, Manifest, Part, Shelf
from flywheel.index.vectors_segment import (
    SUFFIX,
    Damaged,
    Group,
    Ids,
    Segment,
    Slab,
    open_segment,
    write_segment,
)
from flywheel.index.vectors_tidy import choose, living
from flywheel.model import Embedding, Seq
from flywheel.store import Db, Tx, mapper
from flywheel.store.filelock import FileLock

SCAN: Final = 20_000
"""Rows of the `embedding` table that become one segment when the index is made anew."""

LOCK: Final = "writer.lock"


class SegmentWriter:
    """Writes the vector index beside SQLite. Not for sharing between threads."""

    def __init__(self, folder: Path) -> None:
        """Takes the writer's lock and checks every file. Raises Conflict while another process writes."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder = folder
        self._lock = FileLock(folder / LOCK)
        if not self._lock.try_exclusive():
            self._lock.close()
            raise Conflict(f"another process writes the vector index in {folder}")
        self._segments: dict[str, Segment] = {}
        self._manifest = self._read_checked()
        self._sweep()

    def prepare(self, db: Db, model: str) -> tuple[str, Seq]:
        """The model's watermark; an index that is missing or was damaged is made anew from the table first."""
        shelf = self._manifest.shelves.get(model)
        if shelf is None or not shelf.feed:
            self._rebuild(db, model)
            shelf = self._manifest.shelf(model)
        return shelf.feed, shelf.seq

    def store(self, tx: Tx, rows: Sequence[Embedding]) -> None:
        """Write rows of the `embedding` table."""
        mapper.upsert_many(tx, rows)

    def publish(self, db: Db, batch: Batch) -> None:
        """Make the batch findable and move the watermark. Raises DiskFull with the index as it was."""
        try:
            with _disk(self._folder):
                self._bring_in(batch)
        except Damaged:
            self._rebuild(db, batch.model)

    def reset(self, db: Db, model: str) -> None:
        """Forget the watermark; the table's vectors stay findable."""
        with db.write() as tx:
            drop_mark(tx, model)
        self._rebuild(db, model)

    def settle(self, db: Db, model: str, beside: Collection[str] = ()) -> int:
        """Drop other models: their segments first, then some of their rows in the table."""
        kept = {model, *beside}
        others = [name for name in self._manifest.shelves if name not in kept]
        if others:
            self._replace(self._manifest.with_shelf(others[0], None, self._manifest.next))
            return 1
        return retire_others(db, kept)

    def close(self) -> None:
        """Unmap the segments and let go of the lock."""
        self._segments.clear()
        self._lock.close()

    def _bring_in(self, batch: Batch) -> None:
        shelf = self._manifest.shelf(batch.model)
        self._look(shelf)
        put = grouped(batch.put)
        present, dead = self._find(shelf, sorted_ids(leaving(batch)), sorted_ids(keys(grouped(batch.keep))))
        put = without(grouped(batch.keep), present, put)
        number = self._manifest.next
        parts = [self._with_dead(part, dead[part.name], number) if part.name in dead else part for part in shelf.parts]
        slabs = [slab(group, vectors) for group, vectors in put.items()]
        dim = shelf.dim
        if slabs:
            dim = slabs[0].wholes[0].shape[1]
            parts.append(self._write(f"{number:08d}", slabs, dim))
        shelf = replace(shelf, dim=dim, feed=batch.feed, seq=batch.upto, parts=tuple(parts))
        self._replace(self._manifest.with_shelf(batch.model, shelf, number + 1))
        self._tidy(batch.model, erase=set(dead) if batch.erase else set())

    def _find(
        self, shelf: Shelf, leaving: Mapping[Group, Ids], kept: Mapping[Group, Ids]
    ) -> tuple[dict[Group, set[bytes]], dict[str, DeadRows]]:
        """Which of ``kept`` are there, and the dead rows of the segments that lose some, old and new together."""
        present: dict[Group, set[bytes]] = defaultdict(set)
        dead: dict[str, DeadRows] = {}
        for part in shelf.parts:
            segment, before = self._open(part), manifests.read_dead(self._folder, part)
            for group, ids in kept.items():
                rows = np.setdiff1d(segment.find(group, ids), before)
                present[group].update(segment.ids[rows].tolist())
            found = [segment.find(group, ids) for group, ids in leaving.items()]
            new = np.setdiff1d(np.concatenate([*found, np.empty(0, dtype=np.intp)]), before)
            if len(new):
                dead[part.name] = np.union1d(before, new).astype(np.uint32)
        return present, dead

    def _tidy(self, model: str, erase: set[str]) -> None:
        """Write segments anew until none has too many dead rows and no size class is full."""
        while chosen := choose(self._manifest.shelf(model).parts, erase):
            shelf = self._manifest.shelf(model)
            slabs = living([(self._open(part), manifests.read_dead(self._folder, part)) for part in chosen])
            number = self._manifest.next
            merged = [self._write(f"{number:08d}", slabs, shelf.dim)] if slabs else []
            at = shelf.parts.index(chosen[0])
            parts = [*shelf.parts[:at], *merged, *(part for part in shelf.parts[at:] if part not in chosen)]
            self._replace(self._manifest.with_shelf(model, replace(shelf, parts=tuple(parts)), number + 1))

    def _rebuild(self, db: Db, model: str) -> None:
        """Make the model's segments from the table. The watermark comes last: a half-made shelf has none."""
        with db.read() as tx:
            feed, seq = read_mark(tx, model)
        if model in self._manifest.shelves:
            self._replace(self._manifest.with_shelf(model, None, self._manifest.next))
        with _disk(self._folder):
            for rows in _scan(db, model):
                number = self._manifest.next
                slabs = [slab(group, vectors) for group, vectors in grouped(rows).items()]
                if slabs:
                    shelf = self._manifest.shelf(model)
                    part = self._write(f"{number:08d}", slabs, rows[0].dim)
                    shelf = replace(shelf, dim=rows[0].dim, parts=(*shelf.parts, part))
                    self._replace(self._manifest.with_shelf(model, shelf, number + 1))
            if feed:
                shelf = replace(self._manifest.shelf(model), feed=feed, seq=seq)
                self._replace(self._manifest.with_shelf(model, shelf, self._manifest.next))
                self._tidy(model, set())

    def _read_checked(self) -> Manifest:
        """The manifest without the shelves whose files are not whole."""
        try:
            manifest = manifests.read_manifest(self._folder)
        except Damaged:
            return Manifest()
        for model, shelf in manifest.shelves.items():
            try:
                for part in shelf.parts:
                    self._segments[part.name] = open_segment(self._folder, part.name, verify=True)
                    manifests.read_dead(self._folder, part)
            except Damaged:
                manifest = manifest.with_shelf(model, None, manifest.next)
        return manifest

    def _look(self, shelf: Shelf) -> None:
        """Raises Damaged when a file of the shelf went away or changed its size; a mapped file would not show it."""
        for part in shelf.parts:
            try:
                size = (self._folder / f"{part.name}{SUFFIX}").stat().st_size
            except OSError as error:
                raise Damaged(f"{part.name}: {error}") from error
            if size != part.bytes:
                raise Damaged(f"{part.name}: {size:,} bytes, {part.bytes:,} expected")

    def _open(self, part: Part) -> Segment:
        if part.name not in self._segments:
            self._segments[part.name] = open_segment(self._folder, part.name)
        return self._segments[part.name]

    def _write(self, name: str, slabs: Sequence[Slab], dim: int) -> Part:
        size = write_segment(self._folder, name, slabs, dim)
        return Part(name=name, rows=sum(len(slab.ids) for slab in slabs), bytes=size)

    def _with_dead(self, part: Part, dead: DeadRows, number: int) -> Part:
        name = f"{part.name}.{number:08d}{DEAD}"
        manifests.write_dead(self._folder, name, dead)
        return replace(part, dead=name, dead_rows=len(dead))

    def _replace(self, manifest: Manifest) -> None:
        manifests.write_manifest(self._folder, manifest)
        self._manifest = manifest
        self._sweep()

    def _sweep(self) -> None:
        """Delete the files that the manifest does not name. Readers that mapped one keep it."""
        listed = self._manifest.files()
        self._segments = {name: segment for name, segment in self._segments.items() if name in listed}
        for path in self._folder.iterdir():
            name = path.name
            if name not in (manifests.NAME, LOCK) and name not in listed and name.removesuffix(SUFFIX) not in listed:
                path.unlink(missing_ok=True)


@contextmanager
def _disk(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(f"no space for the vector index in {folder}; free some and it goes on") from error
        raise


def _scan(db: Db, model: str) -> Iterator[list[Embedding]]:
    kind, id = "", ""
    while True:
        with db.read() as tx:
            rows = mapper.find(
                tx,
                Embedding,
                "WHERE model = :model AND (kind, id) > (:kind, :id) ORDER BY kind, id LIMIT :limit",
                model=model,
                kind=kind,
                id=id,
                limit=SCAN,
            )
        if not rows:
            return
        yield rows
        kind, id = rows[-1].kind.value, rows[-1].id
