"""The digest job: one session at two lengths, made anew only when what it is made of has changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from flywheel.digests import RULES
from flywheel.digests.picking import Written
from flywheel.digests.queries import cited_in, kept_mark, mark_of
from flywheel.digests.session import Hearing
from flywheel.errors import NotFound
from flywheel.harvest.extract import pages
from flywheel.jobs.kinds import DIGEST, GATHER, GATHER_DELAY
from flywheel.jobs.queue import enqueue
from flywheel.jobs.worker import Deps
from flywheel.model import Digest, Job, MessageKind, Micros, ProjectId, Retrospective, Session
from flywheel.projects.queries import canonical
from flywheel.store import Tx
from flywheel.store.mapper import get, upsert_many

KIND: Final = DIGEST
"""Job kind; the key is the session's id."""

SESSION: Final = "session"

_HEARD: Final = (MessageKind.PROMPT, MessageKind.REPLY)


def run(job: Job, deps: Deps) -> None:
    """Write the digests of a session; running it again changes nothing."""
    with deps.db.read() as tx:
        session = get(tx, Session, id=job.key)
        if session is None:
            return
        look = get(tx, Retrospective, session_id=session.id)
        cited = cited_in(tx, session.id)
        mark = mark_of(tx, session, look, cited)
        if mark == kept_mark(tx, SESSION, session.id):
            return
    hearing = Hearing(session=session.id, cited=cited)
    for messages in pages(deps.db, session, _HEARD, 0):
        deps.beat(f"summing up session {session.native_id}")
        for message in messages:
            hearing.hear(message)
    written = hearing.finish(look)
    with deps.db.write() as tx:
        if get(tx, Session, id=session.id) is None or mark_of(tx, session, look, cited) != mark:
            return  # forgotten, or more was said meanwhile: the job that this enqueued writes it
        keep(tx, SESSION, session.id, session.project_id, written, mark, deps.now())
        enqueue(tx, kind=GATHER, key=_owner(tx, session.project_id), project_id=session.project_id, now=deps.now(),
                delay=GATHER_DELAY)  # fmt: skip


def keep(
    tx: Tx, kind: str, id: str, project: ProjectId, written: Mapping[str, Written], mark: str, now: Micros
) -> None:
    """Write a digest's lengths over those that are there."""
    upsert_many(
        tx,
        [
            Digest(
                owner_kind=kind,
                owner_id=id,
                length=length,
                project_id=project,
                text=one.text,
                sources=one.sources,
                mark=mark,
                model=RULES,
                created_at=now,
                updated_at=now,
            )
            for length, one in written.items()
        ],
    )


def _owner(tx: Tx, project: ProjectId) -> ProjectId:
    try:
        return canonical(tx, project)
    except NotFound:  # forgotten meanwhile
        return project
