"""Cursor's tools under their many names: what a call does, what it gave, and what tells one call from another."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

import orjson

from flywheel.readers.asking import reads_tree
from flywheel.readers.claude.tools import arguments_of, is_own
from flywheel.readers.fields import clip, kind_name, list_of, mapping_of, native, text_of, true, whole

SHELLS: Final = frozenset({"shell", "bash", "run_terminal_cmd", "run_terminal_command"})
_FAMILIES: Final[Mapping[str, str]] = {
    **dict.fromkeys(SHELLS, "shell"),
    **dict.fromkeys(("read", "readfile", "read_file"), "read"),
    **dict.fromkeys(
        ("write", "strreplace", "edit", "edit_file", "search_replace", "multiedit", "applypatch", "apply_patch"), "edit"
    ),
    **dict.fromkeys(("delete", "delete_file"), "delete"),
    **dict.fromkeys(("grep", "ripgrep_raw_search", "rg"), "grep"),
    **dict.fromkeys(("glob", "glob_file_search"), "glob"),
    **dict.fromkeys(("ls", "list_dir"), "list"),
    **dict.fromkeys(("websearch", "web_search"), "web"),
    **dict.fromkeys(("task", "subagent"), "task"),
}
"""A tool's name without its version → what it does, so that the names of the editor and of the CLI meet."""

_ROLES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("file_path", "target_file", "targetFile", "relativeWorkspacePath", "target_notebook"), "file"),
    **dict.fromkeys(("contents", "content", "code_edit", "streamingContent", "new_source"), "content"),
    **dict.fromkeys(("patch", "input"), "patch"),
    "path": "path",
    "command": "command",
    "old_string": "old",
    "new_string": "new",
    **dict.fromkeys(("description", "instructions", "subagent_type", "subagentType", "url"), "words"),
    **dict.fromkeys(("query", "pattern", "globPattern", "glob_pattern", "search_term", "searchTerm"), "sought"),
    "prompt": "sought",
    **dict.fromkeys(("targetDirectory", "target_directory"), "where"),
    **dict.fromkeys(
        (
            "parsingResult", "requestedSandboxPolicy", "toolCallId", "modelCallId", "effectiveUri", "charsLimit",
            "noCodeblock", "cloudAgentEdit", "repositoryInfo", "requireUserApproval", "required_permissions",
            "block_until_ms", "explanation", "shouldEnrichTerminalMetadata", "is_background",
        ),
        "noise",
    ),
}  # fmt: skip
"""The name of an argument → what it is, so that the names of the editor and of the CLI meet."""

_ON_FILES: Final = frozenset({"read", "edit", "delete"})
_BY_WORDS: Final = frozenset({"grep", "glob", "web", "task"})
_SERVERS: Final = ("server", "serverName", "providerIdentifier", "tools")
_OF_SERVERS: Final = frozenset(_SERVERS)
_SMALL: Final = 16  # other arguments of a call that are kept
_EDIT_CHARS: Final = 1000
_COMMAND_CHARS: Final = 4000
_VERSION: Final = re.compile(r"_v\d+\Z")
_PATCHED: Final = re.compile(r"\n\*\*\* (?:Update|Add|Delete) File: ([^\n]{1,1000})")
_EXITED: Final = re.compile(r"exited with code (-?\d{1,10})\b")
_EXIT: Final = re.compile(r"Exit code: (-?\d{1,10})\b")
_OUTPUT: Final = "\n\nCommand output:\n\n```\n"
_WORDS: Final = ("output", "contents", "content", "result", "text", "message", "markdown")


@lru_cache(maxsize=256)
def family_of(tool: str) -> str:
    """What a tool does, whichever of Cursor's programs names it; its own name in lower case for others."""
    name = _VERSION.sub("", tool.lower())
    return _FAMILIES.get(name, name)


