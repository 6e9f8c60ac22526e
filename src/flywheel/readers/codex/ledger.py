"""The books of one pass over some records of Codex: drafts, facts, retractions, counts, and the state carried along."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

from flywheel.model import MessageKind, Micros, Role
from flywheel.readers.codex.state import State
from flywheel.readers.fields import cap_text, micros_of, native, text_of, unbriefed
from flywheel.readers.seam import Draft, Parsed, Record, Restored, Retracted, SessionFacts

ITEM, EVENT, RESPONSE = 0, 1, 2
"""Channels that tell the same words: completed items, the older events, what the model saw and said."""

_USAGE: Final = ("input", "output", "cache_read", "cache_write")
_ORDINALS: Final = 2**31
_NEVER: Final = 2**62
_UUID: Final = 36  # characters
_ASIDE: Final = "internal_chat_message_metadata_passthrough"


class Ledger:
    """Takes what the handlers of the record kinds find."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.retracted: list[Retracted | Restored] = []
        self.facts: dict[str, Any] = {}  # what this pass has learned of the session
        self.touched = False  # something that the state counts has changed
        self.record: Record = {}  # at hand
        self._first, self._last = _NEVER, -_NEVER  # micros of the thread's own records
        self._drafts: list[Draft] = []
        self._unknown: dict[str, int] = {}

    @property
    def place(self) -> int:
        """The record's ordinal among those of its thread; 0 when it has none."""
        place = self.record.get("ordinal")
        return place if type(place) is int and 0 <= place < _ORDINALS else 0

    @property
    def stamp(self) -> str:
        """The record's own timestamp as it is written."""
        return text_of(self.record.get("timestamp"))[:40]

    @property
    def at(self) -> Micros:
        """When the record was written; one without a time has that of the one before it."""
        state, at = self.state, micros_of(self.record.get("timestamp"))
        if at is not None:
            state.at = at
        return state.at

    @property
    def replayed(self) -> bool:
        """Whether the record is the parent's and not the thread's own."""
        return self.state.old or (self.place < self.state.start and self.place > 0)

    def noted(self) -> Micros:
        """The record is the thread's own: its time, which is the session's too."""
        at = micros_of(self.record.get("timestamp"))
        if at is None:
            at = self.state.at
        else:
            self.state.at = at
        if at > self._last:
            self._last = at
        if at < self._first:
            self._first = at
        return at

    def began(self, at: Micros) -> None:
        """The thread began then, if not earlier."""
        self._first = min(self._first, at)

    def turn_of(self, fields: Mapping[str, Any]) -> str:
        """The turn that a record names; the current one when it names none."""
        aside = fields.get(_ASIDE)
        named = (aside if type(aside) is dict else fields).get("turn_id")
        turn = self.state.turn
        return turn if named == turn or named is None else self.named(named) or turn

    def named(self, turn: object) -> str:
        """A turn's id as the keys have it: "" when the client gave it none."""
        name = native(turn)
        if not name or len(name) == _UUID:
            return name
        return "" if name.startswith("rollout-") else f"{self.state.seed}:{name}"

    def mark(self, fields: Mapping[str, Any]) -> str:
        """What tells a record that is there twice from another with the same words."""
        return native(fields.get("id"))[:40] or self.stamp

    def draft(
        self,
        key: tuple[str, ...],
        role: Role,
        kind: MessageKind,
        text: str,
        *,
        tool: str = "",
        call_id: str = "",
        is_error: bool = False,
        meta: Mapping[str, object] | None = None,
        empty: bool = False,
        at: int | None = None,
        place: int | None = None,
    ) -> None:
        """Add a draft, unless it is empty and may not be; ``at`` and ``place`` are the record's unless given."""
        state = self.state
        text = unbriefed(text)
        if not empty and (not text or text.isspace()):
            return
        noted = self.noted()
        text, chars = cap_text(text, state.block)
        if chars:
            meta = {**(meta or {}), "chars": chars}
        own = state.base + (self.place if place is None else place)
        state.last = own if own > state.last else state.last + 1
        self._drafts.append(
            Draft(
                key,
                state.session,
                state.last,
                role,
                kind,
                text,
                noted if at is None else Micros(at),
                tool,
                call_id,
                is_error,
                meta or {},
            )
        )

    def count(self, kind: str) -> None:
        """Count something that no rule knows."""
        self._unknown[kind] = self._unknown.get(kind, 0) + 1

    def close(self) -> Parsed:
        """Everything entered since the books were opened."""
        state, sessions = self.state, {}
        if self.facts or self.touched or self.retracted or self._first < _NEVER:
            self._conclude()
            sessions[state.session] = SessionFacts(native_id=state.session, **self.facts)
        return Parsed(
            carry=state.dump(),
            drafts=tuple(self._drafts),
            sessions=sessions,
            retracted=tuple(self.retracted),
            unknown=self._unknown,
        )

    def _conclude(self) -> None:
        """What the state knows of the session."""
        state = self.state
        if self._first < _NEVER:
            self.facts |= {"started_at": Micros(self._first), "last_at": Micros(max(self._last, self._first))}
        extra: dict[str, object] = {}
        if any(state.usage):
            extra["usage"] = dict(zip(_USAGE, state.usage, strict=True))
        if state.compactions:
            extra["compactions"] = state.compactions
        if state.agent_type:
            extra["agent_type"] = state.agent_type
        if state.originator:
            extra["originator"] = state.originator
        self.facts |= {"title": state.title, "extra": extra}


def digest_of(text: str) -> str:
    """A short digest of a text as its copies have it: without white space and without our briefing."""
    data = unbriefed(text).encode("utf-8", "surrogatepass").translate(None, b" \t\r\n")
    return hashlib.blake2b(data, digest_size=12).hexdigest()
