"""Effect: what told that an item was used, what a session spent, and what it had to find out."""

from __future__ import annotations

from dataclasses import dataclass

from flywheel.model.ids import Clean, MessageId, Micros, ProjectId, SessionId


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribution:
    """One sign that an injected item was used or called wrong in a session, with the first message that gave it."""

    session_id: SessionId
    item_id: str
    signal: str  # cited, touched, ran, repeated; wrong, stale
    project_id: ProjectId
    item_kind: str
    native_session: str
    agent: str
    message_id: MessageId
    created_at: Micros  # of the message


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """What a session spent until its first useful edit, and what became of what it was told. May be rewritten."""

    session_id: SessionId
    project_id: ProjectId
    agent: str
    started_at: Micros
    tokens: int  # of all that the agent said, called and was answered
    calls: int
    edit_tokens: int | None = None  # before the first edit that lasted; None when none did
    edit_calls: int | None = None
    injected: int  # rows of the ledger that a briefing made
    injected_tokens: int
    shown: int  # different items whose use can be told
    used: int
    irrelevant: int  # not used, and not near what the session did
    repeated: int  # rows that told an item again while the session still had it
    wrong: int  # items that were called wrong or stale


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """A file or command that a session had to find out, or was told and used without."""

    session_id: SessionId
    kind: str  # file, command
    name: Clean
    project_id: ProjectId
    told: bool
    tokens: int  # that finding it took; 0 when told
    calls: int
    again: bool  # an earlier session of the project had found it out
    message_id: MessageId
    created_at: Micros
