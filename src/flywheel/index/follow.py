"""Following the change feed: what an index must do, and the one step that keeps it up."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Final, Protocol, runtime_checkable

from flywheel.model import Change, Kind, Seq
from flywheel.store import Db

LIMIT: Final = 4000
"""Changes of one step. One commit of an index covers one step."""

DEFINITIONS: Final = 12_000
"""Changes of one step of a follower that `Gathers`, if all are of definitions: many come at once, and each is small."""


class Follower(Protocol):
    """Something derived that follows the change feed. Idempotent: a change may come twice."""

    name: str

    def watermark(self) -> tuple[str, Seq]:
        """The feed that was followed and the last change that is in; ("", 0) when nothing is."""

    def apply(self, db: Db, changes: Sequence[Change], feed: str, upto: Seq) -> None:
        """Bring in ``changes`` and the watermark (``feed``, ``upto``), both or neither.

        A change names what may have changed; what it is now is read from the store.
        """

    def reset(self) -> None:
        """Forget everything: the watermark is ("", 0) afterwards."""


@runtime_checkable
class Settles(Protocol):
    """A follower that has housekeeping to do when it has caught up."""

    def settle(self, db: Db) -> int:
        """Do one piece of it; 0 when there is nothing left to do."""


@runtime_checkable
class Gathers(Protocol):
    """A follower to which a commit costs more than the definitions in it."""

    definitions: int
    """How many of them it takes at once."""


def step(db: Db, follower: Follower, limit: int = LIMIT) -> int:
    """Apply the next changes, or housekeep when there are none; 0 when there is nothing to do.

    A foreign feed (another database, or one that was restored) or a watermark ahead of the store resets the follower,
    which then starts at the feed's beginning.
    """
    feed = db.feed_id()
    followed, seq = follower.watermark()
    if (followed, seq) != ("", 0) and (followed != feed or seq > db.head()):
        follower.reset()
        seq = Seq(0)
    changes = db.changes(seq, limit)
    if len(changes) == limit and isinstance(follower, Gathers):
        changes = [*changes, *_more(db, changes, follower.definitions)]
    if changes:
        follower.apply(db, changes, feed, changes[-1].seq)
        return len(changes)
    return follower.settle(db) if isinstance(follower, Settles) else 0


def _more(db: Db, changes: Sequence[Change], most: int) -> list[Change]:
    """The definitions that follow ``changes``, if those are definitions too, up to ``most`` in all."""
    if any(change.kind is not Kind.SYMBOL for change in changes):
        return []
    later = db.changes(changes[-1].seq, most - len(changes))
    return list(takewhile(lambda change: change.kind is Kind.SYMBOL, later))


def behind(db: Db, follower: Follower) -> int:
    """How many numbers of the feed the follower has not seen."""
    return lag(db, follower.watermark())


def lag(db: Db, watermark: tuple[str, Seq]) -> int:
    """How many numbers of the feed lie past a watermark; all of them when it is another feed's."""
    feed, seq = watermark
    head = db.head()
    return max(0, head - seq) if feed == db.feed_id() else head
