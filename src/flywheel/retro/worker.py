"""The retrospective job: looks back at one session, keeps what it came to, and marks what was of use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from flywheel.harvest.extract import KIND as EXTRACT
from flywheel.harvest.extract import pages
from flywheel.harvest.models.following import is_recent
from flywheel.jobs.kinds import DIGEST, RETRO_MODEL, RETRO_MODEL_DELAY, THREAD, THREAD_DELAY
from flywheel.jobs.queue import enqueue
from flywheel.jobs.worker import Deps
from flywheel.model import Job, MessageKind, Micros, ProjectId, RetroPoint, Retrospective, Session
from flywheel.projects.queries import canonical
from flywheel.retro.attribution.following import Following
from flywheel.retro.keeping import file_candidates, keep, points_of
from flywheel.retro.memory import tails_of, tokens_before
from flywheel.retro.queries import load
from flywheel.retro.rules import Look
from flywheel.store import Tx
from flywheel.store.mapper import get, upsert

KIND: Final = "retro"
"""Job kind; the key is the session's id."""

AGAIN: Final = 5.0
"""Seconds after which a session is looked at again whose extraction had not run yet."""

_HEARD: Final = (
    MessageKind.PROMPT,
    MessageKind.REPLY,
    MessageKind.TOOL_CALL,
    MessageKind.TOOL_RESULT,
    MessageKind.NOTICE,
)
_TOOL_CHARS: Final = 2000


def run(job: Job, deps: Deps) -> None:
    """Write the retrospective of a session and what of its briefings was used; running it again changes nothing."""
    with deps.db.read() as tx:
        session = get(tx, Session, id=job.key)
        if session is None:
            return
    following = Following(deps, session, cut=_TOOL_CHARS)
    look = Look(session=session)
    for messages in pages(deps.db, session, _HEARD, _TOOL_CHARS):
        deps.beat(f"looking back at session {session.native_id}")
        following.hear(messages)
        with deps.db.read() as tx:
            tails = tails_of(tx, messages, _TOOL_CHARS)
        for message in messages:
            look.hear(message, tails.get(message.id))
    file_candidates(deps, session, look)
    with deps.db.read() as tx:
        tokens = tokens_before(tx, session, look.first_edit)
        points = points_of(tx, session, look, tokens)
    _write(deps, session, look.finish(deps.now(), tokens), points, following)


def _write(
    deps: Deps, session: Session, found: Retrospective, points: Sequence[RetroPoint], following: Following
) -> None:
    with deps.db.write() as tx:
        if get(tx, Session, id=session.id) is None:
            return
        before = load(tx, session.id)
        after = replace(found, created_at=before.created_at) if before is not None else found
        if after != before:
            upsert(tx, after)
        keep(tx, session, points)
        following.keep(tx)
        if _is_unread(tx, session):
            enqueue(tx, kind=KIND, key=session.id, project_id=session.project_id, now=deps.now(), delay=AGAIN)
        _have_tied(tx, session.project_id, deps.now())
        enqueue(tx, kind=DIGEST, key=session.id, project_id=session.project_id, now=deps.now())
        if deps.config.llm.retro and is_recent(session, deps.config, deps.now()):
            enqueue(tx, kind=RETRO_MODEL, key=session.id, project_id=session.project_id, now=deps.now(),
                    delay=RETRO_MODEL_DELAY)  # fmt: skip


def _is_unread(tx: Tx, session: Session) -> bool:
    """Whether its extraction is still to come, so that what is new or known cannot be told yet."""
    sql = "SELECT 1 FROM job WHERE kind = :kind AND key = :key AND state IN ('queued', 'running')"
    return tx.one(sql, kind=EXTRACT, key=session.id) is not None


def _have_tied(tx: Tx, project: ProjectId, now: Micros) -> None:
    """Have the project's sessions tied to threads; one job for all of them."""
    key = canonical(tx, project)
    enqueue(tx, kind=THREAD, key=key, project_id=key, now=now, delay=THREAD_DELAY)
