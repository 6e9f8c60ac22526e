"""The observe job: the new messages of one session become observations, each range of messages once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from flywheel.behaviour.decay import MICROS_A_DAY, STRATEGIES
from flywheel.behaviour.identity import local_identity
from flywheel.behaviour.observing import Noted, Watcher
from flywheel.behaviour.rules import lifetime
from flywheel.jobs import queue
from flywheel.jobs.kinds import CATCH_UP, CONSOLIDATE, CONSOLIDATE_DELAY, OBSERVE
from flywheel.jobs.worker import Deps, Stopped
from flywheel.model import (
    Job,
    Message,
    MessageId,
    MessageKind,
    Micros,
    Observation,
    Observed,
    Project,
    ProjectId,
    Session,
    evidence_id,
    new_id,
)
from flywheel.store import Tx
from flywheel.store.mapper import columns, decode, get, insert_many, upsert
from flywheel.text.redact import Redactor

KIND: Final = OBSERVE

PAGE: Final = 300
"""Messages of one transaction."""

TEXT_CHARS: Final = 8000
"""Characters that are read of a message: its head, where a prompt says what it wants."""

TAIL_CHARS: Final = 4000
"""Characters of what a tool said that are read of its end, where errors stand."""

_KINDS: Final = (MessageKind.PROMPT, MessageKind.TOOL_CALL, MessageKind.TOOL_RESULT)

_NEXT: Final = """
SELECT {columns} FROM message m WHERE m.session_id = :session AND m.kind IN :kinds
AND (m.ordinal > :after OR (m.ordinal = :after AND m.id > :id))
AND NOT EXISTS (SELECT 1 FROM retraction r WHERE r.message_id = m.id)
ORDER BY m.ordinal, m.id LIMIT :limit"""

_TEXT: Final = (
    "CASE WHEN length(m.text) <= :head THEN m.text WHEN m.kind = 'tool_result'"
    " THEN substr(m.text, 1, 400) || substr(m.text, length(m.text) - :tail + 1) ELSE substr(m.text, 1, :head) END"
)


def run(job: Job, deps: Deps) -> None:
    """Observe what a session did since the last time; running it again changes nothing."""
    with deps.db.read() as tx:
        session = get(tx, Session, id=job.key)
        if session is None:
            return
        project = get(tx, Project, id=session.project_id)
        native = outermost(tx, session)
    roots = [str(root) for root in (project.root if project else "", session.cwd) if root]
    watcher = Watcher(roots=roots)
    while _page(deps, session, native, watcher):
        if deps.stopping():
            raise Stopped
    idle = deps.config.extract.idle_minutes * 60.0
    quiet = (deps.now() - session.last_at) / 1e6
    with deps.db.write() as tx:
        ask(tx, local_identity(), deps.db.clock(), delay=max(0.0, idle - quiet) + CONSOLIDATE_DELAY)


def ask(tx: Tx, identity: str, now: Micros, delay: float = 0.0) -> None:
    """Have an identity's observations consolidated."""
    queue.enqueue(tx, kind=CONSOLIDATE, key=identity, project_id=None, now=now, delay=delay)


def horizon(now: Micros, decay: str) -> Micros:
    """The time before which what a session did leaves no belief by now (`rules.lifetime`), by the setting's name."""
    return Micros(now - int(lifetime(STRATEGIES[decay]) * MICROS_A_DAY))


def first_unobserved(tx: Tx, since: Micros) -> Micros | None:
    """When the earliest session began that is still to be observed; None when there is none.

    Counts are sessions heard of since a time whose job is under way, or that catching up will come to.
    """
    catching = tx.one("SELECT 1 FROM job WHERE kind = :kind AND state IN ('queued', 'running')", kind=CATCH_UP)
    no_job = "NOT EXISTS (SELECT 1 FROM job j WHERE j.kind = :kind AND j.key = s.id AND j.state = 'dead')"
    has_job = "EXISTS (SELECT 1 FROM job j WHERE j.kind = :kind AND j.key = s.id AND j.state IN ('queued', 'running'))"
    row = tx.one(
        "SELECT min(s.started_at) FROM session s WHERE s.last_at >= :since AND s.messages > 0"
        " AND NOT EXISTS (SELECT 1 FROM observed o WHERE o.session_id = s.id)"
        f" AND {no_job if catching else has_job}",
        since=since,
        kind=OBSERVE,
    )
    return Micros(row[0]) if row and row[0] is not None else None


