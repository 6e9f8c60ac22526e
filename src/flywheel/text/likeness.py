"""How alike two definitions are, their own names aside, and which one another became. Pure."""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Mapping
from typing import Final

KEPT: Final = 64
"""Hashes of a sketch: an estimate of likeness is right within about a tenth."""

LEAST: Final = 8
"""Runs of words without which nothing but equality says that two texts are one."""

ALIKE: Final = 0.5
"""Likeness from which a definition may be another one, edited."""

NAMED: Final = 0.3
"""Likeness from which it may be, when it has the same name."""

AHEAD: Final = 0.1
"""How much more alike the best must be than the next."""

_RUN: Final = 3
_TOKEN: Final = re.compile(r"\w+|[^\w\s]")


def sketch(text: str, qualified: str) -> str:
    """A hash of a definition's text that its own name and white space do not change, ":", and a sketch of it.

    The sketch holds the smallest `KEPT` hashes of its runs of three words (bottom-k: Cohen and Kaplan, 2007).
    """
    own = qualified.rpartition(".")[2]
    words = ["\0" if word == own else word for word in _TOKEN.findall(text)]
    whole = "\1".join(words).encode("utf-8", "surrogatepass")
    runs = {zlib.crc32("\1".join(words[at : at + _RUN]).encode("utf-8", "surrogatepass")) for at in _starts(words)}
    kept = "".join(f"{run:08x}" for run in sorted(runs)[:KEPT])
    return f"{hashlib.blake2b(whole, digest_size=12).hexdigest()}:{kept}"


def _starts(words: list[str]) -> range:
    return range(len(words) - _RUN + 1)


def likeness(one: str, other: str) -> float:
    """Of two sketches: 1 where the texts are equal, else about the share of runs that they have in common."""
    whole, _, mine = one.partition(":")
    equal, _, theirs = other.partition(":")
    if whole == equal:
        return 1.0
    first, second = _runs(mine), _runs(theirs)
    if min(len(first), len(second)) < LEAST:
        return 0.0
    union = sorted(first | second)[:KEPT]
    return len(first & second & set(union)) / len(union)


def _runs(kept: str) -> set[str]:
    return {kept[at : at + 8] for at in range(0, len(kept), 8)}


def closest(wanted: str, others: Mapping[str, str], least: float = ALIKE) -> list[str]:
    """Of ``others`` (label → sketch) the one that is most alike, several where none is ahead, none where none is."""
    found = sorted(((likeness(wanted, other), label) for label, other in others.items()), reverse=True)
    if not found or found[0][0] < least:
        return []
    best = found[0][0]
    same = [label for value, label in found if value == best]
    return same if best == 1.0 else sorted(label for value, label in found if value > best - AHEAD)
