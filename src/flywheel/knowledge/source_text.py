"""The lines of a definition, from the file that is indexed."""

from __future__ import annotations

import hashlib
import os
import stat
from typing import Final

from flywheel.text.decoding import as_utf8

MOST: Final = 1 << 20
"""Bytes of a file that is read."""


def lines_of(checkout: str, path: str, start: int, stop: int, sha256: str = "") -> str:
    """Lines ``start`` to ``stop`` (1-based, inclusive), not redacted; "" when the file cannot be read.

    With ``sha256`` also when it is another text than that by now.
    """
    data = _bytes_of(checkout, path)
    if sha256 and hashlib.sha256(data).hexdigest() != sha256:
        return ""
    lines = as_utf8(data).decode("utf-8", "replace").splitlines()
    return "\n".join(lines[start - 1 : stop])


def text_of(checkout: str, path: str) -> str:
    """A file as it is now, not redacted; "" when it cannot be read."""
    return as_utf8(_bytes_of(checkout, path)).decode("utf-8", "replace")


def _bytes_of(checkout: str, path: str) -> bytes:
    """No symbolic link is followed at the end of the path, and nothing outside of the checkout is read."""
    file = os.path.realpath(f"{checkout}/{path}")
    if not file.startswith(f"{checkout}/"):
        return b""
    try:
        number = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(number, "rb") as stream:
            facts = os.fstat(number)
            if not stat.S_ISREG(facts.st_mode) or facts.st_size > MOST:
                return b""
            return stream.read(MOST + 1)
    except OSError:
        return b""
