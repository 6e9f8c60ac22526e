"""Knowledge: entries, claims and the edges between entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from flywheel.model.ids import ClaimId, Clean, DocumentId, EntryId, MessageId, Micros, ProjectId, SessionId
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
    slug: str = ""  # its file's name in the tree; given once
    version: int = 1
    pinned: bool = False  # first in its share
    review_by: Micros | None = None  # of a judgment or hypothesis: when somebody should look again
    deferred_until: Micros | None = None  # a person put its review off
    redirect_to: EntryId | None = None  # it was merged into this one
    worded: str = ""  # digest of the claims under a wording that a person chose; "" is the compiler's wording
    stale_reason: Clean = Clean("")  # what of that which it rests on has changed, and when

    @property
    def held(self) -> bool:
        """Whether a person's confirmation stands, be what it rests on as it was or not."""
        return self.status is Status.CONFIRMED or (self.status is Status.STALE and self.last_confirmed is not None)


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
    valid_until: Micros | None = None  # until when it held; None: it still does, as far as it says


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
    version: int = 0  # the number that it had
    reason: Clean = Clean("")  # why it was rewritten
    actor: Clean = Clean("")  # by whom


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryLink:
    """A file, symbol or subject that an entry speaks of (``anchor`` once it is tied to code)."""

    project_id: ProjectId
    entry_id: EntryId
    kind: str  # "file", "symbol" or "subject"
    name: Clean


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """Something outside of its claims that an entry speaks of, and how that was when the entry was last confirmed."""

    project_id: ProjectId
    entry_id: EntryId
    kind: str  # "symbol", "file", "document", "error", "command"; "evidence" of what was said against it since
    name: Clean  # as the entry calls it: ``RateLimiter.allow``, a path, an error's text; of evidence an id
    leaf: str = ""  # the last part of a symbol's name, by which a sync finds what is not tied yet
    target: Clean = Clean("")  # path, "path::qualified name" of a symbol, an id; "" while nothing has the name
    path: Clean = Clean("")
    checkout: str = ""
    hash: str = ""
    signature: Clean = Clean("")
    text: Clean = Clean("")  # of a symbol, as far as it is kept
    note: Clean = Clean("")  # what became of it since; "" while it is as it was
    due: bool = False  # to be looked at by the next ``anchors`` job
    created_at: Micros
    based_at: Micros  # when it was as hash, signature and text say


@dataclass(frozen=True, slots=True, kw_only=True)
class Met:
    """Something that a project has met, by which what another project knows of it is found."""

    project_id: ProjectId
    kind: str  # "error" or "dependency"
    name: str  # digest of an error's signature; a dependency's name
    met_at: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class Borrowed:
    """A claim that rests on a confirmed claim of another project; its citations are that one's, by reference."""

    claim_id: ClaimId
    project_id: ProjectId
    entry_id: EntryId
    origin_project: ProjectId
    origin_claim: ClaimId
    kind: str  # what both projects have in common: "error", "dependency" or "subject"
    created_at: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class LintFinding:
    """Something that a check found wrong, with its remedy. Replaced as a whole at each run of its check."""

    id: str
    project_id: ProjectId
    check_name: str
    severity: str  # "error" or "warning"
    target_kind: str
    target_id: str
    place: Clean  # page and line, as a person finds it
    message: Clean
    remedy: Clean
    found_at: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question that is asked again after each change (``kept``), or that was answered empty (``empty`` times)."""

    id: str
    project_id: ProjectId
    text: Clean
    scope: Clean = Clean("")
    expected: Clean = Clean("")
    answer: Clean = Clean("")
    was: Clean = Clean("")  # the answer before the last change
    cause: Clean = Clean("")  # what made the last answer differ from the one before
    holds: bool | None = None  # whether the answer is the one expected; None when none is
    entry_id: str = ""  # the page that answers
    empty: int = 0
    kept: bool = False
    created_at: Micros
    ran_at: Micros | None = None  # of one that is not kept: when it last came back empty
    changed_at: Micros | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A word of the project's glossary."""

    id: str
    project_id: ProjectId
    name: Clean
    meaning: Clean = Clean("")
    synonyms: Sequence[str] = ()
    targets: Sequence[str] = ()  # paths, symbols, short ids
    relations: Sequence[str] = ()  # "part of: checkout"
    related: Sequence[str] = ()  # names of other terms
    gotchas: Sequence[str] = ()
    status: Status
    version: int = 1
    pending: Mapping[str, object] = field(default_factory=dict)  # another wording that waits for a person
    message_id: MessageId | None = None  # where a proposal was found: the place of its quote
    document_id: DocumentId | None = None
    start: int = 0
    stop: int = 0
    quote: Clean = Clean("")
    created_at: Micros
    updated_at: Micros  # grows with each change of the glossary


@dataclass(frozen=True, slots=True, kw_only=True)
class TermVersion:
    """How a term read from one version on, and who made it so."""

    id: str
    project_id: ProjectId
    term_id: str
    version: int
    record: Mapping[str, object]  # its wording
    status: Status
    actor: Clean
    reason: Clean
    created_at: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeFile:
    """A file of the memory tree as it was last rendered: what has another hash was edited by somebody else."""

    project_id: ProjectId
    path: str
    entry_id: str  # of the entry or document that it renders; "" of what is about no single one
    sha256: str
    face: str = ""  # of an entry's page: a hash of what other pages show of it
    rendered_at: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeDue:
    """Something that the memory tree has not caught up with."""

    project_id: ProjectId
    kind: str  # entry, document, path, sweep, all, forget
    id: str
    seq: int  # grows each time that it is due anew


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeLine:
    """One line of a memory tree's log."""

    project_id: ProjectId
    ordinal: int
    action: str
    path: str
    entry_id: str
    note: Clean
    at: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentHead:
    """The version of a document that its source has today; ``gone_at`` once the source has none."""

    project_id: ProjectId
    path: Clean
    document_id: DocumentId
    seen_at: Micros
    gone_at: Micros | None = None
