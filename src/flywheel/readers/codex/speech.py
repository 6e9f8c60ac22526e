"""What was said: prompts, replies and thoughts, each told on up to three channels and kept once (FORMATS §2.2).

A prompt is what ``item_completed`` or ``user_message`` tells; what the model got as the user's message counts only
where no such event follows, because the client puts text of its own there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from flywheel.model import MessageKind, Role
from flywheel.readers.codex.ledger import EVENT, ITEM, RESPONSE, Ledger, digest_of
from flywheel.readers.fields import cap_text, list_of, mapping_of, native, text_of, true
from flywheel.text.compose import strip_injected

Fields = Mapping[str, Any]

_ASSISTANT: Final = Role.ASSISTANT  # looked up once: an enumeration's members are slow to get at
_THINKING, _REPLY = MessageKind.THINKING, MessageKind.REPLY
_PENDING: Final = 2  # prompts that wait for their event
_ASIDE: Final = "internal_chat_message_metadata_passthrough"
_INJECTED: Final = (
    "<environment_context", "<user_instructions", "# AGENTS.md instructions", "<permissions instructions",
    "<turn_aborted", "<subagent_notification", "<goal", "<skill", "<user_shell_command", "<hook_prompt",
    "<collaboration_mode", "<apps_instructions", "<plugins_instructions", "<codex_internal_context", "<model_switch",
    "<personality_spec", "<tools>", "<INSTRUCTIONS>", "<ENVIRONMENT_CONTEXT", "<USER_INSTRUCTIONS",
)  # fmt: skip
_IMAGE: Final = re.compile(r"</?image\b[^>]{0,300}>")
_BLOCK: Final = re.compile(r"<([a-z]+(?:[_-][a-z]+)+)[\s>]")
_HEADING: Final = re.compile(r"^## My request for Codex:?[ \t]*$", re.MULTILINE)


def spoken(text: str) -> str:
    """A person's own words in a prompt; "" when the client wrote it."""
    text = text.strip()
    if text.startswith(_INJECTED):
        return ""
    found = _HEADING.search(text) if "## My request for Codex" in text else None
    return text[found.end() :].strip() if found else text


def _harness(text: str) -> bool:
    """Whether a text is one block in a tag such as only programs write."""
    found = _BLOCK.match(text)
    return found is not None and text.endswith(f"</{found[1]}>")


def user_item(on: Ledger, item: Fields, turn: str) -> None:
    """``item_completed`` with a UserMessage."""
    texts, images = [], 0
    for part in map(mapping_of, list_of(item.get("content"))):
        if part.get("type") == "text":
            texts.append(text_of(part.get("text")))
        elif part.get("type") in ("image", "local_image"):
            images += 1
    _heard(on, "\n".join(texts), images, ITEM, on.mark(item), turn)


def user_event(on: Ledger, fields: Fields) -> None:
    """``user_message``, of threads with a legacy history."""
    images = len(list_of(fields.get("images"))) + len(list_of(fields.get("local_images")))
    _heard(on, text_of(fields.get("message")), images, EVENT, on.mark(fields), on.turn_of(fields))


def _heard(on: Ledger, text: str, images: int, channel: int, mark: str, turn: str) -> None:
    on.state.pending.clear()  # what the model got of it
    _prompt(on, spoken(text), images, channel, mark, turn)


def user_response(on: Ledger, fields: Fields, *, alone: bool) -> None:
    """The user's message as the model got it; ``alone`` where no event can follow."""
    kinds = list_of(mapping_of(fields.get(_ASIDE)).get("content_item_kinds"))
    texts, images = [], 0
    for number, part in enumerate(map(mapping_of, list_of(fields.get("content")))):
        kind = text_of(kinds[number]) if number < len(kinds) else "user.text"
        if part.get("type") == "input_image":
            images += 1
        elif kind.startswith("user") and (text := spoken(_IMAGE.sub("", text_of(part.get("text"))))):
            texts += [] if _harness(text) else [text]
    text = "\n".join(texts)
    if not text.strip():
        return
    turn, mark, state = on.turn_of(fields), on.mark(fields), on.state
    if alone:
        _prompt(on, text, images, RESPONSE, mark, turn)
    elif not (state.said and state.echoes(f"p{turn}{digest_of(text)}", RESPONSE, mark)):
        if len(state.pending) >= _PENDING:
            release(on, 1)
        kept, _ = cap_text(text, state.block)
        state.pending.append([kept, images, on.at, on.place, mark, turn])


def release(on: Ledger, most: int = _PENDING) -> None:
    """No event has come for what waits: it was a prompt all the same."""
    waiting, on.state.pending = on.state.pending[:most], on.state.pending[most:]
    for text, images, at, place, mark, turn in waiting:
        _prompt(on, text, images, RESPONSE, mark, turn, at=at, place=place)


