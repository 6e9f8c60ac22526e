"""When the indexer takes its next step: soon for what a person waits for, seldom for a large sync."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from tests.index.test_follow import Listener

from flywheel.index.follow import LIMIT
from flywheel.index.pacing import ENOUGH, LONGEST, STREAM, Pace
from flywheel.model import Kind, ProjectId, Seq
from flywheel.store import Db

APP = ProjectId("app")
STEP = 0.35


@dataclass(slots=True)
class Feed:
    """A change feed, a follower that has seen nothing of it, and its pace."""

    db: Db
    pace: Pace
    follower: Listener
    count: int = 0

    def come(self, number: int, kind: Kind = Kind.SYMBOL) -> None:
        """More changes."""
        with self.db.write() as tx:
            for _ in range(number):
                self.count += 1
                tx.changed(kind, f"thing{self.count}", APP)


@pytest.fixture
def feed(sqlite_db: Db) -> Feed:
    """A feed that is followed to its head by a follower that stepped at 100 s."""
    follower = Listener(mark=(sqlite_db.feed_id(), sqlite_db.head()))
    pace = Pace(sqlite_db, follower, STEP)
    pace.worked(100.0)
    return Feed(sqlite_db, pace, follower)


def test_after_a_rest_the_first_change_is_taken_at_once(feed: Feed) -> None:
    """Nobody waits for the pace of a stream when nothing came for seconds; and without a pace never."""
    feed.come(1, Kind.MESSAGE)
    assert feed.pace.left(100.0 + LONGEST) == 0
    assert Pace(feed.db, feed.follower, STEP).left(100.1) == 0
    hasty = Pace(feed.db, feed.follower, 0.0)
    hasty.worked(100.0)
    assert hasty.left(100.0) == 0


@pytest.mark.parametrize(("kind", "number"), [(Kind.MESSAGE, 3), (Kind.MESSAGE, STREAM), (Kind.SYMBOL, STREAM - 1)])
def test_a_little_waits_for_one_pace(feed: Feed, kind: Kind, number: int) -> None:
    """Messages, and the definitions of a few changed files, are taken 0.35 s after the step before."""
    feed.come(number, kind)
    assert feed.pace.left(100.1) == pytest.approx(STEP - 0.1)
    assert feed.pace.left(100.36) == 0


def test_a_full_step_of_messages_waits_for_nothing(feed: Feed) -> None:
    """An import at full rate is indexed as fast as it can be."""
    feed.come(LIMIT, Kind.MESSAGE)
    assert feed.pace.left(100.1) == 0


def test_a_large_sync_is_gathered(feed: Feed) -> None:
    """As long as definitions alone keep coming they wait, but not for ever."""
    now = 100.4
    feed.come(STREAM)
    while now < 100.0 + LONGEST:
        feed.come(9)
        assert feed.pace.left(now) == STEP
        now += STEP
    feed.come(STREAM)
    assert feed.pace.left(now) == 0


def test_enough_definitions_are_taken(feed: Feed) -> None:
    """More than is worth a commit is not waited for."""
    feed.come(ENOUGH)
    assert feed.pace.left(100.4) == 0


def test_what_stopped_coming_is_taken_at_the_next_look(feed: Feed) -> None:
    """A sync that is over is searchable a pace later."""
    feed.come(STREAM)
    assert feed.pace.left(100.4) == STEP
    assert feed.pace.left(100.75) == 0


def test_a_message_beside_a_large_sync_waits_for_one_pace(feed: Feed) -> None:
    """Who talks while a repository is indexed for the first time finds what was said as soon as ever."""
    feed.come(STREAM)
    assert feed.pace.left(100.4) == STEP
    feed.come(STREAM)
    feed.come(1, Kind.MESSAGE)
    assert feed.pace.left(100.75) == 0
    feed.follower.mark = (feed.db.feed_id(), Seq(feed.db.head()))
    feed.pace.worked(100.75)
    feed.come(STREAM)
    assert feed.pace.left(101.2) == STEP
