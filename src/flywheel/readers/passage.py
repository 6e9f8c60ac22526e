"""Text that is still being read: bounded, and the same however its lines were cut into pieces."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Any, Final
from zoneinfo import ZoneInfo

from flywheel.model import Micros
from flywheel.readers.fields import cap_text, text_of, whole

_BLANKS: Final = "\n \t\r"
_OFFSET: Final = re.compile(r"([+-])(\d\d):?(\d\d)")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class Passage:
    """A text of which the head (a block) and the tail (half a block) are kept."""

    head: str = ""
    tail: str = ""
    chars: int = 0

    def add(self, text: str, block: int) -> None:
        """Append; what is neither head nor tail is only counted. Blank lines before the first words are none."""
        if not self.chars and text[:1] in _BLANKS:
            text = text[text.rfind("\n", 0, len(text) - len(text.lstrip(_BLANKS))) + 1 :]
        size = len(text)
        self.chars += size
        room = block - len(self.head)
        if size <= room:
            self.head += text
            return
        if room > 0:
            self.head += text[:room]
            text = text[room:]
        if text:
            self.tail = (self.tail + text)[-(block // 2) :]

    def text(self, block: int) -> tuple[str, int]:
        """What is kept of it, cut as `cap_text` cuts, and how long it was when something was left out."""
        words = self.head + self.tail
        return cap_text(words.rstrip(), block, missing=self.chars - len(words))

    def words(self) -> str:
        """Head and tail, uncut."""
        return self.head + self.tail

    def clear(self) -> None:
        """Begin anew."""
        self.head, self.tail, self.chars = "", "", 0

    def dump(self) -> dict[str, Any]:
        """For a carry's words."""
        return {"head": self.head, "tail": self.tail, "chars": self.chars} if self.chars else {}


def load_passage(value: Mapping[str, Any]) -> Passage:
    """What `Passage.dump` gave."""
    return Passage(text_of(value.get("head")), text_of(value.get("tail")), whole(value.get("chars")) or 0)


def local_micros(text: str, zone: str) -> Micros | None:
    """A time with or without its zone; without one it is that of a clock in ``zone`` (`Place.zone`). None: no time."""
    try:
        when = datetime.fromisoformat(text)
        aware = when if when.tzinfo else when.replace(tzinfo=_zone(zone))
        delta = aware - _EPOCH
    except (ValueError, OverflowError):
        return None
    return Micros((delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds)


@lru_cache(maxsize=8)
def _zone(name: str) -> tzinfo:
    if found := _OFFSET.fullmatch(name):
        minutes = int(found[2]) * 60 + int(found[3])
        return timezone(timedelta(minutes=-minutes if found[1] == "-" else minutes)) if minutes < 1440 else UTC
    try:
        return ZoneInfo(name) if name else UTC
    except (KeyError, OSError, ValueError):  # no such zone, or none that this machine knows
        return UTC


def sort_lines(text: str, marks: re.Pattern[str], plain: Callable[[str], None], marked: Callable[[str], None]) -> None:
    """Give whole lines on, in order: each that ``marks`` finds (behind its ``\\n``) alone, what lies between together.

    A marked line comes without its end, the others with theirs; CRLF counts as an end.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    lines = f"\n{text}" if text.endswith("\n") else f"\n{text}\n"
    find = lines.find
    at = 1
    for match in marks.finditer(lines):
        start = match.start() + 1
        stop = find("\n", start)
        if start > at:
            plain(lines[at:start])
        marked(lines[start:stop])
        at = stop + 1
    if at < len(lines):
        plain(lines[at:])
