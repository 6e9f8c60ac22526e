"""What a conversation in plain JSON must look like, and what is wrong with one, by the path of the field."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from flywheel.model import Micros, Role
from flywheel.readers.fields import micros_of

_SAID_BY: Final = {
    Role.USER: "user human",
    Role.ASSISTANT: "assistant ai model bot",
    Role.SYSTEM: "system developer",
    Role.TOOL: "tool function",
}
_ROLES: Final = {name: role for role, names in _SAID_BY.items() for name in names.split()}
ROLES: Final[Mapping[str, Role]] = MappingProxyType(_ROLES)
"""Names of roles, in lower case."""

TIMES: Final = ("timestamp", "created_at", "createdAt", "create_time", "time")
"""Keys that may hold when a message was written; the first that is there counts."""

CONTENTS: Final = ("content", "parts", "text", "tool_calls", "function_call")
"""Keys of which a message has at least one."""

Problem = tuple[str, str]
"""The path of a field, and what it must be."""


def role_of(message: Mapping[str, Any]) -> Role | None:
    """Who a message speaks for; None when its role is none that is known."""
    role = message.get("role")
    return (_ROLES.get(role) or _ROLES.get(role.lower())) if isinstance(role, str) else None


def is_message(record: Mapping[str, Any]) -> bool:
    """Whether it has a known role and something said."""
    if role_of(record) is None or "messages" in record:
        return False
    return "content" in record or any(key in record for key in CONTENTS)


def is_conversation(record: Mapping[str, Any]) -> bool:
    """Whether it holds messages, one of which is one."""
    messages = record.get("messages")
    return isinstance(messages, list) and any(isinstance(one, dict) and is_message(one) for one in messages)


def time_of(record: Mapping[str, Any]) -> Micros | None:
    """When it was written, in micros: from ISO 8601 (no zone: UTC), seconds or milliseconds; None: it is not told."""
    for key in TIMES:
        value = record.get(key)
        if value is None:
            continue
        at = micros_of(value)
        if at is None and isinstance(value, str):
            try:
                at = micros_of(float(value))
            except ValueError:
                at = None
        if at is not None:
            return at
    return None


def wrong_head(fields: Mapping[str, Any], path: str = "") -> Problem | None:
    """What is wrong with a conversation besides its messages; ``path`` is its own, with a dot at its end."""
    if not isinstance(fields.get("title"), str | None):
        return f"{path}title", "must be a text"
    if not isinstance(fields.get("metadata"), dict | None):
        return f"{path}metadata", "must be an object"
    about = fields.get("metadata") or {}
    for key in ("cwd", "project", "name", "agent"):
        if not isinstance(about.get(key), str | None):
            return f"{path}metadata.{key}", "must be a text"
    for where, value in ((f"{path}id", fields.get("id")), (f"{path}metadata.id", about.get("id"))):
        if isinstance(value, bool) or not isinstance(value, str | int | None):
            return where, "must be a text or a whole number"
    return None


def wrong_message(message: object, path: str) -> Problem | None:
    """What is wrong with a message at ``path``; None when nothing is."""
    if not isinstance(message, dict):
        return path, "must be an object"
    if role_of(message) is None:
        have = f"; it is {message['role']!r}"[:60] if "role" in message else ""
        return f"{path}.role", f"must be user, assistant, system or tool (or another name of these){have}"
    if not any(key in message for key in CONTENTS):
        return f"{path}.content", "is missing"
    wrong = _wrong_content(message.get("content"), f"{path}.content")
    if wrong:
        return wrong
    for key in ("tool_calls", "parts"):
        if not isinstance(message.get(key), list | None):
            return f"{path}.{key}", "must be a list"
    if not isinstance(message.get("name"), str | None):
        return f"{path}.name", "must be a text"
    told = next((key for key in TIMES if message.get(key) is not None), "")
    if told and time_of(message) is None:
        return f"{path}.{told}", "must be a time: ISO 8601, or seconds or milliseconds since 1970"
    return None


def _wrong_content(content: object, path: str) -> Problem | None:
    if content is None or isinstance(content, str):
        return None
    if isinstance(content, dict):
        parts = content.get("parts")
        if isinstance(parts, list):
            return _wrong_parts(parts, f"{path}.parts")
        return None if isinstance(content.get("text"), str) else (path, 'must have "parts" or a "text"')
    if isinstance(content, list):
        return _wrong_parts(content, path)
    return path, "must be a text, a list of parts, an object with parts, or null"


def _wrong_parts(parts: list[Any], path: str) -> Problem | None:
    for number, part in enumerate(parts):
        if not isinstance(part, str | dict):
            return f"{path}[{number}]", "must be a text or an object"
        if isinstance(part, dict) and part.get("type") == "text" and not isinstance(part.get("text"), str):
            return f"{path}[{number}].text", "must be a text"
    return None
