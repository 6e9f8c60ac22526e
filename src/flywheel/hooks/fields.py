"""What hook payloads have in common, read without trust: texts, tool inputs, times."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Final

import orjson

CHARS: Final = 300
"""Characters that are kept of one part of a tool's input."""

_INPUTS: Final = (
    "command",
    "cmd",
    "file_path",
    "filePath",
    "notebook_path",
    "path",
    "pattern",
    "url",
    "subagent_type",
    "agent_name",
    "skill",
)
"""The parts of a tool's input that say what it did; contents of files are not among them."""

_PATCH: Final = "*** Begin Patch"
_PATCHED: Final = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)


def text(payload: Mapping[str, object], *keys: str) -> str:
    """The first of these fields that is a text with something in it, or ""."""
    for key in keys:
        value = payload.get(key)
        if isinstance(value, str) and value:
            return value
    return ""


def part(payload: Mapping[str, object], *keys: str) -> Mapping[str, object]:
    """The first of these fields that is an object, or one written as JSON text; {} for none."""
    for key in keys:
        value = payload.get(key)
        if isinstance(value, str) and value.startswith("{"):
            try:
                value = orjson.loads(value)
            except orjson.JSONDecodeError:
                continue
        if isinstance(value, Mapping):
            return value
    return {}


def tool_facts(given: Mapping[str, object], error: str = "", millis: object = None) -> dict[str, object]:
    """What is worth keeping of a tool's run: small, and no contents; of a patch the names of its files."""
    facts: dict[str, object] = {}
    for key in _INPUTS:
        value = given.get(key)
        if not isinstance(value, str):
            continue
        if value.startswith(_PATCH):
            facts["files"] = [name[:CHARS] for name in _PATCHED.findall(value)[:20]]
        else:
            facts[key] = value[:CHARS]
    if error:
        facts["error"] = error[:CHARS]
    if isinstance(millis, int) and not isinstance(millis, bool):
        facts["ms"] = millis
    return facts


def when(value: object) -> str:
    """A time of a payload (milliseconds, or ISO 8601) as milliseconds in digits, equal for both; "" for none."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, str):
        try:
            return str(round(datetime.fromisoformat(value).timestamp() * 1000))
        except (ValueError, OverflowError, OSError):
            return ""
    return ""
