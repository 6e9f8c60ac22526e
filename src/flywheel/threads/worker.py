"""The thread job: a project's sessions that looked back are cut into segments, and those tied to threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from flywheel.embed import Embedder, ModelMissing
from flywheel.embed.select import open_embedder
from flywheel.harvest.extract import pages
from flywheel.jobs import queue
from flywheel.jobs.kinds import GATHER, GATHER_DELAY, THREAD
from flywheel.jobs.worker import Deps, Stopped
from flywheel.model import (
    Job,
    MessageKind,
    Micros,
    ProjectId,
    Session,
    SessionId,
    Threaded,
    ThreadSegment,
    digest,
    evidence_id,
)
from flywheel.retro.rules import condense
from flywheel.store.mapper import get
from flywheel.text.words import terms
from flywheel.threads import queries
from flywheel.threads.rules import model_name
from flywheel.threads.segments import TELLING, segments_of
from flywheel.threads.topics import PROMPT, Turn, ordinary_of, packed, topic_of
from flywheel.threads.turns import turns_of
from flywheel.threads.tying import tie

KIND: Final = THREAD

_HEARD: Final = (MessageKind.PROMPT, MessageKind.REPLY, MessageKind.TOOL_CALL)


def run(job: Job, deps: Deps) -> None:
    """Tie what is not tied yet; running it again changes nothing. Raises Stopped between two transactions."""
    embedder = _embedder(deps.config.embed.model)
    model = model_name(embedder.model_id if embedder is not None else None)
    with deps.db.read() as tx:
        projects = queries.members(tx, ProjectId(job.key))
        due = queries.pending(tx, projects, model) if projects else []
    for session, at in due:
        if deps.stopping():
            raise Stopped
        deps.beat(f"finding the topics of session {session.native_id}")
        _cut(deps, session, at, embedder, model)
    if projects and tie(deps, projects, model, ordinary_of(embedder)):
        with deps.db.write() as tx:
            queue.enqueue(tx, kind=GATHER, key=projects[0], project_id=projects[0], now=deps.now(), delay=GATHER_DELAY)


@lru_cache(maxsize=1)
def _embedder(setting: str) -> Embedder | None:
    """The model that comes with the package, whatever model searches use: the thresholds were set for it, and no
    server hears of sessions. None when there is none; topics are words and marks alone then."""
    if setting == "none":
        return None
    try:
        return open_embedder("static")
    except ModelMissing:
        return None


def _cut(deps: Deps, session: Session, at: Micros, embedder: Embedder | None, model: str) -> None:
    """Write a session's segments and how far they go."""
    messages = (message for page in pages(deps.db, session, _HEARD, 0) for message in page)
    turns = turns_of(messages, session)
    found = [
        _segment(session, number, part, embedder, model) for number, part in enumerate(segments_of(turns, embedder))
    ]
    mark = Threaded(session_id=session.id, project_id=session.project_id, model=model, last_at=at)
    with deps.db.write(bulk=True) as tx:
        if get(tx, Session, id=session.id) is None or queries.looked_back(tx, SessionId(session.id)) is None:
            return  # forgotten meanwhile
        before = queries.segments_of(tx, session.id)
        homes = {segment.id: segment.thread_id for segment in before}
        queries.write_segments(tx, before, [replace(one, thread_id=homes.get(one.id, "")) for one in found], mark)


def _segment(
    session: Session, number: int, turns: Sequence[Turn], embedder: Embedder | None, model: str
) -> ThreadSegment:
    topic = topic_of(turns, embedder)
    vector = packed(topic.vector)
    telling = next((turn for turn in turns if len(terms(turn.prompt[:PROMPT])) >= TELLING), turns[0])
    about = condense(telling.prompt)
    return ThreadSegment(
        id=evidence_id("segment", session.id, turns[0].id),
        thread_id="",
        project_id=session.project_id,
        session_id=session.id,
        ordinal=number,
        start=turns[0].start,
        stop=turns[-1].stop,
        model=model,
        about=about,
        vector=vector,
        words=topic.words,
        sha256=digest("\0".join((session.project_id, model, about, vector, repr(sorted(topic.words.items()))))),
        first_at=Micros(turns[0].first_at),
        last_at=Micros(max(turn.last_at for turn in turns)),
        waiting=True,
    )
