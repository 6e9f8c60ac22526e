"""Behaviour: who works here, what was observed of it, and the beliefs that come of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from flywheel.model.ids import Clean, MessageId, Micros, ProjectId, SessionId


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Whose habits these are: on one machine the user of the operating system. This row may change."""

    id: str
    kind: str  # user
    created_at: Micros
    consolidated_at: Micros | None = None
    result: Mapping[str, object] = field(default_factory=dict)  # of the last consolidation: counts and warnings


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """A raw behavioural event, as a hook or a transcript tells it. Append only; gone some days after it was used."""

    id: str
    project_id: ProjectId
    native_session: str  # of a subagent its outermost session
    identity: str
    kind: str  # tool_success, tool_failure, tool_run where the agent does not say which, entity_access, query_pattern
    subject: Clean  # "command:make test", "tool:Edit", "file:src/a.py", "task:fix"
    facts: Mapping[str, object] = field(default_factory=dict)  # of a failure: ``error`` (its signature), ``refused``
    created_at: Micros
    message_id: MessageId | None = None  # None where a hook saw it
    consolidated_at: Micros | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """How far a session's messages were observed. This row may change."""

    session_id: SessionId
    project_id: ProjectId
    ordinal: int
    message_id: str
    updated_at: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class Belief:
    """A consolidated behavioural fact. ``confidence`` is as of ``updated_at`` and decays from then on."""

    id: str  # follows from identity, project, category and name
    identity: str
    project_id: ProjectId
    category: str  # tool_affinity, tool_avoidance, entity_frequency, domain_preference, failure_pattern
    name: Clean
    confidence: float  # 0 to 1
    ease: float  # 1.3 to 2.5: how slowly it decays
    reinforced: int  # sessions that bore it out, the first one among them
    pinned: bool = False  # kept by a person: it does not decay
    weight: float = 0.0  # confidence × reinforced as of ``updated_at``, for an index
    created_at: Micros
    updated_at: Micros
    last_seen: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class Reinforcement:
    """A session had its say about a belief: it has one."""

    belief_id: str
    native_session: str
    project_id: ProjectId
    identity: str
    at: Micros
