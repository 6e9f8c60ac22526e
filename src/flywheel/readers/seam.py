"""The seam between sources and readers: raw records in, drafts, session facts and retractions out; no I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final, Protocol, runtime_checkable

from flywheel.model import MessageId, MessageKind, Micros, Role, SessionId, evidence_id
from flywheel.readers.fields import TEXT_CAP

Record = Mapping[str, Any]
"""One raw record as JSON (or a table's row) gave it. Nothing about its shape is trusted."""

Carry = Mapping[str, Any]
"""What a reader remembers between two reads of one file: JSON-able and bounded, whatever the file's length.

Text that somebody wrote (titles, queued prompts) is under ``"words"``; everything else is identifiers and numbers.
"""


class SourceKind(StrEnum):
    """How an agent's files are read."""

    LINES = "lines"  # append-only JSONL, plain or ``.zst``: only what is new is read
    TEXT = "text"  # append-only text: records are {"text": whole lines}, only what is new; see `ENDED`
    DOCUMENT = "document"  # one JSON file or a replay log: read whole whenever it changed
    TREE = "tree"  # one JSON file and the folders of small ones that belong to it: read whole whenever it changed
    SQLITE = "sqlite"  # a database: rows past a cursor


ENDED: Final[Record] = {"text": "", "end": True}
"""Follows the last lines of a text that nobody has written to for a while: what is open is complete."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What a transcript's path alone tells; the last two are filled in by who reads the file."""

    session: str = ""  # native session id; "" when only the records know
    parent: str = ""  # native id of the parent session; "" when there is none or only the records know
    child: bool = False  # a subagent's file
    sidecar: str = ""  # a small file with facts about the session: its path from this one's folder, at most 4 up
    listing: str = ""  # another, of a JSON object, that is given when that one is not there
    cwd: str = ""  # the folder that was worked in, where an absolute path tells it
    zone: str = ""  # what clocks without a zone show: an IANA name or "+02:00"; "" is UTC
    again: bool = False  # it was read before and is read anew: what it said then may be gone


@dataclass(frozen=True, slots=True, kw_only=True)
class RowQuery:
    """One table that a `SourceKind.SQLITE` reader wants.

    ``sql`` is a SELECT with ``:after`` as its only parameter, ordered by ``cursor``; the source gives each row as a
    record of column names with the query's ``name`` under ``"table"``, and remembers the last ``cursor`` value. Blobs
    come as None: where one is wanted, the query gives ``hex(...)`` of it.
    """

    name: str
    sql: str
    cursor: str
    start: int | str = 0  # what ``:after`` is at the first read


@dataclass(slots=True)
class Draft:
    """A message as its agent wrote it: not redacted, not stored. Nobody changes one.

    Frozen, it would be slower to make, and so it is by keywords: where many are made they are made by position.

    ``meta`` has these keys where they apply, all capped: ``files`` (paths), ``command``, ``edits`` (``path``, ``old``,
    ``new``), ``input`` (other arguments), ``exit`` (int), ``interrupted``, ``agent`` (native id of a child session),
    ``spilled`` (path, never followed), ``images`` (count), ``slash`` (command name), ``notice`` (what sort of notice),
    ``chars`` (length before the text was capped).
    """

    key: tuple[str, ...]  # native id; the message's id is `message_id` of it
    session: str  # native id of the session it belongs to
    ordinal: int  # by file position
    role: Role
    kind: MessageKind
    text: str
    created_at: Micros
    tool: str = ""
    call_id: str = ""
    is_error: bool = False
    meta: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFacts:
    """What some records tell about one session. Counts are absolute for the file so far, never deltas."""

    native_id: str
    parent: str = ""
    title: str = ""
    cwd: str = ""  # the first one
    branch: str = ""
    model: str = ""
    version: str = ""
    forked_from: str = ""  # native session id
    started_at: Micros | None = None
    last_at: Micros | None = None
    ended_at: Micros | None = None
    renders: tuple[str, str] | None = None  # agent and native id of the session that this one is only a rendering of
    project: str = ""  # name or id of the project that it says it belongs to
    extra: Mapping[str, object] = field(default_factory=dict)  # pull_requests, usage, compactions, agent_type, ...

    def merge(self, later: SessionFacts) -> SessionFacts:
        """Both together: the first cwd, the last of what may change, the widest time span. Associative."""
        return replace(
            later,
            parent=self.parent or later.parent,
            title=later.title or self.title,
            cwd=self.cwd or later.cwd,
            branch=later.branch or self.branch,
            model=later.model or self.model,
            version=later.version or self.version,
            forked_from=self.forked_from or later.forked_from,
            started_at=_pick(min, self.started_at, later.started_at),
            last_at=_pick(max, self.last_at, later.last_at),
            ended_at=later.ended_at or self.ended_at,
            renders=self.renders or later.renders,
            project=self.project or later.project,
            extra={**self.extra, **later.extra},
        )


def _pick(choose: Any, one: Micros | None, two: Micros | None) -> Micros | None:
    if one is None or two is None:
        return two if one is None else one
    return Micros(choose(one, two))


@dataclass(frozen=True, slots=True, kw_only=True)
class Retracted:
    """Messages that the agent took back: by native id, or the session's ordinals in ``[since, until)`` but ``keep``.

    A key takes its drafts ``(*key, "#1")`` to ``(*key, "#7")`` with it; ``keep`` is exact.
    """

    reason: str
    session: str
    keys: Sequence[tuple[str, ...]] = ()
    since: int = 0
    until: int = 0
    keep: Sequence[tuple[str, ...]] = ()
    at: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """Messages that hold again after all (an undone revert); those that were never taken back are no matter."""

    session: str
    keys: Sequence[tuple[str, ...]]
    reason: str = ""  # only what was taken back for this reason; "" for whatever reason


END: Final = 2**62
"""An ordinal after every other: ``until`` of what has no end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """What a reader made of some records."""

    carry: Carry
    drafts: Sequence[Draft] = ()
    sessions: Mapping[str, SessionFacts] = field(default_factory=dict)  # by native id
    retracted: Sequence[Retracted | Restored] = ()  # in the order in which it happened
    unknown: Mapping[str, int] = field(default_factory=dict)  # record kinds that no rule knows

    def then(self, later: Parsed) -> Parsed:
        """This and what the following records gave; ``parse(a).then(parse(b)) == parse(a + b)``."""
        sessions = dict(self.sessions)
        for native, facts in later.sessions.items():
            sessions[native] = sessions[native].merge(facts) if native in sessions else facts
        unknown = dict(self.unknown)
        for kind, count in later.unknown.items():
            unknown[kind] = unknown.get(kind, 0) + count
        return Parsed(
            carry=later.carry,
            drafts=(*self.drafts, *later.drafts),
            sessions=sessions,
            retracted=(*self.retracted, *later.retracted),
            unknown=unknown,
        )


class Reader(Protocol):
    """One format of one agent's transcripts. Pure: every method is a function of its arguments."""

    name: str  # unique; the agent's own name for its first format
    agent: str
    source: SourceKind
    depth: int  # folders below a root that are looked through
    beside: Sequence[str]  # folders of a checkout ("" for itself) that hold its transcripts, not looked through deeper
    heads: Sequence[str]
    """Keys that a record may begin with: where the lines source looks for a record spliced into a damaged line."""

    def roots(self, home: str, env: Mapping[str, str]) -> Sequence[str]:
        """Folders that hold this agent's transcripts, whether they exist or not."""

    def place(self, parts: Sequence[str]) -> Place | None:
        """What the path (its parts below a root, or all of them) tells; None when it is not a transcript's."""

    def recognises(self, record: Record, session: str = "") -> bool:
        """Whether this is a whole record of this agent, and of that session when one is given."""

    def start(self, place: Place, *, at: Micros, sidecar: Record | None = None, block_chars: int = TEXT_CAP) -> Carry:
        """The carry before the first record.

        ``at`` dates what comes before the first timestamp, ``block_chars`` is what is kept of one block of text. The
        ``sidecar`` is the object in the file that the place names, or ``{"text": ...}`` when it is no JSON.
        """

    def parse(self, carry: Carry, records: Sequence[Record]) -> Parsed:
        """Drafts, facts and retractions of the next records. Never raises for what a record holds."""

    def session_of(self, carry: Carry) -> str:
        """The native session id that this file's records name, for `recognises`; "" when it is not known yet."""


class Usual:
    """What most readers have in common."""

    depth: int = 8
    beside: Sequence[str] = ()
    heads: Sequence[str] = ()


@runtime_checkable
class TreeReader(Protocol):
    """What a reader over a `SourceKind.TREE` offers beside `Reader`."""

    def folders(self, path: str, listed: Sequence[str]) -> Sequence[str]:
        """Folders whose ``.json`` files belong to the file at ``path``, given the paths that were listed so far.

        Asked again with what the last answer brought, until it gives (). The records are ``{"path", "value"}``, the
        file itself first, then folder by folder in the order of their names.
        """


@runtime_checkable
class SpanReader(Protocol):
    """What a reader offers beside `Reader` whose agent may shorten a file, or write its end anew.

    Each file holds one session's messages, each with the same ordinal whenever the file is read. What does not come
    again when such a file is read again is taken back, and holds again when it comes after all.
    """

    def span(self, carry: Carry) -> tuple[int, int]:
        """The ordinals that this file alone gives to messages of its session: from, and before."""


@runtime_checkable
class RowReader(Protocol):
    """What a reader over a database offers beside `Reader`."""

    def queries(self, tables: Mapping[str, Sequence[str]]) -> Sequence[RowQuery]:
        """The queries to run, given the tables that exist and their columns."""


def message_id(agent: str, key: Sequence[str]) -> MessageId:
    """The id of a message from its native id: the same on every machine, for a copy too."""
    return MessageId(evidence_id(agent, *key))


def session_id(agent: str, native: str) -> SessionId:
    """The id of a session from its native id."""
    return SessionId(evidence_id(agent, "session", native))
