"""The part of a text that answers: whole sentences around the words that were asked for. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Final

LENGTH: Final = 700
"""Characters of a passage."""

LOOKED_AT: Final = 6
"""Of a long text, as many lengths are looked through."""

_BREAK: Final = re.compile(r"[.!?]+[\"')\]]*(?=\s)|[。！？]+|\n+")


def sentences(text: str) -> list[tuple[int, int]]:
    """(start, stop) of each sentence or line, in order, without white space around; they do not overlap."""
    spans: list[tuple[int, int]] = []
    start = 0
    for found in _BREAK.finditer(text):
        _add(spans, text, start, found.end())
        start = found.end()
    _add(spans, text, start, len(text))
    return spans


def _add(spans: list[tuple[int, int]], text: str, start: int, stop: int) -> None:
    while start < stop and text[start].isspace():
        start += 1
    while stop > start and text[stop - 1].isspace():
        stop -= 1
    if start < stop:
        spans.append((start, stop))


def best_passage(
    text: str, wanted: Collection[str], words: Callable[[str], Collection[str]], length: int = LENGTH
) -> str:
    """At most ``length`` characters of ``text``: the run of sentences with the most of the wanted words.

    ``words`` gives the words of a sentence in the form of ``wanted``. A short text is its own passage.
    """
    if len(text) <= length:
        return text
    spans = sentences(text[: LOOKED_AT * length])
    hits = [len(set(words(text[start:stop])) & set(wanted)) for start, stop in spans]
    best, first = -1, 0
    for start in range(len(spans)):
        total, stop = hits[start], start
        while stop + 1 < len(spans) and spans[stop + 1][1] - spans[start][0] <= length:
            stop += 1
            total += hits[stop]
        if (total > best and hits[start]) or best < 0:
            best, first = total, start
    start = spans[first][0] if spans else 0
    fitting = [stop for _, stop in spans[first:] if stop - start <= length]
    stop = fitting[-1] if fitting else start + length
    return text[start:stop]
