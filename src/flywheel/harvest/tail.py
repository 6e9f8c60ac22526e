"""Reading a file that another program may be writing: cursors that notice replacement, and lines in bounded memory."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from flywheel.errors import BadInput

BLOCK: Final = 256 * 1024
"""Bytes read at once."""

_HEAD: Final = 4096
_TAIL: Final = 256
_FLAGS: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY


Line = bytes | bytearray
"""A line; a long one is the buffer that it was gathered in, not a copy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """How far a file was read, and what it looked like then (FORMATS §0.4). Sizes and offsets in bytes."""

    device: int = 0
    inode: int = 0
    size: int = 0
    offset: int = 0
    head_hash: str = ""  # of the first min(4096, offset) bytes
    tail_hash: str = ""  # of the min(256, offset) bytes before ``offset``


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A regular file open for reading. What is appended after opening is not seen: ``size`` bounds every read."""

    fd: int
    path: str
    device: int
    inode: int
    size: int
    mtime_ns: int

    def read(self, offset: int, length: int) -> bytes:
        """At most ``length`` bytes from ``offset``, within the size at opening."""
        return os.pread(self.fd, max(0, min(length, self.size - offset)), offset)

    def resume(self, cursor: Cursor) -> int:
        """The offset to go on from; 0 when the file was replaced, truncated or rewritten since."""
        same_file = cursor.inode == self.inode and cursor.offset <= self.size
        return cursor.offset if same_file and self.marks(cursor.offset) == (cursor.head_hash, cursor.tail_hash) else 0

    def shortened(self, cursor: Cursor) -> bool:
        """Whether what was read before may be missing now: the same file, or one that begins alike, that is not
        to be resumed."""
        known = cursor.offset > 0 and (cursor.inode == self.inode or self.marks(cursor.offset)[0] == cursor.head_hash)
        return known and self.resume(cursor) == 0

    def marks(self, offset: int) -> tuple[str, str]:
        """Hashes of the file's first bytes and of those before ``offset``."""
        head = self.read(0, min(_HEAD, offset))
        length = min(_TAIL, offset)
        return _hash(head), _hash(self.read(offset - length, length))

    def cursor(self, offset: int) -> Cursor:
        """The cursor of having read up to ``offset``."""
        head, tail = self.marks(offset)
        return Cursor(
            device=self.device, inode=self.inode, size=self.size, offset=offset, head_hash=head, tail_hash=tail
        )


def _hash(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest() if data else ""


@contextmanager
def opened(path: str) -> Iterator[Opened]:
    """Open a file read-only, without following a link, waiting for a pipe or touching its times.

    Raises OSError (FileNotFoundError, PermissionError, ...), and BadInput for what is no regular file.
    """
    fd = os.open(path, _FLAGS)
    try:
        facts = os.fstat(fd)
        if not stat.S_ISREG(facts.st_mode):
            raise BadInput(f"{path} is not a regular file")
        yield Opened(
            fd=fd,
            path=path,
            device=facts.st_dev,
            inode=facts.st_ino,
            size=facts.st_size,
            mtime_ns=facts.st_mtime_ns,
        )
    finally:
        os.close(fd)


@dataclass(frozen=True, slots=True)
class Block:
    """The lines that ended within one read, without their newlines, and what they were."""

    start: int  # offset of the first line
    lines: list[Line]
    stop: int  # offset after the last line's newline
    skipped: int = 0  # lines over the cap that ended here
    rest: Line = b""  # in the last block: what follows the last newline
    within: bool = False  # in the last block: the file ends within a line over the cap


def blocks(file: Opened, offset: int, *, cap: int, within: bool = False) -> Iterator[Block]:
    """A file's lines from ``offset``, split at ``\\n`` only.

    Never holds more than ``cap`` bytes and one block; longer lines are passed over, and leading NULs cost nothing.
    ``within`` says that ``offset`` lies inside a line that is being passed over.
    """
    position = start = offset
    held = bytearray()
    while position < file.size:
        data = file.read(position, BLOCK)
        if not data:
            break  # truncated while we read
        position += len(data)
        cut = data.rfind(b"\n")
        if cut < 0:
            if not within:
                held += data if held else data.lstrip(b"\0")
                if len(held) > cap:
                    held, within = bytearray(), True
            continue
        lines: list[Line] = [*data[:cut].split(b"\n")]
        skipped = 0
        if within:
            skipped, within = 1, False
            del lines[0]
        elif held:
            held += lines[0]
            lines[0] = held
        stop = position - len(data) + cut + 1
        yield Block(start, lines, stop, skipped)
        start = stop
        held = bytearray(data[cut + 1 :])
    yield Block(start, [], start, rest=held, within=within)
