"""The SQL of the retrospective."""

from __future__ import annotations

from flywheel.model import Injection, Retrospective, Session, SessionId
from flywheel.store import Tx
from flywheel.store.mapper import find, get


def load(tx: Tx, session_id: SessionId) -> Retrospective | None:
    """The retrospective of a session; None when none was made yet."""
    return get(tx, Retrospective, session_id=session_id)


def injections(tx: Tx, session: Session) -> list[Injection]:
    """What was put into a session, oldest first."""
    return find(
        tx,
        Injection,
        "WHERE native_session = :native AND agent = :agent ORDER BY created_at, briefing_id, item_id",
        native=session.native_id,
        agent=session.agent,
    )
