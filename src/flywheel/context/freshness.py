"""Which projects' entries have changed, read off the change feed: what was made of the others is as good as new."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from typing import Final

from flywheel.model import Kind, ProjectId, Seq
from flywheel.store import Db

SCANNED: Final = 20_000
"""Changes that are looked through at most; after more than that everything counts as changed."""


class Freshness:
    """Generations of projects. Exact: the feed's order is the order of visibility. For any number of threads."""

    def __init__(self, db: Db) -> None:
        self._db = db
        self._lock = threading.Lock()
        self._feed = ""
        self._seen = Seq(0)
        self._era = 0
        self._generations: Counter[str] = Counter()

    def generation(self, projects: Sequence[ProjectId]) -> tuple[int, ...]:
        """Equal to an earlier answer for the same projects only if none of their entries has changed since."""
        with self._lock:
            self._follow()
            return (self._era, *(self._generations[project] for project in projects))

    def _follow(self) -> None:
        head, feed = self._db.head(), self._db.feed_id()
        if feed != self._feed or not 0 <= head - self._seen <= SCANNED:
            self._feed, self._era = feed, self._era + 1
            self._generations.clear()
        elif head > self._seen:
            with self._db.read() as tx:
                rows = tx.all(
                    "SELECT DISTINCT project_id FROM change WHERE seq > :seen AND seq <= :head AND kind = :kind",
                    seen=self._seen,
                    head=head,
                    kind=Kind.ENTRY.value,
                )
            for (project,) in rows:
                self._generations[project] += 1
        self._seen = head
