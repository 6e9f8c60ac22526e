"""What memory had before a session began, and what it has since the session: the SQL of rediscovery."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from flywheel.behaviour.watching import outermost
from flywheel.harvest.rules.bugs import is_error
from flywheel.harvest.rules.values import Quote
from flywheel.model import (
    GLOBAL,
    Category,
    Clean,
    EntryId,
    Message,
    MessageId,
    Micros,
    ProjectId,
    Role,
    Session,
    evidence_id,
)
from flywheel.projects.queries import family
from flywheel.retro.rules.discoveries import Discovery
from flywheel.retro.rules.rediscovery import Again, Known
from flywheel.retro.rules.steps import Step, Tail
from flywheel.retro.rules.values import MOST, NEW, Point
from flywheel.store import Row, Tx
from flywheel.store.chunks import chunks
from flywheel.store.json import load
from flywheel.store.mapper import get
from flywheel.text.compose import reworded

SERVED: Final = ("candidate", "confirmed")
"""States of entries that memory tells."""

CHARS: Final = 4
"""Characters of a token, about."""

_SAID: Final = """
SELECT e.id, e.category, e.tags, k.role, k.said_at, c.message_id, c.start, c.stop, c.quote
FROM claim k JOIN entry e ON e.id = k.entry_id JOIN citation c ON c.claim_id = k.id
WHERE k.session_id = :session AND e.status IN :served AND k.status <> 'rejected' AND c.message_id IS NOT NULL
ORDER BY k.said_at, k.id, c.id LIMIT 2000"""

_EARLIER: Final = """
SELECT entry_id, MIN(said_at), MIN(recorded_at) FROM claim
WHERE entry_id IN :ids AND said_at < :started AND (session_id IS NULL OR session_id NOT IN :own) GROUP BY entry_id"""

_TREE: Final = """
WITH RECURSIVE tree (id) AS (SELECT id FROM session WHERE id = :id UNION
 SELECT session.id FROM session JOIN tree ON session.parent_id = tree.id) SELECT id FROM tree ORDER BY id LIMIT 500"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What memory had and has of a session."""

    started: Micros  # when the session began, or the one that it helps
    known: Sequence[Known] = ()  # entries that tell a file or command that was found out
    again: Sequence[Again] = ()  # what was explained or worked out again
    fresh: Sequence[Point] = ()  # entries that begin with this session
    told: Mapping[str, Micros] = field(default_factory=dict)  # entry → when a briefing first told it


def memory_of(tx: Tx, session: Session, found: Sequence[Discovery]) -> Memory:
    """Read it; bounded by what the session found and said."""
    root = _root(tx, session)
    own = [id for (id,) in tx.all(_TREE, id=root.id)] or [root.id]
    projects = [*family(tx, session.project_id), GLOBAL]
    said = _said(tx, session)
    names = _names(tx, projects, found)
    earlier = _earlier(tx, [*said, *names], root.started_at, own)
    words = _words(tx, list(names))
    known = [
        Known(entry_id=EntryId(id), words=words.get(id, ""), names=tuple(names[id]), said_at=at, recorded_at=had)
        for id, (at, had) in earlier.items()
        if id in names
    ]
    again = [_again(rows[0], earlier[id]) for id, rows in said.items() if id in earlier and _explains(rows[0])]
    fresh = [_fresh(rows[0]) for id, rows in said.items() if id not in earlier][:MOST]
    told = _told(tx, (session, root), [*known, *(one.known for one in again)])
    return Memory(started=root.started_at, known=known, again=again, fresh=fresh, told=told)


def tokens_before(tx: Tx, session: Session, step: Step | None) -> int:
    """What was said until a step, in tokens, about: a quarter of its characters; 0 for none."""
    if step is None:
        return 0
    row = tx.one(
        "SELECT SUM(LENGTH(m.text)) FROM message m WHERE m.session_id = :id AND m.ordinal < :at"
        " AND NOT EXISTS (SELECT 1 FROM retraction r WHERE r.message_id = m.id)",
        id=session.id,
        at=step.ordinal,
    )
    return int(row[0] or 0) // CHARS if row is not None else 0


def tails_of(tx: Tx, messages: Sequence[Message], cut: int) -> dict[str, Tail]:
    """The ends of failed results that were cut to ``cut`` characters, by message."""
    ids = [one.id for one in messages if is_error(one) and len(one.text) >= cut]
    found: dict[str, Tail] = {}
    for chunk in chunks(ids):
        rows = tx.all(
            "SELECT id, LENGTH(text), SUBSTR(text, LENGTH(text) - :cut + 1) FROM message"
            " WHERE id IN :ids AND LENGTH(text) > :cut",
            ids=chunk,
            cut=cut,
        )
        for id, length, text in rows:
            found[id] = Tail(length - cut, reworded(text, text))
    return found


