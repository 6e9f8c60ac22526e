"""Giving waiting segments their threads, and making one of threads that are about the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from flywheel.jobs.worker import Deps, Stopped
from flywheel.model import Micros, ProjectId, Thread, ThreadSegment, evidence_id
from flywheel.store import Tx
from flywheel.store.chunks import chunks
from flywheel.store.mapper import upsert
from flywheel.threads import queries
from flywheel.threads.rules import THREAD_WORDS, Rarity, Shelf, anew, place_for, same_thread
from flywheel.threads.topics import Topic, packed, total, unpacked

BATCH: Final = 12
"""Segments of one transaction, which keeps it within 20 ms."""


@dataclass(slots=True)
class _Desk:
    """A family's threads in memory while segments are given out."""

    projects: Sequence[ProjectId]
    model: str
    now: Micros
    shelf: Shelf
    undone: frozenset[str] = frozenset()  # whose sums are to be written anew
    rows: dict[str, Thread] = field(default_factory=dict)  # every thread of the family
    places: dict[str, int] = field(default_factory=dict)  # of those that are compared
    ids: list[str] = field(default_factory=list)  # place → id
    touched: dict[str, None] = field(default_factory=dict)
    moved: dict[str, str] = field(default_factory=dict)  # left by a segment → where that went

    def put(self, row: Thread, topic: Topic) -> None:
        """Compare with this thread from now on, by this topic."""
        at = self.shelf.put(topic, self.places.get(row.id))
        if row.id not in self.places:
            self.places[row.id] = at
            self.ids.append(row.id)
        self.rows[row.id] = row

    def drop(self, id: str) -> None:
        """Compare with this thread no more."""
        self.shelf.drop(self.places.pop(id))


def tie(deps: Deps, projects: Sequence[ProjectId], model: str, ordinary: NDArray[np.float32] | None) -> bool:
    """Give every waiting segment of these projects its thread; whether there was one. Raises Stopped between two steps.

    ``ordinary``: see `topics.ordinary_of`.
    """
    with deps.db.read() as tx:
        due = queries.waiting(tx, projects)
        if not due and not queries.undone(tx, projects):
            return False
        desk = _desk(tx, projects, model, due, deps.now(), ordinary)
    settled = sum(desk.rows[id].segments for id in desk.places)
    whole = bool(due) and anew(settled, settled + len(due))
    if whole and settled:
        with deps.db.write(bulk=True) as tx:
            queries.undo(tx, projects)
        with deps.db.read() as tx:
            due = queries.waiting(tx, projects)
            desk = _desk(tx, projects, model, due, deps.now(), ordinary)
    stale = [row.id for row in desk.rows.values() if row.id in desk.undone]
    for start in range(0, len(due), BATCH):
        _pause(deps, "tying sessions to threads")
        with deps.db.write(bulk=True) as tx:
            for segment in due[start : start + BATCH]:
                _give(tx, desk, segment, stay=not whole)
    for id in list(desk.touched):
        if id in desk.places:
            _pause(deps, "comparing threads")
            _join(deps, desk, id)
    for some in chunks(stale, BATCH):
        with deps.db.write(bulk=True) as tx:
            for id in some:
                _tidy(tx, desk, id)
    return True


def _pause(deps: Deps, doing: str) -> None:
    if deps.stopping():
        raise Stopped
    deps.beat(doing)


def _desk(
    tx: Tx,
    projects: Sequence[ProjectId],
    model: str,
    due: Sequence[ThreadSegment],
    now: Micros,
    ordinary: NDArray[np.float32] | None,
) -> _Desk:
    """The threads of this model with their sums, counted anew where they were undone."""
    rows = queries.threads_of(tx, projects)
    undone = queries.settled(tx, [row.id for row in rows if not row.segments and row.redirect_to is None], model)
    topics: list[tuple[Thread, Topic]] = []
    for row in rows:
        if row.segments and row.model == model:
            topics.append((row, Topic(vector=unpacked(row.vector), words=row.words)))
        elif undone.get(row.id):
            whole = total(map(topic_of, undone[row.id]), THREAD_WORDS)
            topics.append((_counted(row, undone[row.id], whole, model), whole))
    rarity = Rarity(ordinary=ordinary)
    for row, topic in topics:
        rarity.learn(topic, row.segments)
    for segment in due:
        rarity.learn(topic_of(segment))
    vectors = [topic.vector for _, topic in topics] + [unpacked(segment.vector) for segment in due]
    dim = max((len(vector) for vector in vectors if vector is not None), default=0)
    desk = _Desk(
        projects=projects, model=model, now=now, shelf=Shelf(rarity, dim), rows={row.id: row for row in rows},
        undone=frozenset(undone),
    )  # fmt: skip
    for row, topic in topics:
        if topic.vector is None or len(topic.vector) == dim:
            desk.put(row, topic)
            if row.id in undone:
                desk.touched[row.id] = None
    return desk


