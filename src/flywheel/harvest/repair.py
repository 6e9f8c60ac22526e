"""Records from lines, damaged ones too: glued, spliced, broken by a raw newline (FORMATS §0.2). Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from flywheel.harvest.tail import Line

Recognise = Callable[[dict[str, Any]], bool]
"""Whether a JSON object is a whole record of the agent and session at hand."""

_GAPS: Final = " \t\r\0\ufeff"
_EDGES: Final = b"\0\r \t"
_BOM: Final = b"\xef\xbb\xbf"
_GLUE_LINES: Final = 8
_GLUE_BYTES: Final = 1024 * 1024
_SPLICES: Final = 64  # places tried in one line
_LARGE: Final = 2 * 1024 * 1024  # bytes of a line from which its longest strings are cut before parsing
_TOO_MUCH: Final = 4 * 1024 * 1024  # bytes that remain and would cost too much memory as objects
_CUTS: Final = ((256 * 1024, 96 * 1024, 32 * 1024), (16 * 1024, 6 * 1024, 2 * 1024))  # longer than; head, tail kept
_STRING: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_PIECE: Final = re.compile(rb"(?:[^\\]++|\\u[0-9a-fA-F]{4}|\\[^u])*+", re.DOTALL)


def parse(line: bytes) -> Any:
    """One JSON value. Raises ValueError (too deep included).

    What orjson refuses and Python's decoder reads is taken: NaN, lone surrogates, raw control characters, bytes that
    are not UTF-8 (replaced).
    """
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return _lenient(line.decode("utf-8", "replace"))


def _lenient(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def complete(line: Line) -> bool:
    """Whether it is one whole JSON object, so that what follows it later is another record."""
    small = line if len(line) <= _LARGE else fit(line)
    small = None if small is None else small.strip(_EDGES)
    try:
        return small is not None and small.endswith(b"}") and isinstance(orjson.loads(small), dict)
    except orjson.JSONDecodeError:
        return False


def fit(line: Line) -> Line | None:
    """The same JSON with very long string literals cut to head and tail, so that parsing it stays within memory.

    None when it still is too much.
    """
    for longer, head, tail in _CUTS:
        line = _shorten(line, longer, head, tail)
        if len(line) <= _LARGE:
            return line
    return line if len(line) <= _TOO_MUCH else None


def _shorten(line: Line, longer: int, head: int, tail: int) -> Line:
    parts: list[Line] = []
    done = 0
    for match in _STRING.finditer(line):
        start, stop = match.start() + 1, match.end() - 1
        if stop - start <= longer:
            continue
        piece = _PIECE.match(line, start, start + head)
        first = piece[0].decode("utf-8", "ignore").encode() if piece else b""
        begin = stop - tail
        while line[begin - 1] == 0x5C:  # never between a backslash and what it escapes
            begin += 1
        last = line[begin:stop].decode("utf-8", "ignore").encode()
        note = f" [{stop - start - len(first) - len(last)} bytes left out] ".encode()
        parts += [line[done:start], first, note, last]
        done = stop
    return b"".join((*parts, line[done:])) if parts else line


@dataclass(slots=True)
class Mender:
    """Takes physical lines in order and gives records; remembers a broken line until the next ones decide about it."""

    recognise: Recognise
    heads: Sequence[str] = ()  # keys that a record may begin with
    records: list[dict[str, Any]] = field(default_factory=list)
    lines: int = 0  # that were not blank
    bad: int = 0
    waiting: list[tuple[bytes, dict[str, Any] | None]] = field(default_factory=list)
    _head: re.Pattern[bytes] | None = None

    def take(self, raw: Line) -> None:
        """One line without its newline; blank ones are nothing."""
        fitted = raw if len(raw) <= _LARGE else fit(raw)
        if fitted is None:
            self.lines += 1
            self.bad += 1
            return
        line = bytes(fitted).strip(_EDGES)
        if line.startswith(_BOM):
            line = line[3:].strip(_EDGES)
        if not line:
            if self.waiting:
                self.waiting.append((b"", None))
            return
        self.lines += 1
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError:
            self._broken(line)
            return
        if type(record) is dict and not self.waiting:
            self.records.append(record)
        else:
            self._odd(line, record)

    def settle(self) -> None:
        """Nothing follows: what waits for the next lines is bad."""
        for line, record in self.waiting:
            if record is not None:
                self.records.append(record)
            elif line:
                self.bad += 1
        self.waiting.clear()

    def _odd(self, line: bytes, record: object) -> None:
        """A line that parses, but is no object, or follows a broken one."""
        if isinstance(record, dict) and self.recognise(record):
            self.settle()
            self.records.append(record)
        elif not self.waiting:
            self.bad += 1
        elif not self._joins(line):
            self._wait(line, record if isinstance(record, dict) else None)

    def _broken(self, line: bytes) -> None:
        """A line that orjson refuses: lenient parse, glued objects, a splice, or the part of a broken string."""
        try:
            self._whole(parse(line))
            return
        except ValueError:
            pass
        if self._joins(line):
            return
        found, rest = _glued(line)
        spliced = self._spliced(rest) if rest else None
        if spliced is not None:
            found.append(spliced)
        if found:
            self.settle()
            self.records += found
            self.bad += 1 if rest else 0
        else:
            self._wait(line, None)

    def _whole(self, record: object) -> None:
        if isinstance(record, dict):
            self.settle()
            self.records.append(record)
        else:
            self.bad += 1

    def _joins(self, line: bytes) -> bool:
        """Whether the waiting lines and this one are one record with raw newlines in a string."""
        if not self.waiting:
            return False
        joined = b"\n".join([*(waiting for waiting, _ in self.waiting), line])
        try:
            record = _lenient(joined.decode("utf-8", "replace"))
        except ValueError:
            return False
        if not isinstance(record, dict):
            return False
        self.waiting.clear()
        self.records.append(record)
        return True

    def _wait(self, line: bytes, record: dict[str, Any] | None) -> None:
        self.waiting.append((line, record))
        if len(self.waiting) > _GLUE_LINES or sum(len(waiting) for waiting, _ in self.waiting) > _GLUE_BYTES:
            self.settle()

    def _spliced(self, line: bytes) -> dict[str, Any] | None:
        """The longest valid record of this session that ends the line, after the torn beginning of another."""
        if not self.heads:
            return None
        if self._head is None:
            self._head = re.compile(
                rb'\{"(?:' + b"|".join(re.escape(head.encode()) for head in self.heads) + rb')"\s*:'
            )
        view = memoryview(line)
        for tries, match in enumerate(self._head.finditer(line, 1)):
            if tries >= _SPLICES:
                break
            try:
                record = orjson.loads(view[match.start() :])
            except orjson.JSONDecodeError:
                continue
            if isinstance(record, dict) and self.recognise(record):
                return record
        return None


def _glued(line: bytes) -> tuple[list[dict[str, Any]], bytes]:
    """Whole objects from the start of a line, and what remains behind them (b"" when nothing does)."""
    text = line.decode("utf-8", "replace")
    decoder = json.JSONDecoder(strict=False)
    found: list[dict[str, Any]] = []
    at = 0
    while at < len(text):
        while at < len(text) and text[at] in _GAPS:
            at += 1
        if at == len(text):
            break
        try:
            record, stop = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        if not isinstance(record, dict):
            break
        found.append(record)
        at = stop
    return found, text[at:].encode("utf-8", "surrogatepass")