def _root(tx: Tx, session: Session) -> Session:
    """The session that began it all: a subagent has what its parent had."""
    if session.parent_id is None:
        return session
    return get(tx, Session, agent=session.agent, native_id=outermost(tx, session)) or session


def _said(tx: Tx, session: Session) -> dict[str, list[Row]]:
    """Entry → its citations in this session, the first one first; without commands, which merely ran."""
    found: dict[str, list[Row]] = {}
    for row in tx.all(_SAID, session=session.id, served=list(SERVED)):
        if "command" not in load(row[2]):
            found.setdefault(row[0], []).append(row)
    return found


def _names(tx: Tx, projects: Sequence[ProjectId], found: Iterable[Discovery]) -> dict[str, list[str]]:
    """Entry → the files and commands that it tells of those that were found out."""
    names: dict[str, list[str]] = {}
    for one in found:
        rows = _files(tx, projects, one.name) if one.kind == "file" else _commands(tx, projects, one.name)
        for id, name in rows:
            names.setdefault(id, []).append(name)
    return names


def _files(tx: Tx, projects: Sequence[ProjectId], path: Clean) -> list[tuple[str, str]]:
    parts = path.split("/")
    tails = ["/".join(parts[at:]) for at in range(len(parts))]
    rows = tx.all(
        "SELECT l.entry_id, l.name FROM entry_link l JOIN entry e ON e.id = l.entry_id"
        " WHERE l.project_id IN :projects AND l.kind = 'file' AND l.name IN :names AND e.status IN :served"
        " ORDER BY l.entry_id LIMIT 200",
        projects=list(projects),
        names=[*tails, *(f"./{tail}" for tail in tails)],
        served=list(SERVED),
    )
    return [(id, name) for id, name in rows]


def _commands(tx: Tx, projects: Sequence[ProjectId], command: Clean) -> list[tuple[str, str]]:
    """Entries of this very command, and claims that tell it in back quotes."""
    like = command.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    rows = tx.all(
        "SELECT e.id, '' FROM entry e WHERE e.project_id IN :projects AND e.key = :key AND e.status IN :served"
        " UNION SELECT e.id, k.text FROM claim k JOIN entry e ON e.id = k.entry_id WHERE k.project_id IN :projects"
        " AND k.text LIKE :like ESCAPE '\\' AND k.status IN :served AND e.status IN :served",
        projects=list(projects),
        key=evidence_id("command", command),
        like=f"%`{like}`%",
        served=list(SERVED),
    )
    return [(id, str(command)) for id, text in sorted(rows) if not text or f"`{command}`" in text]


def _earlier(tx: Tx, ids: Iterable[str], started: Micros, own: Sequence[str]) -> dict[str, tuple[Micros, Micros]]:
    """Entry → when it was first said, and first recorded, by others and before the session began."""
    found: dict[str, tuple[Micros, Micros]] = {}
    for chunk in chunks(sorted(set(ids))):
        for id, at, had in tx.all(_EARLIER, ids=chunk, started=started, own=list(own)):
            found[id] = (Micros(at), Micros(had))
    return found


def _words(tx: Tx, ids: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for chunk in chunks(sorted(ids)):
        for id, title, summary in tx.all("SELECT id, title, summary FROM entry WHERE id IN :ids", ids=chunk):
            found[id] = f"{title} {summary}"
    return found


def _told(tx: Tx, sessions: Sequence[Session], known: Sequence[Known]) -> dict[str, Micros]:
    ids = sorted({one.entry_id for one in known})
    found: dict[str, Micros] = {}
    for session in {one.id: one for one in sessions}.values():
        for chunk in chunks(ids):
            rows = tx.all(
                "SELECT item_id, MIN(created_at) FROM injection WHERE native_session = :native AND agent = :agent"
                " AND item_kind = 'entry' AND item_id IN :ids GROUP BY item_id",
                native=session.native_id,
                agent=session.agent,
                ids=chunk,
            )
            for id, at in rows:
                found[id] = min(Micros(at), found.get(id, Micros(at)))
    return found


def _explains(row: Row) -> bool:
    """Whether somebody said it, rather than a tool."""
    return row[3] in (Role.USER.value, Role.ASSISTANT.value)


def _quote(row: Row) -> Quote:
    return Quote(message_id=MessageId(row[5]), start=row[6], stop=row[7], quote=row[8])


def _again(row: Row, earlier: tuple[Micros, Micros]) -> Again:
    known = Known(entry_id=EntryId(row[0]), words="", said_at=earlier[0], recorded_at=earlier[1])
    return Again(known=known, quote=_quote(row), at=Micros(row[4]), by_user=row[3] == Role.USER.value)


def _fresh(row: Row) -> Point:
    spot = _quote(row)
    subject = reworded(Category(row[1]).value, spot.quote)
    return Point(section=NEW, kind="learned", subject=subject, cites=[spot], entry_id=EntryId(row[0]))
