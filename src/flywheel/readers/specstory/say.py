"""What the parts of a rendered turn come to: prompts, replies, thoughts, tool calls with their results."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from flywheel.model import MessageKind, Micros, Role, digest
from flywheel.readers.claude.prompts import spoken
from flywheel.readers.claude.tools import is_own
from flywheel.readers.fields import clip
from flywheel.readers.seam import Draft, Parsed, SessionFacts
from flywheel.readers.specstory.state import State
from flywheel.readers.specstory.tools import described
from flywheel.text.compose import FENCE_OPEN, strip_injected

_FENCE: Final = FENCE_OPEN.rstrip(">")
_THOUGHT: Final = re.compile(r"</?think>|</?details>|<summary>.*?</summary>")
_UNTITLED: Final = ("", "Untitled")
_ASSISTANT, _TOOL = Role.ASSISTANT, Role.TOOL  # looked up once: an enumeration's members are slow to get at
_PROMPT, _REPLY, _THINKING = MessageKind.PROMPT, MessageKind.REPLY, MessageKind.THINKING
_TOOL_CALL, _TOOL_RESULT = MessageKind.TOOL_CALL, MessageKind.TOOL_RESULT

Note = tuple[str, str, Micros]
"""A session's title, model and time when the last of its messages was told."""


class Story:
    """Takes closed parts and keeps the books of one pass."""

    def __init__(self, state: State) -> None:
        self.state = state
        self._drafts: list[Draft] = []
        self._notes: dict[str, Note] = {}  # by session

    def finish(self) -> Parsed:
        """Everything since the books were opened."""
        sessions = {session: _facts(self.state, session, note) for session, note in self._notes.items()}
        return Parsed(carry=self.state.dump(), drafts=tuple(self._drafts), sessions=sessions)

    def told(self) -> None:
        """The open part is complete."""
        state = self.state
        text, chars = state.open.text(state.block)
        part = state.part
        state.open.clear()
        if part in ("tool", "legacy"):
            self._tool(text, chars)
        elif part == "think":
            self._draft(_ASSISTANT, _THINKING, _THOUGHT.sub("", text).strip(), chars=chars)
        elif state.turn == "agent":
            self._draft(_ASSISTANT, _REPLY, _unruled(text), chars=chars)
        else:
            self._said(_unruled(text), chars)

    def _said(self, text: str, chars: int) -> None:
        """A person's turn, in which the agent's own client may have put words of its own."""
        if self.state.side:
            self._draft(Role.ASSISTANT, MessageKind.NOTICE, text, chars=chars, meta={"notice": "task"})
            return
        words = spoken(strip_injected(text))
        if words.interrupted and not words.text:
            self._draft(Role.USER, MessageKind.NOTICE, text, meta={"notice": "interrupted"})
        elif words.text:
            meta = {"slash": words.slash} if words.slash else {}
            self._draft(Role.USER, MessageKind.PROMPT, words.text, chars=chars, meta=meta)

    def _tool(self, text: str, chars: int) -> None:
        state = self.state
        found = described(text, state.kind, state.tool)
        call_id = f"{state.count}-{digest(text)[:12]}"
        self._draft(
            _ASSISTANT, _TOOL_CALL, found.call, tool=found.tool, call=call_id, meta=found.meta, empty=True
        )  # fmt: skip
        if found.result and not is_own(found.tool, found.meta):
            self._draft(
                _TOOL, _TOOL_RESULT, found.result, tool=found.tool, call=call_id, chars=chars,
                error=found.failed, meta={} if found.exit is None else {"exit": found.exit},
            )  # fmt: skip

    def _draft(
        self,
        role: Role,
        kind: MessageKind,
        text: str,
        *,
        tool: str = "",
        call: str = "",
        error: bool = False,
        chars: int = 0,
        meta: Mapping[str, object] | None = None,
        empty: bool = False,
    ) -> None:
        state = self.state
        if "<" in text and _FENCE in text:
            text = strip_injected(text).strip()
        if not text and not empty:
            return
        if not state.session:  # the oldest files do not name it
            state.session = f"untold-{digest(f'{state.title} {state.started} {text}')[:24]}"
        if kind is _PROMPT and state.title in _UNTITLED:
            state.title = clip(" ".join(text.split()), 120)
        if chars:
            meta = {**(meta or {}), "chars": chars}
        session, count, at = state.session, state.count, state.at
        key = (session, str(count), digest(f"{kind} {text}")[:16])
        self._drafts.append(Draft(key, session, count, role, kind, text, at, tool, call, error, meta or {}))
        state.count = count + 1
        self._notes[session] = (state.title, state.model, at)


def _facts(state: State, session: str, note: Note) -> SessionFacts:
    """What is known of a session; its header, of which the state tells, comes before its first message."""
    title, model, last = note
    started = state.started or last
    return SessionFacts(
        native_id=session,
        title=title,
        cwd=state.cwd,
        model=model,
        started_at=started,
        last_at=max(started, last),
        renders=(state.agent, session) if state.agent else None,
        extra={"format": state.version} if state.version else {},
    )


def _unruled(text: str) -> str:
    """Without the rules that only part it from what is before and behind it."""
    text = text.strip()
    while text.startswith("---\n") or text == "---":
        text = text[3:].lstrip()
    while text.endswith("\n---"):
        text = text[:-3].rstrip()
    return text
