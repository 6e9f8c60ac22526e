"""The client's two pipes: lines of JSON-RPC in and out, from the first byte to the last."""

from __future__ import annotations

import os
from typing import Final

MAX_LINE: Final = 8 << 20
"""Bytes of a message; a longer one is dropped."""

REPLAYED: Final = "flywheel-opening"
"""Id under which the SDK is told of the opening request; it answers to nobody."""


class Wire:
    """Reads and writes whole lines over file descriptors. Reading and writing may be different threads'."""

    def __init__(self, inward: int, outward: int) -> None:
        self._in, self._out = inward, outward
        self._rest = bytearray()
        self._ended = False

    def read(self) -> bytes:
        """The next line with its end; b"" at the end of the stream, where a line without an end is dropped."""
        searched = 0
        dropping = False
        while True:
            at = self._rest.find(b"\n", searched)
            if at >= 0:
                line = bytes(self._rest[: at + 1])
                del self._rest[: at + 1]
                if not dropping:
                    return line
                dropping, searched = False, 0
                continue
            if len(self._rest) > MAX_LINE:
                self._rest.clear()
                dropping = True
            searched = len(self._rest)
            part = b"" if self._ended else self._more()
            if not part:
                self._ended = True
                return b""
            self._rest += part

    def _more(self) -> bytes:
        try:
            return os.read(self._in, 1 << 16)
        except OSError:
            return b""

    def write(self, line: bytes) -> None:
        """Write all of a line. When nobody reads any more the process ends at once: nobody is left to serve."""
        while line:
            try:
                line = line[os.write(self._out, line) :]
            except OSError:
                os._exit(0)


def claim() -> Wire:
    """The process's stdin and stdout for this protocol alone. Raises OSError when one of them is closed.

    Afterwards descriptor 0 is empty and 1 leads to stderr, so that neither a stray ``print`` nor a child process can
    put anything between two messages.
    """
    inward, outward = os.dup(0), os.dup(1)  # not inherited by children
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # no stderr
        os.dup2(null, 1)
        os.dup2(null, 2)
    os.close(null)
    return Wire(inward, outward)
