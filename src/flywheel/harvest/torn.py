"""What is left of a JSON document that breaks off: everything before the value that is cut. Pure."""

from __future__ import annotations

import re
from typing import Any, Final

from flywheel.harvest.repair import parse

_TOKEN: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[\[\]{},]', re.DOTALL)
_DEEPEST: Final = 3  # of lists and objects within which a cut may lie: a document, its list, an item's own members
_CLOSERS: Final = {b"[": b"]", b"{": b"}"}
_TRIES: Final = 4


def whole_part(data: bytes) -> dict[str, Any] | None:
    """The object up to the last item (or member) that is whole, with the brackets closed; None when nothing is.

    Of an item that is cut nothing is kept: half of what somebody said is not what was said.
    """
    for stop, opened in _places(data):
        ends = b"".join(_CLOSERS[one] for one in reversed(opened))
        try:
            value = parse(data[:stop] + ends)
        except ValueError:
            continue
        return value if isinstance(value, dict) else None
    return None


def _places(data: bytes) -> list[tuple[int, list[bytes]]]:
    """Where a whole item ends: offset, and what is open there; those nearest to the end first."""
    opened: list[bytes] = []
    ends: list[tuple[int, list[bytes]]] = []
    for token in _TOKEN.finditer(data):
        mark = token[0]
        if mark in _CLOSERS:
            opened.append(mark)
        elif not opened:
            break
        elif mark == b",":
            if len(opened) < _DEEPEST:
                ends.append((token.start(), opened[:]))
        elif mark in (b"]", b"}"):
            opened.pop()
            if opened and len(opened) < _DEEPEST:
                ends.append((token.end(), opened[:]))
        if len(ends) > 2 * _TRIES:
            del ends[:-_TRIES]
    return ends[: -_TRIES - 1 : -1]