def _prompt(
    on: Ledger,
    text: str,
    images: int,
    channel: int,
    mark: str,
    turn: str,
    *,
    at: int | None = None,
    place: int | None = None,
) -> None:
    """A person's words; in a subagent's file the words of the agent that started it."""
    state = on.state
    text = strip_injected(text)
    if not text.strip():
        return
    told = digest_of(text)
    if turn == state.turn and not state.explicit:
        if state.echoes(f"p{turn}{told}", channel, mark):
            return
        turn = state.turn = digest_of(f"{state.seed}\0{turn}\0{told}")
        state.spoken, state.begun = False, state.last + 1
    number = state.hear(f"p{turn}{told}", channel, mark)
    if number is None:
        return
    if turn == state.turn:
        state.spoke()
    if state.silent:
        return
    if not state.base:
        state.entitle("prompt", text)
    meta: dict[str, object] = {"images": images} if images else {}
    key = (turn, f"p{told}", *([f"{number}"] if number else []))
    if state.child:
        meta["notice"] = "task"
        on.draft(key, Role.ASSISTANT, MessageKind.NOTICE, text, meta=meta, at=at, place=place)
    else:
        on.draft(key, Role.USER, MessageKind.PROMPT, text, meta=meta, at=at, place=place)


def message(on: Ledger, fields: Fields, *, alone: bool, written: Fields) -> None:
    """A response item ``message``; ``written`` is what the record says of it beside."""
    role = fields.get("role")
    if role == "user":
        user_response(on, fields, alone=alone)
    elif role == "assistant" and not true(mapping_of(written).get("compaction_output")):
        if on.state.heard(native(fields.get("id")), RESPONSE):
            return
        for part in map(mapping_of, list_of(fields.get("content"))):
            text = text_of(part.get("text")) or text_of(part.get("refusal"))
            say(on, _REPLY, text, RESPONSE, on.mark(fields), on.turn_of(fields))


def agent_item(on: Ledger, item: Fields, turn: str) -> None:
    """``item_completed`` with an AgentMessage."""
    for part in map(mapping_of, list_of(item.get("content"))):
        say(on, _REPLY, text_of(part.get("text")), ITEM, on.mark(item), turn)


def agent_event(on: Ledger, fields: Fields) -> None:
    """``agent_message``, of threads with a legacy history."""
    say(on, _REPLY, text_of(fields.get("message")), EVENT, on.mark(fields), on.turn_of(fields))


def plan_item(on: Ledger, item: Fields, turn: str) -> None:
    """``item_completed`` with a Plan that the agent proposes."""
    say(on, _REPLY, text_of(item.get("text")), ITEM, on.mark(item), turn)


def reasoning(on: Ledger, fields: Fields) -> None:
    """A response item ``reasoning``: its summaries; what is encrypted cannot be read."""
    if on.state.heard(native(fields.get("id")), RESPONSE):
        return
    for text in _thoughts(fields, "summary", "content"):
        say(on, _THINKING, text, RESPONSE, on.mark(fields), on.turn_of(fields))


def reasoning_item(on: Ledger, item: Fields, turn: str) -> None:
    """``item_completed`` with a Reasoning."""
    for text in _thoughts(item, "summary_text", "raw_content"):
        say(on, _THINKING, text, ITEM, on.mark(item), turn)


def reasoning_event(on: Ledger, fields: Fields) -> None:
    """``agent_reasoning`` or ``agent_reasoning_raw_content``: one section."""
    say(on, _THINKING, text_of(fields.get("text")), EVENT, on.mark(fields), on.turn_of(fields))


def _thoughts(fields: Fields, *names: str) -> list[str]:
    parts = [part for name in names for part in list_of(fields.get(name))]
    return [part if type(part) is str else text_of(mapping_of(part).get("text")) for part in parts]


def say(on: Ledger, kind: MessageKind, text: str, channel: int, mark: str, turn: str) -> None:
    """The agent's words, unless another channel has told them."""
    if not text or text.isspace():
        return
    told = digest_of(text)
    name = f"{kind[0]}{turn}{told}"
    number = on.state.hear(name, channel, mark)
    if channel == ITEM and mark:
        on.state.tell(mark, name)
    if number is not None:
        key = (turn, f"{kind[0]}{told}", f"{number}") if number else (turn, f"{kind[0]}{told}")
        on.draft(key, _ASSISTANT, kind, text)


def between_agents(on: Ledger, fields: Fields) -> None:
    """A message from one agent to another: a task, or what came of it."""
    content = fields.get("content")
    parts = [text_of(part.get("text")) for part in map(mapping_of, list_of(content))]
    text = text_of(content) or "\n".join(part for part in parts if part)
    turn = on.turn_of(fields)
    if not text.strip() or on.state.silent:
        return
    number = on.state.hear(f"a{turn}{digest_of(text)}", RESPONSE, on.mark(fields))
    if number is not None:
        task = on.state.child and not on.state.spoken
        if task:
            on.state.spoke()
            on.state.entitle("prompt", text)
        key = (turn, f"a{digest_of(text)}", *([f"{number}"] if number else []))
        on.draft(key, Role.ASSISTANT, MessageKind.NOTICE, text, meta={"notice": "task" if task else "message"})
