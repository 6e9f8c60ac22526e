"""Which thread an id or some words mean."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from flywheel.embed import Embedder
from flywheel.model import Clean, Message, ProjectId, Session, SessionId, Thread, ThreadSegment
from flywheel.store import Tx
from flywheel.store.mapper import find, get
from flywheel.threads import queries
from flywheel.threads.rules import Rarity, Shelf
from flywheel.threads.topics import Topic, Turn, ordinary_of, topic_of, unpacked

FLOOR: Final = 0.17
"""Likeness from which a thread is what somebody's few words may mean."""

FLOOR_WORDS: Final = 0.06
"""The same where no embedder is."""

OTHERS: Final = 0.6
"""Part of the best one's likeness from which another thread is named beside it."""

MOST: Final = 5

_HASH: Final = re.compile(r"[0-9a-f]{4,32}")


def by_id(tx: Tx, wanted: str) -> list[Thread]:
    """The threads that a thread's, session's or message's id (or the head of one) means, the latest first."""
    if not wanted or " " in wanted:
        return []
    found: list[Thread] = []
    segments: list[ThreadSegment] = []
    if _HASH.fullmatch(wanted):
        bounds = {"low": wanted, "high": wanted + "g"}
        found = find(tx, Thread, "WHERE id >= :low AND id < :high ORDER BY id LIMIT 5", **bounds)
        for message in find(tx, Message, "WHERE id >= :low AND id < :high LIMIT 5", **bounds):
            segments += segments_at(tx, message.session_id, message.ordinal)
        sessions = find(tx, Session, "WHERE id >= :low AND id < :high LIMIT 5", **bounds)
    else:
        sessions = find(tx, Session, "WHERE native_id = :id LIMIT 5", id=wanted)
    for session in sessions:
        segments += queries.segments_of(tx, session.parent_id or session.id)
    found += [row for row in (get(tx, Thread, id=id) for id in {one.thread_id for one in segments}) if row is not None]
    kept = {row.id: row for row in (followed(tx, row) for row in found)}
    return sorted(kept.values(), key=lambda row: (-row.last_at, row.id))


def followed(tx: Tx, row: Thread) -> Thread:
    """The thread that this one became part of; itself when it did not."""
    heir = get(tx, Thread, id=row.redirect_to) if row.redirect_to else None
    return heir or row


def segments_at(tx: Tx, session: SessionId, ordinal: int) -> list[ThreadSegment]:
    """The segment of a session that a message is in; of a subagent's session, those of the one that began it."""
    row = get(tx, Session, id=session)
    if row is not None and row.parent_id:
        return queries.segments_of(tx, row.parent_id)
    return [one for one in queries.segments_of(tx, session) if one.start <= ordinal <= one.stop]


def by_words(
    tx: Tx, projects: Sequence[ProjectId], words: Clean, embedder: Embedder | None, model: str
) -> list[Thread]:
    """The threads that these words are likely to mean, best first."""
    rows = [row for row in queries.threads_of(tx, projects) if row.segments and row.model == model]
    topics = [Topic(vector=unpacked(row.vector), words=row.words) for row in rows]
    rarity = Rarity(ordinary=ordinary_of(embedder))
    for row, topic in zip(rows, topics, strict=True):
        rarity.learn(topic, row.segments)
    shelf = Shelf(rarity, next((len(topic.vector) for topic in topics if topic.vector is not None), 0))
    for topic in topics:
        shelf.put(topic)
    if not rows:
        return []
    asked = topic_of([Turn(start=0, stop=0, first_at=0, last_at=0, id="", prompt=words)], embedder)
    found = shelf.likenesses(asked)
    best = sorted(range(len(rows)), key=lambda at: (-float(found[at]), rows[at].id))[:MOST]
    floor = max(FLOOR if embedder is not None else FLOOR_WORDS, OTHERS * float(found[best[0]]))
    return [rows[at] for at in best if found[at] >= floor]
