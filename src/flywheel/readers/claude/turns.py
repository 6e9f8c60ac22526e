"""The two sides of the conversation: ``user`` and ``assistant`` records (FORMATS §1.3, §1.4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from flywheel.model import MessageKind, Role
from flywheel.readers.claude.kinds import QUIET_BLOCKS
from flywheel.readers.claude.ledger import Ledger, Turn
from flywheel.readers.claude.prompts import SUMMARY_OPENING, refusal, spoken
from flywheel.readers.claude.tools import (
    SHELLS,
    arguments_of,
    describe_call,
    describe_result,
    is_own,
    is_own_tool,
    result_text,
)
from flywheel.readers.fields import kind_name, list_of, mapping_of, native, text_of, true
from flywheel.readers.seam import Record, Retracted
from flywheel.text.compose import strip_injected

_SYNTHETIC: Final = "<synthetic>"  # the client's own words in the place of a model's
_SILENCE: Final = "No response requested."
_INTERRUPTED: Final = "[Request interrupted by user]"
_ASSISTANT, _TOOL = Role.ASSISTANT, Role.TOOL  # looked up once: an enumeration's members are slow to get at
_THINKING, _REPLY = MessageKind.THINKING, MessageKind.REPLY
_TOOL_CALL, _TOOL_RESULT = MessageKind.TOOL_CALL, MessageKind.TOOL_RESULT
_UNSPOKEN: Final = ("isMeta", "isVisibleInTranscriptOnly", "repeatsCompactSummary")


def user(on: Ledger, record: Record) -> None:
    """A typed prompt, a tool's result, a summary, or what the client put into the user's turn."""
    turn = on.turn(record)
    blocks = _blocks(record)
    texts: list[str] = []
    first = images = results = 0
    for number, block in enumerate(blocks):
        fields = mapping_of(block)
        kind = text_of(fields.get("type"))
        if kind == "tool_result":
            results += 1
            _result(on, turn, number, fields, rich=record.get("toolUseResult") if len(blocks) == 1 else None)
        elif kind == "text":
            first = first if texts else number
            texts.append(text_of(fields.get("text")))
        elif kind in ("image", "document"):
            images += 1
        elif kind not in QUIET_BLOCKS:
            on.count(f"user.{kind_name(kind)}")
    if texts:
        _said(on, turn, "\n\n".join(texts), part=first, beside_result=results > 0, images=images)


def _blocks(record: Record) -> list[Any]:
    content = mapping_of(record.get("message")).get("content")
    return [{"type": "text", "text": content}] if isinstance(content, str) else list_of(content)


def _said(on: Ledger, turn: Turn, text: str, *, part: int, beside_result: bool, images: int) -> None:
    record = turn.record
    if true(record.get("isCompactSummary")) or text.startswith(SUMMARY_OPENING):
        on.draft(turn, Role.ASSISTANT, MessageKind.SUMMARY, text, part=part)
        return
    source = text_of(record.get("promptSource"))
    if source == "system" or record.get("rowSource") == "harness" or any(true(record.get(mark)) for mark in _UNSPOKEN):
        return
    words = spoken(strip_injected(text), source)
    if words.interrupted and not words.text:
        on.draft(turn, Role.USER, MessageKind.NOTICE, _INTERRUPTED, part=part, meta={"notice": "interrupted"})
    if beside_result or not words.text:
        return
    if not turn.trunk:
        _task(on, turn, words.text, part)
        return
    meta: dict[str, object] = {"images": images} if images else {}
    if words.slash:
        meta["slash"] = words.slash
    _prompt(on, turn, words.text, part, meta)


def _task(on: Ledger, turn: Turn, text: str, part: int) -> None:
    """What an agent was told by the agent that started it: not a person's words."""
    if turn.session == on.state.session:
        on.state.entitle("prompt", text)
    elif not on.facts[turn.session].title and not turn.record.get("parentUuid"):
        on.facts[turn.session].title = " ".join(text.split())[:120]
    on.draft(turn, Role.ASSISTANT, MessageKind.NOTICE, text, part=part, meta={"notice": "task"})


