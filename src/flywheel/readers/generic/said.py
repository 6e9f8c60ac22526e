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


@dataclass(slots=True, kw_only=True)
class Part:
    """Something that a message says."""

    kind: MessageKind
    role: Role
    text: str
    tool: str = ""
    call_id: str = ""
    error: bool = False
    arguments: Mapping[str, Any] = field(default_factory=dict)
    meta: dict[str, object] = field(default_factory=dict)


def parts_of(message: Mapping[str, Any], role: Role) -> list[Part]:
    """What a message says: its text (one part), its thoughts, its tool calls and results, in their order."""
    meta = _beside(message, role)
    if role is Role.TOOL:
        parts = [_result(message, message)]
        parts[0].meta |= meta
        return parts
    texts: list[str] = []
    found: list[Part] = []
    images = 0
    for kind, value in _pieces(message):
        if kind == "text":
            texts.append(value)
        elif kind == "image":
            images += 1
        elif kind == "thought":
            found.append(Part(kind=MessageKind.THINKING, role=Role.ASSISTANT, text=value))
        elif kind == "result":
            found.append(_result(value, value))
        else:
            found.append(_call(value))
    found += [_call(mapping_of(call)) for call in list_of(message.get("tool_calls"))]
    if mapping_of(message.get("function_call")):
        found.append(_call(message["function_call"]))
    if images:
        meta["images"] = images
    text = "\n\n".join(part for part in texts if part)
    if role is Role.SYSTEM:
        meta = {**meta, "notice": "system"}
    said = Part(kind=KINDS[role], role=role, text=text, meta=meta)
    if role is Role.USER:
        return [*found, said]
    thoughts = [part for part in found if part.kind is MessageKind.THINKING]
    return [*thoughts, said, *(part for part in found if part.kind is not MessageKind.THINKING)]


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
    given = next((function[key] for key in ("arguments", "args", "input") if function.get(key) is not None), None)
    arguments = arguments_of(given)
    text, meta = describe_call(arguments)
    call_id = native(fields.get("id") or fields.get("call_id") or fields.get("toolCallId"))
    return Part(
        kind=MessageKind.TOOL_CALL, role=Role.ASSISTANT, text=text, tool=name, call_id=call_id, arguments=arguments,
        meta=meta,
    )  # fmt: skip


def _result(fields: Mapping[str, Any], named: Mapping[str, Any]) -> Part:
    """What a tool answered."""
    for key in ("content", "output", "result", "text", "parts"):
        if fields.get(key) is not None:
            content = fields[key]
            break
    else:
        content = ""
    text = _flat(content)
    call_id = next(
        (native(fields[key]) for key in ("tool_call_id", "tool_use_id", "call_id", "toolCallId") if fields.get(key)), ""
    )
    status = whole(fields.get("exit_code"))
    meta: dict[str, object] = {} if status is None else {"exit": status}
    error = true(fields.get("is_error")) or true(fields.get("isError")) or bool(status)
    return Part(
        kind=MessageKind.TOOL_RESULT, role=Role.TOOL, text=text, tool=native(named.get("name")), call_id=call_id,
        error=error, meta=meta,
    )  # fmt: skip


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
    rest = small(message, _KNOWN) if len(message) > 2 else {}
    meta: dict[str, object] = {"input": rest} if rest else {}
    name = text_of(message.get("name"))
    if name and role is not Role.TOOL:
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
