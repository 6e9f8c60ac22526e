"""The fixtures of every reader as files on disk, and how a file is read through its real source."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import orjson
import zstandard

from flywheel.harvest.sources import reading
from flywheel.harvest.tail import Cursor
from flywheel.model import Micros
from flywheel.readers import READERS, Parsed, Place, Reader, Record

FIXTURES: Final = Path(__file__).parent.parent / "fixtures"
SCRIPT: Final = ".sql"
"""A database is kept as the script that makes it."""

PLAIN: Final = ".plain"
"""A compressed file is kept as it is before packing."""

SETTLED: Final = 2**62
"""Nanoseconds: nobody writes to a file any more."""


WRITTEN: Final = Micros(1)
"""When a file was written, where its records do not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Specimen:
    """One transcript among the fixtures."""

    reader: str
    root: str  # name of the root's folder
    path: str  # below the fixtures' folder of the reader, as an agent would name it

    def __str__(self) -> str:
        return f"{self.reader}-{Path(self.path).name}"

    @property
    def golden(self) -> Path:
        """Where its drafts are written down."""
        return FIXTURES / self.reader / "golden" / f"{self.path.replace('/', '__')}.json"


def specimens(names: Sequence[str] = ()) -> list[Specimen]:
    """Every transcript of every reader (or of those named), as its reader would find it."""
    found = []
    for name, reader in READERS.items():
        if names and name not in names:
            continue
        for path in sorted((FIXTURES / name).rglob("*")):
            parts = path.relative_to(FIXTURES / name).parts
            if not path.is_file() or parts[0] == "golden" or len(parts) < 2:
                continue
            own = (*parts[:-1], parts[-1].removesuffix(SCRIPT).removesuffix(PLAIN))
            if reader.place(own) is not None:
                found.append(Specimen(reader=name, root=parts[0], path="/".join(own)))
    return found


def lay_out(name: str, folder: Path) -> Path:
    """A reader's fixtures as its agent has them, in ``folder``; databases made, files packed."""
    for path in sorted((FIXTURES / name).rglob("*")):
        below = path.relative_to(FIXTURES / name)
        if not path.is_file() or below.parts[0] == "golden":
            continue
        target = folder / below
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.name.endswith(SCRIPT):
            with closing(sqlite3.connect(target.with_name(path.name.removesuffix(SCRIPT)))) as made:
                made.executescript(path.read_text())
        elif path.name.endswith(PLAIN):
            packed = zstandard.ZstdCompressor().compress(path.read_bytes())
            target.with_name(path.name.removesuffix(PLAIN)).write_bytes(packed)
        else:
            target.write_bytes(path.read_bytes())
    return folder


def place_of(reader: Reader, folder: Path, path: Path) -> Place:
    """What a file's path tells its reader; ``folder`` is where the fixtures were laid out."""
    return reader.place(path.relative_to(folder).parts) or Place()


def records_of(reader: Reader, path: Path) -> Iterator[Record]:
    """Every raw record of a file, as its source gives them."""
    with reading(
        str(path), reader, cursor=Cursor(), marks={}, recognise=reader.recognises, settled=SETTLED
    ) as transcript:
        for chunk in transcript.chunks:
            yield from chunk.records


def sidecar_of(place: Place, path: Path) -> Record | None:
    """The small file beside a transcript that its place names."""
    about = path.parent / place.sidecar if place.sidecar else None
    if about is None or not about.is_file():
        return None
    data = about.read_bytes()
    value = orjson.loads(data) if data[:1] == b"{" else {"text": data.decode()}
    return value if isinstance(value, dict) else None


def parse_whole(reader: Reader, place: Place, path: Path, at: Micros = WRITTEN) -> Parsed:
    """A file parsed in one go."""
    start = reader.start(place, at=at, sidecar=sidecar_of(place, path))
    return reader.parse(start, list(records_of(reader, path)))
