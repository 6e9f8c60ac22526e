"""The verbs that every face of the product offers, and the values they take and give.

`Api` is satisfied by `app.App` (in process) and `client.Client` (over the socket). Each verb takes keyword arguments
that are JSON values and gives one frozen dataclass, so that faces are tables and not code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from flywheel.model import Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One answer of a search: an entry, a message, a symbol or a document."""

    kind: str
    id: str
    short: str
    project_id: str
    title: str
    text: str  # the best passage, ready to read
    score: float  # after fusion; comparable within one answer only
    status: str = ""  # of an entry
    type: str = ""  # claim type of an entry; message kind of a message; symbol kind of a symbol
    role: str = ""
    session_id: str = ""
    agent: str = ""
    path: str = ""  # of a symbol or document, with ":line"
    created_at: Micros
    why: Sequence[str] = ()  # which lists proposed it: "text 1", "vector 4", "name", "graph"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchAnswer:
    """Hits, best first, and when there are none, why."""

    query: str
    hits: Sequence[Hit]
    behind: int = 0  # changes that the index has not seen yet
    reason: str = ""  # "nothing stored", "no match", "below the floor", "filtered out (N)", "index behind by N"
    notes: Sequence[str] = ()  # e.g. "no embedding model: full text only"


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """One citation with where it comes from."""

    quote: str
    said_by: str  # role
    agent: str
    session_id: str
    session_title: str
    message_id: str
    at: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """One answer to "why": an entry with its receipts, or the conversation itself where no entry exists."""

    kind: str  # "entry" or "message"
    id: str
    short: str
    title: str
    statement: str
    status: str
    type: str
    at: Micros
    receipts: Sequence[Receipt]
    superseded_by: str = ""  # short id and title of what replaced it
    supersedes: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyAnswer:
    """Reasons, best first."""

    question: str
    reasons: Sequence[Reason]
    reason: str = ""
    behind: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing that went into a briefing."""

    kind: str
    id: str
    short: str
    level: str  # body, summary or title
    text: str
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """What one source gave."""

    source: str
    items: Sequence[Item]
    tokens: int
    share: int  # tokens that were its own
    left_out: int = 0  # items that did not fit
    note: str = ""  # "slow", "failed: ...", "empty"


@dataclass(frozen=True, slots=True, kw_only=True)
class Briefing:
    """The context for one session start or prompt: the text, and the record of how it came about."""

    id: str
    project_id: str
    project: str
    text: str  # ready to inject; "" when nothing is worth injecting
    tokens: int
    budget: int
    slices: Sequence[Slice]
    micros: int  # spent assembling
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Anything that has an id, for reading: a title, lines of labelled facts, a body and receipts."""

    kind: str
    id: str
    short: str
    title: str
    facts: Mapping[str, str]
    body: str
    receipts: Sequence[Receipt] = ()
    links: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """Progress, not only liveness."""

    version: str
    pid: int
    store: str  # "sqlite /path" or "postgres host/db", never a password
    started_at: Micros
    files: Mapping[str, int]  # seen, parsed, skipped, failed, gone
    lines: int
    bad_lines: int
    unknown: Mapping[str, int]
    rows: Mapping[str, int]  # projects, sessions, messages, entries, candidates, symbols
    jobs: Mapping[str, int]  # queued, running, dead
    behind: Mapping[str, int]  # changes per index: text, vectors
    workers: Sequence[Mapping[str, object]]  # lane, pid, job, since, memory
    embedder: str
    refused: Mapping[str, int] = field(default_factory=dict)  # statements that were no knowledge, by reason
    problems: Sequence[str] = ()  # what needs a person, with the remedy


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportProgress:
    """How far an import is. ``done`` once every file is read, every job settled and the indexes caught up."""

    id: str
    files: int
    files_done: int
    bytes: int
    bytes_done: int
    messages: int
    bad_lines: int
    jobs: int  # follow-up jobs still open
    behind: int
    seconds: float
    done: bool
    errors: Sequence[str] = ()
    projects: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A verb that changes something says what it changed."""

    ok: bool
    message: str
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """How a path was resolved to a project."""

    path: str
    project_id: str
    key: str
    name: str
    root: str
    steps: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobList:
    """Jobs that wait, run or died."""

    jobs: Sequence[Mapping[str, object]]


class Api(Protocol):
    """Every verb. ``cwd`` and ``path`` are absolute. Raises the errors of `flywheel.errors`."""

    def context(
        self, *, cwd: str, query: str = "", agent: str = "claude", budget: int | None = None, session: str = ""
    ) -> Briefing:
        """Assemble the briefing for a folder; ``query`` is the prompt, empty at a session's start."""

    def search(
        self,
        *,
        query: str,
        cwd: str = "",
        project: str = "",
        kinds: Sequence[str] = (),
        limit: int = 10,
        everywhere: bool = False,
        since: Micros | None = None,
        until: Micros | None = None,
        statuses: Sequence[str] = (),
    ) -> SearchAnswer:
        """Find entries, messages, symbols. Within the project of ``cwd`` (or the named one) unless ``everywhere``."""

    def why(self, *, question: str, cwd: str = "", project: str = "", limit: int = 5) -> WhyAnswer:
        """Past decisions that answer the question, each with citation, session and date."""

    def show(self, *, id: str) -> Shown:
        """Whatever has this id, short id or native session id. Raises NotFound; Conflict when it is ambiguous."""

    def status(self) -> Status:
        """How far everything is."""

    def import_path(self, *, path: str = "", agent: str = "") -> ImportProgress:
        """Start importing a file or folder of transcripts; "" is everything that discovery finds. Idempotent."""

    def import_progress(self, *, id: str) -> ImportProgress:
        """How far that import is."""

    def sync(self, *, cwd: str) -> Done:
        """Enqueue the AST-sync of the project at ``cwd``."""

    def forget(self, *, id: str, reason: str = "") -> Done:
        """Delete for good, with everything that rests on it alone; a second import stays blocked."""

    def jobs(self, *, state: str = "") -> JobList:
        """Jobs, oldest first."""

    def job_retry(self, *, id: str) -> Done:
        """Queue a dead job again ("all" for every one)."""

    def job_drop(self, *, id: str) -> Done:
        """Delete a dead job ("all" for every one)."""

    def project_explain(self, *, path: str) -> Explained:
        """Which project a path belongs to, and why."""

    def project_merge(self, *, source: str, target: str) -> Done:
        """Make ``source`` an alias of ``target``; evidence rows never change."""

    def hook(self, *, agent: str, event: str, payload: bytes) -> bytes:
        """A hook's answer to the last byte; empty when there is nothing to say."""
