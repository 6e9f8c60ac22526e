"""Rows of the store of Cursor's CLI, as its queries give them: messages with the results of their calls."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any, Final

import orjson

from benchmarks.corpora.cursor import arguments, query, scribe

_STEPS: Final = 6


def records(seed: int = 1) -> Iterator[Mapping[str, Any]]:
    """One chat that never ends."""
    for place, message in enumerate(_messages(seed)):
        value = orjson.dumps(message).decode()
        yield {"table": "message", "place": place, "id": f"{place:064x}", "value": value, "live": 1}


def _messages(seed: int) -> Iterator[Mapping[str, Any]]:
    made = scribe(seed)
    options = {"cursor": {"modelName": "composer-2", "requestId": "0" * 36}}
    calls = itertools.count()
    while True:
        yield {"role": "user", "content": [{"type": "text", "text": query(made)}], "providerOptions": options}
        for step in range(_STEPS):
            name, given = arguments(made, 0)
            call = f"toolu_{next(calls):024x}"
            content: list[dict[str, Any]] = [{"type": "redacted-reasoning", "data": "A" * 1600}]
            if step % 2 == 0:
                content.append({"type": "text", "text": made.prose(900)})
            content.append({"type": "tool-call", "toolCallId": call, "toolName": name, "args": given})
            yield {"role": "assistant", "id": str(step), "content": content, "providerOptions": options}
            yield _result(call, name, made.output(), given["command"])
        yield {"role": "assistant", "id": "end", "content": [{"type": "text", "text": made.prose(900)}]}


def _result(call: str, name: str, output: str, command: str) -> Mapping[str, Any]:
    """What a command gave, as clients write it: for the model, again as blocks, and again with its parts."""
    told = f"Exit code: 0\n\nCommand output:\n\n```\n{output}\n```\n\nCommand completed in 9 ms."
    result: dict[str, Any] = {"type": "tool-result", "toolCallId": call, "toolName": name, "result": told}
    result |= {"experimental_content": [{"type": "text", "text": told}]}
    parts = {"command": command, "exitCode": 0, "stdout": output, "executionTime": 9}
    high = {"output": {"success": parts}, "isError": False}
    options = {"cursor": {"highLevelToolCallResult": high}}
    return {"role": "tool", "id": call, "content": [result], "providerOptions": options}
