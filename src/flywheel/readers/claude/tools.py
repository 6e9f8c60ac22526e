"""Tool calls and their results, reduced to what memory needs: words to search, files, commands, exit status."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

import orjson

from flywheel.readers.asking import asks_flywheel, reads_tree
from flywheel.readers.fields import clip, kind_name, list_of, mapping_of, native, text_of, true, whole

_PATHS: Final = ("file_path", "notebook_path", "filePath")
_PLACES: Final = ("command", "path", *_PATHS)
_FIRST: Final = ("command", "description", "pattern", "query", "url", "skill", "subagent_type", "prompt")
_FIRST_KEYS: Final = frozenset(_FIRST)
_WHOLE: Final = ("content", "new_source")
_EDITS: Final = 8
_EDIT_CHARS: Final = 1000
_COMMAND_CHARS: Final = 4000
_INPUT_KEYS: Final = 16
_FILES: Final = 20
_EXIT: Final = re.compile(r"\A(?:Error: )?Exit code (\d{1,3})\b")
SHELLS: Final = frozenset({"Bash", "PowerShell", "BashOutput"})
_EXITS: Final = ("Exit code", "Error:")
_PLAIN: Final = frozenset({"stdout", "stderr", "interrupted", "isImage", "noOutputExpected"})
"""Keys of a shell's result that say no more than its text."""

_EXIT_KEYS: Final = ("exitCode", "exit_code", "returnCode", "code")
_JOINTS: Final = str.maketrans(dict.fromkeys("-./: ", "_"))


@lru_cache(256)
def is_own_tool(tool: str) -> bool:
    """Whether it is a tool of our own MCP server, as agents name it.

    ``mcp__flywheel__recall``, ``mcp__plugin_flywheel_flywheel__recall``, ``mcp_flywheel_recall``, ``flywheel_recall``,
    ``flywheel/recall``.
    """
    name = tool.lower().translate(_JOINTS)
    return name.startswith(("flywheel_", "mcp_flywheel_")) or (name.startswith("mcp__") and "flywheel" in name)


def is_own(tool: str, arguments: Mapping[str, Any]) -> bool:
    """Whether the call asks Flywheel itself: what it answers must never come back as evidence."""
    return is_own_tool(tool) or asks_us(arguments)


def asks_us(arguments: Mapping[str, Any]) -> bool:
    """Whether a shell's command asks Flywheel itself, or a call reads pages of its memory."""
    command = arguments.get("command")
    if isinstance(command, str) and asks_flywheel(command):
        return True
    return any(isinstance(text := arguments.get(key), str) and reads_tree(text) for key in _PLACES)


def arguments_of(value: object) -> Mapping[str, Any]:
    """A call's arguments; clients write an object, or its JSON as a string (maybe broken)."""
    if isinstance(value, str):
        try:
            return mapping_of(orjson.loads(value)) or {"input": value}
        except orjson.JSONDecodeError:
            return {"input": value}
    return mapping_of(value)


def describe_call(arguments: Mapping[str, Any]) -> tuple[str, dict[str, object]]:
    """The text of a tool call, and its meta (``files``, ``command``, ``edits``, ``input``)."""
    if len(arguments) == 1 and isinstance(only := arguments.get("command"), str) and only:
        return only, {"command": clip(only, _COMMAND_CHARS)}
    rest = dict(arguments)
    meta: dict[str, object] = {}
    lines: list[str] = []
    files = [path for key in _PATHS if key in rest and (path := text_of(rest.pop(key)))]
    if "path" in rest and "pattern" not in rest and text_of(rest["path"]):
        files.append(rest.pop("path"))  # with a pattern it is where to search
    lines += files
    if files:
        meta["files"] = [clip(path, 1000) for path in files]
    command = text_of(rest.get("command"))
    if command:
        meta["command"] = clip(command, _COMMAND_CHARS)
    if not _FIRST_KEYS.isdisjoint(rest):
        lines += [value for key in _FIRST if key in rest and (value := text_of(rest.pop(key)))]
    if not rest:
        return "\n".join(lines), meta
    edits = _edits(rest)
    if edits:
        path = clip(files[0], 1000) if files else ""
        meta["edits"] = [
            {"path": path, "old": clip(old, _EDIT_CHARS), "new": clip(new, _EDIT_CHARS)} for old, new in edits[:_EDITS]
        ]
        lines += [line for old, new in edits for line in (*_marked("-", old), *_marked("+", new))]
    if small := _small(rest):
        meta["input"] = small
        lines += [f"{key}: {value}" for key, value in small.items() if value is not False]
    return "\n".join(lines), meta


