"""Plain JSON to drafts: conversations and messages, each with its identity (FORMATS §9)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson

from flywheel.model import MessageKind, Role
from flywheel.readers.claude.tools import is_own, is_own_tool
from flywheel.readers.fields import cap_text, clip, kind_name, list_of, mapping_of, native, text_of, whole
from flywheel.readers.generic.check import TIMES, is_message, role_of, time_of
from flywheel.readers.generic.said import KINDS, Part, parts_of, small
from flywheel.readers.generic.state import State
from flywheel.readers.seam import END, Draft, Parsed, Record, Restored, Retracted, SessionFacts
from flywheel.text.compose import FENCE_OPEN, strip_injected

_FENCE: Final = FENCE_OPEN.rstrip(">")
_PLAIN: Final = frozenset({"role", "content", "id", "uuid", *TIMES})
_SPOKEN: Final = (MessageKind.PROMPT, MessageKind.REPLY, MessageKind.NOTICE, MessageKind.THINKING)
_PROMPT, _TOOL_CALL, _TOOL_RESULT = MessageKind.PROMPT, MessageKind.TOOL_CALL, MessageKind.TOOL_RESULT
_TOOL, _SYSTEM = Role.TOOL, Role.SYSTEM  # looked up once: an enumeration's members are slow to get at
_ENDS: Final = 512
_REPLACED: Final = "replaced"
_HEAD: Final = frozenset({"messages", "title", "id", "uuid", "metadata", "model", "head", *TIMES})
_ABOUT: Final = frozenset({"id", "cwd", "project", "name", "title", "agent", "model", *TIMES})


def canonical(message: object) -> bytes:
    """The one form of a message that its identity is made of."""
    try:
        return orjson.dumps(message, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # large numbers, lone surrogates, deep nesting
        pass
    try:
        return json.dumps(message, sort_keys=True, default=str).encode("utf-8", "surrogatepass")
    except (RecursionError, TypeError):
        return b"?"


def brief(message: Mapping[str, Any]) -> bytes:
    """The form of a tool's answer: of a long one its ends and its length, for nobody edits it."""
    content = message.get("content")
    if type(content) is not str or len(content) <= 2 * _ENDS:
        return canonical(message)
    ends = (content[:_ENDS], content[-_ENDS:], len(content))
    return canonical({**message, "content": ends})


def identity(messages: Sequence[object]) -> str:
    """The id of a conversation that has none of its own: SHA-256 of its canonical messages, one a line."""
    made = hashlib.sha256()
    for message in messages:
        made.update(canonical(message) + b"\n")
    return made.hexdigest()


def own_id(head: Mapping[str, Any]) -> str:
    """A conversation's own id: ``id``, ``uuid`` or ``metadata.id``; "" when it has none."""
    for key in ("id", "uuid", "metadata"):
        value = head.get(key)
        if key == "metadata":
            value = mapping_of(value).get("id")
        if value is None:
            continue
        if isinstance(value, str) and value:
            return native(value)
        if (number := whole(value)) is not None:
            return str(number)
    return ""


def parse(state: State, records: Sequence[Record], *, complete: bool) -> Parsed:
    """Drafts and facts of some records; ``complete`` when they are all there are."""
    book = _Book(state)
    for record in records:
        if isinstance(record.get("messages"), list):
            book.conversation(record)
        elif is_message(record):
            if not state.session:
                own = [one for one in records if is_message(one)] if complete else [record]
                state.begin(identity(own), named=False)
            book.message(record)
        else:
            book.count(kind_name(record.get("type") or record.get("role")))
    return book.finish()


