"""Copilot's tool calls and results, reduced to what memory needs: words to search, files, commands, exit status."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from flywheel.readers.claude.tools import arguments_of, describe_call, is_own_tool, result_text
from flywheel.readers.fields import clip, list_of, mapping_of, native, text_of, whole

_SERVER: Final = "flywheel"
_OURS: Final = "flywheel-"
_NAMES: Final[Mapping[str, str]] = {"old_str": "old_string", "new_str": "new_string", "file_text": "content"}
_EDITOR: Final = "str_replace_editor"  # its ``command`` is none of a shell
_PATCH: Final = "apply_patch"
_PATCHED: Final = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+?)[ \t]*$", re.MULTILINE)
_SHELLS: Final = ("bash", "powershell", "shell", "local_shell")
_EXIT: Final = re.compile(r"<(?:[^<>\n]{0,60}\s)?(?:completed|exited) with exit code (-?\d{1,10})>?\s*\Z")
_EXIT_WITHIN: Final = 200  # characters from the end
_FILES: Final = 20
_IMAGES: Final = ("image", "audio")


def is_ours(fields: Mapping[str, Any], tool: str) -> bool:
    """Whether it is a tool of our own MCP server, by the server's name or the tool's."""
    servers = (fields.get("mcpServerName"), fields.get("mcpConfigServerName"))
    return _SERVER in servers or is_own_tool(tool) or tool.startswith(_OURS)


def called(tool: str, value: object) -> tuple[str, dict[str, object], Mapping[str, Any]]:
    """The text of a tool call, its meta, and its arguments (an object, or a string of whatever form)."""
    given = arguments_of(value)
    arguments = given
    if tool == _EDITOR or not _NAMES.keys().isdisjoint(given):
        arguments = {_NAMES.get(name, name): inner for name, inner in given.items()}
        if tool == _EDITOR:
            arguments.pop("command", None)
    if tool == _PATCH and (patch := text_of(given.get("input"))):
        files = [clip(path, 1000) for path in _PATCHED.findall(patch)[:_FILES]]
        return patch, {"files": files} if files else {}, given
    text, meta = describe_call(arguments)
    return text, meta, given


def finished(data: Mapping[str, Any], tool: str) -> tuple[str, dict[str, object], bool]:
    """The text of a result, its meta (``exit``, ``files``, ``images``), and whether it failed.

    A command that failed is a success to the client: its exit code stands in one of four places.
    """
    result, failed = data.get("result"), data.get("success") is False
    fields = mapping_of(result)
    contents = list_of(fields.get("contents"))
    text = text_of(result) or text_of(fields.get("content")) or result_text(contents)[0]
    text = text or text_of(fields.get("detailedContent"))
    error = data.get("error")
    if error and (why := text_of(error) or text_of(mapping_of(error).get("message"))):
        failed = True
        text = f"{why}\n{text}" if text and why not in text else text or why
    meta: dict[str, object] = {}
    code = _exit(data, contents, text) if not tool or tool.endswith(_SHELLS) else None
    if code is not None:
        meta["exit"] = code
        failed = failed or code != 0
    edits = data.get("fileEdits")
    if edits and (files := [clip(path, 1000) for edit in list_of(edits) if (path := _path(edit))]):
        meta["files"] = files[:_FILES]
    images = sum(mapping_of(block).get("type") in _IMAGES for block in contents) if contents else 0
    images = images or len(list_of(fields.get("binaryResultsForLlm")))
    if images:
        meta["images"] = images
    return text, meta, failed


def agent_of(data: Mapping[str, Any]) -> str:
    """The agent that a finished call had started; "" when it was none."""
    hidden = mapping_of(data.get("toolTelemetry")).get("restrictedProperties")
    return native(mapping_of(hidden).get("agent_id")) if hidden else ""


def _path(edit: object) -> str:
    return text_of(mapping_of(edit).get("path"))


def _exit(data: Mapping[str, Any], contents: list[Any], text: str) -> int | None:
    metrics = mapping_of(mapping_of(data.get("toolTelemetry")).get("metrics"))
    told = [mapping_of(data.get("shellExecution")).get("exitCode"), metrics.get("exit_code")]
    told += [mapping_of(block).get("exitCode") for block in contents]
    for value in told:
        number = int(value) if isinstance(value, float) and value.is_integer() else whole(value)
        if number is not None:
            return number
    found = _EXIT.search(text[-_EXIT_WITHIN:])
    return int(found[1]) if found else None
