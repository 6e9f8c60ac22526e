"""Whether words stand in a text as somebody else's: in a quoted line, a block, or between quotation marks. Pure."""

from __future__ import annotations

import re
from typing import Final

_FENCE: Final = re.compile(r"^[ \t]{0,3}(?:[-*+] +|\d+[.)] +)?(```+|~~~+)", re.MULTILINE)
_PAIRS: Final = (("“", "”"), ("«", "»"), ("„", "“"))


def is_quoted(text: str, start: int, stop: int) -> bool:
    """Whether the words from ``start`` to ``stop`` (characters) are quoted where they stand."""
    return _in_quoted_line(text, start) or _in_block(text, start) or _between_marks(text, start, stop)


def _in_quoted_line(text: str, start: int) -> bool:
    head = text[text.rfind("\n", 0, start) + 1 : start + 1].lstrip()
    return head.startswith(">")


def _in_block(text: str, start: int) -> bool:
    """Whether a fence is open there: it is closed by one of the same sort that is as long."""
    opened = ""
    for found in _FENCE.finditer(text, 0, start):
        mark = found[1]
        if not opened:
            opened = mark
        elif mark.startswith(opened):
            opened = ""
    return bool(opened)


def _between_marks(text: str, start: int, stop: int) -> bool:
    """Whether quotation marks open before the words and close after them, in their own line or paragraph."""
    begins, ends = text.rfind("\n\n", 0, start) + 1, text.find("\n\n", stop)
    before, after = text[begins:start], text[stop : ends if ends >= 0 else len(text)]
    words = text[start:stop]
    if before.count('"') % 2 and '"' in after + words[-1:]:
        return True
    if words[:1] in '"“«„' and words[-1:] in '"”»“' and len(words) > 1:
        return True
    return any(before.rfind(left) > before.rfind(right) and right in after + words[-1:] for left, right in _PAIRS)
