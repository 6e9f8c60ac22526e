"""The books of one pass over some events: drafts, session facts, retractions, counts, and the state carried along."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from flywheel.model import MessageKind, Micros, Role, digest
from flywheel.readers.copilot.state import State
from flywheel.readers.fields import cap_text, clip, kind_name, mapping_of, micros_of, native, unbriefed
from flywheel.readers.learned import Facts
from flywheel.readers.seam import Draft, Parsed, Record, Restored, Retracted
from flywheel.text.compose import strip_injected

START: Final = "session.start"
SPAWN: Final = "subagent.started"


@dataclass(slots=True)
class Event:
    """One event: whose it is and when it was."""

    id: str
    session: str  # native id
    child: bool  # an agent's
    at: Micros
    data: Mapping[str, Any]


class Ledger:
    """Takes what the handlers of the event kinds find."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.facts: dict[str, Facts] = {}
        self.retracted: list[Retracted | Restored] = []
        self._drafts: list[Draft] = []
        self._unknown: dict[str, int] = {}

    def event(self, record: Record) -> Event:
        """Enter an event: its session and its time."""
        state, data, kind = self.state, mapping_of(record.get("data")), record.get("type")
        at = micros_of(record.get("timestamp"))
        if at is None:
            at = state.at
        else:
            state.at = at
        agent = native(record["agentId"]) if "agentId" in record else ""
        if not agent and "parentToolCallId" in data:
            call = native(data["parentToolCallId"])
            agent = state.agents.get(call, call)
        if kind == START and not agent:
            self._adopt(native(data.get("sessionId")))
        event = Event(native(record.get("id")), agent or state.session, agent != "", at, data)
        if kind != SPAWN:
            facts = None if agent else self.facts.get(state.session)
            if facts is None:
                self.of(event)
            else:
                self.date(facts, at)
        return event

    def of(self, event: Event, agent: str = "", parent: str = "") -> Facts:
        """The facts of the event's session, or of an agent's."""
        state = self.state
        agent = agent or (event.session if event.child else "")
        session = agent or event.session
        facts = self.facts.get(session)
        if facts is None:
            facts = self.facts[session] = Facts(parent=state.parent_of(agent, parent) if agent else state.parent)
        self.date(facts, event.at)
        return facts

    def _adopt(self, session: str) -> None:
        """The session's own id; the first one counts. Before it the log's folder stands for it."""
        state = self.state
        if session and not state.named:
            former = self.facts.get(state.session)
            if former is not None:
                self._conclude(former)
            state.session, state.named = session, True

    @staticmethod
    def date(facts: Facts, at: int) -> None:
        """Something of the session happened then."""
        if facts.started is None or at < facts.started:
            facts.started = at
        if facts.last is None or at > facts.last:
            facts.last = at

    def draft(
        self,
        event: Event,
        role: Role,
        kind: MessageKind,
        text: str,
        *,
        part: int | str = 0,
        tool: str = "",
        call_id: str = "",
        is_error: bool = False,
        meta: Mapping[str, object] | None = None,
        empty: bool = False,
    ) -> None:
        """Add a draft, unless it is empty and may not be. ``part`` tells the drafts of one event apart."""
        text = unbriefed(text)
        if not empty and (not text or text.isspace()):
            return
        state = self.state
        text, chars = cap_text(text, state.block)
        if chars:
            meta = {**(meta or {}), "chars": chars}
        id = event.id or digest("\0".join((event.session, role, str(event.at), call_id, text)))
        key = (id, f"#{part}") if part else (id,)
        self._drafts.append(
            Draft(key, event.session, state.count, role, kind, text, event.at, tool, call_id, is_error, meta or {})
        )
        state.count += 1

    def count(self, kind: object) -> None:
        """Count an event kind that no rule knows."""
        name = kind_name(kind)
        self._unknown[name] = self._unknown.get(name, 0) + 1

    def close(self) -> Parsed:
        """Everything entered since the books were opened."""
        facts = self.facts.get(self.state.session)
        if facts is not None:
            self._conclude(facts)
        return Parsed(
            carry=self.state.dump(),
            drafts=tuple(self._drafts),
            sessions={name: known.told(name) for name, known in self.facts.items()},
            retracted=tuple(self.retracted),
            unknown=self._unknown,
        )

    def _conclude(self, facts: Facts) -> None:
        """What the state knows of the log's own session."""
        state = self.state
        facts.title = state.title or state.prompt
        facts.cwd = facts.cwd or state.cwd
        facts.branch = facts.branch or state.branch
        if any(state.usage.values()):
            facts.extra["usage"] = dict(state.usage)
        if state.compactions:
            facts.extra["compactions"] = state.compactions
        if state.files:
            facts.extra["files_modified"] = list(state.files)


def title_of(text: str) -> str:
    """The text as a title."""
    return clip(" ".join(strip_injected(text).split()), 120)
