"""What a model says, in the four wire formats that the clients speak; streamed as server-sent events where asked."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

Body = Mapping[str, Any]
Event = tuple[str, Any]
"""Name of the event ("" for none) and its data."""

_NUMBERS: Final = itertools.count(1)
_IN, _OUT = 100, 10  # tokens that every request is said to cost


@dataclass(frozen=True, slots=True, kw_only=True)
class Say:
    """One answer of the model: words, then tool calls as (name, arguments)."""

    text: str = ""
    calls: Sequence[tuple[str, Mapping[str, Any]]] = ()
    namespace: str = ""  # of the tools, where the client groups them
    extra: Mapping[str, Any] = field(default_factory=dict)


def _id(prefix: str) -> str:
    return f"{prefix}{next(_NUMBERS):024d}"


def anthropic(body: Body, say: Say) -> tuple[Any, list[Event]]:
    """Anthropic Messages: the whole message, and the events that stream it."""
    blocks: list[dict[str, Any]] = [{"type": "text", "text": say.text}] if say.text else []
    blocks += [{"type": "tool_use", "id": _id("toolu_"), "name": name, "input": args} for name, args in say.calls]
    ended = {"stop_reason": "tool_use" if say.calls else "end_turn", "stop_sequence": None}
    usage = {"input_tokens": _IN, "output_tokens": _OUT}
    message = {"id": _id("msg_"), "type": "message", "role": "assistant", "model": str(body.get("model", "")),
               "content": blocks, **ended, "usage": usage}  # fmt: skip
    events: list[Any] = [{"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}]
    for index, block in enumerate(blocks):
        if block["type"] == "text":
            empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            empty = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": orjson.dumps(block["input"]).decode()}
        events.append({"type": "content_block_start", "index": index, "content_block": empty})
        events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    events += [{"type": "message_delta", "delta": ended, "usage": usage}, {"type": "message_stop"}]
    return message, [(event["type"], event) for event in events]


def responses(body: Body, say: Say) -> tuple[Any, list[Event]]:
    """OpenAI Responses."""
    items: list[dict[str, Any]] = []
    if say.text:
        content = [{"type": "output_text", "text": say.text, "annotations": []}]
        items.append(
            {"type": "message", "id": _id("msg_"), "role": "assistant", "status": "completed", "content": content}
        )
    for name, arguments in say.calls:
        item = {"type": "function_call", "id": _id("fc_"), "call_id": _id("call_"), "name": name,
                "arguments": orjson.dumps(arguments).decode(), "status": "completed"}  # fmt: skip
        items.append(item | ({"namespace": say.namespace} if say.namespace else {}))
    usage = {"input_tokens": _IN, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": _OUT,
             "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": _IN + _OUT}  # fmt: skip
    begun: dict[str, Any] = {"id": _id("resp_"), "object": "response", "created_at": 0, "status": "in_progress",
             "model": body.get("model"), "output": []}  # fmt: skip
    done = {**begun, "status": "completed", "output": items, "usage": usage}
    events: list[Any] = [{"type": "response.created", "response": begun}]
    for index, item in enumerate(items):
        place = {"output_index": index}
        if item["type"] == "message":
            events.append({"type": "response.output_item.added", **place, "item": {**item, "content": []}})
            words = {"item_id": item["id"], "content_index": 0, "delta": say.text}
            events.append({"type": "response.output_text.delta", **place, **words})
        else:
            events.append({"type": "response.output_item.added", **place, "item": item})
        events.append({"type": "response.output_item.done", **place, "item": item})
    events.append({"type": "response.completed", "response": done})
    return done, [(event["type"], event) for event in events]


def chat(body: Body, say: Say) -> tuple[Any, list[Event]]:
    """OpenAI Chat Completions."""
    calls = [
        {"id": _id("call_"), "type": "function", "function": {"name": name, "arguments": orjson.dumps(args).decode()}}
        for name, args in say.calls
    ]
    ended = "tool_calls" if calls else "stop"
    usage = {"prompt_tokens": _IN, "completion_tokens": _OUT, "total_tokens": _IN + _OUT}
    base = {"id": _id("chatcmpl-"), "created": 0, "model": body.get("model")}
    message = {"role": "assistant", "content": say.text or None} | ({"tool_calls": calls} if calls else {})
    whole = {**base, "object": "chat.completion", "usage": usage,
             "choices": [{"index": 0, "message": message, "finish_reason": ended}]}  # fmt: skip
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": say.text}]
    deltas += [{"tool_calls": [{"index": index, **call}]} for index, call in enumerate(calls)]
    parts: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas
    ]
    parts += [{"choices": [{"index": 0, "delta": {}, "finish_reason": ended}]}, {"choices": [], "usage": usage}]
    events: list[Event] = [("", {**base, "object": "chat.completion.chunk", **part}) for part in parts]
    return whole, [*events, ("", "[DONE]")]


def gemini(body: Body, say: Say) -> tuple[Any, list[Event]]:
    """Gemini's generateContent."""
    parts: list[dict[str, Any]] = [{"text": say.text}] if say.text else []
    parts += [{"functionCall": {"name": name, "args": args, "id": _id("fc")}} for name, args in say.calls]
    usage = {"promptTokenCount": _IN, "candidatesTokenCount": _OUT, "totalTokenCount": _IN + _OUT}
    candidate = {"content": {"role": "model", "parts": parts}, "index": 0, "finishReason": "STOP"}
    whole = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "stub", "responseId": _id("r")}
    return whole, [("", whole)]


FORMATS: Final[Mapping[str, Callable[[Body, Say], tuple[Any, list[Event]]]]] = {
    "/messages": anthropic,
    "/responses": responses,
    "/chat/completions": chat,
    ":generateContent": gemini,
    ":streamGenerateContent": gemini,
}
"""How a path ends → the format that is spoken there."""


def streamed(events: Sequence[Event]) -> Iterator[bytes]:
    """The events as they go over the wire."""
    for name, data in events:
        line = data.encode() if isinstance(data, str) else orjson.dumps(data)
        yield (b"event: " + name.encode() + b"\n" if name else b"") + b"data: " + line + b"\n\n"
