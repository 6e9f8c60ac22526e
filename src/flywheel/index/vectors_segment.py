"""One immutable file of int8 vectors with their ids, sorted by kind, project and id, mapped into memory.

Layout: magic, header length and CRC-32 of the header (little endian, 4 bytes each), JSON header, zeros up to a multiple
of 64, then ``rows * dim`` bytes of vectors, then ``rows * width`` bytes of ids (UTF-8, padded with NUL). The header's
``crc`` is over all that follows it. A file appears under its name whole or not at all.
"""

from __future__ import annotations

import mmap
import os
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson
from numpy.typing import NDArray

from flywheel.errors import StoreError
from flywheel.model import Kind, ProjectId

Bytes8 = NDArray[np.int8]
Ids = NDArray[np.bytes_]
Rows = NDArray[np.intp]
Group = tuple[Kind, ProjectId]

SUFFIX: Final = ".seg"
_MAGIC: Final = b"fwvec\0\0\1"
_START: Final = struct.Struct("<8sII")
_ALIGN: Final = 64
_PIECE: Final = 65_536
"""Rows that are copied at a time."""


class Damaged(StoreError):
    """A file of the vector index is missing or not what it says; the index is made anew from the store."""

    code = "damaged_index"


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """An open segment. Its arrays are views into the mapped file."""

    name: str
    rows: int
    ranges: Mapping[Group, tuple[int, int]]  # first row and the row after the last, in file order
    vectors: Bytes8  # (rows, dim)
    ids: Ids  # (rows,), ascending within a range

    def find(self, group: Group, ids: Ids) -> Rows:
        """Row numbers of those ids that the group has, ascending with ``ids`` (which are sorted)."""
        start, stop = self.ranges.get(group, (0, 0))
        if start == stop:
            return np.empty(0, dtype=np.intp)
        own = self.ids[start:stop]
        places = np.minimum(np.searchsorted(own, ids), stop - start - 1)
        found: Rows = start + places[own[places] == ids]
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Slab:
    """Rows of one group on their way into a segment: ids ascending, and where each one's vector is."""

    group: Group
    ids: Ids
    wholes: Sequence[Bytes8]
    source: Rows  # which of ``wholes``
    row: Rows  # which row of it

    def vectors(self) -> Iterator[Bytes8]:
        """The vectors in the order of ``ids``, some at a time."""
        for at in range(0, len(self.ids), _PIECE):
            source, row = self.source[at : at + _PIECE], self.row[at : at + _PIECE]
            piece = np.empty((len(row), self.wholes[0].shape[1]), dtype=np.int8)
            for number, whole in enumerate(self.wholes):
                mine = source == number
                piece[mine] = whole[row[mine]]
            yield piece


def sorted_slab(group: Group, parts: Sequence[tuple[Ids, Bytes8, Rows]]) -> Slab:
    """A slab of rows from several places; each part is the ids of its rows, an array of vectors, and the rows."""
    ids = np.concatenate([ids for ids, _, _ in parts])
    order = np.argsort(ids, kind="stable")
    source = np.repeat(np.arange(len(parts)), [len(rows) for _, _, rows in parts])
    row = np.concatenate([rows for _, _, rows in parts])
    return Slab(
        group=group, ids=ids[order], wholes=[whole for _, whole, _ in parts], source=source[order], row=row[order]
    )


def write_segment(folder: Path, name: str, slabs: Iterable[Slab], dim: int) -> int:
    """Write a segment and make it safe on disk; its size in bytes. Raises OSError, leaving nothing under the name."""
    ordered = sorted(slabs, key=lambda slab: slab.group)
    ids = np.concatenate([slab.ids for slab in ordered])
    draft = folder / f"{name}{SUFFIX}.new"
    try:
        with draft.open("wb") as file:
            head = _head(ordered, dim, ids.dtype.itemsize, crc=0)
            file.write(head)
            crc = 0
            for slab in ordered:
                for piece in slab.vectors():
                    data = np.ascontiguousarray(piece).data
                    crc = zlib.crc32(data, crc)
                    file.write(data)
            crc = zlib.crc32(ids.tobytes(), crc)
            file.write(ids.tobytes())
            size = file.tell()
            file.seek(0)
            file.write(_head(ordered, dim, ids.dtype.itemsize, crc=crc))
            file.flush()
            os.fsync(file.fileno())
        draft.replace(folder / f"{name}{SUFFIX}")
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    return size


def open_segment(folder: Path, name: str, *, verify: bool = False) -> Segment:
    """Map a segment; ``verify`` reads all of it and compares the checksum. Raises Damaged."""
    path = folder / f"{name}{SUFFIX}"
    try:
        with path.open("rb") as file:
            whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:  # mmap refuses an empty file with ValueError
        raise Damaged(f"{path}: {error}") from error
    try:
        head, start = _read_head(whole)
        rows, dim, width = head["rows"], head["dim"], head["width"]
        if len(whole) != start + rows * (dim + width):
            raise Damaged(f"{path}: {len(whole):,} bytes, {start + rows * (dim + width):,} expected")
        if verify and zlib.crc32(memoryview(whole)[start:]) != head["crc"]:
            raise Damaged(f"{path}: its checksum does not agree")
        vectors = np.frombuffer(whole, dtype=np.int8, count=rows * dim, offset=start).reshape(rows, dim)
        ids = np.frombuffer(whole, dtype=f"S{width}", count=rows, offset=start + rows * dim)
        ranges = {(Kind(kind), ProjectId(project)): (first, last) for kind, project, first, last in head["ranges"]}
    except (KeyError, ValueError, TypeError, struct.error) as error:
        raise Damaged(f"{path}: {error!r}") from error
    return Segment(name=name, rows=rows, ranges=ranges, vectors=vectors, ids=ids)


def _head(slabs: Sequence[Slab], dim: int, width: int, *, crc: int) -> bytes:
    ranges, row = [], 0
    for slab in slabs:
        ranges.append([slab.group[0].value, slab.group[1], row, row + len(slab.ids)])
        row += len(slab.ids)
    facts = {"rows": row, "dim": dim, "width": width, "crc": f"{crc:08x}", "ranges": ranges}
    text = orjson.dumps(facts)
    start = _START.pack(_MAGIC, len(text), zlib.crc32(text)) + text
    return start + b"\0" * (-len(start) % _ALIGN)


def _read_head(whole: mmap.mmap) -> tuple[dict[str, Any], int]:
    magic, length, crc = _START.unpack_from(whole)
    text = whole[_START.size : _START.size + length]
    if magic != _MAGIC or zlib.crc32(text) != crc:
        raise ValueError("not a segment")
    head: dict[str, Any] = orjson.loads(text)
    head["crc"] = int(head["crc"], 16)
    start = _START.size + length
    return head, start + -start % _ALIGN
