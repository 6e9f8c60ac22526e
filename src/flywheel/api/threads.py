"""The verbs that look back over sessions: what was said when, and the threads that topics make of sessions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from flywheel.model import Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadLine:
    """One thread in a list."""

    id: str
    short: str
    title: str  # what its most typical stretch was about
    sessions: int
    agents: Sequence[str]
    first_at: Micros
    last_at: Micros
    first_day: str  # in the zone that was asked for
    last_day: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadList:
    """Threads of a project, the latest first."""

    project: str
    threads: Sequence[ThreadLine]
    total: int  # that there are, before ``limit``
    waiting: int = 0  # sessions that are not tied yet


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadClaim:
    """A statement that came of a stretch of a session."""

    short: str  # of its page
    text: str
    type: str
    status: str
    at: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadStep:
    """One stretch of one session."""

    session_id: str
    short: str
    agent: str
    day: str  # when it began
    first_at: Micros
    last_at: Micros
    about: str
    outcome: str  # of its session: done, failed, abandoned, unclear
    claims: Sequence[ThreadClaim] = ()
    open: Sequence[str] = ()  # what its session left open


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadShown:
    """A thread as a timeline, the oldest step first."""

    thread: ThreadLine
    steps: Sequence[ThreadStep]
    open: Sequence[str] = ()  # what its latest step left open
    others: Sequence[ThreadLine] = ()  # threads that what was asked may mean as well
    sums: Sequence[str] = ()  # its digests, and a model's words where there are some, line by line


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """What was said in one message."""

    short: str
    message_id: str
    said_by: str
    quote: str  # the passage, verbatim
    at: Micros
    day: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecalledSession:
    """A session in which it was spoken of."""

    session_id: str
    short: str
    agent: str
    title: str
    day: str  # of the first quote
    at: Micros
    score: float  # after fusion; comparable within one answer only; 0 where nothing was searched for
    quotes: Sequence[Recalled]  # in the order of their time
    also: Sequence[str] = ()  # short ids of sessions that say the same word for word that day


@dataclass(frozen=True, slots=True, kw_only=True)
class RecalledThread:
    """Sessions of one thread, the oldest first."""

    short: str  # "" for sessions without a thread
    title: str
    sessions: Sequence[RecalledSession]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallAnswer:
    """What was said, best thread first; and when there is nothing, why."""

    question: str
    asked: str  # what was looked for: the question without the words that name a time
    phrase: str  # those words
    span: str  # what they were taken to mean: "2026-05-01 to 2026-05-31"; "" for any time
    since: Micros | None
    until: Micros | None  # exclusive
    zone: str
    threads: Sequence[RecalledThread]
    reason: str = ""
    behind: int = 0  # changes that the index has not seen yet
    notes: Sequence[str] = ()


class Recalling(Protocol):
    """The verbs that look back over sessions; see `Api`."""

    def recall(
        self,
        *,
        question: str,
        cwd: str = "",
        project: str = "",
        everywhere: bool = False,
        since: str = "",
        until: str = "",
        zone: str = "",
        limit: int = 8,
    ) -> RecallAnswer:
        """What was said of something, and when: sessions with quotes, by thread.

        Words of the question that name a time ("last week", "in March", "since Monday") filter by it, as somebody in
        ``zone`` (IANA name or offset; the daemon's own unless given) means them. ``since`` and ``until`` take a date,
        an age (14d) or such words, and go before the question's. Raises BadInput for other ones.
        """

    def threads(self, *, cwd: str = "", project: str = "", zone: str = "", limit: int = 20) -> ThreadList:
        """A project's threads, the latest first."""

    def thread(self, *, about: str, cwd: str = "", project: str = "", zone: str = "") -> ThreadShown:
        """One thread as a timeline. ``about``: the id of a thread, session or message, or words that say what it is.

        Raises NotFound when there is none.
        """
