"""Whether recorded words bear a statement out, as far as words tell. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import Final

LEAST: Final = 0.6
"""The part of a statement's words that the ground has to hold."""

WORDS: Final = 2
"""Words that a statement has at least; less says nothing that could be checked."""

_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")
_NAME: Final = re.compile(r"\w+(?:[._/:-]+\w+)+|\w*[a-z]\w*[A-Z]\w*|`[^`\n]+`")
_PROPER: Final = re.compile(r"(?<=[\w,;:)\"'’”] )[\"'“‘(]?([A-Z][\w’'-]*)")  # not what begins a sentence
_FIRST: Final = re.compile(r"[^\w`]*([A-Z][\w’'-]*)")  # it may be a name, and is what the sentence is about
_DENIAL: Final = re.compile(r"\b(?:not|never|no longer|nobody|none|neither|without|cannot)\b|n['’]t\b", re.IGNORECASE)

Words = Callable[[str], Collection[str]]
"""The words of a text in the form in which they are compared."""


def bears_out(statement: str, grounds: Sequence[str], words: Words) -> bool:
    """Whether the grounds say so: most words, every number, every name and what it begins with stand there, and a
    denial is denied there."""
    ground = " ".join(grounds)
    low = ground.casefold()
    said, there = set(words(statement)), set(words(ground))
    if len(said) < WORDS or len(said & there) < LEAST * len(said):
        return False
    numbers = {match.group() for match in _NUMBER.finditer(ground)}
    if any(match.group() not in numbers for match in _NUMBER.finditer(statement)):
        return False
    if any(match.group().strip("`").casefold() not in low for match in _NAME.finditer(statement)):
        return False
    if any(match.group(1).casefold().removesuffix("'s") not in low for match in _PROPER.finditer(statement)):
        return False
    first = _FIRST.match(statement)
    if first and not set(words(first.group(1))) <= there and first.group(1).casefold() not in low:
        return False
    return not _DENIAL.search(statement) or _DENIAL.search(ground) is not None
