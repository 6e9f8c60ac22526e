"""The verbs that ask: the briefing, search, why, show; and what was found useful."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from flywheel.api.done import Done
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
    feedback: str = ""  # what an agent held against it and nobody looked at since: "called wrong on 2026-03-02"
    banner: str = ""  # what to know before relying on it: not fresh, disputed, changed since it was indexed
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
class Lost:
    """A value that does not hold, and at which step it lost."""

    value: str
    claim: str  # short id
    step: str  # rank or date
    to: str  # short id of the claim that holds
    at: Micros  # when its source says it
    where: str  # document, or who said it in which session


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """What holds of one attribute in one scope."""

    subject: str
    attribute: str
    scope: str  # "" for everybody
    values: Sequence[str]  # one; several that are disputed
    step: str  # what decided: only, scope, rank, date, disputed
    decided: str  # the same in words
    confirmed: bool
    claims: Sequence[str]  # short ids of those that say so, the strongest first
    lost: Sequence[Lost] = ()
    unconfirmed: Sequence[str] = ()  # what would change it if somebody confirmed it


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
    banner: str = ""  # of an entry that is not fresh or disputed: what to know before relying on it
    values: Sequence[Value] = ()  # of an entry about attributes, in each scope
    timeline: Sequence[str] = ()  # what was said of it, the oldest first
    questions: Sequence[str] = ()  # what is open about it


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


class Asking(Protocol):
    """The verbs that ask; see `Api`."""

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
        scopes: Sequence[str] = (),
    ) -> SearchAnswer:
        """Find entries, messages, symbols. Within the project of ``cwd`` (or the named one) unless ``everywhere``.

        ``scopes``: entries limited to a part of the world ("plan:enterprise", "in production") only when all that they
        are limited to is among these; of all scopes unless given.
        """

    def why(
        self, *, question: str, cwd: str = "", project: str = "", limit: int = 5, as_of: Micros | None = None
    ) -> WhyAnswer:
        """Past decisions that answer the question, each with citation, session and date.

        With what holds in each scope, the step that decided, what lost and the timeline; of a dispute both values.
        ``as_of`` answers from what had been said before that time.
        """

    def show(self, *, id: str) -> Shown:
        """Whatever has this id, short id or native session id. Raises NotFound; Conflict when it is ambiguous."""

    def feedback(self, *, id: str, verdict: str, note: str = "", agent: str = "", session: str = "") -> Done:
        """Note that something from memory helped, is wrong or is stale. Idempotent per session, thing and verdict."""
