"""Tool calls and their results: both are told by response items, and the results again by events (FORMATS §2.2).

Of the results of one call the first one counts, and one more when a command went on in the background.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import orjson

from flywheel.model import MessageKind, Role
from flywheel.readers.asking import asks_flywheel, reads_tree
from flywheel.readers.claude.tools import arguments_of, describe_call, is_own
from flywheel.readers.codex.ledger import EVENT, ITEM, RESPONSE, Ledger, digest_of
from flywheel.readers.codex.outputs import Output, answered, executed, output_of, patched
from flywheel.readers.codex.patches import BEGIN, changes_meta, patch_meta
from flywheel.readers.fields import clip, list_of, mapping_of, native, text_of

Fields = Mapping[str, Any]

_ASSISTANT, _TOOL = Role.ASSISTANT, Role.TOOL  # looked up once: an enumeration's members are slow to get at
_TOOL_CALL, _TOOL_RESULT = MessageKind.TOOL_CALL, MessageKind.TOOL_RESULT
_OPEN, _RUNNING, _CLOSED = 0, 1, 2
_OWN: Final = ("flywheel", "mcp_flywheel")
_MAYBE_OWN: Final = (*_OWN, "mcp__")
_KNOBS: Final = ("yield_time_ms", "max_output_tokens", "timeout_ms", "timeout", "login", "tty", "sandbox_permissions")
_COMMAND: Final = 4000
_PROGRAM: Final = "exec"  # takes a program that calls the other tools


def function_call(on: Ledger, fields: Fields) -> None:
    """A response item ``function_call``."""
    _call(on, _tool(fields), {**arguments_of(fields.get("arguments"))}, fields)


def custom_call(on: Ledger, fields: Fields) -> None:
    """A response item ``custom_tool_call``: its input is a text, mostly a patch."""
    _call(on, _tool(fields), {"input": text_of(fields.get("input"))}, fields)


def local_shell_call(on: Ledger, fields: Fields) -> None:
    """A response item ``local_shell_call``."""
    action = mapping_of(fields.get("action"))
    _call(on, "local_shell", {"command": action.get("command"), "workdir": action.get("working_directory")}, fields)


def _tool(fields: Fields) -> str:
    name, space = native(fields.get("name")), native(fields.get("namespace"))
    return f"{space}__{name}" if space.startswith("mcp__") and not name.startswith("mcp__") else name


def _call(on: Ledger, tool: str, arguments: dict[str, Any], fields: Fields) -> None:
    turn, mark = on.turn_of(fields), on.mark(fields)
    call_id = native(fields.get("call_id")) or native(fields.get("id")) or digest_of(f"{turn}\0{arguments!r:.2000}")
    known = on.state.calls.get(call_id)
    count = 0
    if known is not None and known[0] == turn:
        if known[5] == mark:
            return
        count = known[4] + 1
    command = _command(arguments)
    program = text_of(arguments.get("input")) if tool == _PROGRAM else ""
    asks = asks_flywheel(program) or reads_tree(program)
    entry = [turn, tool, asks or _is_own(tool, command), _OPEN, count, mark]
    on.state.call(call_id, entry)
    text, meta = ("", {}) if asks else _describe(tool, command, arguments)
    _draft_call(on, call_id, entry, text, meta)


def _command(arguments: dict[str, Any]) -> str:
    """The command of a shell's arguments; they are left without it."""
    given = arguments.pop("cmd", None)
    if given is None:
        given = arguments.pop("command", None)
    if given is not None and arguments:
        for name in _KNOBS:
            arguments.pop(name, None)
    return command_text(given)


def command_text(given: object) -> str:
    """A command as one would type it, from a text or a list of words."""
    if isinstance(given, str):
        return given
    words = [text_of(word) for word in list_of(given)]
    if len(words) == 3 and words[1] in ("-lc", "-c", "-Command"):
        return words[2]
    return " ".join(words)