def _edits(rest: dict[str, Any]) -> list[tuple[str, str]]:
    pairs = []
    if "old_string" in rest or "new_string" in rest:
        pairs.append((text_of(rest.pop("old_string", None)), text_of(rest.pop("new_string", None))))
    if "edits" in rest:
        edits = map(mapping_of, list_of(rest.pop("edits")))
        pairs += [(text_of(edit.get("old_string")), text_of(edit.get("new_string"))) for edit in edits]
    pairs += [("", text_of(rest.pop(key))) for key in _WHOLE if key in rest]
    return [pair for pair in pairs if pair[0] or pair[1]]


def _marked(mark: str, text: str) -> list[str]:
    return [f"{mark} " + text.replace("\n", f"\n{mark} ")] if text else []


def _small(rest: Mapping[str, Any]) -> dict[str, object]:
    kept: dict[str, object] = {}
    for key, value in list(rest.items())[:_INPUT_KEYS]:
        name = kind_name(key)
        if isinstance(value, str):
            kept[name] = clip(value, 500)
        elif isinstance(value, (bool, int, float)):
            kept[name] = value
        elif value:
            kept[name] = clip(_compact(value), 500)
    return kept


def _compact(value: object) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # lone surrogates, nested too deeply
        return "…"


def result_text(content: object) -> tuple[str, int]:
    """The text of a result's ``content`` (a string, or a list of blocks) and how many images it held."""
    if isinstance(content, str):
        return content, 0
    texts: list[str] = []
    images = 0
    for block in list_of(content):
        if isinstance(block, str):
            texts.append(block)
            continue
        fields = mapping_of(block)
        kind = fields.get("type")
        if kind in ("image", "document"):
            images += 1
        elif kind == "search_result" or kind == "web_search_result":
            texts.append("\n".join(part for key in ("title", "url") if (part := text_of(fields.get(key)))))
        else:
            texts.append(text_of(fields.get("text")))
    return "\n".join(text for text in texts if text), images


def describe_result(text: str, rich: object, *, shell: bool, failed: bool) -> tuple[str, dict[str, object]]:
    """A result's text (from the rich form when the block has none) and its meta.

    ``rich`` is ``toolUseResult``: an object, a string, a list or nothing. A shell that did not fail exited with 0.
    """
    meta: dict[str, object] = {}
    fields = mapping_of(rich)
    if text and shell and not failed and fields.keys() <= _PLAIN and not text.startswith(_EXITS):
        if true(fields.get("interrupted")):
            return text, {"interrupted": True}
        return text, {"exit": 0} if "stdout" in fields else {}
    if not text and fields:
        text = "\n".join(part for key in ("stdout", "stderr", "result") if (part := text_of(fields.get(key))))
    status = next((code for key in _EXIT_KEYS if (code := whole(fields.get(key))) is not None), None)
    found = _EXIT.match(text[:40])
    if found:
        status = int(found[1])
    if status is None and shell and not failed and "stdout" in fields and not true(fields.get("interrupted")):
        status = 0 if not fields.get("backgroundTaskId") else None
    if status is not None and (shell or status):
        meta["exit"] = status
    if true(fields.get("interrupted")):
        meta["interrupted"] = True
    files = _files(fields)
    if files:
        meta["files"] = files
    for name, key in (("agent", "agentId"), ("spilled", "persistedOutputPath")):
        value = native(fields.get(key)) if name == "agent" else clip(text_of(fields.get(key)), 1000)
        if value:
            meta[name] = value
    return text, meta


def _files(fields: Mapping[str, Any]) -> list[str]:
    names = [text_of(fields.get("filePath")), text_of(mapping_of(fields.get("file")).get("filePath"))]
    names += [text_of(name) for name in list_of(fields.get("filenames"))[:_FILES]]
    return [clip(name, 1000) for name in names if name][:_FILES]
