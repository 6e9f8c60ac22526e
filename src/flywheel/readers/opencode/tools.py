"""Tool calls of opencode and what came of them, the same for both generations of its tables."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from flywheel.model import MessageKind, Role
from flywheel.readers.claude.tools import describe_call, is_own, is_own_tool
from flywheel.readers.fields import clip, list_of, mapping_of, native, text_of, unbriefed, whole
from flywheel.readers.opencode.decode import FENCE, bare
from flywheel.readers.opencode.ledger import say
from flywheel.readers.seam import Draft

SETTLED: Final = frozenset({"completed", "error"})
"""States of a tool whose result is there."""

_CLEARED: Final = "[Old tool result content cleared]"  # what is left of a result that was pruned
_SAVED: Final = "Full output saved to: "
_NAMES: Final = (("oldString", "old_string"), ("newString", "new_string"), ("patchText", "content"))
_COMMAND: Final = 4000


def call_and_result(tool: str, call_id: str, state: Mapping[str, Any], *, over: bool) -> list[Draft]:
    """The drafts of a tool's use: its call, and its result once it has one.

    Nothing while it runs; ``over`` says that nobody will complete it any more.
    """
    status = text_of(state.get("status"))
    if status not in SETTLED and not over:
        return []
    arguments = _arguments(state.get("input"))
    text, meta = ("", {}) if _is_ours(tool) else _described(arguments)
    if FENCE in text:
        text, meta = _described(bare(arguments))
    call = say(
        f"c:{call_id}",
        Role.ASSISTANT,
        MessageKind.TOOL_CALL,
        text,
        tool=tool,
        call_id=call_id,
        meta=meta,
    )
    if status not in SETTLED:
        meta["interrupted"] = True
        return [call]
    if is_own(tool, arguments):
        return [call]
    result = _result(tool, call_id, state)
    return [call] if result is None else [call, result]


@lru_cache(maxsize=256)
def _is_ours(tool: str) -> bool:
    return is_own_tool(tool)


def _described(arguments: Mapping[str, Any]) -> tuple[str, dict[str, object]]:
    """The text of a call and its meta; the commonest calls the short way."""
    if len(arguments) == 1 and isinstance(path := arguments.get("filePath"), str) and path:
        return path, {"files": [clip(path, 1000)]}
    command, about = arguments.get("command"), arguments.get("description")
    if len(arguments) == 2 and isinstance(command, str) and isinstance(about, str) and command and about:
        return f"{command}\n{about}", {"command": clip(command, _COMMAND)}
    pattern, path = arguments.get("pattern"), arguments.get("path")
    if len(arguments) == 2 and isinstance(pattern, str) and isinstance(path, str) and pattern:
        place = clip(path, 500)
        return f"{pattern}\npath: {place}", {"input": {"path": place}}
    return describe_call(arguments)


def _result(tool: str, call_id: str, state: Mapping[str, Any]) -> Draft | None:
    text, images = _output(state)
    if text == _CLEARED:
        return None
    about = mapping_of(state.get("metadata")) or mapping_of(state.get("structured"))
    meta: dict[str, object] = {"images": images} if images else {}
    status = whole(about.get("exit"))
    if status is not None:
        meta["exit"] = status
    child = native(about.get("sessionId") or about.get("sessionID"))
    if child:
        meta["agent"] = child
    spilled = _spilled(text, about)
    if spilled:
        meta["spilled"] = spilled
    return say(
        f"o:{call_id}",
        Role.TOOL,
        MessageKind.TOOL_RESULT,
        text,
        tool=tool,
        call_id=call_id,
        is_error=state.get("status") == "error" or bool(status),
        meta=meta,
        step=1,
    )


def _output(state: Mapping[str, Any]) -> tuple[str, int]:
    """A result's text and how many images came with it."""
    failed, output = state.get("status") == "error", state.get("output")
    if not failed and isinstance(output, str) and "content" not in state and "attachments" not in state:
        return unbriefed(output), 0
    texts, images = [text_of(output)], 0
    for item in list_of(state.get("content")):
        fields = mapping_of(item)
        texts.append(text_of(fields.get("text")))
        images += text_of(fields.get("mime")).startswith("image/")
    images += sum(
        text_of(mapping_of(one).get("mime")).startswith("image/") for one in list_of(state.get("attachments"))
    )
    if failed:
        texts.append(error_text(state.get("error")))
    return unbriefed("\n".join(filter(None, texts))), images


def _arguments(value: object) -> Mapping[str, Any]:
    """A call's arguments under the names that other agents use; those of an unfinished call may be a piece of JSON."""
    if isinstance(value, str):
        return {"input": value} if value else {}
    arguments = mapping_of(value)
    if "oldString" in arguments or "patchText" in arguments or "newString" in arguments:
        arguments = dict(arguments)
        for ours, common in _NAMES:
            if ours in arguments:
                arguments[common] = arguments.pop(ours)
    return arguments


def _spilled(text: str, about: Mapping[str, Any]) -> str:
    """Where the whole of a cut output is."""
    path = text_of(about.get("outputPath"))
    if not path and about.get("truncated") is not False and _SAVED in text[:400]:
        path = text.split(_SAVED, 1)[1].split("\n", 1)[0]
    return clip(path, 1000)


def error_text(error: object) -> str:
    """What an error says: a string, ``{message}``, or ``{name, data: {message}}``."""
    if isinstance(error, str):
        return unbriefed(error)
    fields = mapping_of(error)
    told = text_of(mapping_of(fields.get("data")).get("message")) or text_of(fields.get("message"))
    return unbriefed(told) or text_of(fields.get("name")) or text_of(fields.get("type"))