class _Book:
    """The books of one pass."""

    def __init__(self, state: State) -> None:
        self.state = state
        self._drafts: list[Draft] = []
        self._facts: dict[str, SessionFacts] = {}
        self._changed: list[Retracted | Restored] = []
        self._unknown: dict[str, int] = {}
        self._told = False  # something was said since the facts were noted

    def finish(self) -> Parsed:
        """Everything since the books were opened."""
        self.close()
        return Parsed(
            carry=self.state.dump(),
            drafts=tuple(self._drafts),
            sessions=dict(self._facts),
            retracted=tuple(self._changed),
            unknown=self._unknown,
        )

    def count(self, kind: str) -> None:
        """Count something that no rule knows."""
        self._unknown[kind] = self._unknown.get(kind, 0) + 1

    def conversation(self, record: Record) -> None:
        """An object with messages; without any it is the head of those that follow."""
        self.close()
        state = self.state
        messages = list_of(record["messages"])
        session = own_id(record)
        state.begin(session or identity(messages or [dict(record)]), named=bool(session))
        head = mapping_of(record.get("head"))
        state.named = state.named and head.get("named") is not False
        state.replaces, state.length = head.get("replaces") is True, whole(head.get("length")) or 0
        self._head(record)
        if not messages:
            return
        before = len(self._drafts)
        for message in messages:
            if isinstance(message, dict) and role_of(message) is not None:
                self.message(message)
            else:
                self.count(kind_name(mapping_of(message).get("role")))
        if state.named and (state.meet(state.session) or state.again):
            keys = [draft.key for draft in self._drafts[before:]]
            at = state.at
            gone = Retracted(reason=_REPLACED, session=state.session, since=0, until=END, keep=keys, at=at)
            self._changed += (gone, Restored(session=state.session, keys=keys, reason=_REPLACED))
        self.close()
        state.session = ""

    def _head(self, record: Record) -> None:
        state = self.state
        about = mapping_of(record.get("metadata"))
        title = text_of(record.get("title")) or text_of(about.get("title"))
        if "<" in title or "\\" in title:
            title = strip_injected(title)
        state.title = clip(" ".join(title.split()), 120)
        state.cwd = text_of(about.get("cwd"))[:4096]
        state.project = text_of(about.get("project"))[:250]
        state.model = (text_of(record.get("model")) or text_of(about.get("model")))[:120]
        state.extra = {**small(about, _ABOUT), **small(record, _HEAD)}
        if agent := text_of(about.get("agent")):
            state.extra["agent"] = clip(agent, 80)
        at = time_of(record) or time_of(about)
        state.at = at or state.at

    def message(self, message: Mapping[str, Any]) -> None:
        """One message of the conversation that is open."""
        state = self.state
        role = role_of(message)
        if role is None:
            return
        at = time_of(message)
        if at is not None:
            state.at = at
        if "model" in message:
            state.model = text_of(message["model"])[:120] or state.model
        key = self._key(message, role)
        state.seen += 1
        content = message.get("content")
        if type(content) is str and role is not _TOOL and message.keys() <= _PLAIN:
            meta: dict[str, object] = {"notice": "system"} if role is _SYSTEM else {}
            self._text(key, KINDS[role], role, content, meta)
        else:
            for number, part in enumerate(parts_of(message, role)):
                self._part((*key, f"#{number}") if number else key, part)
        if state.replaces and state.seen == state.length:
            since = state.count
            self._changed.append(
                Retracted(reason=_REPLACED, session=state.session, since=since, until=END, at=state.at)
            )

    def _key(self, message: Mapping[str, Any], role: Role) -> tuple[str, ...]:
        """Where the conversation has an id: that, the message's own id or place, and what it says.

        Where it has none: all that was said up to here, so that a conversation that goes on keeps what it had.
        """
        state = self.state
        form = brief(message) if role is _TOOL else canonical(message)
        if state.named:
            own = own_id(message) or str(state.seen)
            return (state.session, own, hashlib.sha256(form).hexdigest()[:16])
        state.chain = hashlib.sha256(state.chain.encode() + form).hexdigest()[:32]
        return ("said", state.chain)

    def _part(self, key: tuple[str, ...], part: Part) -> None:
        state = self.state
        if part.kind is _TOOL_CALL:
            state.call(part.call_id or part.tool, part.tool, is_own(part.tool, part.arguments))
        elif part.kind is _TOOL_RESULT:
            tool, own = state.calls.get(part.call_id or part.tool, (part.tool, False))
            if own or is_own_tool(part.tool):
                return
            part.tool = part.tool or text_of(tool)
        self._text(key, part.kind, part.role, part.text, part.meta, part.tool, part.call_id, part.error)

    def _text(
        self,
        key: tuple[str, ...],
        kind: MessageKind,
        role: Role,
        text: str,
        meta: dict[str, object],
        tool: str = "",
        call_id: str = "",
        error: bool = False,
    ) -> None:
        state = self.state
        if "<" in text and _FENCE in text:
            text = strip_injected(text)
        if (not text or text.isspace()) and kind in _SPOKEN:
            return
        text, chars = cap_text(text, state.block)
        if chars:
            meta = {**meta, "chars": chars}
        if kind is _PROMPT and not state.title:
            state.title = clip(" ".join(text.split()), 120)
        at = state.at
        self._drafts.append(Draft(key, state.session, state.count, role, kind, text, at, tool, call_id, error, meta))
        if state.replaces:
            self._replace(state.count, key)
        state.count += 1
        if not state.started or at < state.started:
            state.started = at
        if at > state.last:
            state.last = at
        self._told = True

    def _replace(self, place: int, key: tuple[str, ...]) -> None:
        """Whatever else once stood in this place does not any more."""
        session, at = self.state.session, self.state.at
        gone = Retracted(reason=_REPLACED, session=session, since=place, until=place + 1, keep=(key,), at=at)
        self._changed += (gone, Restored(session=session, keys=(key,), reason=_REPLACED))

    def close(self) -> None:
        """What is known by now of the conversation that is open, if anything was said in it since the last time."""
        state = self.state
        if not self._told:
            return
        self._told = False
        facts = SessionFacts(
            native_id=state.session,
            title=state.title,
            cwd=state.cwd,
            model=state.model,
            started_at=state.started,
            last_at=state.last,
            project=state.project,
            extra=dict(state.extra),
        )
        before = self._facts.get(state.session)
        self._facts[state.session] = before.merge(facts) if before else facts
