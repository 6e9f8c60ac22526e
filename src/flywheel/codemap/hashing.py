"""Hashes of definitions that white space and comments do not change, and nothing else leaves alone."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Final

from flywheel.codemap.captures import Captures, Found, Span

_SPACE: Final = b" \t\r\n\f\v"
_SPACED: Final = re.compile(b"[" + _SPACE + b"]")
_IN, _OUT = 1, 2
_STOP, _START, _DROP, _KEEP = range(4)


def hash_definitions(source: bytes, captures: Captures, found: Sequence[Found]) -> list[str]:
    """One hash for each definition, 32 hex digits (BLAKE2b-128).

    Hashed are its bytes without comments, and without white space outside of literals; where only indentation shows
    nesting, block borders; and the number of its syntax nodes, which tells ``return x`` from ``returnx``.
    """
    documented = set(captures.docs.values())
    kept = [span for span in captures.verbatim if _SPACED.search(source, *span) and span not in documented]
    spans = [(item.at.start, item.at.stop) for item in found]
    text, places = squeeze(source, [(c.start, c.stop) for c in captures.comments], kept, captures.blocks, spans)
    starts = [comment.start for comment in captures.comments]
    sums = [0]
    for comment in captures.comments:
        sums.append(sums[-1] + comment.nodes)
    hashes = []
    for item in found:
        inside = sums[bisect_left(starts, item.inner[1])] - sums[bisect_left(starts, item.inner[0])]
        begin, end = places[item.at.start, item.at.stop]
        code = hashlib.blake2b(text[begin:end], digest_size=16)
        code.update(b"\0%d" % (item.nodes - inside))
        hashes.append(code.hexdigest())
    return hashes


def hash_text(text: str) -> str:
    """The hash of a file's own documentation; white space does not matter."""
    return hashlib.blake2b("".join(text.split()).encode("utf-8", "replace"), digest_size=16).hexdigest()


def squeeze(
    source: bytes, dropped: Iterable[Span], kept: Iterable[Span], blocks: Iterable[Span], marked: Iterable[Span]
) -> tuple[memoryview, dict[Span, Span]]:
    """The source without what a hash ignores, and where each of the spans ``marked`` came to lie in it.

    At one offset inner spans end first and outer spans begin first, so that a border belongs to the same definition
    whatever its neighbours are.
    """
    events: list[tuple[int, int, int, int]] = [(start, _DROP, stop, 0) for start, stop in dropped]
    events += [(start, _KEEP, stop, 0) for start, stop in kept]
    nested, spans = set(blocks), set(marked)
    events += [(start, _START, -stop, 0) for start, stop in nested]
    events += [(stop, _STOP, -start, 1) for start, stop in nested]
    events += [(start, _START, -stop, 1) for start, stop in spans]
    events += [(stop, _STOP, -start, 0) for start, stop in spans]
    events.sort()
    out = bytearray()
    begins: dict[Span, int] = {}
    places: dict[Span, Span] = {}
    position = 0
    for offset, what, other, mark in events:
        if offset > position:
            out += source[position:offset].translate(None, _SPACE)
            position = offset
        if what in (_KEEP, _DROP):
            if what == _KEEP:
                out += source[position:other]
            position = max(position, other)
        elif what == _START:
            if mark:
                begins[offset, -other] = len(out)
            else:
                out.append(_IN)
        elif mark:
            out.append(_OUT)
        else:
            span = (-other, offset)
            places[span] = (begins[span], len(out))
    return memoryview(out), places