def _is_own(tool: str, command: str = "") -> bool:
    own = tool.startswith(_MAYBE_OWN) or "flywheel" in command or "/tree/" in command
    return own and (tool.startswith(_OWN) or is_own(tool, {"command": command}))


def _describe(tool: str, command: str, arguments: dict[str, Any]) -> tuple[str, dict[str, object]]:
    patch = command if BEGIN in command else text_of(arguments.get("input"))
    if tool == "apply_patch" or BEGIN in patch[:4096]:
        return patch, patch_meta(patch) | ({"command": clip(command, _COMMAND)} if command else {})
    if command and not arguments:
        return command, {"command": clip(command, _COMMAND)}
    if set(arguments) == {"input"}:
        return text_of(arguments["input"]), {"input": clip(text_of(arguments["input"]), 500)}
    return describe_call({**({"command": command} if command else {}), **arguments})


def _draft_call(on: Ledger, call_id: str, entry: list[Any], text: str, meta: Mapping[str, object]) -> None:
    key, tool = (entry[0], call_id, f"call{entry[4]}" if entry[4] else "call"), entry[1]
    on.draft(key, _ASSISTANT, _TOOL_CALL, text, tool=tool, call_id=call_id, meta=meta, empty=True)


def call_output(on: Ledger, fields: Fields) -> None:
    """A response item with a call's output."""
    call_id = native(fields.get("call_id"))
    if not call_id:
        return
    known = on.state.calls.get(call_id)
    if known is not None and (known[2] or known[3] != _OPEN):
        return
    output = output_of(fields.get("output"))
    meta: dict[str, object] = {}
    if known is not None and known[1] == "spawn_agent":
        agent = _spawned(output.text)
        meta = {"agent": agent} if agent else {}
    _result(on, call_id, output, meta, on.turn_of(fields))


def _spawned(text: str) -> str:
    try:
        return native(mapping_of(orjson.loads(text)).get("agent_id")) if text.startswith("{") else ""
    except orjson.JSONDecodeError:
        return ""


def command_item(on: Ledger, item: Fields, turn: str) -> None:
    """The end of a command."""
    source = text_of(item.get("source"))
    tool = "user_shell" if source in ("user_shell", "userShell") else "exec_command"
    call_id = _ended(on, item, turn)
    if call_id not in on.state.calls:
        command = command_text(item.get("command"))
        text, meta = _describe(tool, command, {})
        _unasked(on, call_id, tool, text, meta, turn, own=_is_own(tool, command))
    _result(on, call_id, executed(item), {}, turn, last=True)


def change_item(on: Ledger, item: Fields, turn: str) -> None:
    """The end of a patch: the files that it changed."""
    meta, call_id = changes_meta(item.get("changes")), _ended(on, item, turn)
    if call_id not in on.state.calls:
        text = "\n".join([*map(text_of, list_of(meta.get("files"))), *_lines(meta.get("edits"))])
        _unasked(on, call_id, "apply_patch", text, meta, turn)
    files = {"files": meta["files"]} if "files" in meta else {}
    _result(on, call_id, patched(item), files, turn, last=True)


def _lines(edits: object) -> list[str]:
    lines = []
    for edit in list_of(edits):
        lines += [f"- {line}" for line in text_of(edit["old"]).split("\n") if edit["old"]]
        lines += [f"+ {line}" for line in text_of(edit["new"]).split("\n") if edit["new"]]
    return lines


def mcp_item(on: Ledger, item: Fields, turn: str) -> None:
    """The end of a call to an MCP server."""
    asked = mapping_of(item.get("invocation")) or item
    server, name = native(asked.get("server")), native(asked.get("tool"))
    tool = f"mcp__{server}__{name}" if server else name
    own, call_id = _is_own(tool) or server.lower() == "flywheel", _ended(on, item, turn)
    if call_id not in on.state.calls:
        text, meta = _describe(tool, "", dict(arguments_of(asked.get("arguments"))))
        _unasked(on, call_id, tool, text, meta, turn, own=own)
    if not own:
        _result(on, call_id, answered(item), {}, turn, last=True)


