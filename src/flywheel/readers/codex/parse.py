"""Records of Codex, each to the handler of its kind; kinds without a rule are counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from flywheel.readers.codex import speech, tools, turns
from flywheel.readers.codex.kinds import FLAT_ITEMS, QUIET_DONE, QUIET_EVENTS, QUIET_ITEMS, QUIET_RECORDS
from flywheel.readers.codex.ledger import Ledger, digest_of
from flywheel.readers.codex.state import load
from flywheel.readers.fields import kind_name, mapping_of, text_of
from flywheel.readers.seam import Carry, Parsed, Record

Fields = Mapping[str, Any]
Handler = Callable[[Ledger, Fields], None]
ItemHandler = Callable[[Ledger, Fields, str], None]

DONE: Final[Mapping[str, ItemHandler]] = {
    "UserMessage": speech.user_item,
    "AgentMessage": speech.agent_item,
    "Plan": speech.plan_item,
    "Reasoning": speech.reasoning_item,
    "CommandExecution": tools.command_item,
    "FileChange": tools.change_item,
    "McpToolCall": tools.mcp_item,
    "DynamicToolCall": tools.dynamic_item,
    "WebSearch": tools.web_search_item,
}


def _of_turn(handler: ItemHandler) -> Handler:
    return lambda on, fields: handler(on, fields, on.turn_of(fields))


EVENTS: Final[Mapping[str, Handler]] = {
    "user_message": speech.user_event,
    "agent_message": speech.agent_event,
    "agent_reasoning": speech.reasoning_event,
    "agent_reasoning_raw_content": speech.reasoning_event,
    "exec_command_end": _of_turn(tools.command_item),
    "patch_apply_end": _of_turn(tools.change_item),
    "mcp_tool_call_end": _of_turn(tools.mcp_item),
    "web_search_end": tools.web_search_end,
    "task_started": turns.turn_started,
    "turn_started": turns.turn_started,
    "task_complete": turns.turn_complete,
    "turn_complete": turns.turn_complete,
    "turn_aborted": turns.turn_aborted,
    "thread_rolled_back": turns.rolled_back,
    "thread_name_updated": turns.named,
    "token_count": turns.token_count,
    "error": turns.failed,
}
ITEMS: Final[Mapping[str, Handler]] = {
    "reasoning": speech.reasoning,
    "agent_message": speech.between_agents,
    "function_call": tools.function_call,
    "function_call_output": tools.call_output,
    "custom_tool_call": tools.custom_call,
    "custom_tool_call_output": tools.call_output,
    "local_shell_call": tools.local_shell_call,
    "web_search_call": tools.web_search_call,
    "image_generation_call": tools.image_call,
}
RECORDS: Final[Mapping[str, Handler]] = {
    "session_meta": turns.session_meta,
    "turn_context": turns.turn_context,
    "compacted": turns.compacted,
    "inter_agent_communication": speech.between_agents,
}
KINDS: Final = frozenset({*RECORDS, *QUIET_RECORDS, "response_item", "event_msg"})
"""Kinds of records."""

_ALWAYS: Final = frozenset({"session_meta", "task_started", "turn_started", "token_count"})
"""What counts in a replay too."""

_PATIENT: Final = frozenset({*_ALWAYS, "turn_context", "user_message", "UserMessage", "HookPrompt"} - {"task_started"})
"""What may come between a prompt as the model got it and its event."""


def parse(carry: Carry, records: Sequence[Record]) -> Parsed:
    """Drafts, facts and retractions of some records after those that the carry stands for."""
    on = Ledger(load(carry))
    for record in records:
        kind, fields = record.get("type"), record.get("payload")
        if type(fields) is not dict:
            _flat(on, record, kind)
        elif kind == "event_msg":
            _event(on, record, fields)
        elif kind == "response_item":
            _response(on, record, fields, alone=False)
        elif not isinstance(kind, str):
            on.count(kind_name(kind))
        elif (handler := RECORDS.get(kind)) is not None:
            on.record = record
            _hand(on, kind, handler, fields)
        elif kind not in QUIET_RECORDS:
            on.count(kind_name(kind))
    return on.close()


def _hand(on: Ledger, kind: str, handler: Handler, fields: Fields) -> None:
    state = on.state
    if (state.old or state.start) and on.replayed and kind not in _ALWAYS:
        return
    if state.pending and kind not in _PATIENT:
        speech.release(on)
    handler(on, fields)


def _event(on: Ledger, record: Record, fields: Fields) -> None:
    kind = fields.get("type")
    if kind == "item_completed":
        on.record = record
        _done(on, fields)
        return
    if not isinstance(kind, str):
        on.count("event_msg.?")
    elif (handler := EVENTS.get(kind)) is not None:
        on.record = record
        _hand(on, kind, handler, fields)
    elif kind not in QUIET_EVENTS:
        on.count(f"event_msg.{kind_name(kind)}")


def _done(on: Ledger, fields: Fields) -> None:
    """A completed item; one that names another thread is a parent's."""
    item = mapping_of(fields.get("item"))
    kind, thread = item.get("type"), fields.get("thread_id")
    handler = DONE.get(kind) if isinstance(kind, str) else None
    if handler is None:
        if text_of(kind) not in QUIET_DONE:
            on.count(f"item.{kind_name(kind)}")
        return
    state = on.state
    if thread != state.session and isinstance(thread, str) and thread and state.session:
        return
    if (state.old or state.start) and on.replayed:
        return
    if state.pending and kind not in _PATIENT:
        speech.release(on)
    handler(on, item, on.turn_of(fields))


def _response(on: Ledger, record: Record, fields: Fields, *, alone: bool) -> None:
    kind = fields.get("type")
    if not isinstance(kind, str):
        on.count("response_item.?")
    elif (handler := ITEMS.get(kind)) is not None:
        on.record = record
        _hand(on, kind, handler, fields)
    elif kind == "message":
        on.record = record
        if on.replayed:
            return
        if on.state.pending and fields.get("role") == "assistant":
            speech.release(on)
        speech.message(on, fields, alone=alone, written=mapping_of(record.get("metadata")))
    elif kind not in QUIET_ITEMS:
        on.count(f"response_item.{kind_name(kind)}")


def _flat(on: Ledger, record: Record, kind: object) -> None:
    """A record without envelope: of clients before 0.32. They have no times; twice in a row they are one."""
    if isinstance(kind, str) and kind in FLAT_ITEMS:
        name = digest_of(repr(record))
        if name != on.state.bare:
            on.state.bare = name
            _response(on, record, record, alone=True)
    elif is_flat_head(record):
        on.record = record
        turns.session_meta(on, record)
    elif record.get("record_type") != "state":
        on.count(kind_name(kind))


def is_flat_head(record: Record) -> bool:
    """Whether it is the first record of a file of that time: the thread's id and time, no type."""
    return (
        "type" not in record
        and isinstance(record.get("id"), str)
        and isinstance(record.get("timestamp"), str)
        and ("instructions" in record or "git" in record)
    )
