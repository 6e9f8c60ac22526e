"""Rows made up for the store's tests."""

from __future__ import annotations

from flywheel.model import (
    GLOBAL,
    Category,
    Citation,
    Claim,
    ClaimId,
    ClaimType,
    Clean,
    Document,
    DocumentId,
    Entry,
    EntryId,
    Message,
    MessageId,
    MessageKind,
    Micros,
    ProjectId,
    Role,
    Session,
    SessionId,
    Status,
    digest,
    evidence_id,
    short_id,
)

NOW = Micros(1_750_000_000_000_000)
PROJECT = ProjectId("p1")


def message(number: int, text: str = "", session: str = "s1", project: ProjectId = PROJECT) -> Message:
    """The ``number``-th message of a session."""
    words = text or f"message {number} about the parser"
    return Message(
        id=MessageId(evidence_id("test", session, str(number))),
        project_id=project,
        session_id=SessionId(session),
        ordinal=number,
        role=Role.USER,
        kind=MessageKind.PROMPT,
        text=Clean(words),
        meta={"files": ["a.py"], "exit": number},
        created_at=Micros(NOW + number),
        sha256=digest(words),
    )


def session(id: str = "s1", parent: str | None = None, title: str = "") -> Session:
    """A session whose native id is ``native-<id>``."""
    return Session(
        id=SessionId(id),
        project_id=PROJECT,
        agent="claude",
        native_id=f"native-{id}",
        parent_id=None if parent is None else SessionId(parent),
        title=Clean(title),
        started_at=NOW,
        last_at=NOW,
    )


def document(id: str = "d1", text: str = "We keep one queue.") -> Document:
    """A decision record."""
    return Document(
        id=DocumentId(id),
        project_id=PROJECT,
        path=Clean("docs/adr/1.md"),
        title=Clean("Queue"),
        kind="adr",
        text=Clean(text),
        created_at=NOW,
        sha256=digest(text),
    )


def entry(id: str = "e1", body: str = "We keep one queue.", evidence: int = 1) -> Entry:
    """A candidate decision."""
    return Entry(
        id=EntryId(id),
        short=short_id(id),
        project_id=PROJECT,
        category=Category.DECISIONS,
        type=ClaimType.DECISION,
        status=Status.CANDIDATE,
        subject=Clean("queue"),
        title=Clean("One queue"),
        summary=Clean(body),
        body=Clean(body),
        tags=("queue", "store"),
        score=0.75,
        evidence=evidence,
        key=f"key-{id}",
        created_at=NOW,
        updated_at=NOW,
    )


def claim(id: str, entry_id: str = "e1", text: str = "We keep one queue.", session_id: str = "s1") -> Claim:
    """A statement of an entry."""
    return Claim(
        id=ClaimId(id),
        project_id=PROJECT,
        entry_id=EntryId(entry_id),
        type=ClaimType.DECISION,
        status=Status.CANDIDATE,
        text=Clean(text),
        role=Role.USER,
        session_id=SessionId(session_id),
        said_at=NOW,
        recorded_at=NOW,
    )


def citation(id: str, claim_id: str, source: Message | Document, quote: str = "") -> Citation:
    """A span of a message or document; the whole of it when no quote is given."""
    words = quote or source.text
    start = source.text.index(words)
    return Citation(
        id=id,
        project_id=PROJECT,
        claim_id=claim_id,
        message_id=source.id if isinstance(source, Message) else None,
        document_id=source.id if isinstance(source, Document) else None,
        start=start,
        stop=start + len(words),
        quote=Clean(words),
        sha256=digest(words),
        created_at=NOW,
    )


__all__ = ["GLOBAL", "NOW", "PROJECT", "citation", "claim", "document", "entry", "message", "session"]