def _prompt(on: Ledger, turn: Turn, text: str, part: int, meta: Mapping[str, object]) -> None:
    """A person's words; when they replace an earlier prompt, everything from there on was taken back."""
    since = on.state.prompted(turn.uuid, native(turn.record.get("parentUuid")), turn.session)
    if since is not None:
        until = on.state.count
        on.retracted.append(Retracted(reason="rewound", session=turn.session, since=since, until=until, at=turn.at))
    if turn.session == on.state.session:
        on.state.entitle("prompt", text)
    on.draft(turn, Role.USER, MessageKind.PROMPT, text, part=part, meta=meta)


def _result(on: Ledger, turn: Turn, number: int, fields: Mapping[str, Any], *, rich: object) -> None:
    call_id = native(fields.get("tool_use_id"))
    tool, own = on.state.calls.get(call_id, ("", False))
    if own:
        return  # the call stays known: a copy of this record may follow
    on.state.calls.pop(call_id, None)
    text, images = result_text(fields.get("content"))
    failed = true(fields.get("is_error")) or (isinstance(rich, str) and rich.startswith("Error:"))
    text, meta = describe_result(text, rich, shell=tool in SHELLS, failed=failed)
    if images:
        meta["images"] = images
    on.draft(
        turn, _TOOL, _TOOL_RESULT, text,
        part=number, tool=tool, call_id=call_id, is_error=failed, meta=meta, empty=True,
    )  # fmt: skip
    said = refusal(text) if failed and turn.trunk else ""
    if said:
        on.draft(turn, Role.USER, MessageKind.PROMPT, said, part=f"{number}.said", meta={"notice": "refused"})


def assistant(on: Ledger, record: Record) -> None:
    """One block (or a few) of an API message."""
    turn = on.turn(record)
    message = mapping_of(record.get("message"))
    model = text_of(message.get("model"))[:120]
    if model and model != _SYNTHETIC:
        on.facts[turn.session].model = model
    if turn.session == on.state.session:
        on.state.spend(message)
    made_up = model == _SYNTHETIC or true(record.get("isApiErrorMessage"))
    for number, block in enumerate(_blocks(record)):
        _block(on, turn, number, mapping_of(block), made_up=made_up)


def _block(on: Ledger, turn: Turn, number: int, fields: Mapping[str, Any], *, made_up: bool) -> None:
    kind = text_of(fields.get("type"))
    if kind == "text":
        text = text_of(fields.get("text"))
        if not made_up:
            on.draft(turn, _ASSISTANT, _REPLY, text, part=number)
        elif text.strip() != _SILENCE:
            on.draft(turn, Role.SYSTEM, MessageKind.NOTICE, text, part=number, is_error=True)
    elif kind == "thinking":
        on.draft(turn, _ASSISTANT, _THINKING, text_of(fields.get("thinking")), part=number)
    elif kind.endswith("tool_use"):
        _call(on, turn, number, fields)
    elif kind.endswith("tool_result"):
        _result(on, turn, number, fields, rich=None)
    elif kind not in QUIET_BLOCKS:
        on.count(f"assistant.{kind_name(kind)}")


def _call(on: Ledger, turn: Turn, number: int, fields: Mapping[str, Any]) -> None:
    tool, call_id = native(fields.get("name")), native(fields.get("id"))
    arguments = arguments_of(fields.get("input"))
    if call_id:
        on.state.call(call_id, tool, is_own(tool, arguments))
    # what our own tool was asked or told (a proposal above all) is no statement of the assistant's
    text, meta = ("", {}) if is_own_tool(tool) else describe_call(arguments)
    on.draft(turn, _ASSISTANT, _TOOL_CALL, text, part=number, tool=tool, call_id=call_id, meta=meta, empty=True)
