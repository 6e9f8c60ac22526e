"""What the user's store holds, read as of a time; nothing here writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from flywheel.model import Document, Message, Micros, Project, ProjectId, Retraction, Session
from flywheel.store import Db
from flywheel.store.mapper import columns, decode, find

PAGE: Final = 400
"""Messages read at a time."""


def sessions_of(db: Db, projects: Sequence[ProjectId]) -> list[Session]:
    """The sessions of these projects (all unless given) that said anything, in the order in which they began."""
    only = "project_id IN :projects AND " if projects else ""
    given = {"projects": list(projects)} if projects else {}
    with db.read() as tx:
        return find(tx, Session, f"WHERE {only}messages > 0 ORDER BY started_at, id", **given)


def projects_of(db: Db, sessions: Sequence[Session]) -> list[Project]:
    """The projects of these sessions, and those of which they are aliases."""
    with db.read() as tx:
        every = {one.id: one for one in find(tx, Project, "ORDER BY created_at, id")}
    wanted = {one.project_id for one in sessions}
    while more := {every[id].alias_of for id in wanted if id in every and every[id].alias_of} - wanted:
        wanted |= {id for id in more if id is not None}
    return [one for id, one in every.items() if id in wanted]


def messages_of(db: Db, session: Session) -> list[Message]:
    """A session's messages that its agent did not take back, in order."""
    with db.read() as tx:
        return find(
            tx,
            Message,
            "WHERE session_id = :session AND NOT EXISTS (SELECT 1 FROM retraction r WHERE r.message_id = message.id)"
            ' ORDER BY ordinal, id COLLATE "C"',
            session=session.id,
        )


def said_between(db: Db, session: Session, since: Micros, until: Micros) -> Iterator[list[Message]]:
    """A session's messages of ``since`` and later, before ``until``, in order, a page at a time."""
    after = (-1, "")
    while True:
        with db.read() as tx:
            rows = tx.all(
                f"SELECT {columns(Message, 'm')} FROM message m WHERE m.session_id = :session"
                " AND m.created_at >= :since AND m.created_at < :until"
                ' AND (m.ordinal > :after OR (m.ordinal = :after AND m.id COLLATE "C" > :id))'
                ' ORDER BY m.ordinal, m.id COLLATE "C" LIMIT :limit',
                session=session.id, since=since, until=until, after=after[0], id=after[1], limit=PAGE,
            )  # fmt: skip
        found = [decode(Message, row) for row in rows]
        if found:
            yield found
            after = (found[-1].ordinal, found[-1].id)
        if len(found) < PAGE:
            return


def retracted_between(db: Db, sessions: Sequence[Session], since: Micros, until: Micros) -> list[Retraction]:
    """What was taken back of these sessions in that time."""
    if not sessions:
        return []
    with db.read() as tx:
        return find(
            tx,
            Retraction,
            "WHERE created_at >= :since AND created_at < :until AND message_id IN"
            " (SELECT m.id FROM message m WHERE m.session_id IN :sessions) ORDER BY message_id",
            since=since, until=until, sessions=[one.id for one in sessions],
        )  # fmt: skip


def filed_between(db: Db, projects: Sequence[ProjectId], since: Micros, until: Micros) -> list[Document]:
    """The versions of documents that came into the store in that time."""
    if not projects:
        return []
    with db.read() as tx:
        return find(
            tx,
            Document,
            "WHERE created_at >= :since AND created_at < :until AND project_id IN :projects ORDER BY created_at, id",
            since=since, until=until, projects=list(projects),
        )  # fmt: skip
