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


class Story:
    """Takes closed parts and keeps the books of one pass."""

    def __init__(self, state: State) -> None:
        self.state = state
        self._drafts: list[Draft] = []
        self._notes: dict[str, tuple[Mapping[str, str], str, int, int]] = {}  # by session
        self._noted: tuple[object, ...] = ()

    def finish(self) -> Parsed:
        """Everything since the books were opened."""
        sessions = {session: _facts(session, note) for session, note in self._notes.items()}
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
            self._draft(Role.ASSISTANT, MessageKind.THINKING, _THOUGHT.sub("", text).strip(), chars=chars)
        elif state.turn == "agent":
            self._draft(Role.ASSISTANT, MessageKind.REPLY, _unruled(text), chars=chars)
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
            Role.ASSISTANT,
            MessageKind.TOOL_CALL,
            found.call,
            tool=found.tool,
            call=call_id,
            meta=found.meta,
            empty=True,
        )
        if found.result and not is_own(found.tool, found.meta):
            self._draft(
                Role.TOOL, MessageKind.TOOL_RESULT, found.result, tool=found.tool, call=call_id, chars=chars,
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
        if _FENCE in text:
            text = strip_injected(text).strip()
        if not text and not empty:
            return
        if not state.session:  # the oldest files do not name it
            state.session = f"untold-{digest(f'{state.title} {state.started} {text}')[:24]}"
        if kind is MessageKind.PROMPT and state.title in _UNTITLED:
            state.title = clip(" ".join(text.split()), 120)
        key = (state.session, str(state.count), digest(f"{kind} {text}")[:16])
        self._drafts.append(
            Draft(
                key,
                state.session,
                state.count,
                role,
                kind,
                text,
                Micros(state.at),
                tool,
                call,
                error,
                {**(meta or {}), **({"chars": chars} if chars else {})},
            )
        )
        state.count += 1
        self._note()

    def _note(self) -> None:
        """What is known of the session by now."""
        state = self.state
        known = (state.session, state.title, state.model, state.at)
        if known != self._noted:
            self._noted = known
            about = {"title": state.title, "cwd": state.cwd, "model": state.model, "agent": state.agent}
            self._notes[state.session] = (about, state.version, state.started or state.at, state.at)


def _facts(session: str, note: tuple[Mapping[str, str], str, int, int]) -> SessionFacts:
    about, version, started, last = note
    return SessionFacts(
        native_id=session,
        title=about["title"],
        cwd=about["cwd"],
        model=about["model"],
        started_at=Micros(started),
        last_at=Micros(max(started, last)),
        renders=(about["agent"], session) if about["agent"] else None,
        extra={"format": version} if version else {},
    )


def _unruled(text: str) -> str:
    """Without the rules that only part it from what is before and behind it."""
    text = text.strip()
    while text.startswith("---\n") or text == "---":
        text = text[3:].lstrip()
    while text.endswith("\n---"):
        text = text[:-3].rstrip()
    return text
