"""Marked blocks: the part of a foreign text that is Flywheel's, between two lines that say so."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """How the two lines look in one kind of file."""

    begin: str
    end: str


MARKDOWN: Final = Marks(
    begin="<!-- flywheel:begin (Flywheel keeps what stands between these two lines up to date) -->",
    end="<!-- flywheel:end -->",
)
HASH: Final = Marks(begin="# flywheel:begin", end="# flywheel:end")

_LINE: Final = re.compile(r"^(?:<!--|#)[ \t]?flywheel:(begin|end)\b[^\r\n]*(?:\r?\n|\Z)", re.MULTILINE)
_FENCED: Final = re.compile(
    r"<flywheel-briefing\b[^>\n]{0,300}>.*?</flywheel-briefing\s{0,8}>"
    r"|\\u003cflywheel-briefing\b.{0,300}?\\u003e.*?\\u003c/flywheel-briefing\s{0,8}\\u003e",  # as JSON within text
    re.DOTALL | re.IGNORECASE,
)


class Damaged(ValueError):
    """The lines are not one pair in the right order."""


def find_block(text: str) -> tuple[int, int] | None:
    """Where the block begins and where it is over, its two lines included; None when there is none.

    Raises Damaged when one of the lines is missing, or is there twice, or the last comes first.
    """
    found = list(_LINE.finditer(text))
    if not found:
        return None
    if [one.group(1) for one in found] != ["begin", "end"]:
        raise Damaged("the lines flywheel:begin and flywheel:end are not there once each, in this order")
    return found[0].start(), found[1].end()


def inside_block(text: str) -> str:
    """What stands between the two lines; "" when there is no block. Raises Damaged."""
    place = find_block(text)
    if place is None:
        return ""
    lines = text[place[0] : place[1]].splitlines()
    return "\n".join(lines[1:-1])


def put_block(text: str, inner: str, marks: Marks) -> str:
    """The text with that block, in the place of the one that is there, or else at the end. Raises Damaged."""
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = newline.join([marks.begin, *map(_inert, inner.strip("\n").split("\n")), marks.end])
    place = find_block(text)
    if place is not None:
        ended = text[place[1] - 1 : place[1]] == "\n"
        return text[: place[0]] + lines + (newline if ended else "") + text[place[1] :]
    return text + (newline if text else "") + lines + newline


def cut_block(text: str) -> str:
    """The text as it was before `put_block`. Raises Damaged."""
    place = find_block(text)
    if place is None:
        return text
    return without_gap(text[: place[0]], text[place[1] :])


def without_gap(before: str, after: str) -> str:
    """What stood around something that was appended after an empty line, or after a line that had no end yet."""
    for newline in ("\r\n", "\n"):
        if before.endswith(newline):
            rest = before[: -len(newline)]
            return (rest if not after or rest.endswith("\n") else before) + after
    return before + after


def without_blocks(text: str) -> str:
    """The text without a block of ours and without briefings, for reading; lines keep their numbers."""
    try:
        place = find_block(text)
    except Damaged:
        place = None
    if place is not None:
        text = text[: place[0]] + "\n" * text.count("\n", *place) + text[place[1] :]
    return _FENCED.sub(lambda found: "\n" * found.group().count("\n"), text)


def _inert(line: str) -> str:
    """A line that cannot pass for one of the two."""
    return f" {line}" if _LINE.match(line) else line
