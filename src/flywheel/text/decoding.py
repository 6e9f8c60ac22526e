"""Source files as UTF-8, whatever they are in. Pure."""

from __future__ import annotations

import codecs
from typing import Final

_WIDE: Final = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


def as_utf8(source: bytes) -> bytes:
    """The source as UTF-8: UTF-16 by its mark, which some tools on Windows write; other bytes are Latin-1's, which
    old files are in. Lines stay where they are."""
    for mark, encoding in _WIDE:
        if source.startswith(mark):
            return source[len(mark) :].decode(encoding, "replace").encode("utf-8", "replace")
    try:
        source.decode("utf-8")
    except UnicodeDecodeError:
        return source.decode("latin-1").encode("utf-8")
    return source