def call_of(tool: str, value: object) -> tuple[str, dict[str, object], str, bool]:
    """A call's text, its meta, what tells it from other calls, and whether it asks Flywheel itself.

    ``value`` is an object, or its JSON as a string; a patch may stand there as it is.
    """
    given = value if isinstance(value, dict) else arguments_of(value)
    family = family_of(tool)
    found: dict[str, str] = {}
    words: list[str] = []
    small: dict[str, object] = {}
    for key, inner in given.items():
        role = _ROLES.get(key, "")
        if role == "noise" or inner is None or inner == "":
            continue
        if not role or not isinstance(inner, str):
            if len(small) < _SMALL:
                small[kind_name(key)] = _short(inner)
        elif role == "words":
            words.append(inner)
        elif role == "sought":
            words.insert(0, inner)
            found[role] = inner
        elif role not in found:
            found[role] = inner
    command = found.get("command", "")
    if command and not small and len(found) == 1:  # as nearly every shell's
        text = "\n".join((command, *words)) if words else command
        meta: dict[str, object] = {"command": clip(command, _COMMAND_CHARS)}
    else:
        text, meta = _told(family, found, words, small)
    if family == "shell":
        gist = command or text
    elif family in _ON_FILES:
        gist = found.get("file") or found.get("path") or text
    else:
        gist = (found.get("sought") if family in _BY_WORDS else "") or text
    return (
        text,
        meta,
        f"{family}\0{gist}",
        _asks_us(family, given, command, found.get("file") or found.get("path") or ""),
    )


def _told(
    family: str, found: Mapping[str, str], words: list[str], small: dict[str, object]
) -> tuple[str, dict[str, object]]:
    """The text and the meta of a call."""
    meta: dict[str, object] = {}
    lines: list[str] = []
    file, command = found.get("file", ""), found.get("command", "")
    if path := found.get("path") or found.get("where"):
        if file or family not in ("grep", "glob", "list"):
            file = file or path
        else:
            small = {"path": clip(path), **small}
    patch = found.get("patch", "")
    files = [file] if file else []
    if patch and "*** " in patch:
        files += [name.strip() for name in _PATCHED.findall(f"\n{patch[:100_000]}")]
    elif patch:
        small["input"] = clip(patch)
    if files:
        meta["files"] = [clip(name, 1000) for name in dict.fromkeys(files)][:20] if patch else [clip(file, 1000)]
        lines += files[:20]
    if command:
        meta["command"] = clip(command, _COMMAND_CHARS)
        lines.append(command)
    lines += words
    old, new = found.get("old", ""), found.get("new", "")
    if content := found.get("content", ""):
        lines.append(content)
    if old:
        lines.append("- " + old.replace("\n", "\n- "))
    if new:
        lines.append("+ " + new.replace("\n", "\n+ "))
    if old or new or content:
        edit = {"path": clip(file, 1000), "old": clip(old, _EDIT_CHARS), "new": clip(new or content, _EDIT_CHARS)}
        meta["edits"] = [edit]
    if patch and "input" not in small:
        lines.append(patch)
    if small:
        meta["input"] = small
        lines += [f"{key}: {value}" for key, value in small.items() if value is not False]
    return "\n".join(lines), meta


def _short(value: object) -> object:
    if isinstance(value, str):
        return clip(value)
    return value if isinstance(value, (bool, int, float)) else clip(_compact(value))


def _asks_us(family: str, given: Mapping[str, Any], command: str, file: str) -> bool:
    if "flywheel" in family:
        return True
    if reads_tree(file):
        return True
    if command:
        return is_own("", {"command": command})
    if _OF_SERVERS.isdisjoint(given):
        return False
    named = given[next(key for key in _SERVERS if key in given)]
    servers = [named, *(mapping_of(one).get("serverName") for one in list_of(named)[:8])]
    return any("flywheel" in text_of(server).lower() for server in servers)


