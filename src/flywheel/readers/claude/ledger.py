"""The books of one pass over some records: drafts, session facts, retractions, counts, and the state carried along."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from flywheel.model import MessageKind, Micros, Role, digest
from flywheel.readers.claude.state import State
from flywheel.readers.fields import cap_text, mapping_of, micros_of, native, text_of, true, unbriefed
from flywheel.readers.learned import Facts
from flywheel.readers.seam import Draft, Parsed, Record, Retracted

_FACTS: Final = ("sessionId", "agentId", "isSidechain", "cwd", "gitBranch", "version", "forkedFrom")
"""Fields of a record from which its session and the session's facts come."""

_NO_BRANCH: Final = ("", "HEAD")


@dataclass(slots=True)
class Turn:
    """A record of the chain: whose it is and when it was."""

    record: Record
    uuid: str
    session: str  # native id
    trunk: bool  # whether it is part of the conversation with the person, and not of an agent started by it
    at: Micros


class Ledger:
    """Takes what the handlers of the record kinds find."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.facts: dict[str, Facts] = {}
        self.retracted: list[Retracted] = []
        self._drafts: list[Draft] = []
        self._unknown: dict[str, int] = {}
        self._same: tuple[object, ...] = ()  # of the last record, where the next one with the same adds nothing
        self._session = ""

    def turn(self, record: Record) -> Turn:
        """Enter a record of the chain: its session, its time and the facts it holds."""
        state = self.state
        uuid = native(record.get("uuid"))
        at = micros_of(record.get("timestamp"))
        if at is None:
            at = state.at
        else:
            state.at = at
        same = tuple(map(record.get, _FACTS))
        if same == self._same and same[0]:  # as nearly every record: only the time is new
            session, trunk = self._session, state.trunk
            state.named = native(same[0])
            facts = self.facts[session]
            if facts.started is None or at < facts.started:
                facts.started = at
            if facts.last is None or at > facts.last:
                facts.last = at
        else:
            trunk = self._name(record) or state.trunk
            session, parent = self._owner(record, uuid, trunk)
            facts = self.facts.setdefault(session, Facts())
            _note(facts, record, at, parent)
            plain = not true(record.get("isSidechain")) and "forkedFrom" not in record and trunk == state.trunk
            self._same, self._session = (same if plain else ()), session
        if uuid:
            state.passed(uuid)
        if version := text_of(record.get("version")):
            state.version = version[:60]
        return Turn(record, uuid, session, session == trunk, at)

    def _owner(self, record: Record, uuid: str, trunk: str) -> tuple[str, str]:
        """Native ids of the record's session and of its parent (FORMATS §1.7)."""
        state, agent = self.state, native(record.get("agentId"))
        if state.child and (agent or record.get("isSidechain") is not False):
            return state.session or agent, state.parent or trunk
        if true(record.get("isSidechain")):
            session = agent or state.side(uuid, native(record.get("parentUuid"))) or trunk
            return session, trunk if session != trunk else ""
        return trunk, ""

    def beside(self, record: Record) -> bool:
        """Enter a record beside the chain; whether it speaks of this file's own session."""
        state, named = self.state, self._name(record)
        if not state.session or (named and named != state.session):
            return False
        self.facts.setdefault(state.session, Facts())
        return True

    def _name(self, record: Record) -> str:
        """The record's sessionId; the first one names the file's session when its path does not."""
        state, named = self.state, native(record.get("sessionId"))
        if named:
            state.named = named
            state.trunk = state.trunk or named
            if not state.session and not state.child:
                state.session = named
        return named

    def date(self, record: Record) -> Micros:
        """When a record was written; one without a time has that of the record before it."""
        at = micros_of(record.get("timestamp"))
        if at is not None:
            self.state.at = at
        return self.state.at

    def draft(
        self,
        turn: Turn,
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
        """Add a draft, unless it is empty and may not be. ``part`` tells the drafts of one record apart."""
        text = unbriefed(text)
        if not empty and (not text or text.isspace()):
            return
        state = self.state
        text, chars = cap_text(text, state.block)
        if chars:
            meta = {**(meta or {}), "chars": chars}
        uuid = turn.uuid
        if not uuid:
            stamp = text_of(turn.record.get("timestamp"))
            uuid = digest("\0".join((turn.session, role, stamp, call_id, text)))
        self._drafts.append(
            Draft(
                (uuid, f"#{part}") if part else (uuid,),
                turn.session,
                state.count,
                role,
                kind,
                text,
                turn.at,
                tool,
                call_id,
                is_error,
                meta or {},
            )
        )
        state.count += 1

    def count(self, kind: str) -> None:
        """Count something that no rule knows."""
        self._unknown[kind] = self._unknown.get(kind, 0) + 1

    def close(self) -> Parsed:
        """Everything entered since the books were opened."""
        self._conclude()
        return Parsed(
            carry=self.state.dump(),
            drafts=tuple(self._drafts),
            sessions={name: facts.told(name) for name, facts in self.facts.items()},
            retracted=tuple(self.retracted),
            unknown=self._unknown,
        )

    def _conclude(self) -> None:
        """What the state knows of the file's own session, if it was spoken of."""
        state, facts = self.state, self.facts.get(self.state.session)
        if facts is None:
            return
        facts.title = state.title or facts.title
        if any(state.usage):
            facts.extra["usage"] = state.spent()
        if state.links:
            facts.extra["pull_requests"] = [dict(link) for link in state.links]
        if state.compactions:
            facts.extra["compactions"] = state.compactions
        if state.agent_type:
            facts.extra["agent_type"] = state.agent_type


def _note(facts: Facts, record: Record, at: Micros, parent: str) -> None:
    facts.parent = facts.parent or parent
    if not facts.cwd:
        facts.cwd = text_of(record.get("cwd"))[:4096]
    branch = text_of(record.get("gitBranch"))
    if branch not in _NO_BRANCH:
        facts.branch = branch[:250]
    facts.version = text_of(record.get("version"))[:60] or facts.version
    if facts.started is None or at < facts.started:
        facts.started = at
    if facts.last is None or at > facts.last:
        facts.last = at
    if "forkedFrom" in record and not facts.forked_from:
        origin = record["forkedFrom"]
        facts.forked_from = native(mapping_of(origin).get("sessionId")) or native(origin)
