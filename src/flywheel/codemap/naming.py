"""Which names a file uses: every identifier that its code spells, apart from what it defines itself."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from flywheel.codemap.captures import Span

SHORTEST, LONGEST = 3, 80
"""Bytes of a name that is kept."""

FILLED: Final = frozenset({"bash", "scala"})
"""Languages in which a literal, as its grammar has it, may have code in it."""

_FILLING: Final = re.compile(rb"[$`]")
_APART: Final = bytes(
    byte if byte >= 128 or byte == ord("_") or chr(byte).isalnum() else ord(" ") for byte in range(256)
)
_DIGITS: Final = frozenset(b"0123456789")
_KEPT: Final = re.compile(rf"[A-Za-z_][A-Za-z0-9_]{{{SHORTEST - 1},{LONGEST - 1}}}")


def names_used(
    source: bytes, comments: Iterable[Span], literals: Sequence[Span], language: str, defined: Collection[str]
) -> str:
    """The names that code outside of comments and literals spells, sorted, each between two spaces; "" for none.

    A literal that may have code in it (an interpolated string) is read as well: rather a word too many than a name
    that is missed. Left out are very short and very long ones, and those that are ``defined`` here.
    """
    if language in FILLED:
        literals = [span for span in literals if not _FILLING.search(source, *span)]
    parts, at = [], 0
    for start, stop in sorted([*comments, *literals]):
        if start >= at:
            parts.append(source[at:start])
            at = stop
    parts.append(source[at:])
    words = set(b" ".join(parts).translate(_APART).split())
    words.difference_update(name.encode() for name in defined)
    names = sorted(word for word in words if SHORTEST <= len(word) <= LONGEST and word[0] not in _DIGITS)
    return f" {b' '.join(names).decode('utf-8', 'replace')} " if names else ""


def is_kept(name: str) -> bool:
    """Whether `names_used` has this name wherever it is used; of others it says nothing."""
    return _KEPT.fullmatch(name) is not None
