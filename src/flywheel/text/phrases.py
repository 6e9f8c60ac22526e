"""Phrases of a text that may be the name of something. Pure."""

from __future__ import annotations

import re
from typing import Final

from flywheel.text.words import STOP_WORDS

MOST_WORDS: Final = 24
"""Words of a question in which subjects are looked for."""

LONGEST_NAME: Final = 6
"""Words of a subject's name."""

EDGES: Final = ".,;:!?()[]{}<>\"'`"
"""What stands around a name in prose."""


def subjects_in(text: str) -> dict[str, tuple[int, int]]:
    """The phrases of a question that may be the subject of a page, also in the singular, with their place in words."""
    words = [re.sub(r"['’]s$", "", chunk.strip(EDGES)).lower() for chunk in text.split()[:MOST_WORDS]]
    found: dict[str, tuple[int, int]] = {}
    for start in range(len(words)):
        for stop in range(start + 1, min(start + LONGEST_NAME, len(words)) + 1):
            last = words[stop - 1]
            if words[start] in STOP_WORDS or last in STOP_WORDS:
                continue
            front = words[start : stop - 1]
            for form in dict.fromkeys(
                (last, last.removesuffix("s"), re.sub("ies$", "y", last), re.sub("es$", "", last))
            ):
                found.setdefault(" ".join((*front, form)), (start, stop))
    return found
