"""Pages after a forgetting: what is left of them is compiled anew, so that no line cites what is gone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from flywheel.knowledge.changing import changed
from flywheel.knowledge.states import RULES
from flywheel.model import Micros
from flywheel.store import Tx
from flywheel.text.compose import fixed

_TREE: Final = """
WITH RECURSIVE tree (id) AS (SELECT id FROM session WHERE id = :id UNION
SELECT session.id FROM session JOIN tree ON session.parent_id = tree.id)
SELECT m.id FROM message m WHERE m.session_id IN (SELECT id FROM tree)
"""
_SOURCES: Final = {
    "message": "c.message_id = :id",
    "session": f"c.message_id IN ({_TREE})",
    "document": "c.document_id = :id",
}
_REASON: Final = fixed("something that it rested on was forgotten")


def resting_on(tx: Tx, kind: str, id: str) -> Sequence[str]:
    """The entries with claims that cite this message, document, or session with its subagents."""
    if kind not in _SOURCES:
        return []
    sql = "SELECT DISTINCT k.entry_id FROM citation c JOIN claim k ON k.id = c.claim_id WHERE"
    return [entry for (entry,) in tx.all(f"{sql} {_SOURCES[kind]} ORDER BY k.entry_id", id=id)]


def compile_again(tx: Tx, entries: Sequence[str], now: Micros) -> None:
    """Bring what is left of these up to date, without keeping how they read before."""
    for id in entries:
        if changed(tx, id, now=now, reason=_REASON, actor=RULES) is not None:
            tx.run("DELETE FROM entry_version WHERE entry_id = :id AND reason = :reason", id=id, reason=_REASON)
