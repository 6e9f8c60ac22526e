"""Anything that has an id, for reading: which row an id means, and how it is shown."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from flywheel.api import Briefing, Item, Receipt, Shown
from flywheel.context.record import ROWLESS
from flywheel.errors import Conflict, NotFound
from flywheel.model import (
    SHORT,
    Claim,
    Document,
    Entry,
    Message,
    Project,
    Retrospective,
    Session,
    Symbol,
    short_id,
)
from flywheel.store import Tx
from flywheel.store.mapper import find, get

Found = Entry | Message | Session | Document | Symbol | Project

KEPT: Final = 500
"""Items of printed briefings that `show` can still show."""

HASHED: Final[Sequence[type[Message] | type[Session] | type[Document] | type[Symbol]]] = (
    Session,
    Message,
    Document,
    Symbol,
)
"""What has a hash for an id and is found by its head."""


class Printed:
    """What the last briefings told that has no row of its own (a folder, a skill, a file's text), for `show`."""

    def __init__(self) -> None:
        self._items: OrderedDict[str, Item] = OrderedDict()
        self._lock = threading.Lock()

    def remember(self, briefing: Briefing) -> None:
        """Keep its items; the oldest go."""
        with self._lock:
            for item in (item for part in briefing.slices for item in part.items if item.kind in ROWLESS):
                self._items[item.id] = item
                self._items.move_to_end(item.id)
            while len(self._items) > KEPT:
                self._items.popitem(last=False)

    def find(self, wanted: str) -> Shown | None:
        """The newest item whose id begins so."""
        with self._lock:
            found = next((item for id, item in reversed(self._items.items()) if id.startswith(wanted)), None)
        if found is None:
            return None
        title = found.text.partition("\n")[0].partition("] ")[2][:120]
        return _shown(found.kind, found.id, title, {"told": "by a briefing printed here"}, found.text)


def plain_id(text: str) -> str:
    """An id as a person copies it, without its ornaments."""
    return text.strip().removeprefix("[").removesuffix("]").removeprefix("fw:")


def resolve_id(tx: Tx, text: str) -> Found:
    """The one thing that ``text`` names: a full id, a short id, a native session id, or a project's name.

    Raises NotFound, or Conflict that lists the candidates.
    """
    wanted = plain_id(text)
    found: list[Found] = []
    found += find(tx, Entry, "WHERE id = :id OR short = :id LIMIT 5", id=wanted)
    if re.fullmatch(r"[0-9a-f]{4,32}", wanted):
        for kind in HASHED:
            found += find(tx, kind, "WHERE id >= :low AND id < :high LIMIT 5", low=wanted, high=wanted + "g")
    if not found:
        found += find(tx, Session, "WHERE native_id = :id LIMIT 5", id=wanted)
        found += find(tx, Project, "WHERE id = :id OR name = :id LIMIT 5", id=wanted)
    if not found:
        raise NotFound(f"nothing here has the id {text!r}; ids are printed as [fw:{'x' * SHORT}]")
    if len(found) > 1:
        names = ", ".join(f"{type(one).__name__.lower()} {one.id}" for one in found)
        raise Conflict(f"{text!r} names {len(found)} things: {names}")
    return found[0]


def show_thing(tx: Tx, thing: Found) -> Shown:
    """The thing as labelled facts, a body and its receipts."""
    match thing:
        case Entry():
            return _entry(tx, thing)
        case Message():
            return _message(tx, thing)
        case Session():
            return _session(tx, thing)
        case Document():
            facts = {"path": str(thing.path), "kind": thing.kind, "recorded": _when(thing.created_at)}
            return _shown("document", thing.id, thing.title, facts, thing.text)
        case Symbol():
            facts = {"kind": thing.kind, "where": f"{thing.path}:{thing.start_line}", "signature": str(thing.signature)}
            return _shown("symbol", thing.id, thing.qualified, facts, thing.doc)
        case Project():
            return _project(tx, thing)


def _shown(
    kind: str,
    id: str,
    title: str,
    facts: Mapping[str, str],
    body: str,
    receipts: Sequence[Receipt] = (),
    links: Sequence[str] = (),
) -> Shown:
    kept = {name: value for name, value in facts.items() if value}
    return Shown(
        kind=kind, id=id, short=short_id(id), title=title, facts=kept, body=body, receipts=receipts, links=links
    )


def _when(micros: int | None) -> str:
    return datetime.fromtimestamp(micros / 1e6, UTC).strftime("%Y-%m-%d %H:%M UTC") if micros else ""


RECEIPTS: Final = """
SELECT c.quote, m.role, s.agent, s.id, s.title, m.id, m.created_at
FROM claim k JOIN citation c ON c.claim_id = k.id JOIN message m ON m.id = c.message_id
JOIN session s ON s.id = m.session_id
WHERE k.entry_id = :entry ORDER BY m.created_at, c.start
"""

LINKED: Final = """
SELECT g.kind, 0, e.short, e.title, e.status FROM edge g JOIN entry e ON e.id = g.target_id WHERE g.source_id = :id
UNION ALL
SELECT g.kind, 1, e.short, e.title, e.status FROM edge g JOIN entry e ON e.id = g.source_id WHERE g.target_id = :id
"""


def _entry(tx: Tx, entry: Entry) -> Shown:
    claims = find(tx, Claim, "WHERE entry_id = :id ORDER BY said_at", id=entry.id)
    timeline = [f"{_when(c.said_at)[:10]}  {c.type}, {c.status}, said by {c.role}: {c.text}" for c in claims]
    timeline = list(dict.fromkeys(timeline))
    facts = {
        "type": str(entry.type),
        "status": str(entry.status),
        "category": str(entry.category),
        "scope": str(entry.scope),
        "evidence": f"{entry.evidence} session{'s' if entry.evidence != 1 else ''}",
        "tags": ", ".join(entry.tags),
        "updated": _when(entry.updated_at),
        "confirmed": _when(entry.last_confirmed) or "never",
    }
    body = "\n".join(
        part for part in (str(entry.body or entry.summary), "", "Timeline:", *timeline) if part or timeline
    )
    receipts = dict.fromkeys(
        Receipt(quote=q, said_by=r, agent=a, session_id=s, session_title=t, message_id=m, at=at)
        for q, r, a, s, t, m, at in tx.all(RECEIPTS, entry=entry.id)
    )
    rows = tx.all(LINKED, id=entry.id)
    links = [
        f"{'is ' if back else ''}{kind}{' of' if back else ''} [fw:{short}] {title} ({status})"
        for kind, back, short, title, status in rows
    ]
    return _shown("entry", entry.id, entry.title, facts, body, tuple(receipts), links)


def _message(tx: Tx, message: Message) -> Shown:
    session = get(tx, Session, id=message.session_id)
    near = find(
        tx,
        Message,
        "WHERE session_id = :s AND ordinal BETWEEN :low AND :high ORDER BY ordinal",
        s=message.session_id,
        low=message.ordinal - 2,
        high=message.ordinal + 2,
    )
    facts = {
        "who": f"{message.role}, {message.kind}" + (f", {message.tool}" if message.tool else ""),
        "when": _when(message.created_at),
        "session": f"[fw:{short_id(message.session_id)}] {session.title if session else ''}",
    }
    links = [f"{m.role} [fw:{short_id(m.id)}] {m.text[:100]}" for m in near if m.id != message.id]
    return _shown("message", message.id, message.text.strip().split("\n")[0][:100], facts, message.text, (), links)


def _session(tx: Tx, session: Session) -> Shown:
    from flywheel.retro import rules as retro  # brings in the extraction rules, which the daemon does not run

    look = get(tx, Retrospective, session_id=session.id)
    project = get(tx, Project, id=session.project_id)
    facts = {
        "agent": f"{session.agent} {session.client_version}".strip(),
        "project": str(project.name) if project else "",
        "native id": session.native_id,
        "folder": str(session.cwd),
        "branch": str(session.branch),
        "from": _when(session.started_at),
        "to": _when(session.last_at),
        "messages": str(session.messages),
        "parent": f"[fw:{short_id(session.parent_id)}]" if session.parent_id else "",
    }
    body = "\n".join(retro.lines(look)) if look else "No retrospective yet: the session may still go on."
    entries = tx.all(
        "SELECT DISTINCT e.short, e.title, e.status FROM claim c JOIN entry e ON e.id = c.entry_id"
        " WHERE c.session_id = :id LIMIT 20",
        id=session.id,
    )
    links = [f"[fw:{short}] {title} ({status})" for short, title, status in entries]
    return _shown("session", session.id, session.title or session.native_id, facts, body, (), links)


def _project(tx: Tx, project: Project) -> Shown:
    sessions = find(tx, Session, "WHERE project_id = :id ORDER BY last_at DESC LIMIT 10", id=project.id)
    facts = {"key": str(project.key), "root": str(project.root), "alias of": project.alias_of or ""}
    links = [f"[fw:{short_id(s.id)}] {_when(s.last_at)[:10]} {s.title}" for s in sessions]
    return _shown("project", project.id, project.name, facts, "", (), links)
