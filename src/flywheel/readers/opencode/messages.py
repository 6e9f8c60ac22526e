"""Rows of the second generation, one a message: ``session_message`` joined to its session (FORMATS §4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from flywheel.readers.fields import list_of, mapping_of, native, text_of, true, unbriefed
from flywheel.readers.opencode import said
from flywheel.readers.opencode.decode import decoded
from flywheel.readers.opencode.ledger import COPY, Ledger, Turn, kind_of
from flywheel.readers.opencode.parts import enter, flag
from flywheel.readers.opencode.tools import call_and_result
from flywheel.readers.seam import Draft, Record

TABLE: Final = "session_message"
STRIDE: Final = 48
"""Places of a message: two for each item of its content, the last two for what became of it."""

QUIET: Final = frozenset({"system", "synthetic", "skill", "agent-switched", "model-switched", "location-switched"})
"""Messages that the client writes for the model, or that say nothing worth keeping."""

_LAST: Final = STRIDE - 2
_OPEN: Final = ("running", "pending", "streaming")


def message(on: Ledger, row: Record) -> None:
    """A message, so far as it is finished."""
    data = decoded(row.get("data"))
    kind = row.get("type")
    model = text_of(mapping_of(data.get("model")).get("id"))
    turn = enter(on, row, TABLE, model[:120])
    if turn is None:
        return
    if row.get("own") != row.get("message"):
        turn.table = COPY
    handler = _HANDLERS.get(kind) if isinstance(kind, str) else None
    if handler is not None:
        handler(on, turn, data, flag(row.get("later")))
    elif not isinstance(kind, str) or kind not in QUIET:
        on.count(kind_of(TABLE, kind))


def _user(on: Ledger, turn: Turn, data: Mapping[str, Any], later: bool) -> None:
    images = sum(text_of(mapping_of(one).get("mime")).startswith("image/") for one in list_of(data.get("files")))
    on.put(turn, "prompt", [said.prompt(unbriefed(text_of(data.get("text"))), child=turn.child, images=images)])


def _assistant(on: Ledger, turn: Turn, data: Mapping[str, Any], later: bool) -> None:
    over = later or bool(mapping_of(data.get("time")).get("completed")) or bool(data.get("error"))
    content = list_of(data.get("content"))
    for number, item in enumerate(content):
        fields = mapping_of(item)
        done = over or number < len(content) - 1
        on.put(replace(turn, place=turn.place + min(2 * number, _LAST - 2)), f"{number}", _item(on, fields, over, done))
    files = mapping_of(data.get("snapshot")).get("files")
    if over and files:
        on.put(turn, "patch", [said.patch(files, _LAST)])
    if data.get("error"):
        on.put(turn, "error", [said.failure(data["error"], _LAST + 1)])
    elif data.get("retry"):
        on.put(turn, "retry", [said.retry(mapping_of(data["retry"]), _LAST + 1)])


def _item(on: Ledger, item: Mapping[str, Any], over: bool, done: bool) -> list[Draft]:
    """The drafts of one item of a message's content; none while it is not finished."""
    kind = item.get("type")
    if kind == "tool":
        call_id = native(item.get("id"))
        return call_and_result(native(item.get("name")), call_id, mapping_of(item.get("state")), over=over)
    if kind not in ("text", "reasoning"):
        on.count(kind_of("content", kind))
        return []
    if true(item.get("synthetic")) or true(item.get("ignored")):
        return []
    text = unbriefed(text_of(item.get("text")))
    if kind == "text":
        return [said.reply(text)] if done else []
    return [said.thought(text)] if done or mapping_of(item.get("time")).get("completed") else []


def _compaction(on: Ledger, turn: Turn, data: Mapping[str, Any], later: bool) -> None:
    status = data.get("status")
    if status == "failed":
        on.put(turn, "error", [said.failure(data.get("error"), _LAST + 1)])
    elif status not in _OPEN:
        on.put(turn, "summary", [said.summary(unbriefed(text_of(data.get("summary"))))])


def _shell(on: Ledger, turn: Turn, data: Mapping[str, Any], later: bool) -> None:
    """A command that the person ran."""
    status = data.get("status")
    ended = status not in _OPEN if status is not None else bool(mapping_of(data.get("time")).get("completed"))
    output = data.get("output")
    text = text_of(output) or text_of(mapping_of(output).get("output"))
    state = {
        "status": "completed" if ended else "running",
        "input": {"command": text_of(data.get("command"))},
        "output": text,
        "metadata": {"exit": data.get("exit")},
    }
    call_id = native(data.get("shellID")) or native(data.get("callID")) or turn.message
    on.put(turn, "shell", call_and_result("shell", call_id, state, over=later))


def _idle(on: Ledger, turn: Turn, data: Mapping[str, Any], later: bool) -> None:
    if data.get("outcome") == "interrupted":
        on.put(turn, "error", [said.failure({"type": "aborted"}, _LAST + 1)])


_HANDLERS: Final[Mapping[str, Callable[[Ledger, Turn, Mapping[str, Any], bool], None]]] = {
    "user": _user,
    "assistant": _assistant,
    "compaction": _compaction,
    "shell": _shell,
    "idle": _idle,
}
