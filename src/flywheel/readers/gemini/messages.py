"""Messages of a Gemini session to drafts; a message that comes again replaces what it said before (FORMATS §3)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from flywheel.model import MessageKind, Micros, Role
from flywheel.readers.asking import asks_flywheel
from flywheel.readers.claude.tools import arguments_of, asks_us, describe_call, is_own_tool
from flywheel.readers.fields import list_of, micros_of, native, text_of
from flywheel.readers.gemini import parts as said
from flywheel.readers.gemini.ledger import Ledger
from flywheel.readers.gemini.state import Call, Kept, line_of, part_of

NOTICES: Final = frozenset({"info", "warning", "error"})
TYPES: Final = NOTICES | {"user", "gemini"}

_CONTINUE: Final = "Please continue."
_SHELL: Final = "I ran the following shell command:"
_RESULT: Final = "This produced the following result:"
_LEFT_OUT: Final = ("/", "?", "<session_context>", "<hook_context>")
"""Openings of a user's message that the client leaves out when it rebuilds the conversation."""

_OURS: Final = re.compile(r"mcp_.*flywheel|flywheel[_-]", re.IGNORECASE)
_DONE: Final = ("success", "error", "cancelled")
_NOTHING: Final[Mapping[str, Any]] = {}
_ASSISTANT, _TOOL = Role.ASSISTANT, Role.TOOL  # looked up once: an enumeration's members are slow to get at
_THINKING, _REPLY = MessageKind.THINKING, MessageKind.REPLY
_TOOL_CALL, _TOOL_RESULT = MessageKind.TOOL_CALL, MessageKind.TOOL_RESULT


def message(on: Ledger, record: Mapping[str, Any], *, rebuilt: bool = False, summary: bool = False) -> None:
    """One message. ``rebuilt``: part of a conversation that the client put together anew, so less of it is said."""
    id, kind, state = native(record.get("id")), record.get("type"), on.state
    if not isinstance(kind, str) or kind not in TYPES:
        on.count(text_of(kind))
        return
    on.touched = True
    at = state.date(micros_of(record.get("timestamp")))
    if state.rewound and state.rewound == id:
        state.rewound = ""
    known = state.kept(id)
    if known is None and kind == "user" and _is_known(on, record.get("content")):
        return
    kept = known or Kept(state.count, False, [], [], [])
    before = [*kept.parts] if known else []
    if kind == "gemini":
        now = _gemini(on, id, kept, record, at, rebuilt=rebuilt)
    elif kind == "user":
        now = _user(on, id, kept, record, at, summary=summary)
    else:
        now = _notice(on, id, kept, kind, record, at)
    if before and before != now:
        _replaced(on, id, kept, before, now, rebuilt=rebuilt)
    if known is None and (kept.parts or kept.calls or kept.spent):
        state.keep(id, kept)


def _is_known(on: Ledger, content: object) -> bool:
    """Whether a user's message is only the answer of a tool that stands at its call already."""
    answer = said.lone_answer(content)
    if answer is None or not (call_id := native(answer.get("id"))):
        return False
    call = on.state.call(call_id)
    return call is not None and (call.own or call.answered != "")


def _replaced(on: Ledger, id: str, kept: Kept, before: list[str], now: list[str], *, rebuilt: bool) -> None:
    """Take back what a message does not say any more; of a rebuilt one only what it says otherwise."""
    gone = [part for part in before if part not in now]
    if gone and rebuilt:
        codes = {part[0] for part in now if part and part not in before}
        gone = [part for part in gone if part[0] in codes]
    if gone:
        kept.parts = [part for part in kept.parts if part not in gone]
        on.retract([(id, part) for part in gone], "replaced")


