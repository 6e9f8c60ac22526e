"""Cleans up after uploads that broke off, and after those whose job is no more."""

from __future__ import annotations

from typing import Final

from flywheel.harvest.uploads.stored import PREFIX
from flywheel.model import Micros
from flywheel.store import Db

IDLE_SECONDS: Final = 600
"""An upload to which nothing was added for this long is not coming any more."""

_LEFT: Final = (
    "SELECT p.upload_id, p.ordinal FROM upload_part p WHERE NOT EXISTS"
    " (SELECT 1 FROM job j WHERE j.kind = 'harvest' AND j.key = CAST(:prefix AS TEXT) || p.upload_id)"
    " AND p.upload_id IN (SELECT upload_id FROM upload_part GROUP BY upload_id HAVING MAX(created_at) < :before)"
    " LIMIT 1000"
)


def tidy(db: Db, now: Micros) -> int:
    """Delete the parts of uploads that nobody will read; how many."""
    with db.read() as tx:
        left = tx.all(_LEFT, prefix=PREFIX, before=now - IDLE_SECONDS * 1_000_000)
    for id, ordinal in left:
        with db.write(bulk=True) as tx:
            tx.run("DELETE FROM upload_part WHERE upload_id = :id AND ordinal = :n", id=id, n=ordinal)
    return len(left)
