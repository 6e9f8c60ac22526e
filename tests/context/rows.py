"""Rows of a made-up store, and hits of a made-up search."""

from __future__ import annotations

from flywheel.api import Hit
from flywheel.context.ask import DAY
from flywheel.model import (
    Category,
    Claim,
    ClaimId,
    ClaimType,
    Clean,
    Entry,
    EntryId,
    Kind,
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
from flywheel.store import Db
from flywheel.store.mapper import insert

from .conftest import NOW

P = ProjectId("p")


def entry(
    name: str,
    *,
    status: Status = Status.CONFIRMED,
    days: float = 1,
    subject: str = "",
    project: str = "p",
    category: Category = Category.DECISIONS,
    summary: str = "",
    body: str = "",
    evidence: int = 1,
) -> Entry:
    id = EntryId(evidence_id("entry", name))
    at = Micros(int(NOW - days * DAY))
    text = Clean(name)
    return Entry(
        id=id,
        short=short_id(id),
        project_id=ProjectId(project),
        category=category,
        type=ClaimType.DECISION,
        status=status,
        subject=Clean(subject),
        title=text,
        summary=Clean(summary or f"{name} in full."),
        body=Clean(body),
        evidence=evidence,
        key=name,
        created_at=at,
        updated_at=at,
    )


def claim(of: Entry, text: str, *, days: float, status: Status = Status.DISPUTED) -> Claim:
    at = Micros(int(NOW - days * DAY))
    return Claim(
        id=ClaimId(evidence_id("claim", of.id, text)),
        project_id=of.project_id,
        entry_id=of.id,
        type=ClaimType.DECISION,
        status=status,
        text=Clean(text),
        role=Role.USER,
        said_at=at,
        recorded_at=NOW,
    )


def session(name: str, *, days: float, parent: SessionId | None = None, title: str = "", branch: str = "") -> Session:
    at = Micros(int(NOW - days * DAY))
    return Session(
        id=SessionId(evidence_id("claude", "session", name)),
        project_id=P,
        agent="claude",
        native_id=name,
        parent_id=parent,
        title=Clean(title or name),
        branch=Clean(branch),
        started_at=at,
        last_at=at,
        messages=3,
    )


def message(of: Session, ordinal: int, kind: MessageKind, text: str) -> Message:
    return Message(
        id=MessageId(evidence_id(of.id, str(ordinal))),
        project_id=P,
        session_id=of.id,
        ordinal=ordinal,
        role=Role.USER if kind is MessageKind.PROMPT else Role.ASSISTANT,
        kind=kind,
        text=Clean(text),
        created_at=of.last_at,
        sha256=digest(text),
    )


def store(db: Db, *rows: object) -> None:
    """Write the rows and tell the change feed of those that are indexed."""
    with db.write() as tx:
        for row in rows:
            insert(tx, row)
            if isinstance(row, Entry | Message):
                tx.changed(Kind.ENTRY if isinstance(row, Entry) else Kind.MESSAGE, row.id, row.project_id)


def hit(kind: str, id: str, score: float, **more: str) -> Hit:
    text = more.pop("text", "found text")
    return Hit(
        kind=kind, id=id, short=short_id(id), project_id="p", title="t", text=text, score=score, created_at=NOW, **more
    )
