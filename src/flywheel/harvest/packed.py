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
from flywheel.harvest.tail import Cursor, Opened

PACKED: Final = ".zst"
"""The suffix of a compressed transcript."""

WINDOW: Final = 128 << 20
"""Bytes of history that a frame may ask for at most (zstd's ``--long=27``)."""

_PIECE: Final = 128 << 10  # bytes of text at once, as much as a block has: a damaged one costs no other
_MAGIC: Final = 0xFD2FB528
_SKIPPED: Final = 0x184D2A50  # and the 15 numbers after it: frames that hold no data
_HEADER: Final = 18  # bytes of the longest frame header
_RUN: Final = 1  # block type: one byte, repeated


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unpacked(Opened):
    """An `Opened` whose bytes come from a decompressor: read forwards only, and its size is not known."""

    stream: zstandard.ZstdDecompressionReader
    packed: Opened

    def read(self, offset: int, length: int) -> bytes:
        """The next bytes; ``offset`` is where reading stands anyway. Raises BadInput when they cannot be had."""
        try:
            data = self.stream.read1(min(length, _PIECE))
        except zstandard.ZstdError as error:
            raise BadInput(f"{self.path} cannot be unpacked: {error}") from error
        if not data and not _complete(self.packed):
            raise BadInput(f"{self.path} cannot be unpacked to its end: it was cut short")
        return data

    def cursor(self, offset: int) -> Cursor:
        """One that tells how far reading is, and cannot be resumed from."""
        return Cursor(offset=offset if offset < self.size else 0)


@contextmanager
def unpacked(file: Opened) -> Iterator[Opened]:
    """The plain text of a compressed file (of all its frames), to be read once from its start to its end."""
    with os.fdopen(os.dup(file.fd), "rb") as raw:
        raw.seek(0)
        reader = zstandard.ZstdDecompressor(max_window_size=WINDOW).stream_reader(raw, read_across_frames=True)
        plain = _Unpacked(
            fd=file.fd, path=file.path, device=file.device, inode=file.inode, size=sys.maxsize, mtime_ns=file.mtime_ns,
            stream=reader, packed=file,
        )  # fmt: skip
        yield replace(plain)


def _complete(file: Opened) -> bool:
    """Whether the file ends where a frame ends: the decompressor takes any end for one (RFC 8878 §3.1)."""
    at = 0
    while at < file.size:
        head = file.read(at, _HEADER)
        magic = int.from_bytes(head[:4], "little")
        if len(head) >= 8 and _SKIPPED <= magic < _SKIPPED + 16:
            at += 8 + int.from_bytes(head[4:8], "little")
        elif magic == _MAGIC:
            at = _frame_end(file, at, head)
        else:
            return False
    return at == file.size


def _frame_end(file: Opened, at: int, head: bytes) -> int:
    """Where a frame that begins at ``at`` ends by what its blocks say; beyond the file when it is cut short."""
    try:
        at += zstandard.frame_header_size(head)
        checked = zstandard.get_frame_parameters(head).has_checksum
    except zstandard.ZstdError:
        return file.size + 1
    last = False
    while not last:
        block = file.read(at, 3)
        if len(block) < 3:
            return file.size + 1
        value = int.from_bytes(block, "little")
        last = bool(value & 1)
        at += 3 + (1 if value >> 1 & 3 == _RUN else value >> 3)
    return at + (4 if checked else 0)
