"""How many columns of a terminal text takes, and text cut to so many."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Final

ELLIPSIS: Final = "…"
"""What stands where text was cut, one column wide."""


def columns(text: str) -> int:
    """Columns that text takes: wide characters two, marks none. At least what terminals take.

    Widths are Unicode's (UAX 11); a character that this Python's tables do not know counts two.
    """
    return len(text) if text.isascii() else sum(map(_width, text))


def cut(text: str, most: int) -> str:
    """The text in at most ``most`` columns, with an ellipsis where it was cut."""
    if columns(text) <= most:
        return text
    taken = 0
    for at, char in enumerate(text):
        taken += _width(char)
        if taken > most - 1:
            return f"{text[:at].rstrip()}{ELLIPSIS}" if most > 0 else ""
    return text


def padded(text: str, wide: int) -> str:
    """The text with spaces behind it up to ``wide`` columns."""
    return text + " " * (wide - columns(text))


_WIDER: Final = ((0x2630, 0x2637), (0x268A, 0x268F), (0x4DC0, 0x4DFF), (0x1D300, 0x1D356), (0x1D360, 0x1D378))
"""Signs that Unicode 16 made wide."""


@lru_cache(4096)
def _width(char: str) -> int:
    kind, code = unicodedata.category(char), ord(char)
    if kind in ("Mn", "Me"):
        return 0
    if kind == "Cn" or unicodedata.east_asian_width(char) in ("W", "F"):
        return 2
    return 2 if any(first <= code <= last for first, last in _WIDER) else 1
