"""Conversations for tests of the rules: a few words per message, in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flywheel.harvest.rules import Draft, Yield, drafts_of
from flywheel.model import Message, MessageId, MessageKind, Micros, ProjectId, Role, SessionId, digest, evidence_id
from flywheel.text.redact import Redactor

PROJECT = ProjectId("p")
DAY = 86_400_000_000
"""Microseconds."""

Turn = tuple[str, str] | tuple[str, str, Mapping[str, object]]
"""("user" | "assistant" | "call" | "result" | "error" | "web" | "summary" | "thinking", text[, meta])."""

_ROLES = {
    "user": (Role.USER, MessageKind.PROMPT),
    "assistant": (Role.ASSISTANT, MessageKind.REPLY),
    "thinking": (Role.ASSISTANT, MessageKind.THINKING),
    "summary": (Role.SYSTEM, MessageKind.SUMMARY),
    "call": (Role.ASSISTANT, MessageKind.TOOL_CALL),
    "result": (Role.TOOL, MessageKind.TOOL_RESULT),
    "error": (Role.TOOL, MessageKind.TOOL_RESULT),
    "web": (Role.TOOL, MessageKind.TOOL_RESULT),
}


def talk(*turns: Turn, session: str = "s", at: int = 0) -> list[Message]:
    """The messages of a session. A call is a Bash command; the result after it belongs to it."""
    messages: list[Message] = []
    call = ""
    for number, turn in enumerate(turns):
        who, text = turn[0], Redactor().text(turn[1])
        role, kind = _ROLES[who]
        meta: dict[str, object] = dict(turn[2]) if len(turn) == 3 else {}
        if who == "call":
            call = f"{session}-call-{number}"
            meta = {"command": text, **meta}
        messages.append(
            Message(
                id=MessageId(evidence_id(session, str(number))),
                project_id=PROJECT,
                session_id=SessionId(session),
                ordinal=number,
                role=role,
                kind=kind,
                text=text,
                tool=Redactor().text({"call": "Bash", "web": "WebFetch"}.get(who, "Bash" if role is Role.TOOL else "")),
                call_id=call if kind in (MessageKind.TOOL_CALL, MessageKind.TOOL_RESULT) else "",
                is_error=who == "error",
                meta=meta,
                created_at=Micros(at + number * 1_000_000),
                sha256=digest(text),
            )
        )
    return messages


def heard(*turns: Turn, floor: float = 0.5, subagent: bool = False) -> Yield:
    """What the rules make of a conversation."""
    return drafts_of(talk(*turns), floor=floor, subagent=subagent)


def only(*turns: Turn) -> Draft:
    """The one draft of a conversation."""
    drafts = heard(*turns).drafts
    assert len(drafts) == 1, [(draft.category.value, draft.statement) for draft in drafts]
    return drafts[0]


def kinds(drafts: Sequence[Draft]) -> list[str]:
    """The category of each draft."""
    return [draft.category.value for draft in drafts]
