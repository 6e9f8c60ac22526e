"""What is already known of messages: stored, forgotten, taken back, counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from flywheel.model import MessageId, ProjectId, SessionId
from flywheel.readers import Restored, Retracted, message_id
from flywheel.store import Tx
from flywheel.store.chunks import chunks

_BLOCKS: Final = 8  # drafts of one record that a retraction of the record covers
_OWNED: Final = "SELECT id, project_id FROM message WHERE id IN :ids"


def taken(tx: Tx, ids: Sequence[str]) -> dict[str, str]:
    """Which of these messages are stored, with their session, or were forgotten (no session)."""
    taken: dict[str, str] = {}
    for part in chunks(ids):
        taken.update(tx.all("SELECT id, '' FROM tombstone WHERE kind = 'message' AND id IN :ids", ids=part))
        taken.update(tx.all("SELECT id, session_id FROM message WHERE id IN :ids", ids=part))
    return taken


def retracted_rows(tx: Tx, item: Retracted, agent: str, session: SessionId) -> list[tuple[MessageId, ProjectId]]:
    """The stored messages that were taken back; of a range only the session's own, never those it copies."""
    if not item.keys:
        sql = "SELECT id, project_id FROM message WHERE session_id = :s AND ordinal >= :since AND ordinal < :until"
        kept = {message_id(agent, key) for key in item.keep}
        rows = tx.all(sql, s=session, since=item.since, until=item.until)
        return [(id, project) for id, project in rows if id not in kept]
    blocks = ["", *(f"#{number}" for number in range(1, _BLOCKS))]
    ids = [message_id(agent, (*key, block) if block else key) for key in item.keys for block in blocks]
    found: list[tuple[MessageId, ProjectId]] = []
    for part in chunks(ids):
        found += [(id, project) for id, project in tx.all(_OWNED, ids=part)]
    return found


def restored_rows(tx: Tx, item: Restored, agent: str) -> list[tuple[MessageId, ProjectId]]:
    """The messages that were taken back and hold again."""
    found: list[tuple[MessageId, ProjectId]] = []
    for part in chunks([message_id(agent, key) for key in item.keys]):
        rows = tx.all("SELECT message_id, project_id, reason FROM retraction WHERE message_id IN :ids", ids=part)
        found += [(id, project) for id, project, reason in rows if item.reason in ("", reason)]
    return found


def count(tx: Tx, session: SessionId) -> int:
    """How many messages a session has."""
    row = tx.one("SELECT COUNT(*) FROM message WHERE session_id = :s", s=session)
    return int(row[0]) if row else 0
