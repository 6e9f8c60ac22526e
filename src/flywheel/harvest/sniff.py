"""Tells whose transcript a file is by its first records, whatever its name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from flywheel.errors import BadInput
from flywheel.harvest.packed import PACKED, unpacked
from flywheel.harvest.repair import Mender, parse
from flywheel.harvest.rows import tables_of
from flywheel.harvest.sources import DOCUMENT_CAP
from flywheel.harvest.tail import BLOCK, Opened, opened
from flywheel.readers import READERS, Reader, Record, RowReader, SourceKind

_LINES: Final = 200
_LOOK: Final = 4 * 1024 * 1024  # bytes read at most: the first record may be a long one
_BOM: Final = b"\xef\xbb\xbf"
_GAPS: Final = b"\xef\xbb\xbf \t\r\n"
_DATABASE: Final = b"SQLite format 3\0"


def sniff(path: str, readers: Mapping[str, Reader] = READERS) -> Reader | None:
    """The reader of a file, by its first records; None when it is none's. Raises OSError when it is unreadable.

    Among several, the first whose place it lies in; without such the first in the table, of one JSON value the first
    that reads it whole.
    """
    try:
        with opened(path) as file:
            data = _head(file)
            if len(data) == _LOOK < file.size <= DOCUMENT_CAP and data.lstrip(_GAPS)[:1] in (b"[", b"{"):
                data = file.read(0, file.size) if not _begins_with_lines(data) else data
    except BadInput:
        return None
    if data.startswith(_DATABASE):
        tables = tables_of(path)
        able = [one for one in readers.values() if _reads(one, tables)]
    else:
        able = [one for one in readers.values() if one.source is not SourceKind.SQLITE and _holds(one, path, data)]
    placed = [one for one in able if one.place(Path(path).parts) is not None]
    whole = SourceKind.LINES if _is_one_value(data) else SourceKind.DOCUMENT
    able.sort(key=lambda one: one.source is whole)
    return next(iter([*placed, *able]), None)


def _begins_with_lines(data: bytes) -> bool:
    """Whether the first line is an object of its own."""
    try:
        return isinstance(parse(data.lstrip(_GAPS).partition(b"\n")[0]), dict)
    except ValueError:
        return False


def _is_one_value(data: bytes) -> bool:
    """Whether all of it is one JSON value."""
    try:
        parse(data.lstrip(_BOM))
    except ValueError:
        return False
    return True


def _reads(reader: Reader, tables: Mapping[str, Sequence[str]]) -> bool:
    return isinstance(reader, RowReader) and bool(reader.queries(tables))


def _head(file: Opened) -> bytes:
    """The first bytes, unpacked."""
    if not file.path.endswith(PACKED):
        return file.read(0, _LOOK)
    found = b""
    with unpacked(file) as plain:
        try:
            while len(found) < _LOOK and (part := plain.read(len(found), BLOCK)):
                found += part
        except BadInput:
            if not found:
                raise
    return found


def _holds(reader: Reader, path: str, data: bytes) -> bool:
    """Whether the first lines hold a record of this reader; of a file that is read whole its place is enough."""
    if reader.source is SourceKind.TEXT:
        return reader.recognises({"text": data.decode("utf-8", "replace")})
    if reader.source is SourceKind.TREE:
        return reader.place(Path(path).parts) is not None
    return any(map(reader.recognises, _records(reader, data)))


def _records(reader: Reader, data: bytes) -> Iterator[Record]:
    if reader.source is SourceKind.DOCUMENT:
        try:
            value = parse(data.lstrip(_BOM))
        except ValueError:
            value = None
        items = value if isinstance(value, list) else [value]
        yield from (item for item in items[:_LINES] if isinstance(item, dict))
        if value is not None:
            return
    mender = Mender(reader.recognises, reader.heads)
    for line in data.split(b"\n", _LINES)[:_LINES]:
        mender.take(line)
        yield from mender.records
        mender.records.clear()
    mender.settle()
    yield from mender.records
