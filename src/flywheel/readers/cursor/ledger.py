"""The books of one conversation of Cursor's CLI: drafts, facts and counts of one pass, and what is carried along.

The same conversation is in a transcript and in a store, without ids or times. So a message is known by its
conversation, what it is (prompt, reply, thinking, call), a digest of its words, and how often those came before; and
its ordinal leaves room for what only the other file has: the thinking before a reply, a result after each call.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Final

from flywheel.model import MessageKind, Micros, Role
from flywheel.readers.cursor.spoken import plain, said
from flywheel.readers.cursor.state import State, brief, dump
from flywheel.readers.cursor.tools import call_of, tool_name
from flywheel.readers.fields import cap_text, clip, unbriefed
from flywheel.readers.seam import Draft, Parsed, Restored, Retracted, SessionFacts

_SEEN: Final = 512  # words whose repetitions are told apart
_CALLS: Final = 256  # calls that wait for their result
_SUMMARY: Final = "<conversation_summary>"
_ASSISTANT, _TOOL = Role.ASSISTANT, Role.TOOL  # looked up once: an enumeration's members are slow to get at
_THINKING, _REPLY = MessageKind.THINKING, MessageKind.REPLY
_TOOL_CALL, _TOOL_RESULT = MessageKind.TOOL_CALL, MessageKind.TOOL_RESULT

Key = tuple[str, ...]


class Ledger:
    """Takes what the messages of a conversation hold."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.drafts: list[Draft] = []
        self.retracted: list[Retracted | Restored] = []
        self.unknown: dict[str, int] = {}
        self.touched = False  # whether a record of the conversation was seen
        self._first = self._last = state.at
        self._guess = ""  # told once, so that it does not take the place of a name that another file gives later

    def count(self, kind: str) -> None:
        """Count something that no rule knows."""
        self.unknown[kind] = self.unknown.get(kind, 0) + 1

    def date(self, at: Micros | None) -> None:
        """From here on it is this time; what tells none has the last one."""
        if at is not None:
            self.state.at = at
        now = self.state.at
        if not self.touched:
            self._first = self._last = now
            self.touched = True
        elif now > self._last:
            self._last = now
        elif now < self._first:
            self._first = now

    def key(self, letter: str, words: str) -> Key:
        """What a message is known by: its conversation, what it is, its words, and how often those came before."""
        name = letter + brief(words)
        seen = self.state.seen
        times = seen.pop(name, 0)
        seen[name] = times + 1
        if len(seen) > _SEEN:
            for old in [*islice(seen, _SEEN // 4)]:
                del seen[old]
        return (self.state.session, f"{name}.{times}" if times else name)

    def draft(
        self,
        key: Key,
        slot: int,
        role: Role,
        kind: MessageKind,
        text: str,
        tool: str = "",
        call_id: str = "",
        is_error: bool = False,
        meta: Mapping[str, object] | None = None,
        *,
        empty: bool = False,
    ) -> None:
        """Add a draft, unless it is empty and may not be."""
        text = unbriefed(text)
        if not empty and (not text or text.isspace()):
            return
        state = self.state
        text, chars = cap_text(text, state.block)
        if chars:
            meta = {**(meta or {}), "chars": chars}
        self.drafts.append(
            Draft(key, state.session, slot, role, kind, text, state.at, tool, call_id, is_error, meta or {})
        )

    def user(self, text: str, images: int = 0, *, summary: bool = False) -> None:
        """A user's turn: a person's words, a task that another agent gave, or what the client put there."""
        text = unbriefed(text)
        turn = said(text)
        self.date(turn.at)
        state = self.state
        state.cwd = state.cwd or turn.folder[:4096]
        slot = state.count + 1  # the one before it is for how the turn before ended
        if summary or text.lstrip().startswith(_SUMMARY):
            words = text.replace(_SUMMARY, "").replace("</conversation_summary>", "").strip()
            self.draft(self.key("s", words), slot, Role.ASSISTANT, MessageKind.SUMMARY, words)
            state.count, state.ended = slot + 1, False
            return
        images += turn.images
        if not turn.text and not images:
            return
        state.count, state.ended = slot + 1, False
        words, key = turn.text, self.key("p", turn.text)
        if not state.guessed and words:
            state.guessed = self._guess = clip(" ".join(words.split()), 120)
        meta: dict[str, object] = {"images": images} if images else {}
        if state.child:
            self.draft(key, slot, Role.ASSISTANT, MessageKind.NOTICE, words, meta={**meta, "notice": "task"})
        else:
            self.draft(key, slot, Role.USER, MessageKind.PROMPT, words, meta=meta, empty=bool(images))

    def assistant(self, texts: list[str], thinking: list[str], calls: list[tuple[str, str, object]]) -> None:
        """A step of the agent: its thinking, its reply, and its calls as (id, tool, arguments)."""
        self.date(None)
        reply = plain(texts[0] if len(texts) == 1 else "\n".join(texts))
        thought = "\n".join(part for part in thinking if part.strip()) if thinking else ""
        if not (reply or thought or calls):
            return
        self._past_the_end()
        state, slot = self.state, self.state.count
        if thought:
            self.draft(self.key("t", thought), slot, _ASSISTANT, _THINKING, thought)
        if reply:
            told = plain(f"{reply}\n\n{thought}") if thought else reply  # as a transcript has it, in one block
            self.draft(self.key("r", told), slot + 1, _ASSISTANT, _REPLY, reply)
        for number, (call_id, name, arguments) in enumerate(calls):
            self._call(slot + 2 + number, slot + 2 + len(calls) + number, call_id, name, arguments)
        state.count = slot + 2 + 2 * len(calls)

    def _call(self, slot: int, after: int, call_id: str, name: str, arguments: object) -> None:
        tool = tool_name(name)
        text, meta, gist, own = call_of(tool, arguments)
        if call_id:
            calls = self.state.calls
            calls[call_id] = [tool, own, after]
            if len(calls) > _CALLS:
                del calls[next(iter(calls))]
        key = self.key("c", gist)
        self.draft(key, slot, _ASSISTANT, _TOOL_CALL, text, tool, call_id, False, meta, empty=True)

    def tool(self, call_id: str) -> str:
        """The tool of a call that waits for its result; "" for an unknown one."""
        return str(self.state.calls.get(call_id, ("",))[0])

    def result(self, call_id: str, name: str, told: tuple[str, dict[str, object], bool]) -> None:
        """What a call gave: text, meta, and whether it failed. What Flywheel answered is left out."""
        self.date(None)
        tool, own, slot = self.state.calls.get(call_id, ("", False, -1))
        if own:
            return
        if slot < 0:
            self._past_the_end()
            slot = self.state.count
            self.state.count += 1
        text, meta, failed = told
        key = (self.state.session, "result", call_id) if call_id else self.key("o", text)
        kind, tool = _TOOL_RESULT, tool or tool_name(name)
        self.draft(key, slot, _TOOL, kind, text, tool, call_id, failed, meta, empty=True)

    def notice(self, status: str, text: str) -> None:
        """A turn that ended as it should not have."""
        self.date(None)
        self._past_the_end()
        words, failed = text or f"Turn ended: {status}", status == "error"
        key, slot, meta = self.key("n", f"{status}\0{words}"), self.state.count, {"notice": status}
        self.draft(key, slot, Role.SYSTEM, MessageKind.NOTICE, words, is_error=failed, meta=meta)
        self.state.ended = True

    def _past_the_end(self) -> None:
        """Leave the slot that holds how a turn ended, where a prompt does not do so."""
        self.state.count += self.state.ended
        self.state.ended = False

    def close(self) -> Parsed:
        """Everything entered since the books were opened."""
        state = self.state
        sessions = {}
        if self.touched:
            sessions[state.session] = SessionFacts(
                native_id=state.session,
                parent=state.parent,
                title=state.title or self._guess,
                cwd=state.cwd,
                model=state.model,
                started_at=self._first,
                last_at=self._last,
                extra=dict(state.hints),
            )
        return Parsed(
            carry=dump(state),
            drafts=tuple(self.drafts),
            sessions=sessions,
            retracted=tuple(self.retracted),
            unknown=self.unknown,
        )
