"""Compressed transcripts: read as if they were plain, a block at a time, in bounded memory."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final

import zstandard

from flywheel.errors import BadInput
from flywheel.harvest.tail import BLOCK, Cursor, Opened

PACKED: Final = ".zst"
"""The suffix of a compressed transcript."""

_WINDOW: Final = 128 << 20
"""Bytes of history that a frame may ask for at most (zstd's ``--long=27``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unpacked(Opened):
    """An `Opened` whose bytes come from a decompressor: read forwards only, and its size is not known."""

    stream: zstandard.ZstdDecompressionReader

    def read(self, offset: int, length: int) -> bytes:
        """The next bytes; ``offset`` is where reading stands anyway. Raises BadInput when it is damaged."""
        try:
            return self.stream.read(min(length, BLOCK))
        except zstandard.ZstdError as error:
            raise BadInput(f"{self.path} cannot be unpacked: {error}") from error

    def cursor(self, offset: int) -> Cursor:
        """None that could be resumed from."""
        return Cursor()


@contextmanager
def unpacked(file: Opened) -> Iterator[Opened]:
    """The plain text of a compressed file, to be read once from its start to its end."""
    with os.fdopen(os.dup(file.fd), "rb") as raw:
        raw.seek(0)
        reader = zstandard.ZstdDecompressor(max_window_size=_WINDOW).stream_reader(raw, read_across_frames=True)
        plain = _Unpacked(
            fd=file.fd, path=file.path, device=file.device, inode=file.inode, size=sys.maxsize, mtime_ns=file.mtime_ns,
            stream=reader,
        )  # fmt: skip
        yield replace(plain)
