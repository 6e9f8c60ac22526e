"""Says what is wrong with a file of plain JSON that is almost a transcript: the path of the field."""

from __future__ import annotations

from typing import Any, Final

from flywheel.errors import BadInput
from flywheel.harvest.repair import parse
from flywheel.harvest.sources import DOCUMENT_CAP
from flywheel.harvest.tail import opened
from flywheel.readers.generic.check import Problem, wrong_head, wrong_message

_LINES: Final = 20_000
_GAPS: Final = b"\xef\xbb\xbf \t\r\n"


def complaint(path: str) -> str:
    """What is wrong with the first field that is, or "" when it is nothing like a conversation, or nothing is wrong.

    Raises OSError when the file cannot be read.
    """
    try:
        with opened(path) as file:
            data = file.read(0, DOCUMENT_CAP).lstrip(_GAPS)
    except BadInput:
        return ""
    if data[:1] not in (b"[", b"{"):
        return ""
    try:
        value = parse(data)
    except ValueError:
        return _in_lines(data)
    found = _wrong(value, "")
    return "{} {}".format(*found) if found else ""


def _in_lines(data: bytes) -> str:
    """The first line that is almost a message or a conversation."""
    for number, line in enumerate(data.split(b"\n", _LINES)[:_LINES], 1):
        try:
            value = parse(line) if line.strip() else None
        except ValueError:
            continue  # damaged lines are passed over
        found = _wrong(value, "") if isinstance(value, dict) else None
        if found:
            return f"line {number}: {found[0]} {found[1]}"
    return ""


def _wrong(value: Any, path: str) -> Problem | None:
    """What is wrong with a conversation, a message, or a list of either."""
    if isinstance(value, list):
        each = (_wrong(one, f"{path}[{number}]") for number, one in enumerate(value))
        return next((found for found in each if found), None)
    if not isinstance(value, dict):
        return None
    dot = f"{path}." if path else ""
    if "messages" in value:
        return _wrong_conversation(value, dot)
    if "role" in value:
        found = wrong_message(value, path)
        return (found[0].removeprefix("."), found[1]) if found else None
    return None


def _wrong_conversation(value: dict[str, Any], dot: str) -> Problem | None:
    if (found := wrong_head(value, dot)) is not None:
        return found
    messages = value["messages"]
    if not isinstance(messages, list) or not messages:
        return f"{dot}messages", "must be a list of at least one message"
    each = (wrong_message(one, f"{dot}messages[{number}]") for number, one in enumerate(messages))
    return next((found for found in each if found), None)
