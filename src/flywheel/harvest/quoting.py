"""Where a quote stands in a text, word for word; only white space may differ. Pure."""

from __future__ import annotations

import re
from typing import Final

LONGEST: Final = 2000
"""Characters of a quote."""

SHORTEST: Final = 12
"""Characters of a quote in Latin letters; one in other scripts may have half as many."""


def too_short(quote: str, *, placed: bool = False) -> bool:
    """Whether a quote could stand anywhere; half as much is enough for one whose file is named (``placed``)."""
    text = "".join(quote.split())
    return len(text) * (2 if placed else 1) * (1 if text.isascii() else 2) < SHORTEST


def rarest(quote: str) -> str:
    """The longest run without white space: what a text must hold to hold the quote."""
    return max(quote.split(), key=len, default="")


def find(text: str, quote: str, line: int = 0) -> tuple[int, int] | None:
    """(start, stop) of the quote in ``text``, the first, or with ``line`` (1-based) the one that begins nearest to it.

    ``text[start:stop]`` is the quote but for white space. None when it does not stand there.
    """
    words = quote.split()
    if not words or words[0] not in text:
        return None
    found = [match.span() for match in re.finditer(r"\s+".join(map(re.escape, words)), text)]
    if not found:
        return None
    return min(found, key=lambda span: abs(text.count("\n", 0, span[0]) + 1 - line)) if line else found[0]
