"""Machinery: the change feed, jobs, vectors, briefings, the injection ledger, retrospectives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from flywheel.model.ids import Clean, Micros, ProjectId, Seq, SessionId
from flywheel.model.words import JobState, Kind, Op


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One row of the change feed."""

    seq: Seq
    project_id: ProjectId
    kind: Kind
    id: str
    op: Op


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One unit of follow-up work for a session, a file or a project; single flight per (kind, key)."""

    id: str
    kind: str
    key: str
    project_id: ProjectId | None
    payload: Mapping[str, object] = field(default_factory=dict)
    state: JobState = JobState.QUEUED
    rerun: bool = False  # enqueued again while it ran
    attempts: int = 0
    run_after: Micros
    lease_owner: str = ""
    lease_until: Micros | None = None
    error: Clean = Clean("")
    created_at: Micros
    updated_at: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedding:
    """One vector: unit length, int8 with scale 127."""

    kind: Kind
    id: str
    model: str
    project_id: ProjectId
    dim: int
    vector: bytes  # dim bytes, int8
    sha256: str  # of the text that was embedded


@dataclass(frozen=True, slots=True, kw_only=True)
class Injection:
    """An item that went into a session; later, whether it was used."""

    briefing_id: str
    project_id: ProjectId
    session_id: SessionId | None
    native_session: str
    agent: str
    event: str
    source: str
    item_kind: str
    item_id: str
    tokens: int
    used: bool | None = None
    created_at: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class BriefingRecord:
    """What one briefing held, what was left out, and why; JSON in ``record``."""

    id: str
    project_id: ProjectId
    native_session: str
    agent: str
    event: str
    tokens: int
    budget: int
    micros: int  # time to assemble
    record: Mapping[str, object] = field(default_factory=dict)
    created_at: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrospective:
    """What one session came to. Rewritten when the session goes on."""

    session_id: SessionId
    project_id: ProjectId
    task: Clean
    outcome: str  # done, failed, abandoned, unclear
    turns: int
    tool_calls: int
    tool_errors: int
    facts: Mapping[str, object] = field(default_factory=dict)  # per-tool rates, repeated failures, files read again
    created_at: Micros
    updated_at: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """What a person had forgotten: opens the door for one DELETE and blocks a second import."""

    kind: str
    id: str
    project_id: ProjectId
    reason: Clean
    created_at: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One small value of the store itself (feed id, schema facts)."""

    name: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """What an agent or a person said of something that it was told: it helped, is wrong, is stale."""

    id: str  # follows from agent, session, target and verdict
    project_id: ProjectId
    kind: str  # of the target: entry, message, session, symbol, document
    target_id: str
    verdict: str  # helped, wrong, stale
    note: Clean
    agent: str
    native_session: str
    created_at: Micros