def outermost(tx: Tx, session: Session) -> str:
    """The native id of the session that began it all: what its helpers do is one session's doing."""
    seen = {session.id}
    while session.parent_id and session.parent_id not in seen:
        parent = get(tx, Session, id=session.parent_id)
        if parent is None:
            break
        seen.add(parent.id)
        session = parent
    return session.native_id


def rows_of(
    noted: Sequence[Noted], *, native: str, project: ProjectId, identity: str, redact: Redactor
) -> list[Observation]:
    """Observations as they are stored, redacted; those of messages have ids that follow from them."""
    return [
        Observation(
            id=evidence_id("observation", identity, one.message_id, one.kind, one.subject)
            if one.message_id
            else new_id(one.at),
            project_id=project,
            native_session=native,
            identity=identity,
            kind=one.kind,
            subject=redact.text(one.subject),
            facts={name: redact.text(value) if isinstance(value, str) else value for name, value in one.facts.items()},
            created_at=one.at,
            message_id=MessageId(one.message_id) if one.message_id else None,
        )
        for one in noted
    ]


def _page(deps: Deps, session: Session, native: str, watcher: Watcher) -> bool:
    """Observe the next messages and note how far it is, in one transaction; whether there may be more."""
    with deps.db.read() as tx:
        before = get(tx, Observed, session_id=session.id)
        messages = _next(tx, session, before)
        _calls_before(tx, session, messages, watcher)
    if not messages:
        if before is None:
            _note_nothing(deps, session)
        return False
    deps.beat(f"observing session {session.native_id}")
    noted = [one for message in messages for one in watcher.see(message)]
    rows = rows_of(noted, native=native, project=session.project_id, identity=local_identity(), redact=deps.redact)
    with deps.db.write(bulk=True) as tx:
        if get(tx, Session, id=session.id) is None:
            return False
        insert_many(tx, rows)
        upsert(
            tx,
            Observed(
                session_id=session.id,
                project_id=session.project_id,
                ordinal=messages[-1].ordinal,
                message_id=messages[-1].id,
                updated_at=deps.now(),
            ),
        )
    return len(messages) == PAGE


def _note_nothing(deps: Deps, session: Session) -> None:
    """A session that did nothing was observed all the same: nobody need ask again."""
    with deps.db.write() as tx:
        if get(tx, Session, id=session.id) is not None:
            upsert(
                tx,
                Observed(
                    session_id=session.id,
                    project_id=session.project_id,
                    ordinal=-1,
                    message_id="",
                    updated_at=deps.now(),
                ),
            )


def _next(tx: Tx, session: Session, before: Observed | None) -> list[Message]:
    names = columns(Message, "m").replace('m."text"', _TEXT)
    rows = tx.all(
        _NEXT.format(columns=names),
        session=session.id,
        kinds=[kind.value for kind in _KINDS],
        after=before.ordinal if before else -1,
        id=before.message_id if before else "",
        head=TEXT_CHARS,
        tail=TAIL_CHARS,
        limit=PAGE,
    )
    return [decode(Message, row) for row in rows]


def _calls_before(tx: Tx, session: Session, messages: Sequence[Message], watcher: Watcher) -> None:
    """Calls that were observed in an earlier range and whose results are in this one."""
    made = {message.call_id for message in messages if message.kind is MessageKind.TOOL_CALL}
    open_calls = {
        message.call_id
        for message in messages
        if message.kind is MessageKind.TOOL_RESULT and message.call_id and message.call_id not in made
    } - watcher.open.keys()
    if not open_calls:
        return
    sql = (
        f"SELECT {columns(Message)} FROM message WHERE session_id = :session AND kind = 'tool_call' AND call_id IN :ids"
    )
    for row in tx.all(sql, session=session.id, ids=sorted(open_calls)):
        watcher.called(decode(Message, row))