def topic_of(segment: ThreadSegment) -> Topic:
    """A segment's topic, as it is stored."""
    return Topic(vector=unpacked(segment.vector), words=segment.words)


def _counted(row: Thread, segments: Sequence[ThreadSegment], whole: Topic, model: str) -> Thread:
    """The row of a thread of these segments, whose topic is the whole."""
    return replace(
        row,
        model=model,
        segments=len(segments),
        vector=packed(whole.vector),
        words=whole.words,
        first_at=min(segment.first_at for segment in segments),
        last_at=max(segment.last_at for segment in segments),
        redirect_to=None,
    )


def _give(tx: Tx, desk: _Desk, segment: ThreadSegment, *, stay: bool) -> None:
    """Put one segment into the thread that it is about, or into one of its own."""
    topic = topic_of(segment)
    old = segment.thread_id
    at = place_for(topic, desk.shelf, desk.places.get(old) if stay else None)
    if at is None:
        row = _opened(desk, segment)
        whole = topic
    else:
        row = desk.rows[desk.ids[at]]
        known = desk.shelf.topics[at]
        assert known is not None
        whole = total([known, topic], THREAD_WORDS)
    row = replace(
        row,
        model=desk.model,
        segments=row.segments + 1,
        vector=packed(whole.vector),
        words=whole.words,
        first_at=Micros(min(row.first_at, segment.first_at)),
        last_at=Micros(max(row.last_at, segment.last_at)),
        redirect_to=None,
    )
    desk.put(row, whole)
    desk.touched[row.id] = None
    if old and old != row.id:
        desk.moved[old] = row.id
    upsert(tx, row)
    tx.run("UPDATE thread_segment SET thread_id = :thread, waiting = 0 WHERE id = :id", thread=row.id, id=segment.id)


def _opened(desk: _Desk, segment: ThreadSegment) -> Thread:
    """A thread for this segment alone: the one it was in, when that has nothing else, so that its id stays."""
    id, tries = segment.thread_id if segment.thread_id in desk.rows else "", 0
    while not id or id in desk.places:
        id = evidence_id("thread", segment.id, *([str(tries)] if tries else []))
        tries += 1
    before = desk.rows.get(id)
    return Thread(
        id=id,
        project_id=before.project_id if before else segment.project_id,
        model=desk.model,
        first_at=segment.first_at,
        last_at=segment.last_at,
        created_at=before.created_at if before else desk.now,
    )


def _join(deps: Deps, desk: _Desk, id: str) -> None:
    """Make one of this thread and those that are about the same; the older one keeps its id."""
    while id in desk.places:
        topic = desk.shelf.topics[desk.places[id]]
        assert topic is not None
        others = [other for other in _named(desk, same_thread(topic, desk.shelf)) if other != id]
        if not others:
            return
        one, two = desk.rows[id], desk.rows[others[0]]
        kept, lost = (one, two) if (one.first_at, one.id) <= (two.first_at, two.id) else (two, one)
        mine, theirs = desk.shelf.topics[desk.places[kept.id]], desk.shelf.topics[desk.places[lost.id]]
        assert mine is not None
        assert theirs is not None
        whole = total([mine, theirs], THREAD_WORDS)
        row = replace(
            kept,
            segments=kept.segments + lost.segments,
            vector=packed(whole.vector),
            words=whole.words,
            first_at=Micros(min(kept.first_at, lost.first_at)),
            last_at=Micros(max(kept.last_at, lost.last_at)),
        )
        with deps.db.write(bulk=True) as tx:
            queries.lead(tx, lost.id, kept.id)
            upsert(tx, row)
        desk.drop(lost.id)
        desk.put(row, whole)
        desk.moved[lost.id] = kept.id
        id = kept.id


def _named(desk: _Desk, places: Iterable[int]) -> list[str]:
    return [desk.ids[at] for at in places]


def _tidy(tx: Tx, desk: _Desk, id: str) -> None:
    """Write sums that were undone; a thread with no segment left leads to where they went, or goes."""
    if id in desk.places:
        upsert(tx, desk.rows[id])
        return
    if tx.one("SELECT 1 FROM thread_segment WHERE thread_id = :id", id=id) is not None:
        return
    heir = desk.moved.get(id)
    while heir is not None and heir not in desk.places:
        heir = desk.moved.get(heir)
    if heir is None:
        tx.run("DELETE FROM thread WHERE id = :id OR redirect_to = :id", id=id)
    else:
        queries.lead(tx, id, heir)
