"""What attribution keeps right whenever rows come or go: who found a thing out first, and feedback that follows."""

from __future__ import annotations

from collections.abc import Iterable

from flywheel.model import evidence_id
from flywheel.store import Tx

Name = tuple[str, str, str]
"""Project, kind and name."""

_FIRST = (
    "SELECT session_id FROM discovery WHERE project_id = :project AND kind = :kind AND name = :name AND told = 0"
    " ORDER BY created_at, session_id LIMIT 1"
)
_THIS = "project_id = :project AND kind = :kind AND name = :name AND told = 0"


def settle(tx: Tx, names: Iterable[Name]) -> None:
    """Mark of each name the earliest discovery as the first, and whatever was marked so before as one made again.

    Idempotent; it reads one row of each name and writes at most two.
    """
    for project, kind, name in sorted(set(names)):
        given = {"project": project, "kind": kind, "name": name}
        row = tx.one(_FIRST, **given)
        if row is None:
            continue
        tx.run(f"UPDATE discovery SET again = 1 WHERE {_THIS} AND again = 0 AND session_id <> :id", id=row[0], **given)
        tx.run(f"UPDATE discovery SET again = 0 WHERE {_THIS} AND again = 1 AND session_id = :id", id=row[0], **given)


def names_of(tx: Tx, column: str, ids: list[str]) -> list[Name]:
    """What was found out by these sessions (``session_id``) or in these messages (``message_id``)."""
    rows = tx.all(f"SELECT DISTINCT project_id, kind, name FROM discovery WHERE {column} IN :ids AND told = 0", ids=ids)
    return [(project, kind, name) for project, kind, name in rows]


def said_id(session_id: str, item_id: str, signal: str) -> str:
    """The id of the feedback that follows from a session's calling an item wrong or stale."""
    return evidence_id("feedback", "said", session_id, item_id, signal)
