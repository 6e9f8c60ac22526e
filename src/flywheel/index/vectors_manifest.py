"""The list of a vector index's segments with each model's watermark: one JSON file, replaced atomically."""

from __future__ import annotations

import os
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson
from numpy.typing import NDArray

from flywheel.index.vectors_segment import Damaged
from flywheel.model import Seq

FORMAT: Final = 1
NAME: Final = "manifest.json"
DEAD: Final = ".dead"
NONE: Final = Seq(0)

DeadRows = NDArray[np.uint32]
"""Rows of a segment that no longer count, ascending."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A segment of a model and the file that lists its dead rows."""

    name: str
    rows: int
    bytes: int
    dead: str = ""  # file name; "" when all rows live
    dead_rows: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """A model's segments, oldest first, and its watermark."""

    dim: int = 0
    feed: str = ""
    seq: Seq = NONE
    parts: Sequence[Part] = ()

    def alive(self) -> int:
        """Rows that count."""
        return sum(part.rows - part.dead_rows for part in self.parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """Everything that counts; a file that it does not name is left over from a writer that died."""

    next: int = 1  # number of the next file
    shelves: Mapping[str, Shelf] = field(default_factory=dict)  # by model id

    def shelf(self, model: str) -> Shelf:
        """The model's shelf, or an empty one."""
        return self.shelves.get(model, Shelf())

    def with_shelf(self, model: str, shelf: Shelf | None, next: int) -> Manifest:
        """The same with one shelf put, or taken away (None)."""
        shelves = {name: other for name, other in self.shelves.items() if name != model}
        if shelf is not None:
            shelves[model] = shelf
        return replace(self, next=next, shelves=shelves)

    def files(self) -> set[str]:
        """The names of all files that count: segments without their suffix, lists of dead rows with it."""
        parts = [part for shelf in self.shelves.values() for part in shelf.parts]
        return {part.name for part in parts} | {part.dead for part in parts if part.dead}


def read_manifest(folder: Path) -> Manifest:
    """The manifest; an empty one when there is none. Raises Damaged when it cannot be read."""
    try:
        data = (folder / NAME).read_bytes()
    except FileNotFoundError:
        return Manifest()
    try:
        value: Any = orjson.loads(data)
        if value["format"] != FORMAT:
            raise ValueError(f"format {value['format']}")
        shelves = {model: _shelf(shelf) for model, shelf in value["models"].items()}
        return Manifest(next=int(value["next"]), shelves=shelves)
    except (ValueError, KeyError, TypeError) as error:
        raise Damaged(f"{folder / NAME}: {error!r}") from error


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Replace the manifest: written beside it, made safe on disk, renamed. Raises OSError."""
    value = {
        "format": FORMAT,
        "next": manifest.next,
        "models": {
            model: {
                "dim": shelf.dim,
                "feed": shelf.feed,
                "seq": shelf.seq,
                "parts": [[part.name, part.rows, part.bytes, part.dead, part.dead_rows] for part in shelf.parts],
            }
            for model, shelf in manifest.shelves.items()
        },
    }
    write_safely(folder / NAME, orjson.dumps(value))


def read_dead(folder: Path, part: Part) -> DeadRows:
    """The dead rows of a segment. Raises Damaged."""
    if not part.dead:
        return np.empty(0, dtype=np.uint32)
    try:
        data = (folder / part.dead).read_bytes()
    except OSError as error:
        raise Damaged(f"{folder / part.dead}: {error}") from error
    rows = data[4:]
    if len(rows) != 4 * part.dead_rows or data[:4] != _checksum(rows):
        raise Damaged(f"{folder / part.dead}: its checksum does not agree")
    return np.frombuffer(rows, dtype=np.uint32)


def write_dead(folder: Path, name: str, rows: DeadRows) -> None:
    """Write a list of dead rows: CRC-32, then the rows, 4 bytes each. Raises OSError."""
    data = rows.tobytes()
    write_safely(folder / name, _checksum(data) + data)


def write_safely(path: Path, data: bytes) -> None:
    """Write a file so that it is there whole or not at all, whatever dies meanwhile. Raises OSError."""
    draft = path.with_name(path.name + ".new")
    with draft.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _checksum(data: bytes) -> bytes:
    return zlib.crc32(data).to_bytes(4, "little")


def _shelf(value: Mapping[str, Any]) -> Shelf:
    return Shelf(
        dim=int(value["dim"]),
        feed=str(value["feed"]),
        seq=Seq(int(value["seq"])),
        parts=tuple(
            Part(name=str(name), rows=int(rows), bytes=int(size), dead=str(dead), dead_rows=int(dead_rows))
            for name, rows, size, dead, dead_rows in value["parts"]
        ),
    )