def _user(on: Ledger, id: str, kept: Kept, record: Mapping[str, Any], at: Micros, *, summary: bool) -> list[str]:
    kept.said = None
    content = said.parts_of(record.get("content"))
    for number, answer in enumerate(content.answers):
        call_id = native(answer.get("id")) or f"{id}.{number}"
        _answered(on, kept, call_id, answer, at, tool=native(answer.get("name")))
    if not content.texts:
        return []
    shown = record.get("displayContent")
    text = (said.spoken(said.parts_of(shown).texts) if shown else "") or said.spoken(content.texts)
    if not text:
        return []
    kept.speech = not "".join(content.texts).strip().startswith(_LEFT_OUT)
    on.state.prompted(id, kept.ordinal)
    if summary or text.startswith(said.SUMMARY_OPENING):
        before = len(kept.parts)
        part = on.own(id, kept, "s", Role.ASSISTANT, MessageKind.SUMMARY, text, at)
        on.state.compactions += len(kept.parts) > before
        return [part]
    if on.state.child:
        on.state.prompt = on.state.prompt or line_of(text)
        meta: dict[str, object] = {"notice": "task"}
        return [on.own(id, kept, "n", _ASSISTANT, MessageKind.NOTICE, text, at, meta=meta)]
    if text == _CONTINUE:
        return [on.own(id, kept, "n", Role.SYSTEM, MessageKind.NOTICE, text, at, meta={"notice": "continue"})]
    if text.startswith(_SHELL):
        if asks_flywheel(text.partition(_RESULT)[0]):
            return []
        return [on.own(id, kept, "n", Role.USER, MessageKind.NOTICE, text, at, meta={"notice": "shell"})]
    return [_prompt(on, id, kept, text, at, images=content.images)]


def _prompt(on: Ledger, id: str, kept: Kept, text: str, at: Micros, *, images: int) -> str:
    """A person's words; of a slash command what is said after its name."""
    meta: dict[str, object] = {"images": images} if images else {}
    name, _, rest = text.partition(" ")
    if name.startswith("/") and name[1:].replace("-", "").replace(":", "").isalnum():
        meta["slash"], text = name[1:81], rest.strip()
    on.state.prompt = on.state.prompt or line_of(text)
    return on.own(id, kept, "p", Role.USER, MessageKind.PROMPT, text, at, meta=meta)


def _gemini(on: Ledger, id: str, kept: Kept, record: Mapping[str, Any], at: Micros, *, rebuilt: bool) -> list[str]:
    state = on.state
    kept.speech = True
    if (model := record.get("model")) and isinstance(model, str):
        state.model = model[:120]
    if (tokens := record.get("tokens")) and isinstance(tokens, dict):
        state.spend(kept, tokens)
    content, thoughts = record.get("content"), record.get("thoughts")
    if type(content) is str and kept.said == (content, thoughts):  # told again when its tools have run
        now = kept.named
    else:
        now = _words(on, id, kept, content, thoughts, at)
    if calls := record.get("toolCalls"):
        for number, fields in enumerate(list_of(calls)):
            call = fields if isinstance(fields, dict) else _NOTHING
            call_id = native(call.get("id")) or f"{id}.{number}"
            _asked(on, kept, call_id, call, at)
            _result(on, kept, call_id, call, rebuilt=rebuilt)
    return now


def _words(on: Ledger, id: str, kept: Kept, content: object, thoughts: object, at: Micros) -> list[str]:
    """What the model thought and said, and the calls among its words; the names of the drafts of its own."""
    told, text = (said.NOTHING, content) if isinstance(content, str) else _sorted(content)
    now = [
        on.own(id, kept, "h", _ASSISTANT, _THINKING, said.thought_text(thought), at)
        for thought in (*list_of(thoughts), *told.thoughts)
    ]
    text = said.cleaned(text)
    if text and text.strip() != said.TAKEN_IN:
        now.append(on.own(id, kept, "t", _ASSISTANT, _REPLY, text, at))
    for number, call in enumerate(told.calls):
        _asked(on, kept, native(call.get("id")) or f"{id}.{number}", call, at)
    all_there = type(content) is str and len(now) <= len(kept.parts)
    kept.said, kept.named = ((content, thoughts), now) if all_there else (None, [])
    return now


def _sorted(content: object) -> tuple[said.Parts, str]:
    told = said.parts_of(content)
    return told, "".join(told.texts)


