"""The verb ``confirm_by_words``: a person's words to an agent, found and checked by code, confirm what they mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from flywheel.api import Done
from flywheel.app.parts import Parts, wall_clock
from flywheel.app.proposing import SOON, unread
from flywheel.app.reviewing import target
from flywheel.errors import BadInput, Conflict, NotFound, Refused, Unavailable
from flywheel.harvest import assent, quoting
from flywheel.harvest.assent import Heard
from flywheel.knowledge import confirming
from flywheel.knowledge.changing import claims_of
from flywheel.knowledge.compiling import main_claim
from flywheel.knowledge.deciding import Act, Target
from flywheel.model import (
    Claim,
    ClaimType,
    Entry,
    Injection,
    Message,
    MessageKind,
    Micros,
    Role,
    Session,
    Status,
    evidence_id,
    short_id,
)
from flywheel.readers import session_id
from flywheel.store import Tx, mapper
from flywheel.text.compose import is_injected

LOOKED_AT: Final = 60
"""The user's last messages of a session that are looked through."""

REPLIES: Final = 3
"""The assistant's messages before the user's that are one turn with it."""

TOLD: Final = 50
"""Entries that one answer may have shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What is to be confirmed, in which session."""

    target: Target
    entry: Entry
    statement: str
    session: Session


def note_told(parts: Parts, ids: list[str], *, agent: str, session: str) -> Done:
    """Keep in the ledger that a session was shown these entries; once each."""
    if not session or not ids:
        return Done(ok=True, message="Nothing to note.", counts={"told": 0})
    now = wall_clock()
    with parts.db.write() as tx:
        rows = tx.all("SELECT id, project_id FROM entry WHERE id IN :ids", ids=ids[:TOLD])
        injections = [
            Injection(
                briefing_id=f"told-{evidence_id(agent, session)}",
                project_id=project,
                session_id=session_id(agent, session),
                native_session=session,
                agent=agent,
                event="tool",
                source="mcp",
                item_kind="entry",
                item_id=id,
                tokens=0,
                created_at=now,
            )
            for id, project in rows
        ]
        count = mapper.insert_many(tx, injections)
    return Done(ok=True, message="Noted.", counts={"told": count})


def confirm_by_words(parts: Parts, poke: Callable[[], None], *, id: str, quote: str, session: str, agent: str) -> Done:
    """Confirm what a person's words in the running session state or say yes to. Raises as `Api.confirm_by_words`."""
    _bearable(quote, session, agent)
    words = parts.redact.text(quote.strip())
    with parts.db.read() as tx:
        asked = _asked(tx, id, session, agent)
        found, lacking = _found(tx, asked, words, agent)
    if found is None and unread(parts, agent=agent, session=session):
        poke()
        why = lacking or "no such words of the user were found so far"
        raise Unavailable(f"{why}; what was said last is not read yet, try again in a moment", again_seconds=SOON)
    if found is None:
        raise Refused(
            lacking
            or "the quote is no message of the user in this session since it was shown; copy what the user said exactly"
        )
    message, start, stop = found
    act = Act(
        actor=parts.redact.text(f"agent:{agent} via mcp: quote [fw:{short_id(message.id)}]"),
        now=wall_clock(),
        reason=parts.redact.text(f"the user's words in message {message.id} at {start}-{stop}"),
    )
    with parts.db.write() as tx:
        now = target(tx, asked.target.id)
        changed = confirming.confirm(tx, now, act)
    poke()
    told = f"[fw:{asked.entry.short}]: confirmed by the user's words" + ("." if changed else " already.")
    return Done(ok=True, message=told, counts={"changed": int(changed)})


def _bearable(quote: str, session: str, agent: str) -> None:
    if not session or not agent:
        raise Refused(
            "only words of the running session count, and which one it is was not told; a person confirms in a"
            " terminal: flywheel review"
        )
    if not quote.strip() or len(quote) > quoting.LONGEST:
        raise BadInput(f"the field 'quote' must have between 1 and {quoting.LONGEST} characters", field="quote")
    if is_injected(quote):
        raise BadInput("the field 'quote' holds an answer of Flywheel's own, which proves nothing", field="quote")


