"""The extract job: one session's messages through the rules into candidate entries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from flywheel.harvest.entries import write_drafts
from flywheel.harvest.entry_structure import settle_statements
from flywheel.harvest.entry_upkeep import refresh
from flywheel.harvest.models.following import follow
from flywheel.harvest.refused import remember
from flywheel.harvest.rules import drafts_of
from flywheel.harvest.rules.bugs import is_error
from flywheel.harvest.rules.session import TOOL_CHARS
from flywheel.jobs.worker import Deps, Stopped
from flywheel.knowledge import states
from flywheel.knowledge.across import borrowing
from flywheel.knowledge.glossary import noticing
from flywheel.knowledge.glossary.noticing import Noticed
from flywheel.knowledge.states import RULES
from flywheel.model import Claim, Entry, Job, Message, MessageKind, Micros, Session, Status
from flywheel.store import Db
from flywheel.store.mapper import columns, decode, find, get
from flywheel.text.compose import fixed
from flywheel.text.signatures import marks_in

KIND: Final = "extract"
"""Job kind; the key is the session's id."""

BATCH: Final = 4
"""Drafts of one transaction, which keeps it within 20 ms."""

PAGE: Final = 500
"""Messages read at a time."""

MARKS: Final = 200
"""Errors of one session that are compared with those of other projects."""

_HEARD: Final = (MessageKind.PROMPT, MessageKind.REPLY, MessageKind.TOOL_CALL, MessageKind.TOOL_RESULT)


def run(job: Job, deps: Deps) -> None:
    """Write what a session says that is worth keeping; running it again changes nothing.

    Raises Stopped between two transactions when the process is asked to end.
    """
    with deps.db.read() as tx:
        session = get(tx, Session, id=job.key)
    if session is None:
        return
    floor, subagent = deps.config.extract.floor, session.parent_id is not None
    noticed: list[Noticed] = []
    marks: dict[str, None] = {}
    found = drafts_of(_heard(deps, session, noticed, marks), floor=floor, subagent=subagent)
    refused = Counter(found.rejected)
    drafts = [*found.drafts, *found.questions]
    for start in range(0, len(drafts), BATCH):
        if deps.stopping():
            raise Stopped
        deps.beat(f"writing what session {session.native_id} says")
        with deps.db.write(bulk=True) as tx:
            if get(tx, Session, id=session.id) is None:
                return
            refused += write_drafts(tx, drafts[start : start + BATCH], session, deps.now()).refused
    if noticed:
        with deps.db.write(bulk=True) as tx:
            if get(tx, Session, id=session.id) is not None:
                noticing.propose(tx, session.project_id, noticed, deps.now())
    if marks or found.drafts:
        with deps.db.write(bulk=True) as tx:
            borrowing.meet_errors(tx, session.project_id, list(marks), deps.now())
    _withdraw_retracted(deps.db, session, deps.now())
    remember(deps.db, session, len(found.drafts), refused)
    if deps.llm().available:
        with deps.db.write() as tx:
            follow(tx, session, deps.config, deps.now())


def _heard(deps: Deps, session: Session, noticed: list[Noticed], marks: dict[str, None]) -> Iterator[Message]:
    """The messages; what they define for the glossary, and which errors tools met, is noticed by the way."""
    for messages in pages(deps.db, session, _HEARD, TOOL_CHARS):
        deps.beat(f"reading session {session.native_id}")
        for message in messages:
            if len(noticed) < noticing.AT_ONCE:
                noticed.extend(noticing.in_message(message))
            if is_error(message) and len(marks) < MARKS:
                marks.update(dict.fromkeys(marks_in(message.text)))
            yield message


def pages(db: Db, session: Session, kinds: tuple[MessageKind, ...], tool_chars: int) -> Iterator[list[Message]]:
    """A session's messages that stand, in order, a page at a time; of what tools said only the head."""
    names = columns(Message, "m").replace(
        'm."text"', "CASE WHEN m.kind LIKE 'tool%' THEN substr(m.text, 1, :chars) ELSE m.text END"
    )
    after = (-1, "")
    while True:
        with db.read() as tx:
            rows = tx.all(
                f"SELECT {names} FROM message m WHERE m.session_id = :session AND m.kind IN :kinds"
                ' AND (m.ordinal > :after OR (m.ordinal = :after AND m.id COLLATE "C" > :id))'
                " AND NOT EXISTS (SELECT 1 FROM retraction r WHERE r.message_id = m.id)"
                ' ORDER BY m.ordinal, m.id COLLATE "C" LIMIT :limit',
                session=session.id,
                after=after[0],
                id=after[1],
                kinds=[kind.value for kind in kinds],
                chars=tool_chars,
                limit=PAGE,
            )
        messages = [decode(Message, row) for row in rows]
        if messages:
            yield messages
        if len(messages) < PAGE:
            return
        after = (messages[-1].ordinal, messages[-1].id)


_RETRACTED_SAID: Final = fixed("the words were taken back")
_RETRACTED: Final = """
SELECT DISTINCT k.id, k.entry_id FROM claim k JOIN citation c ON c.claim_id = k.id
JOIN retraction r ON r.message_id = c.message_id
WHERE k.session_id = :session AND k.status = 'candidate'
"""


def _withdraw_retracted(db: Db, session: Session, now: Micros) -> None:
    """What rests on messages that were taken back since no longer holds; the timeline keeps it."""
    with db.read() as tx:
        rows = tx.all(_RETRACTED, session=session.id)
    entries: dict[str, list[str]] = {}
    for claim, entry in rows:
        entries.setdefault(entry, []).append(claim)
    for id, claims in entries.items():
        with db.write(bulk=True) as tx:
            entry = get(tx, Entry, id=id)
            if entry is not None:
                for claim in find(tx, Claim, "WHERE id IN :ids AND status = 'candidate' ORDER BY id", ids=claims):
                    states.move(tx, claim, Status.SUPERSEDED, actor=RULES, reason=_RETRACTED_SAID, now=now)
                refresh(tx, entry, None, now, _RETRACTED_SAID)
                settle_statements(tx, entry, find(tx, Claim, "WHERE id IN :ids ORDER BY id", ids=claims), now)
