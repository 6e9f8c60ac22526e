"""Where a statement stands already."""

from __future__ import annotations

from flywheel.harvest import proposal
from flywheel.harvest.proposal import Twin, adds_nothing
from flywheel.harvest.rules import Quote
from flywheel.model import Category, Clean, ProjectId
from flywheel.store import Tx


def find_twin(tx: Tx, project: ProjectId, statement: Clean, scope: Clean, quote: Quote) -> Twin | None:
    """Where the same statement stands already, or the entry that rests on the same words and says it, too."""
    keys = proposal.keys(statement, scope)
    rows = tx.all(
        "SELECT key FROM entry WHERE project_id = :project AND key IN :keys ORDER BY created_at, id LIMIT 1",
        project=project,
        keys=list(keys),
    )
    if rows:
        return keys[rows[0][0]]
    told = tx.all(
        f"SELECT e.category, e.key, k.text FROM citation c JOIN claim k ON k.id = c.claim_id"
        f" JOIN entry e ON e.id = k.entry_id WHERE c.{'document' if quote.document_id else 'message'}_id = :source"
        " AND c.start < :stop AND c.stop > :start AND k.attribute = '' AND e.project_id = :project"
        " AND e.scope = :scope ORDER BY e.created_at, e.id, k.id",
        source=quote.document_id or quote.message_id,
        start=quote.start,
        stop=quote.stop,
        project=project,
        scope=scope,
    )
    found = (Twin(category=Category(shelf), key=key) for shelf, key, text in told if adds_nothing(statement, text))
    return next(found, None)