def result_of(tool: str, part: Mapping[str, Any], beside: object = None) -> tuple[str, dict[str, object], bool]:
    """The text of a ``tool-result`` of the CLI's store, its meta, and whether the call failed.

    ``beside`` are the ``providerOptions`` of its message, for where it has none itself.
    """
    text = words_of(part.get("result", part.get("output", part.get("content"))))
    status, options = None, part.get("providerOptions", beside)
    failed = true(part.get("isError")) or true(part.get("is_error")) or text[:6].lower() == "error:"
    high = mapping_of(mapping_of(mapping_of(options).get("cursor")).get("highLevelToolCallResult"))
    if high:
        output = mapping_of(high.get("output"))
        status = whole(mapping_of(output.get("success") or output.get("failure")).get("exitCode"))
        failed = failed or true(high.get("isError")) or bool(output.get("failure") or output.get("error"))
    return _outcome(tool, text, status, failed=failed)


def former_of(data: Mapping[str, Any]) -> tuple[str, dict[str, object], bool] | None:
    """The same of a bubble's ``toolFormerData``; None while the call is under way."""
    status = text_of(data.get("status"))
    raw = data.get("result")
    if status not in ("completed", "error", "cancelled") and not raw:
        return None
    fields = mapping_of(_decoded(raw))
    text = words_of(fields or raw)
    failed = status == "error" or true(fields.get("rejected"))
    if not text or failed:
        error = mapping_of(_decoded(data.get("error")))
        said = text_of(error.get("modelVisibleErrorMessage")) or text_of(error.get("clientVisibleErrorMessage"))
        text = said or text_of(fields.get("error")) or text
    code = whole(fields.get("exitCodeV2"))
    code = whole(fields.get("exitCode")) if code is None else code
    ended = text_of(fields.get("endedReason"))
    text, meta, failed = _outcome(text_of(data.get("name")), text, code, failed=failed)
    if status == "cancelled" or true(fields.get("rejected")) or ended.endswith("ABORTED"):
        meta["interrupted"] = True
    return text, meta, failed


def _outcome(tool: str, text: str, status: int | None, *, failed: bool) -> tuple[str, dict[str, object], bool]:
    meta: dict[str, object] = {}
    if family_of(tool) == "shell":
        if found := _EXIT.match(text[:40]):
            status = int(found[1]) if status is None else status
            begin = text.find(_OUTPUT, 0, 60)
            end = text.rfind("\n```")
            text = text[begin + len(_OUTPUT) : max(end, begin + len(_OUTPUT))] if begin >= 0 else text
        elif status is None and "exited with code" in text[:400] and (found := _EXITED.search(text, 0, 440)):
            status = int(found[1])
    if status is not None:
        meta["exit"] = status
    return text, meta, failed or bool(status)


def words_of(value: object, depth: int = 4) -> str:
    """The words in what a tool gave: a string, a list of blocks, or an object in one of many shapes."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        texts = [text_of(one) or text_of(mapping_of(one).get("text")) for one in value]
        return "\n".join(text for text in texts if text) or _compact(value)
    fields = mapping_of(value)
    if isinstance(output := fields.get("output"), str) or isinstance(output := fields.get("contents"), str):
        return output
    if not fields or not depth:
        return _compact(fields) if fields else ""
    if isinstance(fields.get("success"), dict):
        return words_of(fields["success"], depth - 1)
    chunks = list_of(mapping_of(fields.get("diff")).get("chunks"))
    if diff := "\n".join(text for one in chunks if (text := text_of(mapping_of(one).get("diffString")))):
        return diff
    for key in _WORDS:
        if key in fields:
            found = fields[key]
            return words_of(found, depth - 1)
    streams = [text for key in ("stdout", "stderr") if (text := text_of(fields.get(key)))]
    return "\n".join(streams) or _compact(fields)


def _decoded(value: object) -> object:
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return orjson.loads(value)
        except orjson.JSONDecodeError:
            return value
    return value


def _compact(value: object) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # lone surrogates, numbers too large
        return ""


def tool_name(value: object) -> str:
    """A tool's name, fit to store."""
    return value if type(value) is str and len(value) <= 120 else clip(native(value), 120)
