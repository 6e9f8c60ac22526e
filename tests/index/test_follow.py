"""The one step that keeps an index up with the change feed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from flywheel.index.follow import Settles, behind, lag, step
from flywheel.model import Change, Kind, ProjectId, Seq
from flywheel.store import Db
from flywheel.store.feed import new_feed

APP = ProjectId("app")


@dataclass(slots=True)
class Listener:
    """A follower that notes what it was told."""

    name: str = "listener"
    mark: tuple[str, Seq] = ("", Seq(0))
    heard: list[str] = field(default_factory=list)
    resets: int = 0

    def watermark(self) -> tuple[str, Seq]:
        """How far it is."""
        return self.mark

    def apply(self, db: Db, changes: Sequence[Change], feed: str, upto: Seq) -> None:
        """Note the ids."""
        self.heard += [change.id for change in changes]
        self.mark = (feed, upto)

    def reset(self) -> None:
        """Forget."""
        self.resets += 1
        self.heard.clear()
        self.mark = ("", Seq(0))


@dataclass(slots=True)
class Tidy(Listener):
    """A follower with housekeeping."""

    chores: int = 2

    def settle(self, db: Db) -> int:
        """One chore."""
        self.chores -= 1
        return 1 if self.chores >= 0 else 0


def change(db: Db, *ids: str) -> None:
    """Commit changes of messages."""
    with db.write() as tx:
        for id in ids:
            tx.changed(Kind.MESSAGE, id, APP)


def test_steps_bring_every_change_once_and_in_order(db: Db) -> None:
    """Small steps hear what one large step would, and say how much they did."""
    change(db, "a", "b")
    change(db, "c")
    follower = Listener()
    assert behind(db, follower) == 3
    assert [step(db, follower, 2) for _ in range(3)] == [2, 1, 0]
    assert (follower.heard, behind(db, follower)) == (["a", "b", "c"], 0)


def test_a_foreign_feed_resets_and_goes_on_in_the_same_step(db: Db) -> None:
    """Another feed id means another database: everything is heard anew."""
    change(db, "a")
    follower = Listener()
    follower.mark = ("elsewhere", Seq(1))
    assert lag(db, follower.mark) == 1
    assert step(db, follower) == 1
    assert (follower.resets, follower.heard) == (1, ["a"])


def test_a_watermark_ahead_of_the_store_resets(db: Db) -> None:
    """A store that lost its end, under the same feed id, is followed from its beginning."""
    change(db, "a", "b")
    follower = Listener()
    step(db, follower)
    with db.write() as tx:
        tx.run("DELETE FROM change WHERE id = 'b'")
    step(db, follower)
    assert (follower.resets, follower.heard) == (1, ["a"])


def test_an_empty_follower_is_never_reset(db: Db) -> None:
    """Nothing followed yet is no foreign feed."""
    follower = Listener()
    assert step(db, follower) == 0
    with db.write() as tx:
        new_feed(tx)
    change(db, "a")
    assert (step(db, follower), follower.resets) == (1, 0)


def test_housekeeping_waits_until_all_is_in(db: Db) -> None:
    """A follower settles only when nothing is to be applied, and until it has nothing left to settle."""
    change(db, "a")
    follower = Tidy()
    assert isinstance(follower, Settles) and not isinstance(Listener(), Settles)
    assert [step(db, follower) for _ in range(4)] == [1, 1, 1, 0]


@dataclass(slots=True)
class Gathering(Listener):
    """A follower that takes five definitions at once."""

    definitions: int = 5


def test_many_definitions_come_at_once_and_nothing_else_does(db: Db) -> None:
    """A follower that gathers hears definitions in larger steps, up to the first other change; none is left out."""
    kinds = "ss" + "s" * 4 + "ms" + "mmss" + "sss"
    with db.write() as tx:
        for number, kind in enumerate(kinds):
            tx.changed(Kind.SYMBOL if kind == "s" else Kind.MESSAGE, str(number), APP)
    follower, plain = Gathering(), Listener()
    steps = [step(db, follower, 2) for _ in range(7)]
    while step(db, plain, 2):
        pass
    assert steps == [5, 2, 2, 2, 4, 0, 0]
    assert follower.heard == plain.heard == [str(number) for number in range(len(kinds))]
