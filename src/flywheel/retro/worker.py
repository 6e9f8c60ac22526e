"""The retrospective job: looks back at one session, keeps what it came to, and marks what was of use."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from flywheel.harvest.extract import pages
from flywheel.jobs.worker import Deps
from flywheel.model import Job, MessageKind, Retrospective, Session
from flywheel.retro.queries import injections, load, mark_used, marked
from flywheel.retro.rules import Look
from flywheel.retro.usefulness import Watch, verdict
from flywheel.store.mapper import get, upsert

KIND: Final = "retro"
"""Job kind; the key is the session's id."""

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
        ledger = injections(tx, session)
        watch = Watch(marked(tx, ledger))
    judged = [item.id for item in watch.items]
    look = Look(session=session)
    for messages in pages(deps.db, session, _HEARD, _TOOL_CHARS):
        deps.beat(f"looking back at session {session.native_id}")
        for message in messages:
            look.hear(message)
            watch.hear(message)
    known = {row.item_id: row.used for row in ledger}
    _write(deps, session, look.finish(deps.now()), verdict(known, judged, watch.used))


def _write(deps: Deps, session: Session, found: Retrospective, used: dict[str, bool]) -> None:
    with deps.db.write() as tx:
        if get(tx, Session, id=session.id) is None:
            return
        before = load(tx, session.id)
        after = replace(found, created_at=before.created_at) if before is not None else found
        if after != before:
            upsert(tx, after)
        mark_used(tx, session, used)
