"""Machinery: the change feed, jobs, vectors, briefings, the injection ledger, retrospectives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from flywheel.model.ids import Clean, EntryId, Micros, ProjectId, Seq, SessionId
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
    version: int = 0  # of the rules that made it; older ones are made again


@dataclass(frozen=True, slots=True, kw_only=True)
class RetroPoint:
    """One thing that a retrospective says, with the verbatim spans of messages that it rests on."""

    id: str  # follows from session, kind and subject
    project_id: ProjectId
    session_id: SessionId
    ordinal: int  # its place in the retrospective
    section: str  # attempted, wrong, repeated, known, new, open
    kind: str
    subject: Clean  # what it has in common with other sessions: a command, a path, a tool
    text: Clean  # without the words of an entry, which are read from there
    times: int = 1
    cost: int = 0  # tool calls that it took
    entry_id: EntryId | None = None  # what memory had, or has since
    told: str = ""  # of what memory had: told, untold, later; else ""
    cites: Sequence[Mapping[str, object]] = ()  # message, start, stop, quote


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """What a session, a thread or a project came to, at one of two lengths; made anew when its sources change.

    ``sources`` has one mapping for each line of ``text``: ``kind`` (what the line is) and ``ids`` ("message:ID", ...).
    """

    owner_kind: str  # session, thread, project
    owner_id: str
    length: str  # short, long
    project_id: ProjectId
    text: Clean
    sources: Sequence[Mapping[str, object]]
    mark: str  # digest of what it was made of
    model: str  # "rules", or the model that wrote it
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


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmCall:
    """One call of a language model: what it was for and what it took; never a text.

    It is written before the call with an estimate (``outcome`` is ``open``), and settled with what the provider says.
    """

    id: str
    purpose: str
    project_id: ProjectId
    provider: str
    model: str
    outcome: str  # open, ok, malformed, limited, overloaded, broken, slow, garbled, refused, cancelled
    input_tokens: int
    output_tokens: int
    cache_read: int
    cache_write: int
    cost: int  # micro-dollars
    ms: int
    batch: str  # the provider's id of the batch that it is part of, or ""
    created_at: Micros
    settled_at: Micros | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRead:
    """A part of a session or of a document that language models have read, or are reading.

    ``value`` is what came of the stage and is not written yet; it is empty once all of it is.
    """

    source_kind: str  # session, document
    source_id: str  # the session's id; of a document what its versions share
    part: str  # of a session the place that it begins after; of a document the hash of its sections
    project_id: ProjectId
    stop: str  # of a session the place that it ends with
    stage: str  # begun, routed, planned, done
    version: str  # of the words that the models were told
    router: str  # the models
    editor: str
    value: Mapping[str, object] = field(default_factory=dict)
    kept: Mapping[str, object] = field(default_factory=dict)  # operations applied, by sort
    dropped: Mapping[str, object] = field(default_factory=dict)  # operations not applied, by reason
    created_at: Micros
    updated_at: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmDay:
    """What the calls of one day (UTC), project and purpose took together, estimates of open ones included."""

    day: Micros  # its beginning
    project_id: ProjectId
    purpose: str
    cost: int  # micro-dollars
    tokens: int
    calls: int
