"""Typed reads from foreign JSON: whatever a field holds, one type comes out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from flywheel.model import Micros
from flywheel.text.compose import FENCE_OPEN, strip_injected

TEXT_CAP: Final = 32 * 1024
"""Characters kept of one block of text."""

_FENCE: Final = FENCE_OPEN.strip("<>").split()[0]
_SLACK: Final = 512  # how far a cut may move to fall on white space
_PAIRS: Final = (("-----BEGIN", "-----END"), ("<private>", "</private>"))
_BASE64: Final = re.compile(r"[A-Za-z0-9+/_-]{1024,}={0,2}")
_LONG_LINE: Final = 1024
_ODD: Final = re.compile(r"[^\w.:#/-]+")
_DIGITS: Final = re.compile(r"-?[0-9]{1,18}")
_from_iso: Final = datetime.fromisoformat
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST: Final = 253_402_300_799_000  # milliseconds; the end of the year 9999


def text_of(value: object) -> str:
    """The string, or "" for anything else."""
    return value if isinstance(value, str) else ""


def mapping_of(value: object) -> Mapping[str, Any]:
    """The object, or an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def list_of(value: object) -> list[Any]:
    """The list, or an empty one for anything else."""
    return value if isinstance(value, list) else []


def true(value: object) -> bool:
    """Whether it is true, also as the strings that some clients write."""
    return value is True or value in ("true", "True", "1")


def whole(value: object) -> int | None:
    """The whole number, also from a string of digits; None for anything else (booleans too)."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if abs(value) < 2**63 else None
    return int(value) if isinstance(value, str) and _DIGITS.fullmatch(value) else None


def native(value: object) -> str:
    """An identifier as an agent wrote it, at most 128 characters."""
    return value[:128] if isinstance(value, str) else ""


def kind_name(value: object) -> str:
    """A record kind fit for a counter's name: short, without surprising characters."""
    if not isinstance(value, str) or not value:
        return "?"
    name = value[:48]
    return name if name.isascii() and name.isidentifier() else _ODD.sub("?", name)


def micros_of(value: object) -> Micros | None:
    """A timestamp: ISO 8601 (no zone: UTC), or a number of seconds or milliseconds since 1970; None for others.

    None for what is before 1970-01-02, too: it is how programs write that they have no time.
    """
    if isinstance(value, str):
        try:
            when = _from_iso(value)
        except ValueError:
            return None
        delta = (when if when.tzinfo else when.replace(tzinfo=UTC)) - _EPOCH
        if delta.days < 1:
            return None
        return Micros((delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < _LATEST:
        return None
    seconds = value / 1000 if value > 100_000_000_000 else value
    return Micros(round(seconds * 1_000_000))


def unbriefed(text: str) -> str:
    """Without any briefing of ours; the looks before the regex are for speed, the cheapest first."""
    return strip_injected(text) if ("<" in text or "\\" in text) and _FENCE in text else text


def clip(text: str, cap: int = 500) -> str:
    """What fits into ``cap`` characters, with an ellipsis when more were there.

    Redaction comes later: no word is cut in two (half a secret looks like none), nor a key or ``<private>`` block.
    """
    return text if len(text) <= cap else _head(text, cap - 2).rstrip() + " …"


def cap_text(text: str, cap: int = TEXT_CAP, *, missing: int = 0) -> tuple[str, int]:
    """A block fit to store, and how long it was when something was left out (0 when nothing was).

    Keeps three quarters of ``cap`` characters from the head and one from the tail, cut at white space; never cuts
    inside a private key or a ``<private>`` block, so that redaction, which comes later, still sees them whole; leaves
    out base64. ``missing`` characters had to be left out of the middle before.
    """
    length = len(text) + missing
    if length <= _LONG_LINE:
        return text, 0
    if len(text) > cap:
        head, tail = _head(text, cap - cap // 4), _tail(text, cap // 4)
        text = f"{head}\n… [{length - len(head) - len(tail):,} characters left out] …\n{tail}"
    if _runs_on(text):
        text = _BASE64.sub(_left_out, text)
    return text, length if length > cap else 0


def _runs_on(text: str) -> bool:
    """Whether somewhere in it so many characters follow one another without a space that it may be base64."""
    start, last = 0, len(text) - _LONG_LINE
    while start <= last:
        space = text.rfind(" ", start, start + _LONG_LINE)
        if space < 0:
            return True
        start = space + 1
    return False


def _left_out(match: re.Match[str]) -> str:
    return f"[{len(match[0]):,} characters of base64 left out]"


def _head(text: str, size: int) -> str:
    earliest = max(size - _SLACK, 0)
    stop = max(text.rfind("\n", earliest, size), text.rfind(" ", earliest, size))
    if stop <= 0:
        stop = max(text.rfind(mark, earliest, size) for mark in ",;&{")
    head = text[: stop if stop > 0 else size]
    for opening, closing in _PAIRS:
        at = head.rfind(opening)
        if at >= 0 and closing not in head[at:]:
            head = head[:at]
    return head


def _tail(text: str, size: int) -> str:
    start = len(text) - size
    spaces = [at for at in (text.find("\n", start, start + _SLACK), text.find(" ", start, start + _SLACK)) if at >= 0]
    tail = text[min(spaces) + 1 if spaces else start :]
    for opening, closing in _PAIRS:
        at = tail.find(closing)
        if at >= 0 and opening not in tail[:at]:
            line = tail.find("\n", at)
            tail = tail[line + 1 if line >= 0 and closing.startswith("-") else at + len(closing) :]
    return tail