def _asked(tx: Tx, id: str, session: str, agent: str) -> _Asked:
    """What is named, if an agent may pass on a person's word about it. Raises Refused, Conflict, NotFound."""
    one = target(tx, id)
    entry = one if isinstance(one, Entry) else mapper.get(tx, Entry, id=one.entry_id)
    running = mapper.get(tx, Session, id=session_id(agent, session))
    if entry is None:
        raise NotFound(f"the entry of {id!r} is gone")
    claims = claims_of(tx, entry.id) if isinstance(one, Entry) else [one]
    main = main_claim(claims) or (claims[-1] if claims else None)
    kind = one.type if isinstance(one, Claim) else entry.type
    if ClaimType.EXTERNAL in (kind, main.type if main else kind) or (main is not None and main.role is Role.TOOL):
        raise Refused(
            f"[fw:{entry.short}] is what a page or a tool said: a person confirms it in a terminal (flywheel review),"
            " no agent"
        )
    if entry.status in (Status.REJECTED, Status.SUPERSEDED, Status.STALE):
        raise Refused(f"[fw:{entry.short}] is {entry.status.value}: a person looks at it (flywheel review), no agent")
    if entry.status is Status.DISPUTED and isinstance(one, Entry):
        raise Conflict(f"[fw:{entry.short}] is disputed: a person chooses in a terminal: flywheel review")
    if running is None or running.parent_id is not None:
        raise Refused("this session is not known, or is a subagent's, to which no person speaks")
    if tx.one("SELECT 1 FROM upload_session WHERE session_id = :id LIMIT 1", id=running.id) is not None:
        raise Refused(
            "this session came over the socket, where anybody may write lines for the user: a person confirms it in a"
            " terminal (flywheel review), no agent"
        )
    statement = one.text if isinstance(one, Claim) else entry.summary or entry.title
    return _Asked(target=one, entry=entry, statement=statement, session=running)


_PROMPTS: Final = """
SELECT {columns} FROM message m WHERE m.session_id = :session AND m.kind = :kind AND m.role = :role
AND NOT EXISTS (SELECT 1 FROM retraction r WHERE r.message_id = m.id) ORDER BY m.ordinal DESC, m.id LIMIT :limit
"""


def _found(tx: Tx, asked: _Asked, words: str, agent: str) -> tuple[tuple[Message, int, int] | None, str]:
    """The newest message of the user that confirms, with the place of the quote; else what was missing, if anything."""
    shown = _shown(tx, asked, agent)
    if shown is None:
        return None, f"this session was not shown [fw:{asked.entry.short}] yet: `get` it, tell the user, and ask"
    lacking = ""
    for row in tx.all(
        _PROMPTS.format(columns=mapper.columns(Message, "m")),
        session=asked.session.id,
        kind=MessageKind.PROMPT.value,
        role=Role.USER.value,
        limit=LOOKED_AT,
    ):
        message = mapper.decode(Message, row)
        place = quoting.find(message.text, words)
        if place is None:
            continue
        if message.created_at <= shown:
            lacking = lacking or f"the user said that before [fw:{asked.entry.short}] was shown; ask again"
            continue
        heard = Heard(text=message.text, start=place[0], stop=place[1], reply=_before(tx, message))
        reason = assent.missing(heard, asked.statement, asked.entry.short)
        if not reason:
            return (message, *place), ""
        lacking = lacking or reason
    return None, lacking


def _shown(tx: Tx, asked: _Asked, agent: str) -> Micros | None:
    """When the session first had the entry before it: in a briefing, from a tool, or named by the assistant itself."""
    row = tx.one(
        "SELECT MIN(created_at) FROM injection WHERE item_id = :entry AND native_session = :session AND agent = :agent",
        entry=asked.entry.id,
        session=asked.session.native_id,
        agent=agent,
    )
    times = [Micros(row[0])] if row and row[0] is not None else []
    spoken = tx.all(
        "SELECT created_at, text FROM message WHERE session_id = :session AND kind = :kind AND text LIKE :named"
        " ORDER BY ordinal LIMIT 5",
        session=asked.session.id,
        kind=MessageKind.REPLY.value,
        named=f"%fw:{asked.entry.short}%",
    )
    times += [Micros(at) for at, text in spoken if assent.shows(text, asked.entry.short)][:1]
    return min(times, default=None)


def _before(tx: Tx, message: Message) -> str:
    """What the assistant said just before a message of the user."""
    rows = tx.all(
        "SELECT kind, text FROM message m WHERE session_id = :session AND ordinal < :at AND kind IN :kinds"
        " AND NOT EXISTS (SELECT 1 FROM retraction r WHERE r.message_id = m.id) ORDER BY ordinal DESC, id LIMIT :many",
        session=message.session_id,
        at=message.ordinal,
        kinds=[MessageKind.REPLY.value, MessageKind.PROMPT.value],
        many=REPLIES,
    )
    said: list[str] = []
    for kind, text in rows:
        if kind == MessageKind.PROMPT:
            break
        said.append(text)
    return "\n".join(reversed(said))
