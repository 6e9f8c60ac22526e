"""Who said a quote: the message in which it stands, a person's words before all others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from flywheel.harvest.quoting import find, rarest
from flywheel.harvest.rules import Quote
from flywheel.model import Message, MessageKind, ProjectId, Session, SessionId
from flywheel.readers import session_id
from flywheel.store import Tx, mapper
from flywheel.text.compose import span

RECENT: Final = 40
"""Sessions of a project that are looked through, the latest first."""

LOOKED_AT: Final = 60
"""Messages that may hold the quote and are read, of each kind."""

_KINDS: Final = (MessageKind.PROMPT, MessageKind.TOOL_RESULT, MessageKind.REPLY)
"""In order of preference. Calls are left out, above all that of the tool which proposes."""

_HOLDING: Final = r"""
SELECT {columns} FROM message m WHERE m.session_id IN :sessions AND m.kind = :kind AND m.text LIKE :part ESCAPE '\'
AND NOT EXISTS (SELECT 1 FROM retraction r WHERE r.message_id = m.id)
AND (m.kind <> 'prompt' OR NOT EXISTS (SELECT 1 FROM session s WHERE s.id = m.session_id AND s.parent_id IS NOT NULL))
ORDER BY m.created_at DESC, m.id LIMIT :limit
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A quote with the message and the session that it stands in."""

    quote: Quote
    message: Message
    session: Session


def who_said(tx: Tx, quote: str, *, agent: str, session: str, projects: Sequence[ProjectId]) -> Said | None:
    """The newest message that holds the quote: a person's, then a tool's, then the assistant's.

    Of each sort those of the running session (native id, with its subagents) come first, then those of the projects'
    recent sessions. A subagent's prompts are no person's: an agent wrote them. None when nobody said it.
    """
    own = _own(tx, agent, session)
    others = [one for one in _recent(tx, projects) if one not in own]
    for kind in _KINDS:
        for sessions in (own, others):
            said = _among(tx, quote, kind, sessions)
            if said is not None:
                return said
    return None


def _own(tx: Tx, agent: str, session: str) -> list[SessionId]:
    if not session:
        return []
    named = (
        [session_id(agent, session)]
        if agent
        else [row[0] for row in tx.all("SELECT id FROM session WHERE native_id = :id LIMIT 5", id=session)]
    )
    children = tx.all("SELECT id FROM session WHERE parent_id IN :ids", ids=named)
    return [*named, *(SessionId(id) for (id,) in children)]


def _recent(tx: Tx, projects: Sequence[ProjectId]) -> list[SessionId]:
    rows = tx.all(
        "SELECT id FROM session WHERE project_id IN :projects ORDER BY last_at DESC LIMIT :limit",
        projects=list(projects),
        limit=RECENT,
    )
    return [SessionId(id) for (id,) in rows]


def _among(tx: Tx, quote: str, kind: MessageKind, sessions: Sequence[SessionId]) -> Said | None:
    if not sessions:
        return None
    part = rarest(quote).replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    rows = tx.all(
        _HOLDING.format(columns=mapper.columns(Message, "m")),
        sessions=sessions,
        kind=kind.value,
        part=f"%{part}%",
        limit=LOOKED_AT,
    )
    for row in rows:
        message = mapper.decode(Message, row)
        place = find(message.text, quote)
        found = mapper.get(tx, Session, id=message.session_id) if place else None
        if place and found:
            start, stop = place
            text = span(message.text, start, stop)
            return Said(
                quote=Quote(message_id=message.id, start=start, stop=stop, quote=text), message=message, session=found
            )
    return None
