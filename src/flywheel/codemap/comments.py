"""Documentation as a person reads it: the first paragraph of a docstring or comment, on one line."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from flywheel.codemap.captures import Comment, Stretch

DOC_CHARS: Final = 600
"""Longer documentation is cut."""

_MARKS: Final = re.compile(r"^\s*(?:/\*[*!]*|\*+/|\*(?!\*)|//+!?|#+!?|--+)?\s?|\s*\*+/\s*$")
_XML: Final = re.compile(r"</?(?:summary|remarks|para)/?>")
_LICENCE: Final = re.compile(
    r"\bcopyright\b|\(c\) \d{4}|\blicen[sc]ed? (?:under|agreement|terms)\b|SPDX-License", re.IGNORECASE
)
_TAG: Final = re.compile(r"^@\w+\s*")
_RULE: Final = re.compile(r"^\W*$")


def first_paragraph(text: str, *, marked: bool) -> str:
    """The first paragraph, white space folded, at most `DOC_CHARS` characters; ``marked`` text has comment marks.

    Lines of punctuation only count as blank; a line that begins with ``@`` (a tag) ends the paragraph.
    """
    lines: list[str] = []
    for line in text[: 8 * DOC_CHARS].splitlines():
        plain = (_XML.sub("", _MARKS.sub("", line)) if marked else line).strip()
        if _RULE.match(plain):
            if lines:
                break
            continue
        if marked and plain.startswith("@"):
            if lines:
                break
            plain = _TAG.sub("", plain)
        lines.append(plain)
    return cap(" ".join(" ".join(lines).split()), DOC_CHARS)


def is_licence(text: str) -> bool:
    """Whether a file's first comment is about rights, not about the file."""
    return _LICENCE.search(text) is not None


def cap(text: str, chars: int) -> str:
    """``text``, or its beginning and an ellipsis, in at most ``chars`` characters."""
    return text if len(text) <= chars else text[: chars - 1].rstrip() + "…"


class Leading:
    """Finds the comment that stands right above a definition."""

    def __init__(self, source: bytes, comments: Sequence[Comment], prefixes: Sequence[Stretch]) -> None:
        self._source = source
        self._comments: Mapping[int, Comment] = {comment.last: comment for comment in comments}
        self._prefixes: Mapping[int, Stretch] = {prefix.stop: prefix for prefix in prefixes}
        self._firsts: dict[int, Comment] = {}
        self._gaps = {comment.stop: comment.start for comment in comments} if prefixes else {}

    def prefix(self, at: Stretch) -> Stretch:
        """``at``, widened by the attributes before it, whatever blanks and comments lie between."""
        if not self._prefixes:
            return at
        stop = self._before(at.start)
        while stop in self._prefixes or stop in self._gaps:
            above = self._prefixes.get(stop)
            if above:
                at = Stretch(above.start, at.stop, above.first, at.last)
            stop = self._before(above.start if above else self._gaps[stop])
        return at

    def _before(self, start: int) -> int:
        """Where what comes before ``start``, white space aside, ends; a comment that takes in its line end counts."""
        stop = start
        while stop > 0 and self._source[stop - 1] in b" \t\r\n":
            if stop in self._gaps:
                break
            stop -= 1
        return stop

    def block(self, at: Stretch) -> Stretch:
        """``at``, a comment, with the comments that follow it line by line."""
        if not self._firsts:
            self._firsts = {comment.first: comment for comment in self._comments.values()}
        while below := self._firsts.get(at.last + 1):
            if not self._alone(below.start):
                break
            at = Stretch(at.start, below.stop, at.first, max(below.last, at.last + 1))
        return at

    def doc(self, at: Stretch) -> str:
        """The comment that ends on the row above, as its first paragraph; "" when there is none."""
        first, parts = at.first, list[str]()
        if first - 1 not in self._comments or not self._alone(at.start):
            return ""
        while comment := self._comments.get(first - 1):
            if not self._alone(comment.start) or self._source[comment.start + 2 : comment.start + 3] == b"!":
                break  # beside code, or about what is around it (``//!``, ``/*!``)
            parts.append(self._source[comment.start : comment.stop].decode("utf-8", "replace"))
            if comment.first >= first:
                break
            first = comment.first
        return first_paragraph("\n".join(reversed(parts)), marked=True) if parts else ""

    def _alone(self, start: int) -> bool:
        """Whether nothing but white space stands before this byte on its line."""
        line = self._source.rfind(b"\n", 0, start) + 1
        return not self._source[line:start].strip(b" \t\r\xef\xbb\xbf")
