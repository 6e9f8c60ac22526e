"""JSON lines and text as streams: whole lines in bounded memory, redacted as they come."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

from flywheel.errors import BadInput, TooLarge
from flywheel.harvest.repair import parse
from flywheel.harvest.uploads.document import VALUE_CAP
from flywheel.harvest.uploads.parts import Parts
from flywheel.harvest.uploads.talk import Talk, line_of
from flywheel.readers import Reader
from flywheel.text.compose import fixed, join
from flywheel.text.redact import Redactor

_WINDOW: Final = 128 * 1024  # characters that are redacted at once
_PATIENCE: Final = 1024 * 1024  # characters that are waited for until a secret of several lines ends
_PRIVATE: Final = re.compile(r"<(/?)private(?:\s[^<>]{0,200})?>", re.IGNORECASE)
_KEY: Final = ("-----BEGIN", "-----END")
_BOM: Final = b"\xef\xbb\xbf"


def lines_of(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Lines without their newlines, the last one too. Raises TooLarge for one longer than `VALUE_CAP`."""
    held = bytearray()
    number = 0
    for chunk in chunks:
        *whole, rest = chunk.split(b"\n")
        for line in whole:
            number += 1
            if held:
                held += line
                line = bytes(held)
                held = bytearray()
            yield line
        held += rest
        if len(held) > VALUE_CAP:
            raise TooLarge(f"line {number + 1} is longer than {VALUE_CAP >> 20} MB", limit=VALUE_CAP)
    if held:
        yield bytes(held)


def read_talk_lines(chunks: Iterator[bytes], talk: Talk) -> None:
    """Take in JSON lines: a conversation each, or a message each, a conversation without messages being their head.

    Raises BadInput that names the line and field.
    """
    head: dict[str, Any] | None = None  # of the conversation that is open
    begun = ""
    for where, line in _objects(chunks):
        if "messages" in line:
            _close(talk, head, begun)
            head = None
            if line["messages"] != []:
                _conversation(line, talk, where)
                continue
            head = {key: value for key, value in line.items() if key != "messages"}
        elif head is None:
            head = {}
        else:
            _told(where, partial(talk.message, line, ""))
            continue
        talk.begin()
        begun = where
        if "messages" not in line:
            _told(where, partial(talk.message, line, ""))
    _close(talk, head, begun)


def _close(talk: Talk, head: dict[str, Any] | None, where: str) -> None:
    """The conversation that is open, if one is, is complete."""
    if head is not None:
        _told(where, partial(talk.end, head, ""))


def _conversation(line: dict[str, Any], talk: Talk, where: str) -> None:
    messages = line["messages"]
    if not isinstance(messages, list):
        raise BadInput(f"{where}: messages must be a list", field="messages")
    talk.begin()
    for at, message in enumerate(messages):
        _told(where, partial(talk.message, message, f"messages[{at}]"))
    _told(where, partial(talk.end, {key: value for key, value in line.items() if key != "messages"}, ""))


def _told(where: str, act: Callable[[], None]) -> None:
    """Run it; what it complains of is said with the line."""
    try:
        act()
    except BadInput as error:
        field = str(error.details.get("field", "")).removeprefix(".")
        raise type(error)(f"{where}: {error.message.removeprefix('.')}", field=field, line=where) from None


def _objects(chunks: Iterator[bytes]) -> Iterator[tuple[str, dict[str, Any]]]:
    """("line 7", object) of each line that is not blank."""
    for number, line in enumerate(lines_of(chunks), 1):
        bare = line.removeprefix(_BOM).strip() if number == 1 else line.strip()
        if not bare:
            continue
        try:
            value = parse(bare)
        except ValueError:
            raise BadInput(f"line {number} is no JSON", line=f"line {number}") from None
        if not isinstance(value, dict):
            raise BadInput(f"line {number} must be an object", line=f"line {number}")
        yield f"line {number}", value


def read_agent_lines(chunks: Iterator[bytes], parts: Parts, redact: Redactor, reader: Reader) -> int:
    """Take in an agent's JSON lines as they are; how many of them are records of that agent.

    A damaged line is kept, for its reader may make something of it.
    """
    known = 0
    for number, line in enumerate(lines_of(chunks)):
        bare = line.removeprefix(_BOM).strip() if not number else line.strip()
        if not bare:
            continue
        try:
            value = parse(bare)
            parts.add(line_of(redact, value))
        except (ValueError, RecursionError):
            parts.add(redact.text(bare.decode("utf-8", "replace") + "\n"))
        else:
            known += isinstance(value, dict) and reader.recognises(value)
    return known


class TextTaker:
    """Takes text and gives whole lines of it, redacted a window at a time.

    A window ends between two lines, with a blank one between them where there is such, and never within a private key
    or a ``<private>`` passage that it knows to be one.
    """

    def __init__(self, parts: Parts, redact: Redactor) -> None:
        self._parts = parts
        self._redact = redact
        self._held = ""
        self._depth = 0  # of private passages that were begun in windows before

    def take(self, text: str) -> None:
        """The next characters."""
        self._held += text
        while len(self._held) >= _WINDOW and (stop := self._safe()):
            self._give(self._held[:stop])
            self._held = self._held[stop:]
        if len(self._held) > VALUE_CAP:
            raise TooLarge(f"a line is longer than {VALUE_CAP >> 20} MB", limit=VALUE_CAP)

    def end(self) -> None:
        """Nothing follows."""
        if self._held:
            self._give(self._held)
            self._held = ""

    def _safe(self) -> int:
        """Where the window may end; 0 when more must come first."""
        text = self._held
        window = min(len(text), _PATIENCE if len(text) >= _PATIENCE else _WINDOW)
        blank = text.rfind("\n\n", window // 2, window)
        stop = blank + 2 if blank >= 0 else text.rfind("\n", 0, window) + 1
        opened = text.rfind(_KEY[0], 0, stop)
        if opened >= 0 and _KEY[1] not in text[opened:stop]:
            before = text.rfind("\n", 0, opened) + 1
            stop = before if before or len(text) < _PATIENCE else stop
        return stop

    def _give(self, text: str) -> None:
        marks = [(-1 if mark[1] else 1) for mark in _PRIVATE.finditer(text)] if "<" in text else []
        clean = self._redact.text("<private>" * self._depth + text)
        if not clean.endswith("\n"):
            clean = join((clean, fixed("\n")), "")
        for step in marks:
            self._depth = max(0, self._depth + step)
        self._parts.add(clean)
