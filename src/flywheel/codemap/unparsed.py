"""What a grammar cannot make out and a reading of the text can. Pure, and run in parser processes only.

SQL has as many dialects as databases, and its grammar takes one: triggers with a body, ``CREATE PROC``, partitions and
virtual tables of the others are read by their first words. In C++ a macro in the head of a class hides all
of it, and Qt's first line in it what follows.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final

from flywheel.codemap.captures import Captures, Found, Span, Stretch

_PART: Final = rb'(?:\w+|"[^"\n]+"|`[^`\n]+`|\[[^\]\n]+\])'
_CREATE: Final = re.compile(
    rb"^[ \t]*(?P<at>CREATE)\s+(?:OR\s+(?:REPLACE|ALTER)\s+)?(?:DEFINER\s*=\s*\S+\s+)?"
    rb"(?:(?:GLOBAL|LOCAL|TEMP|TEMPORARY|UNLOGGED|FOREIGN|EXTERNAL|VIRTUAL|MATERIALIZED|RECURSIVE|UNIQUE|CLUSTERED"
    rb"|NONCLUSTERED|CONSTRAINT)\s+)*"
    rb"(?P<kind>TABLE|VIEW|FUNCTION|PROCEDURE|PROC|AGGREGATE|TRIGGER|TYPE|DOMAIN|INDEX|SEQUENCE|SCHEMA)\s+"
    rb"(?:CONCURRENTLY\s+)?(?:IF\s+NOT\s+EXISTS\s+)?(?P<name>" + _PART + rb"(?:\." + _PART + rb"){0,3})",
    re.IGNORECASE | re.MULTILINE,
)
_KINDS: Final = {"procedure": "function", "proc": "function", "aggregate": "function", "domain": "type"}
_BODIES: Final = frozenset({"procedure", "proc", "function", "trigger"})
_NEXT: Final = re.compile(
    rb"^(?:CREATE|ALTER|DROP|GO|DELIMITER|INSERT|UPDATE|GRANT|REVOKE|COMMENT|SELECT)\b", re.IGNORECASE | re.MULTILINE
)
_SPLIT: Final = re.compile(_PART)
_HEAD: Final = re.compile(
    rb"\b(?:class|struct)[ \t]+(?P<macro>[A-Z][A-Z0-9_]{2,}(?:\([^()\n]*\))?)(?=\s+[A-Za-z_][\w:]*\s*(?:final\s*)?[:{])"
    rb"|^[ \t]+(?P<line>Q_[A-Z_]+)(?=[ \t\r]*$)",
    re.MULTILINE,
)
_CPP: Final = frozenset({"cpp", "c-header"})


def parseable(source: bytes, language: str) -> bytes:
    """The source for the parser: in C++ without the macros of classes, each byte in its place."""
    return _HEAD.sub(_blanked, source) if language in _CPP else source


def _blanked(found: re.Match[bytes]) -> bytes:
    macro = found["macro"] or found["line"]
    return found[0][: -len(macro)] + b" " * len(macro)


def add_unparsed(source: bytes, language: str, captures: Captures) -> None:
    """Add the definitions of SQL that begin outside of all that was found, comments and literals."""
    if language != "sql":
        return
    taken = sorted(
        [*captures.found, *captures.verbatim, *((one.start, one.stop) for one in captures.comments)]
    )  # of nested ones the outer comes first
    reach, stops = 0, list[int]()
    for _, stop in taken:
        reach = max(reach, stop)
        stops.append(reach)
    starts = [start for start, _ in taken]
    row = at = 0
    for match in _CREATE.finditer(source):
        before = bisect_right(starts, match.start("at"))
        if before == 0 or stops[before - 1] <= match.start("at"):
            row, at = row + source.count(b"\n", at, match.start("at")), match.start("at")
            item = _found(source, match, row)
            captures.found[item.inner] = item


def _found(source: bytes, match: re.Match[bytes], first: int) -> Found:
    word = match["kind"].decode().lower()
    start, stop = match.start("at"), _end(source, match, word)
    *scope, name = [part.decode("utf-8", "replace").strip('"`[]') for part in _SPLIT.findall(match["name"])]
    at = Stretch(start, stop, first, first + source.count(b"\n", start, stop))
    line = source.find(b"\n", match.end())
    body = min(stop, line if line >= 0 else stop)
    return Found(
        kind=_KINDS.get(word, word), name=name, scope=".".join(scope), at=at, inner=_span(at), said=start, body=body,
        nodes=0, pattern=0,
    )  # fmt: skip


def _end(source: bytes, match: re.Match[bytes], kind: str) -> int:
    """The first byte after the statement: what has a body ends where another statement begins a line."""
    if kind not in _BODIES:
        stop = source.find(b";", match.end())
        following = _NEXT.search(source, match.end())
        ends = [one for one in (stop + 1 if stop >= 0 else 0, following.start() if following else 0) if one]
        return _trimmed(source, match.end(), min(ends, default=len(source)))
    following = _NEXT.search(source, match.end())
    return _trimmed(source, match.end(), following.start() if following else len(source))


def _trimmed(source: bytes, least: int, stop: int) -> int:
    """Without white space and the comment of what follows at its end."""
    text = source[least:stop].rstrip()
    while (last := text.rpartition(b"\n")[2].lstrip()).startswith(b"--"):
        text = text[: -len(last)].rstrip()
    return least + len(text)


def _span(at: Stretch) -> Span:
    return at.start, at.stop
