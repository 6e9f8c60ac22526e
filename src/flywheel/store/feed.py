"""The change feed: reading it, and its name."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Final

from flywheel.errors import Defect
from flywheel.model import Change, Kind, Op, Seq
from flywheel.store import Db, Tx
from flywheel.store.chunks import chunks

AT_ONCE: Final = 400
"""Changes that one transaction drops."""

_OVERTAKEN: Final = """
SELECT seq FROM (SELECT seq, lead(seq) OVER (PARTITION BY kind, id ORDER BY seq) AS later FROM change) AS each_change
WHERE later IS NOT NULL ORDER BY seq LIMIT :most"""

JUMP: Final = 1_000_000
"""Numbers that the feed leaves out after a power cut."""


def read_changes(tx: Tx, after: Seq, limit: int) -> Sequence[Change]:
    """The feed past ``after``, in order, at most ``limit`` changes."""
    rows = tx.all(
        "SELECT seq, project_id, kind, id, op FROM change WHERE seq > :after ORDER BY seq LIMIT :limit",
        after=after,
        limit=limit,
    )
    return [Change(seq=seq, project_id=project, kind=Kind(k), id=id, op=Op(op)) for seq, project, k, id, op in rows]


def compact(db: Db, most: int = 100_000) -> int:
    """Drop changes of what has changed again since, the oldest first; how many.

    Whoever follows, from the beginning or from any place, still meets the last change of everything. So the feed grows
    with what there is, not with how often it changes.
    """
    with db.read() as tx:
        overtaken = [seq for (seq,) in tx.all(_OVERTAKEN, most=most)]
    for some in chunks(overtaken, AT_ONCE):
        with db.write(bulk=True) as tx:
            tx.run("DELETE FROM change WHERE seq IN :some", some=some)
    return len(overtaken)


class FeedReads:
    """What every driver answers about its change feed, over its own `read`."""

    _feed: str

    def read(self) -> AbstractContextManager[Tx]:
        """The driver's."""
        raise NotImplementedError

    def feed_id(self) -> str:
        """Names this change feed."""
        if not self._feed:
            with self.read() as tx:
                row = tx.one("SELECT value FROM setting WHERE name = 'feed_id'")
            if row is None:
                raise Defect("the store has no feed id")
            self._feed = row[0]
        return self._feed

    def head(self) -> Seq:
        """The last visible number of the feed."""
        with self.read() as tx:
            row = tx.one("SELECT max(seq) FROM change")
        return Seq(row[0] or 0) if row else Seq(0)

    def changes(self, after: Seq, limit: int = 5000) -> Sequence[Change]:
        """The feed past ``after``, in order."""
        with self.read() as tx:
            return read_changes(tx, after, limit)


def new_feed(tx: Tx) -> str:
    """Give the change feed a new name: every follower starts anew. For a new, restored or rebuilt database."""
    feed = uuid.uuid4().hex
    tx.run(
        "INSERT INTO setting (name, value) VALUES ('feed_id', :feed) ON CONFLICT (name) DO UPDATE SET value = :feed",
        feed=feed,
    )
    return feed


def jump(tx: Tx) -> None:
    """Leave out numbers that may have been given before a power cut and lost with it.

    Else a follower that had seen them would take the next changes, under the same numbers, for known. The change that
    marks the jump is about no session, so that followers find nothing and move on.
    """
    tx.run(
        "INSERT INTO change (seq, project_id, kind, id, op)"
        " SELECT coalesce(max(seq), 0) + :jump, 'global', 'session', '', 'put' FROM change",
        jump=JUMP,
    )