def _notice(on: Ledger, id: str, kept: Kept, kind: str, record: Mapping[str, Any], at: Micros) -> list[str]:
    kept.said = None
    text = said.cleaned("\n".join(said.parts_of(record.get("content")).texts))
    meta = {"notice": kind}
    return [on.own(id, kept, "n", Role.SYSTEM, MessageKind.NOTICE, text, at, is_error=kind == "error", meta=meta)]


@lru_cache(256)
def _is_ours(tool: str) -> bool:
    return is_own_tool(tool) or _OURS.match(tool) is not None


def _asked(on: Ledger, kept: Kept, call_id: str, fields: Mapping[str, Any], at: Micros) -> None:
    """A tool call, once; with other arguments it replaces the former one."""
    tool, arguments = native(fields.get("name")), arguments_of(fields.get("args"))
    if "absolute_path" in arguments:  # what older clients call it
        arguments = {("file_path" if name == "absolute_path" else name): value for name, value in arguments.items()}
    own = _is_ours(tool)
    text, meta = ("", {}) if own else describe_call(arguments)  # what it is told is no statement of the model's
    text = said.cleaned(text)
    part = part_of("c", f"{tool}\n{text}")
    call = on.state.call(call_id) or Call()
    kept.hold(f"c:{call_id}", call=True)
    if call.asked == part:
        return
    if call.asked:
        on.retract([(call_id, call.asked)], "replaced")
    call.tool, call.asked = tool, part
    call.own = own or asks_us(arguments)
    on.state.note(call_id, call)
    on.draft((call_id, part), _ASSISTANT, _TOOL_CALL, text, at, tool, call_id, meta=meta)


def _result(on: Ledger, kept: Kept, call_id: str, fields: Mapping[str, Any], *, rebuilt: bool) -> None:
    """The result that stands at a call itself, once the call is over."""
    status = fields.get("status")
    if status in _DONE:
        answer = said.answer_of(fields.get("result"), call_id)
        _answered(on, kept, call_id, answer, None, call=fields, status=status, anew=not rebuilt)


def _answered(
    on: Ledger,
    kept: Kept,
    call_id: str,
    answer: Mapping[str, Any],
    at: Micros | None,
    *,
    tool: str = "",
    call: Mapping[str, Any] = _NOTHING,
    status: str = "",
    anew: bool = False,
) -> None:
    """A tool's result, once; the one at the call itself replaces a former one, that of a user's message does not."""
    state = on.state
    entry = state.call(call_id) or Call()
    if entry.own or (entry.answered and not anew) or (tool and _is_ours(tool)):
        return
    text, failed = said.answer_text(answer)
    display, meta = said.shown(call.get("resultDisplay"), text)
    text = text or display
    if not anew and text.startswith(said.MASKED):
        return
    part = part_of("r", text)
    kept.hold(f"r:{call_id}", call=True)
    if entry.answered == part:
        return
    if entry.answered:
        on.retract([(call_id, entry.answered)], "replaced")
    entry.answered, entry.tool = part, entry.tool or tool
    state.note(call_id, entry)
    failed = _judge(entry.tool, text, answer, call, meta, failed=failed or status == "error")
    if status == "cancelled":
        meta["interrupted"] = True
    at = state.date(micros_of(call.get("timestamp"))) if at is None else at
    on.draft((call_id, part), _TOOL, _TOOL_RESULT, text, at, entry.tool, call_id, failed, meta)


def _judge(
    tool: str, text: str, answer: Mapping[str, Any], call: Mapping[str, Any], meta: dict[str, object], *, failed: bool
) -> bool:
    """Fill in what is known of a result (``exit``, ``agent``, ``images``); whether it failed."""
    if tool in said.SHELLS:
        code = said.exit_of(text)
        if code is None and not failed and text.startswith("Output:"):
            code = 0
        if code is not None:
            meta["exit"] = code
            failed = failed or code != 0
    if "agentId" in call and (agent := native(call["agentId"])):
        meta["agent"] = agent
    images = answer.get("images")
    if images and isinstance(images, int):
        meta["images"] = images
    return failed
