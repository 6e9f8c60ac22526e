"""The verbs that every face of the product offers, and the values they take and give.

`Api` is satisfied by `app.App` (in process) and `client.Client` (over the socket). Each verb takes keyword arguments
that are JSON values and gives one frozen dataclass, so that faces are tables and not code.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
    feedback: str = ""  # what an agent held against it and nobody looked at since: "called wrong on 2026-03-02"
    banner: str = ""  # of an entry that is stale or disputed: what to know before relying on it
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
    values: Sequence[Value] = ()  # of an entry about attributes, in each scope
    timeline: Sequence[str] = ()  # what was said of it, the oldest first


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
class Proposed:
    """What became of a proposed claim. It is never more than a candidate: only a person confirms."""

    id: str  # of the entry that has the claim now
    short: str
    status: str  # of that entry: candidate, or what a person made of the same statement before
    said_by: str  # whose words are cited: user, assistant, tool, or a file as path:line
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """What of ours is installed for one agent in one place."""

    scope: str  # user, project, plugin
    path: str
    hooks: str  # not installed, installed, not trusted, broken
    mcp: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """What an agent deletes by itself."""

    days: float | None = None  # after which a transcript that nobody touches goes; None where nothing is known to go
    note: str  # which setting says so
    soon: int = 0  # transcripts that go within 7 days
    next: Micros | None = None  # when the next one may go


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentState:
    """One supported agent on this machine."""

    name: str
    title: str
    found: bool  # its program, its folders or transcripts of it are there
    program: str
    version: str  # of the program, or of the last transcript
    roots: Sequence[str]  # folders with its transcripts
    files: Mapping[str, int]  # seen, parsed, failed, ...
    messages: int
    last: Micros | None  # of the last message
    installed: Sequence[Installed]
    retention: Retention
    problems: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentList:
    """Every supported agent."""

    agents: Sequence[AgentState]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """An entry that a transcript brought forth or bears out."""

    id: str
    short: str
    title: str
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """A transcript that came over the socket, and how far it is."""

    id: str
    state: str  # pending, processing, completed (read, and what it says is extracted), failed
    attempts: int
    error: str
    format: str  # a reader's name
    name: str
    project_id: str  # of what says nothing of its own
    bytes: int
    messages: int
    sessions: Sequence[str] = ()
    pages: Sequence[Page] = ()
    created_at: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptList:
    """The last transcripts that came over the socket, the newest first, without their pages."""

    transcripts: Sequence[Transcript]


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """What became of a document. Its statements are candidates: only a person confirms."""

    id: str  # of the version
    short: str
    path: str  # as it is kept
    title: str
    kind: str
    rank: int  # what it weighs where sources disagree
    said_at: Micros
    dated_by: str  # given, front matter, heading, file name, mail header, file time, today
    version: str  # new, changed, unchanged, or gone
    statements: int  # that it makes; 0 while they are still to be read (``pending``)
    counts: Mapping[str, int] = field(default_factory=dict)  # claims that are new, ended, kept; pages that changed
    pending: bool = False
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeItem:
    """A file or folder of a memory tree."""

    name: str
    path: str  # within the tree
    kind: str  # "file" or "folder"
    size: int = 0  # bytes; 0 of what is on no disk
    title: str = ""
    status: str = ""  # of a page
    at: Micros | None = None  # when it was rendered; of a transcript, its last message


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeListing:
    """What lies in or below a folder of a memory tree."""

    project: str
    root: str  # the tree's folder on the disk
    path: str
    items: Sequence[TreeItem]
    more: bool = False  # not all of it is listed
    behind: int = 0  # changes that are not rendered yet


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeText:
    """Lines of a file of a memory tree."""

    project: str
    path: str
    text: str
    start: int  # number of the first line, from 1
    lines: int
    more: bool = False
    behind: int = 0
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeMatch:
    """A line that matches, with the lines around it."""

    path: str
    line: int  # from 1
    text: str
    before: Sequence[str] = ()
    after: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeMatches:
    """What a search in a memory tree came to."""

    project: str
    pattern: str
    path: str
    matches: Sequence[TreeMatch]
    files: int  # that were looked at
    cut: str = ""  # why there may be more: "time" or "limit"
    behind: int = 0
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeChange:
    """One change set of a memory tree."""

    id: str
    at: Micros
    title: str
    lines: Sequence[str] = ()  # what changed, and why


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeHistory:
    """The change sets that touched a path, the latest first."""

    project: str
    path: str
    changes: Sequence[TreeChange]
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeDiff:
    """What one change set did to a path, as a unified diff."""

    project: str
    path: str
    change: str
    text: str
    cut: bool = False
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewItem:
    """Something that waits for a person: an entry, or one claim of an entry that others disagree with."""

    kind: str  # "entry" or "claim": what `confirm` and `reject` take by ``id``
    id: str
    short: str
    entry: str  # the entry's short id
    title: str
    statement: str
    type: str
    status: str  # of the entry
    scope: str
    category: str
    evidence: int  # how many sessions say it: repetition is shown, and proves nothing
    at: Micros  # when it was said
    said_by: str
    where: str  # session or document
    quote: str  # word for word
    before: str  # the lines before and after it, where it was said
    after: str
    diff: Sequence[str]  # of the page as it would read: lines that begin with "+", "-" or a space
    contradicts: Sequence[str] = ()
    why: Sequence[str] = ()  # why it stands where it stands in the queue
    similar: Sequence[Page] = ()  # other candidates that say nearly the same, to be decided in one go


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewQueue:
    """What waits for a person, the most consequential first."""

    items: Sequence[ReviewItem]
    waiting: int  # entries in all; up to 10,000
    deferred: int  # put off until later


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

    def why(
        self, *, question: str, cwd: str = "", project: str = "", limit: int = 5, as_of: Micros | None = None
    ) -> WhyAnswer:
        """Past decisions that answer the question, each with citation, session and date.

        With what holds in each scope, the step that decided, what lost and the timeline; of a dispute both values.
        ``as_of`` answers from what had been said before that time.
        """

    def show(self, *, id: str) -> Shown:
        """Whatever has this id, short id or native session id. Raises NotFound; Conflict when it is ambiguous."""

    def status(self) -> Status:
        """How far everything is."""

    def agents(self, *, cwd: str = "") -> AgentList:
        """Every supported agent: what is found and read of it, installed for it, and what it will delete.

        With ``cwd``, what is installed into that folder's repository, too.
        """

    def standing(self) -> Done:
        """Bring the always-on files up to date now."""

    def import_path(self, *, path: str = "", agent: str = "") -> ImportProgress:
        """Start importing a file or folder of transcripts; "" is everything that discovery finds. Idempotent."""

    def import_progress(self, *, id: str) -> ImportProgress:
        """How far that import is."""

    def transcript_put(
        self,
        *,
        content: Iterator[bytes],
        format: str = "",
        cwd: str = "",
        project: str = "",
        name: str = "",
        key: str = "",
    ) -> Transcript:
        """Take in a transcript as it streams: checked, redacted, and queued for reading in one transaction.

        ``format`` is a reader's name or "markdown"; "" judges by the beginning. Without ``cwd`` and ``project`` the
        transcript's own word counts, else it belongs to the project "uploads". A second one with the same ``key`` or
        the same content and target is the first one. Raises BadInput that names the field, TooLarge, Unsupported, and
        Conflict when the key came with other content.
        """

    def transcript(self, *, id: str) -> Transcript:
        """How far that transcript is, and the pages it brought forth. Raises NotFound."""

    def transcripts(self, *, limit: int = 50) -> TranscriptList:
        """The last transcripts that came over the socket."""

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

    def review_queue(
        self, *, cwd: str = "", project: str = "", limit: int = 20, everywhere: bool = False
    ) -> ReviewQueue:
        """What waits for a person, the most consequential first: its words, what it contradicts and would change."""

    def confirm(
        self,
        *,
        ids: Sequence[str],
        who: str,
        door: str,
        type: str = "",
        scope: str | None = None,
        reread: Sequence[str] = (),
        reason: str = "",
    ) -> Done:
        """A person says that these entries or claims are so; all of them or none.

        ``who`` names the person, ``door`` how they act ("terminal"). ``type`` and ``scope`` correct what was proposed.
        A stale entry needs ``reread``: what was read again. Of a disputed one a claim is named. Idempotent, as all
        verbs of the review are. Raises Refused for any other door, NotFound, Conflict, BadInput.
        """

    def confirm_by_words(self, *, id: str, quote: str, session: str, agent: str) -> Done:
        """Confirm by what the user said in the running session, as an agent passes it on.

        The quote must be a message of the user, said after the session was shown the entry, that states it or answers
        a question about it with a yes. Never what a page or a tool said, never what is disputed, stale or rejected.
        Raises Refused with what is missing, Unavailable while the session is not read so far.
        """

    def told(self, *, ids: Sequence[str], agent: str, session: str) -> Done:
        """Note that a session was shown these entries by a tool."""

    def reject(self, *, ids: Sequence[str], who: str, door: str, reason: str = "") -> Done:
        """A person says that these entries or claims are not so; saying them again brings none back."""

    def merge(self, *, ids: Sequence[str], into: str, who: str, door: str, reason: str = "") -> Done:
        """Make several entries one: their claims and links move, and their ids lead to it."""

    def split(self, *, id: str, claims: Sequence[str], who: str, door: str, reason: str = "") -> Done:
        """Give some claims of an entry an entry of their own."""

    def defer(self, *, ids: Sequence[str], until: Micros, who: str, door: str, reason: str = "") -> Done:
        """Put the review of these entries off until a time."""

    def invalidate(self, *, ids: Sequence[str], reason: str, who: str, door: str) -> Done:
        """These entries or claims held, and hold no longer; the timeline keeps them."""

    def supersede(self, *, old: str, new: str, who: str, door: str, reason: str = "") -> Done:
        """One entry, or claim, takes the place of another."""

    def revert(self, *, id: str, version: int, who: str, door: str, reason: str = "") -> Done:
        """Bring an old wording of a page back, as a new version, until its claims change. Raises NotFound."""

    def pin(self, *, ids: Sequence[str], who: str, door: str) -> Done:
        """Let these entries stand first in their share of every briefing."""

    def unpin(self, *, ids: Sequence[str], who: str, door: str) -> Done:
        """Let them stand where they belong again."""

    def propose(
        self,
        *,
        statement: str,
        quote: str,
        cwd: str,
        source: str = "",
        type: str = "",
        scope: str = "",
        agent: str = "",
        session: str = "",
    ) -> Proposed:
        """File a claim as a candidate, with words that were really said or written as its citation.

        ``quote`` is looked for word for word, white space aside, in the ``session`` (native id of ``agent``), in the
        project's recent sessions, or in the file that ``source`` names (path or path:line, within the checkout).
        ``type`` is one of the five claim types; "" lets code choose. Idempotent. Raises BadInput when the quote is
        nowhere, Unavailable while the session is not read so far, Refused for a file that is not to be read.
        """

    def add(
        self,
        *,
        cwd: str,
        path: str = "",
        text: str = "",
        name: str = "",
        kind: str = "",
        rank: str = "",
        date: str = "",
        scope: str = "",
    ) -> Added:
        """Take a document in as evidence, a file or a text, and its statements as candidates. Idempotent.

        ``kind`` (adr, design, runbook, incident, readme, minutes, chat, draft, note, ...), ``rank`` (a word of
        ``knowledge.ranks``, or a number), ``date`` and ``scope`` go before what the document says of itself. A changed
        file is a new version: what it no longer says ends. One that is gone is marked. Raises BadInput for what is no
        text, Refused for what looks like a secret or was forgotten, NotFound for a file that never was there.
        """

    def note(self, *, text: str, cwd: str) -> Added:
        """Take a note of today in: `add` for a few words."""

    def feedback(self, *, id: str, verdict: str, note: str = "", agent: str = "", session: str = "") -> Done:
        """Note that something from memory helped, is wrong or is stale. Idempotent per session, thing and verdict."""

    def tree_ls(self, *, path: str = "", cwd: str = "", project: str = "", limit: int = 1000) -> TreeListing:
        """What lies in a folder of the memory tree of the project of ``cwd``, or of the named one.

        Raises NotFound for an unknown path, Refused for one that leads out of the tree, Unavailable while a tree is
        rendered for the first time. So do the other verbs of the tree.
        """

    def tree_cat(self, *, path: str, cwd: str = "", project: str = "", start: int = 1, lines: int = 2000) -> TreeText:
        """Lines of a file of the memory tree; transcripts lie below ``raw/transcripts``."""

    def tree_grep(
        self,
        *,
        pattern: str,
        path: str = "",
        cwd: str = "",
        project: str = "",
        ignore_case: bool = False,
        extended: bool = False,
        context: int = 0,
        limit: int = 200,
    ) -> TreeMatches:
        """Lines that match a regular expression, basic or ``extended``, below a path.

        Ends within two seconds, with what was found until then. Raises BadInput for what is no regular expression.
        """

    def tree_tree(self, *, path: str = "", cwd: str = "", project: str = "", depth: int = 3) -> TreeListing:
        """What lies below a folder of the memory tree, some levels deep."""

    def tree_log(self, *, path: str = "", cwd: str = "", project: str = "", limit: int = 50) -> TreeHistory:
        """The change sets of the memory tree that touched a path."""

    def tree_diff(self, *, path: str = "", cwd: str = "", project: str = "", change: str = "") -> TreeDiff:
        """What a change set, or the last one that touched it, did to a path of the memory tree."""

    def project_explain(self, *, path: str) -> Explained:
        """Which project a path belongs to, and why."""

    def project_merge(self, *, source: str, target: str) -> Done:
        """Make ``source`` an alias of ``target``; evidence rows never change."""

    def hook(self, *, agent: str, event: str, payload: bytes, host: str = "") -> bytes:
        """A hook's answer to the last byte; empty when there is nothing to say.

        ``host`` names the marker variables of other programs that are set around the hook, with spaces between.
        """
