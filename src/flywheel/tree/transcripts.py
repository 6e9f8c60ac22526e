"""Transcripts as files that are on no disk: sessions of a project as Markdown, made as they are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from flywheel.api import TreeItem
from flywheel.model import Message, ProjectId, Session, short_id
from flywheel.store import Db, Tx
from flywheel.store.mapper import columns, decode, find
from flywheel.text.inert import disarmed, tidy, without_hidden
from flywheel.tree.naming import TRANSCRIPTS, transcript_path, transcript_session

PAGE: Final = 200
"""Messages read at a time."""

LONGEST: Final = 8000
"""Characters of one message that are shown."""


def listing(tx: Tx, projects: Sequence[ProjectId], limit: int) -> list[TreeItem]:
    """The sessions, the latest first."""
    tail = "WHERE project_id IN :projects ORDER BY last_at DESC, id LIMIT :limit"
    return [
        TreeItem(
            name=transcript_path(one.agent, one.id).removeprefix(f"{TRANSCRIPTS}/"),
            path=transcript_path(one.agent, one.id),
            kind="file",
            title=one.title or one.native_id,
            at=one.last_at,
        )
        for one in find(tx, Session, tail, projects=projects, limit=limit)
    ]


def find_session(tx: Tx, projects: Sequence[ProjectId], name: str) -> Session | None:
    """The session that is served under a file name."""
    head = transcript_session(name)
    tail = "WHERE project_id IN :projects AND id >= :low AND id < :high ORDER BY id LIMIT 1"
    found = find(tx, Session, tail, projects=projects, low=head, high=f"{head}g") if head else []
    return found[0] if found and transcript_path(found[0].agent, found[0].id).endswith(f"/{name}") else None


def lines_of(db: Db, session: Session) -> Iterator[str]:
    """A session as Markdown, line by line; messages that were taken back are left out."""
    yield f"# {session.agent} session [fw:{short_id(session.id)}]: {_plain(session.title) or session.native_id}"
    yield ""
    yield f"From {_when(session.started_at)} to {_when(session.last_at)} UTC, in {session.cwd or 'no folder'}."
    after: tuple[int, str] = (-1, "")
    while True:
        with db.read() as tx:
            page = _page(tx, session, after)
        for message in page:
            yield from _message(message)
        if len(page) < PAGE:
            return
        after = (page[-1].ordinal, page[-1].id)


def _page(tx: Tx, session: Session, after: tuple[int, str]) -> list[Message]:
    rows = tx.all(
        f"SELECT {columns(Message, 'm')} FROM message m WHERE m.session_id = :session"
        " AND (m.ordinal > :after OR (m.ordinal = :after AND m.id > :id))"
        " AND NOT EXISTS (SELECT 1 FROM retraction r WHERE r.message_id = m.id) ORDER BY m.ordinal, m.id LIMIT :limit",
        session=session.id,
        after=after[0],
        id=after[1],
        limit=PAGE,
    )
    return [decode(Message, row) for row in rows]


def _message(message: Message) -> Iterator[str]:
    tool = f", {_plain(message.tool)}" if message.tool else ""
    error = ", failed" if message.is_error else ""
    yield ""
    yield f"## {_when(message.created_at)} {message.role} ({message.kind}{tool}{error}) [fw:{short_id(message.id)}]"
    yield ""
    text = disarmed(tidy(without_hidden(message.text[:LONGEST])))
    yield from text.rstrip("\n").split("\n")
    if len(message.text) > LONGEST:
        yield f"[{len(message.text) - LONGEST:,} more characters: flywheel show {short_id(message.id)}]"


def _plain(text: str) -> str:
    return " ".join(without_hidden(text).split())


def _when(micros: int) -> str:
    return datetime.fromtimestamp(micros // 1_000_000, UTC).strftime("%Y-%m-%d %H:%M")
