"""Taking secrets out of text before it is stored, logged, embedded or sent to a model."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import orjson

from flywheel.errors import ConfigError
from flywheel.model import Clean
from flywheel.text.assignments import assignments, options
from flywheel.text.credentials import blocks, cookies, headers, statements, urls
from flywheel.text.encoded import encoded, manifests
from flywheel.text.names import Style, kind_of
from flywheel.text.orders import orders
from flywheel.text.shapes import Span, shapes

PRIVATE_NOTE: Final = "[redacted:private]"
"""What stands where a person wrote ``<private>...</private>``."""

_FINDERS: Final = (shapes, blocks, urls, headers, cookies, statements, orders, options, assignments, manifests)
"""In order of how much they know: where two find the same text, the earlier one names it."""

_MARK: Final = re.compile(r"\[redacted:[a-z0-9-]{1,40}\]")
_PRIVATE: Final = re.compile(r"<(?P<close>/?)private(?:\s[^<>]{0,200})?>", re.IGNORECASE)
_PASSES: Final = 8
_DEPTH: Final = 200


class Redactor:
    """Takes secrets out of text and JSON values. What is left is byte-identical; what is taken out leaves its kind.

    ``patterns`` are regular expressions of the user's own; one with a group loses that group only, others the whole
    match. ``allow`` holds literals or regular expressions: what one of them equals from end to end stays.
    Raises ConfigError for a pattern that cannot be compiled. Redacting twice equals redacting once.
    """

    def __init__(self, patterns: Sequence[str] = (), allow: Sequence[str] = ()) -> None:
        self._patterns = [_compiled(pattern) for pattern in patterns]
        self._literals = frozenset(allow)
        self._allowed = [expression for expression in map(_expression, allow) if expression is not None]
        self.redacted = 0
        """How many secrets this object has taken out."""

    def text(self, s: str) -> Clean:
        """The text without secrets, NUL and lone surrogates (which become U+FFFD)."""
        out = _without_private(scrub(s))
        self.redacted += out.count(PRIVATE_NOTE) - s.count(PRIVATE_NOTE) if out is not s else 0
        for _ in range(_PASSES):
            spans = list(_merged(self._kept(out, self._spans(out))))
            if not spans:
                break
            self.redacted += len(spans)
            out = _cut(out, spans)
        return Clean(out)

    def short(self, s: str, most: int) -> Clean:
        """The first ``most`` characters of the text without secrets: cut after redaction, as half a secret is not seen
        to be one."""
        return Clean(self.text(s)[:most])

    def value(self, obj: object) -> object:
        """A JSON value without secrets: every string goes through `text`, keys too, and a scalar under a
        secret-looking key goes whole."""
        return self._value(obj, "", _DEPTH)

    def line(self, obj: object) -> Clean:
        """A JSON value without secrets (see `value`) as one line of JSON, with its newline."""
        clean = self.value(obj)
        try:
            return Clean(orjson.dumps(clean, option=orjson.OPT_APPEND_NEWLINE).decode())
        except TypeError:  # a number of more than 64 bits
            return Clean(json.dumps(clean, ensure_ascii=False) + "\n")

    def _value(self, obj: object, name: str, depth: int) -> object:
        if depth == 0:
            return "[redacted:too-deep]"
        if isinstance(obj, str):
            return self._named(name, obj) if name else self.text(obj)
        if isinstance(obj, Mapping):
            return {self.text(str(key)): self._value(value, str(key), depth - 1) for key, value in obj.items()}
        if isinstance(obj, list | tuple):
            return [self._value(item, name, depth - 1) for item in obj]
        if name and isinstance(obj, int | float) and not isinstance(obj, bool):
            return self._number(name, obj)
        return obj

    def _named(self, name: str, value: str) -> Clean:
        """The string under a key."""
        clean = self.text(value)
        kind = kind_of(name, clean, Style.FIELD) if not _MARK.search(clean) else ""
        if not kind or self._is_allowed(value):
            return clean
        self.redacted += 1
        return Clean(f"[redacted:{kind}]")

    def _number(self, name: str, value: float) -> object:
        """The number under a key: only passwords are numbers."""
        if kind_of(name, str(value), Style.FIELD) != "password" or self._is_allowed(str(value)):
            return value
        self.redacted += 1
        return Clean("[redacted:password]")

    def _spans(self, text: str) -> Iterator[tuple[Span, int]]:
        """Every finding with its rank."""
        low = text.encode("ascii", "replace").lower()
        for rank, find in enumerate(_FINDERS):
            for span in find(text, low):
                yield span, rank
        for span in encoded(text, low, self._holds):
            yield span, len(_FINDERS)
        for pattern in self._patterns:
            for span in _matches(pattern, text):
                yield span, -1

    def _holds(self, text: str) -> bool:
        """Whether a text that was decoded has a secret in it."""
        low = text.encode("ascii", "replace").lower()
        found = ((span, rank) for rank, find in enumerate(_FINDERS) for span in find(text, low))
        return any(self._kept(text, found))

    def _kept(self, text: str, found: Iterable[tuple[Span, int]]) -> Iterator[tuple[Span, int]]:
        """Findings that hold more than what was redacted before and that are not allowed."""
        for (start, stop, kind), rank in found:
            value = text[start:stop]
            if ("[redacted:" not in value or _MARK.sub("", value)) and not self._is_allowed(value):
                yield (start, stop, kind), rank

    def _is_allowed(self, value: str) -> bool:
        return value in self._literals or any(expression.fullmatch(value) for expression in self._allowed)


def scrub(text: str) -> str:
    """Without NUL; surrogate pairs joined and lone surrogates replaced by U+FFFD."""
    if "\0" in text:
        text = text.replace("\0", "")
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _without_private(text: str) -> str:
    """Every ``<private>`` block, nested or never closed, replaced by `PRIVATE_NOTE`."""
    if "<" not in text or not _PRIVATE.search(text):
        return text
    parts: list[str] = []
    depth = kept = 0
    for tag in _PRIVATE.finditer(text):
        if not tag["close"]:
            if depth == 0:
                parts += (text[kept : tag.start()], PRIVATE_NOTE)
            depth += 1
        elif depth:
            depth -= 1
            kept = tag.end()
    return "".join(parts) + ("" if depth else text[kept:]) if parts else text


def _matches(pattern: re.Pattern[str], text: str) -> Iterator[Span]:
    """Where a user's pattern matches between the marks of what was redacted before."""
    start = 0
    for stop, after in [*(mark.span() for mark in _MARK.finditer(text)), (len(text), len(text))]:
        for found in pattern.finditer(text, start, stop):
            begin, end = found.span(1 if pattern.groups and found.group(1) is not None else 0)
            if end > begin:
                yield begin, end, "custom"
        start = after


def _merged(found: Iterable[tuple[Span, int]]) -> Iterator[Span]:
    """Spans in order, overlapping and touching ones joined under the name of the best rank."""
    current: tuple[Span, int] | None = None
    for (start, stop, kind), rank in sorted(found, key=lambda item: (item[0][0], item[0][1], item[1])):
        if current is None:
            current = (start, stop, kind), rank
            continue
        (first, last, name), best = current
        if start <= last:
            current = (first, max(last, stop), kind if rank < best else name), min(rank, best)
        else:
            yield current[0]
            current = (start, stop, kind), rank
    if current is not None:
        yield current[0]


def _cut(text: str, spans: Sequence[Span]) -> str:
    parts: list[str] = []
    kept = 0
    for start, stop, kind in spans:
        parts += (text[kept:start], f"[redacted:{kind}]")
        kept = stop
    parts.append(text[kept:])
    return "".join(parts)


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise ConfigError(f"redact.patterns: {pattern!r} is no regular expression: {error}", pattern=pattern) from error


def _expression(literal: str) -> re.Pattern[str] | None:
    """An allowed literal as an expression too, if it is one."""
    try:
        return re.compile(literal)
    except re.error:
        return None