def dynamic_item(on: Ledger, item: Fields, turn: str) -> None:
    """The end of a call to a tool of the client that drives Codex."""
    call_id, tool = _ended(on, item, turn), native(item.get("tool"))
    if call_id not in on.state.calls:
        text, meta = _describe(tool, "", dict(arguments_of(item.get("arguments"))))
        _unasked(on, call_id, tool, text, meta, turn, own=_is_own(tool))
    _result(on, call_id, answered(item), {}, turn, last=True)


def _ended(on: Ledger, item: Fields, turn: str) -> str:
    return native(item.get("call_id")) or native(item.get("id")) or digest_of(f"{turn}\0{on.stamp}")


def _unasked(
    on: Ledger, call_id: str, tool: str, text: str, meta: Mapping[str, object], turn: str, *, own: bool = False
) -> None:
    """A call that no response item told: a person's own command, or one from within a program."""
    entry = [turn, tool, own, _OPEN, 0, ""]
    on.state.call(call_id, entry)
    _draft_call(on, call_id, entry, text, meta)


def _result(
    on: Ledger, call_id: str, output: Output, meta: dict[str, object], turn: str, *, last: bool = False
) -> None:
    known = on.state.calls.get(call_id)
    if known is None:  # what asked for it is not in this file
        known = [turn, "", False, _OPEN, 0, ""]
    turn, tool, own, state, count, mark = known
    if own or state == _CLOSED or (state == _RUNNING and not last):
        return
    after = _RUNNING if output.running and not last else _CLOSED
    on.state.call(call_id, [turn, tool, own, after, count, mark])
    if output.exit is not None:
        meta["exit"] = output.exit
    if output.interrupted:
        meta["interrupted"] = True
    if output.images:
        meta["images"] = output.images
    end = "result" if state == _OPEN else "end"
    on.draft(
        (turn, call_id, f"{end}{count or ''}"), _TOOL, _TOOL_RESULT, output.text,
        tool=tool, call_id=call_id, is_error=output.failed, meta=meta, empty=True,
    )  # fmt: skip


def web_search(on: Ledger, fields: Fields, turn: str, channel: int) -> None:
    """A search on the web, told by what was looked for."""
    action = mapping_of(fields.get("action"))
    wanted = [text_of(fields.get("query")), text_of(action.get("query")), *map(text_of, list_of(action.get("queries")))]
    wanted += [text_of(action.get(name)) for name in ("url", "pattern")]
    text = "\n".join(dict.fromkeys(part for part in wanted if part))
    if not text:
        return
    number = on.state.hear(f"w{turn}{digest_of(text)}", channel, on.mark(fields))
    if number is not None:
        key = (turn, f"w{digest_of(text)}", *([f"{number}"] if number else []))
        on.draft(key, _ASSISTANT, _TOOL_CALL, text, tool="web_search")


def web_search_call(on: Ledger, fields: Fields) -> None:
    """A response item ``web_search_call``."""
    web_search(on, fields, on.turn_of(fields), RESPONSE)


def web_search_item(on: Ledger, item: Fields, turn: str) -> None:
    """``item_completed`` with a WebSearch."""
    web_search(on, item, turn, ITEM)


def web_search_end(on: Ledger, fields: Fields) -> None:
    """``web_search_end``, of threads with a legacy history."""
    web_search(on, fields, on.turn_of(fields), EVENT)


def image_call(on: Ledger, fields: Fields) -> None:
    """A response item ``image_generation_call``: what was asked for, never the image."""
    text = text_of(fields.get("revised_prompt")) or text_of(fields.get("prompt"))
    if text:
        _call(on, "image_generation", {"input": text}, fields)
