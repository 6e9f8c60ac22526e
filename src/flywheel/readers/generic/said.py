"""One message of plain JSON, whatever shape its content has, as the parts that become drafts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from flywheel.model import MessageKind, Role
from flywheel.readers.claude.tools import arguments_of, describe_call
from flywheel.readers.fields import clip, kind_name, list_of, mapping_of, native, text_of, true, whole
from flywheel.readers.generic.check import TIMES

_KNOWN: Final = frozenset(
    {
        "role", "content", "parts", "text", "tool_calls", "function_call", "tool_call_id", "name", "id", "uuid",
        "is_error", "exit_code", "model", *TIMES,
    }
)  # fmt: skip
KINDS: Final = {Role.USER: MessageKind.PROMPT, Role.ASSISTANT: MessageKind.REPLY, Role.SYSTEM: MessageKind.NOTICE}
"""What plain text of a role is."""

_IMAGES: Final = ("image", "image_url", "input_image", "document", "file", "audio", "input_audio", "video")
_RESULTS: Final = ("tool_result", "tool-result", "function_call_output", "toolResult")
_CALLS: Final = ("tool_use", "tool_call", "tool-call", "function_call", "toolCall")
_THOUGHTS: Final = ("thinking", "reasoning")
_EXTRAS: Final = 16
_USER, _SYSTEM, _TOOL = Role.USER, Role.SYSTEM, Role.TOOL  # looked up once: an enumeration's members are slow to get at
_THINKING: Final = MessageKind.THINKING


@dataclass(slots=True)
class Part:
    """Something that a message says."""

    kind: MessageKind
    role: Role
    text: str
    meta: dict[str, object]
    tool: str = ""
    call_id: str = ""
    error: bool = False
    arguments: Mapping[str, Any] = field(default_factory=dict)


def parts_of(message: Mapping[str, Any], role: Role) -> list[Part]:
    """What a message says: its text (one part), its thoughts, its tool calls and results, in their order."""
    meta = _beside(message, role)
    if role is _TOOL:
        return [_result(message, meta)]
    found: list[Part] = []
    text = message.get("content")
    if not isinstance(text, str):
        text, images = _said(message, found)
        if images:
            meta["images"] = images
    if "tool_calls" in message:
        found += [_call(mapping_of(call)) for call in list_of(message["tool_calls"])]
    if "function_call" in message and mapping_of(message["function_call"]):
        found.append(_call(message["function_call"]))
    if role is _SYSTEM:
        meta["notice"] = "system"
    said = Part(KINDS[role], role, text, meta)
    if role is _USER:
        return [*found, said]
    thoughts = [part for part in found if part.kind is _THINKING]
    return [*thoughts, said, *(part for part in found if part.kind is not _THINKING)] if thoughts else [said, *found]


def _said(message: Mapping[str, Any], found: list[Part]) -> tuple[str, int]:
    """The text of a content in pieces, and how many images are in it; what else is in it is ``found``."""
    texts: list[str] = []
    images = 0
    for kind, value in _pieces(message):
        if kind == "text":
            texts.append(value)
        elif kind == "image":
            images += 1
        elif kind == "thought":
            found.append(Part(_THINKING, Role.ASSISTANT, value, {}))
        elif kind == "result":
            found.append(_result(value, {}))
        else:
            found.append(_call(value))
    return "\n\n".join(part for part in texts if part), images


def _pieces(message: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """(what it is, the piece) of a content of any shape."""
    content = message.get("content")
    if content is None:
        content = message.get("parts", message.get("text"))
    if isinstance(content, dict):
        content = content["parts"] if isinstance(content.get("parts"), list) else [content]
    if isinstance(content, str):
        yield "text", content
        return
    for piece in list_of(content):
        if isinstance(piece, str):
            yield "text", piece
            continue
        fields = mapping_of(piece)
        kind = text_of(fields.get("type"))
        if kind in _IMAGES:
            yield "image", fields
        elif kind in _RESULTS:
            yield "result", fields
        elif kind in _CALLS:
            yield "call", fields
        elif kind in _THOUGHTS:
            yield "thought", text_of(fields.get("thinking")) or text_of(fields.get("text"))
        elif isinstance(fields.get("text"), str):
            yield "text", fields["text"]


def _call(fields: Mapping[str, Any]) -> Part:
    """A tool call: of OpenAI's shape, or one with ``name`` and ``arguments``, ``args`` or ``input``."""
    function = mapping_of(fields.get("function")) or fields
    name = native(function.get("name") or function.get("toolName") or function.get("tool"))
    given = _first(function, ("arguments", "args", "input"))
    arguments = arguments_of(given)
    text, meta = describe_call(arguments)
    call_id = native(fields.get("id") or fields.get("call_id") or fields.get("toolCallId"))
    return Part(MessageKind.TOOL_CALL, Role.ASSISTANT, text, meta, name, call_id, False, arguments)


def _result(fields: Mapping[str, Any], beside: Mapping[str, object]) -> Part:
    """What a tool answered."""
    content = _first(fields, ("content", "output", "result", "text", "parts"))
    text = content if isinstance(content, str) else "" if content is None else _flat(content)
    call_id = fields.get("tool_call_id") or fields.get("tool_use_id") or fields.get("call_id")
    status = whole(fields.get("exit_code"))
    meta = {**beside} if status is None else {"exit": status, **beside}
    error = true(fields.get("is_error")) or true(fields.get("isError")) or bool(status)
    name, call_id = native(fields.get("name")), native(call_id or fields.get("toolCallId"))
    return Part(MessageKind.TOOL_RESULT, _TOOL, text, meta, name, call_id, error)


def _first(fields: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    """The value of the first of these keys that has one."""
    for name in names:
        value = fields.get(name)
        if value is not None:
            return value
    return None


def _flat(content: object) -> str:
    """The words of a tool's answer."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict) and not ({"parts", "text"} & content.keys()):
        return _compact(content)
    texts = [piece for kind, piece in _pieces({"content": content}) if kind == "text"]
    return "\n".join(texts)


def _beside(message: Mapping[str, Any], role: Role) -> dict[str, object]:
    """What else a message holds: the speaker's name, and keys that nobody knows."""
    rest = {} if message.keys() <= _KNOWN else small(message, _KNOWN)
    meta: dict[str, object] = {"input": rest} if rest else {}
    if "name" in message and role is not _TOOL and (name := text_of(message["name"])):
        meta["name"] = clip(name, 120)
    return meta


def small(fields: Mapping[str, Any], known: frozenset[str]) -> dict[str, object]:
    """Keys that are not ``known`` with their values, cut."""
    kept: dict[str, object] = {}
    for key in [key for key in fields if key not in known][:_EXTRAS]:
        value = fields[key]
        if isinstance(value, str):
            kept[kind_name(key)] = clip(value)
        elif isinstance(value, (bool, int, float)):
            kept[kind_name(key)] = value
        elif value:
            kept[kind_name(key)] = clip(_compact(value))
    return kept


def _compact(value: object) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # lone surrogates, nested too deeply, too large a number
        return "…"
