"""Knowledge: entries, claims and the edges between entries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flywheel.model.ids import ClaimId, Clean, EntryId, Micros, ProjectId, SessionId
from flywheel.model.words import Category, ClaimType, EdgeKind, Role, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A living page about one subject; its claims are its evidence timeline."""

    id: EntryId
    short: str  # short_id(id)
    project_id: ProjectId
    category: Category
    type: ClaimType
    status: Status
    scope: Clean = Clean("")  # "" is the whole project
    subject: Clean  # normalised; duplicates merge on (project, category, subject, statement hash)
    title: Clean
    summary: Clean
    body: Clean
    questions: Clean = Clean("")  # open questions, one a line
    tags: Sequence[str] = ()
    score: float = 0.0  # how strongly rules held it to be knowledge; admits, never shown, never decides a conflict
    evidence: int = 1  # how many distinct sessions say it
    key: str  # what duplicates merge on
    created_at: Micros
    updated_at: Micros
    last_confirmed: Micros | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One dated, typed statement of an entry; its citations say where it was said."""

    id: ClaimId
    project_id: ProjectId
    entry_id: EntryId
    type: ClaimType
    status: Status
    text: Clean
    role: Role  # who said it
    session_id: SessionId | None = None
    rank: int = 0  # of its source: approved decision 4, design document 3, runbook 2, conversation 1, draft 0
    scope: Clean = Clean("")
    subject: Clean = Clean("")
    attribute: Clean = Clean("")
    value: Clean = Clean("")
    said_at: Micros  # valid time: when the source says it
    recorded_at: Micros
    superseded_by: ClaimId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """A typed link between two entries of one project."""

    project_id: ProjectId
    source_id: EntryId
    target_id: EntryId
    kind: EdgeKind
    reason: Clean = Clean("")
    created_at: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """Who decided what about an entry or a claim, when and why."""

    id: str
    project_id: ProjectId
    kind: str  # "entry" or "claim"
    target_id: str
    old_status: str
    new_status: str
    actor: Clean
    reason: Clean
    created_at: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryVersion:
    """How an entry read before it was rewritten."""

    id: str
    project_id: ProjectId
    entry_id: EntryId
    title: Clean
    summary: Clean
    body: Clean
    created_at: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryLink:
    """A file, symbol or subject that an entry speaks of (``anchor`` once it is tied to code)."""

    project_id: ProjectId
    entry_id: EntryId
    kind: str  # "file", "symbol" or "subject"
    name: Clean
