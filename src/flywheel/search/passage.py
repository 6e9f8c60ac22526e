"""The part of a text that answers: whole sentences around the words that were asked for. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
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


def best_passage(text: str, wanted: Collection[str], length: int = LENGTH) -> str:
    """At most ``length`` characters of ``text``: the run of sentences with the most of the wanted stems.

    A word counts when it begins with a stem. A short text is its own passage.
    """
    if len(text) <= length:
        return text
    head = text[: LOOKED_AT * length]
    spans = sentences(head)
    hits = _hits(head, wanted, spans)
    best, first = -1, 0
    for start in range(len(spans)):
        found, stop = set(hits[start]), start
        while stop + 1 < len(spans) and spans[stop + 1][1] - spans[start][0] <= length:
            stop += 1
            found |= hits[stop]
        if len(found) > best and (hits[start] or best < 0):
            best, first = len(found), start
    start = spans[first][0] if spans else 0
    fitting = [stop for _, stop in spans[first:] if stop - start <= length]
    stop = fitting[-1] if fitting else start + length
    return text[start:stop]


def _hits(text: str, wanted: Collection[str], spans: Sequence[tuple[int, int]]) -> list[set[str]]:
    """The wanted stems of each span. (A stem that ends in i may stand for a word in y.)"""
    found: list[set[str]] = [set() for _ in spans]
    stems = sorted({stem[:-1] if len(stem) > 3 and stem.endswith("i") else stem for stem in wanted}, key=len)
    if not stems or not spans:
        return found
    either = "|".join(map(re.escape, reversed(stems)))
    number = 0
    for match in re.finditer(rf"(?<![a-z0-9])(?:{either})", text.lower()):
        while number + 1 < len(spans) and match.start() >= spans[number][1]:
            number += 1
        found[number].add(match.group())
    return found
