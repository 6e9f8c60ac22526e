"""The verbs that bring evidence in: transcripts, documents, notes, proposals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from flywheel.api.done import Page
from flywheel.model import Micros


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
class Proposed:
    """What became of a proposed claim. It is never more than a candidate: only a person confirms."""

    id: str  # of the entry that has the claim now
    short: str
    status: str  # of that entry: candidate, or what a person made of the same statement before
    said_by: str  # whose words are cited: user, assistant, tool, or a file as path:line
    message: str


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


class Adding(Protocol):
    """The verbs that bring evidence in; see `Api`."""

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
