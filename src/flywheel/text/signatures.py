"""The signature of an error: what stays of its line when the same error comes again elsewhere. Pure."""

from __future__ import annotations

import re
from typing import Final

from flywheel.model import digest

LONGEST: Final = 300
"""Characters of an error's line that count."""

LEAST_WORDS: Final = 3
"""Words without which a line says too little to be the same error elsewhere."""

_STEPS: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (re.compile(r"\x1b\[[0-9;]*[A-Za-z]"), ""),
    (re.compile(r"^\s*(?:E\s+)?"), ""),
    (re.compile(r"^\S+:\d+(?::\d+)?:\s+(?=\S)"), ""),  # the place that compilers put first
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.IGNORECASE), "<id>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"), "<time>"),
    (re.compile(r"\b(?:0x)?(?=[0-9a-f]*\d)[0-9a-f]{7,}\b", re.IGNORECASE), "<id>"),
    (re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s\"'<>)]+", re.IGNORECASE), "<url>"),
    (re.compile(r"(?<![\w<])(?:[A-Za-z]:)?(?:[.~]{0,2}[/\\])(?:[\w.@+-]+[/\\])*[\w.@+-]+"), "<path>"),
    (re.compile(r"(?<![\w<])(?:[\w.@+-]+/)+[\w@+-]+\.\w+"), "<path>"),
    (re.compile(r"(?<![\w.])\d+(?:[.:]\d+)*(?![\w])"), "<n>"),
)
"""What is of one run, one machine or one place, in this order."""


def signature(line: str) -> str:
    """The normal form of an error's line; "" for one that says too little.

    Lower case; ids, times, addresses, paths and numbers stand as marks; names in quotes stay, since they tell errors
    apart. Idempotent.
    """
    text = line[:LONGEST]
    for pattern, mark in _STEPS:
        text = pattern.sub(mark, text)
    text = " ".join(text.lower().split()).rstrip(" .:")
    return text if len(re.findall(r"[^\W\d_]{2,}", re.sub(r"<\w+>", "", text))) >= LEAST_WORDS else ""


def mark_of(line: str) -> str:
    """The digest of a line's signature, by which it is kept and compared; "" where it has none."""
    found = signature(line)
    return digest(found) if found else ""


_CUE: Final = re.compile(
    r"error|exception|fatal|panic|fail|denied|refused|not found|no such|cannot|traceback|warning|abort", re.IGNORECASE
)
MOST_LINES: Final = 24
"""Lines of one text whose signatures are taken."""


def marks_in(text: str) -> list[str]:
    """The marks of the lines of a text that look like errors, the last ones of many; each once."""
    lines = [line for line in text.splitlines() if _CUE.search(line[:LONGEST])][-MOST_LINES:]
    return [mark for mark in dict.fromkeys(map(mark_of, lines)) if mark]


_CLASS: Final = re.compile(r"\b(?:[\w]+\.)*([A-Z]\w*(?:Error|Exception|Warning|Fault|Panic))\b")


def class_of(line: str) -> str:
    """The class of an error that a line names, "" for none: the one word of it that is nobody's text."""
    found = _CLASS.search(line[:LONGEST])
    return found[1] if found else ""
