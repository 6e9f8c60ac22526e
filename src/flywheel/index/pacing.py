"""When a follower's next step is worth its commit: what comes in a stream is gathered."""

from __future__ import annotations

from typing import Final

from flywheel.index.follow import LIMIT, Follower, behind
from flywheel.model import Kind
from flywheel.store import Db

STREAM: Final = 500
"""Definitions that wait, and become more, from which on a sync is at work that is worth waiting for."""

ENOUGH: Final = 6000
"""Definitions that are worth a commit: more of them at once save little, and the last ones of a sync come later."""

LONGEST: Final = 6.0
"""Seconds from one step to the next while nothing but definitions comes."""


class Pace:
    """Tells when to step. A commit costs about the same for one message as for a thousand.

    A large sync's definitions are gathered for `LONGEST`, unless anything else waits beside them: in commits of 1700,
    with the merges after them, they cost tantivy three times the processor time that they cost in commits of 6000.
    """

    def __init__(self, db: Db, follower: Follower, seconds: float) -> None:
        """``seconds`` from one step that had work to the next; 0 gathers nothing."""
        self._db = db
        self._follower = follower
        self._seconds = seconds
        self._worked = float("-inf")
        self._seen = 0

    def worked(self, began: float) -> None:
        """A step that began then, by the monotonic clock, had work."""
        self._worked = began
        self._seen = 0

    def left(self, now: float) -> float:
        """Seconds after which to ask again; 0 when a step is due. ``now``: the monotonic clock."""
        early = self._worked + self._seconds - now
        if self._seconds <= 0 or (early <= 0 and now - self._worked >= LONGEST):
            return 0.0
        waiting = behind(self._db, self._follower)
        if early > 0 and waiting < LIMIT:
            return early
        grew, self._seen = waiting > self._seen, waiting
        if grew and STREAM <= waiting < ENOUGH and self._only_definitions():
            return self._seconds
        return 0.0

    def _only_definitions(self) -> bool:
        _, seq = self._follower.watermark()
        with self._db.read() as tx:
            other = tx.one(
                "SELECT 1 FROM change WHERE seq > :seq AND kind <> :kind LIMIT 1", seq=seq, kind=Kind.SYMBOL.value
            )
        return other is None
