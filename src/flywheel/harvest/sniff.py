"""Tells whose transcript a file is by its first records, whatever its name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from flywheel.errors import BadInput
from flywheel.harvest.repair import Mender
from flywheel.harvest.tail import opened
from flywheel.readers import READERS, Reader, SourceKind

_LINES: Final = 200
_LOOK: Final = 4 * 1024 * 1024  # bytes read at most: the first record may be a long one


def sniff(path: str, readers: Mapping[str, Reader] = READERS) -> str:
    """The agent whose transcript a file is, by its first records; "" for none. Raises OSError when it is unreadable."""
    try:
        with opened(path) as file:
            data = file.read(0, _LOOK)
    except BadInput:
        return ""
    for reader in readers.values():
        by_name = reader.source is not SourceKind.LINES and reader.place(Path(path).parts) is not None
        if by_name or (reader.source is SourceKind.LINES and _holds(reader, data)):
            return reader.agent
    return ""


def _holds(reader: Reader, data: bytes) -> bool:
    """Whether the first lines hold a record of this agent."""
    mender = Mender(reader.recognises, reader.heads)
    for line in data.split(b"\n", _LINES)[:_LINES]:
        mender.take(line)
        if any(map(reader.recognises, mender.records)):
            return True
        mender.records.clear()
    mender.settle()
    return any(map(reader.recognises, mender.records))
