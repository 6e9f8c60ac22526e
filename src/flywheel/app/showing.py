"""Anything that has an id, for reading: which row an id means, and how it is shown."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from flywheel.api import Briefing, Item, Receipt, Shown
from flywheel.context.record import ROWLESS
from flywheel.digests.telling import shown as summed
from flywheel.errors import Conflict, NotFound
from flywheel.knowledge.changing import followed
from flywheel.model import (
    SHORT,
    Claim,
    Document,
    Entry,
    Feedback,
    Kind,
    Message,
    Micros,
    Project,
    RetroPoint,
    Retrospective,
    Role,
    Session,
    Symbol,
    short_id,
)
from flywheel.search.warned import warnings_of
from flywheel.store import Tx
from flywheel.store.mapper import find, get

Found = Entry | Claim | Message | Session | Document | Symbol | Project

KEPT: Final = 500
"""Items of printed briefings that `show` can still show."""

ANCHORED: Final = 8
"""Things that an entry speaks of that are shown."""

VERDICTS: Final = 5
"""Verdicts on a thing that are shown, the latest first."""

HASHED: Final[Sequence[type[Message] | type[Session] | type[Document] | type[Symbol] | type[Claim]]] = (
    Session,
    Claim,
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
    if not found and re.fullmatch(rf"[0-9a-f]{{{SHORT}}}", wanted):
        found += find(tx, Project, "WHERE id LIKE :ending LIMIT 5", ending=f"%-%{wanted}")
    if not found:
        raise NotFound(f"nothing here has the id {text!r}; ids are printed as [fw:{'x' * SHORT}]")
    if len(found) > 1:
        names = ", ".join(f"{type(one).__name__.lower()} {one.id}" for one in found)
        raise Conflict(f"{text!r} names {len(found)} things: {names}")
    return found[0]


def show_thing(tx: Tx, thing: Found, now: Micros) -> Shown:
    """The thing as labelled facts, a body and its receipts, what to know before relying on it, and what was said."""
    shown = _shown_thing(tx, thing)
    told = warnings_of(tx, [(Kind(shown.kind), shown.id)], now) if shown.kind in ("entry", "symbol") else {}
    if told:
        shown = replace(shown, facts={"banner": next(iter(told.values())), **shown.facts})
    said = find(
        tx, Feedback, "WHERE target_id = :id ORDER BY created_at DESC, id LIMIT :most", id=thing.id, most=VERDICTS
    )
    if not said:
        return shown
    return replace(shown, facts={**shown.facts, "feedback": "; ".join(map(_verdict, said))})


def _verdict(said: Feedback) -> str:
    note = f": {said.note}" if said.note else ""
    return f"{said.verdict} ({', '.join(part for part in (said.agent, _when(said.created_at)[:10]) if part)}){note}"


def _shown_thing(tx: Tx, thing: Found) -> Shown:
    match thing:
        case Entry():
            return _entry(tx, followed(tx, thing))
        case Claim():
            return _claim(tx, thing)
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
SELECT c.quote, COALESCE(m.role, d.path), COALESCE(s.agent, ''), COALESCE(s.id, ''), COALESCE(s.title, d.title),
COALESCE(m.id, ''), COALESCE(m.created_at, k.said_at) AS said
FROM claim k JOIN citation c ON c.claim_id = k.id LEFT JOIN message m ON m.id = c.message_id
LEFT JOIN session s ON s.id = m.session_id LEFT JOIN document d ON d.id = c.document_id
WHERE k.entry_id = :entry AND COALESCE(s.id, d.id) IS NOT NULL ORDER BY said, c.start
"""

LINKED: Final = """
SELECT g.kind, 0, e.short, e.title, e.status FROM edge g JOIN entry e ON e.id = g.target_id WHERE g.source_id = :id
UNION ALL
SELECT g.kind, 1, e.short, e.title, e.status FROM edge g JOIN entry e ON e.id = g.source_id WHERE g.target_id = :id
"""


def _entry(tx: Tx, entry: Entry) -> Shown:
    claims = find(tx, Claim, "WHERE entry_id = :id ORDER BY said_at", id=entry.id)
    lines = {f"{_when(c.said_at)[:10]}  {c.type}, {c.status}, {_source(c.role)}: {c.text}": c for c in reversed(claims)}
    timeline = [f"{line} [fw:{short_id(c.id)}]" for line, c in reversed(lines.items())]
    facts = {
        "type": str(entry.type),
        "status": str(entry.status),
        "category": str(entry.category),
        "scope": str(entry.scope),
        "evidence": f"{entry.evidence} session{'s' if entry.evidence != 1 else ''}",
        "tags": ", ".join(entry.tags),
        "updated": _when(entry.updated_at),
        "confirmed": _when(entry.last_confirmed) or "never",
        "version": _version(tx, entry),
        "pinned": "yes" if entry.pinned else "",
        "wording": "a person's, kept until its claims change" if entry.worded else "",
        "put off until": _when(entry.deferred_until),
        "decided": _decided(tx, entry),
        "speaks of": _anchored(tx, entry),
        "review by": _when(entry.review_by)[:10],
    }
    body = "\n".join(
        part
        for part in (str(entry.body or entry.summary), *_open(entry), "", "Timeline:", *timeline)
        if part or timeline
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


def _anchored(tx: Tx, entry: Entry) -> str:
    """The code and the documents that it is tied to."""
    rows = tx.all(
        "SELECT DISTINCT target FROM anchor WHERE entry_id = :id AND target <> ''"
        " AND kind IN ('symbol', 'file', 'document', 'error', 'command') ORDER BY target LIMIT :most",
        id=entry.id,
        most=ANCHORED,
    )
    return ", ".join(target.replace("::", ":", 1) for (target,) in rows)


def _open(entry: Entry) -> list[str]:
    return ["", "Open questions:", *str(entry.questions).split("\n")] if entry.questions else []


def _version(tx: Tx, entry: Entry) -> str:
    """The number of today's wording, and of those that can be brought back."""
    kept = tx.all("SELECT version FROM entry_version WHERE entry_id = :id ORDER BY version DESC LIMIT 10", id=entry.id)
    older = ", ".join(str(number) for (number,) in reversed(kept))
    return f"{entry.version}" + (f"; kept: {older}" if older else "")


def _decided(tx: Tx, entry: Entry) -> str:
    """The last acts of a person, the newest first."""
    rows = tx.all(
        "SELECT new_status, actor, created_at, reason FROM review WHERE target_id = :id AND actor <> 'rules'"
        " ORDER BY created_at DESC, id DESC LIMIT :most",
        id=entry.id,
        most=VERDICTS,
    )
    return "; ".join(
        f"{status} by {actor} on {_when(at)[:10]}" + (f" ({reason})" if reason else "")
        for status, actor, at, reason in rows
    )


def _claim(tx: Tx, claim: Claim) -> Shown:
    """A statement of an entry's timeline, with its receipts."""
    entry = get(tx, Entry, id=claim.entry_id)
    facts = {
        "type": str(claim.type),
        "status": str(claim.status),
        "said": f"{_when(claim.said_at)[:10]}, {_source(claim.role)}",
        "of": f"[fw:{entry.short}] {entry.title}" if entry else "",
        "attribute": str(claim.attribute),
        "value": str(claim.value),
        "scope": str(claim.scope),
        "rank": str(claim.rank),
        "held until": _when(claim.valid_until),
        "superseded by": f"[fw:{short_id(claim.superseded_by)}]" if claim.superseded_by else "",
    }
    receipts = [
        Receipt(quote=q, said_by=r, agent=a, session_id=s, session_title=t, message_id=m, at=at)
        for q, r, a, s, t, m, at in tx.all(RECEIPTS.replace("k.entry_id = :entry", "k.id = :entry"), entry=claim.id)
    ]
    return _shown("claim", claim.id, claim.text[:120], facts, claim.text, receipts)


def _source(role: Role) -> str:
    return "written in a file" if role is Role.SYSTEM else f"said by {role}"


def _message(tx: Tx, message: Message) -> Shown:
    session = get(tx, Session, id=message.session_id)
    place = {"s": message.session_id, "at": message.ordinal}
    before = find(tx, Message, "WHERE session_id = :s AND ordinal < :at ORDER BY ordinal DESC, id LIMIT 2", **place)
    after = find(tx, Message, "WHERE session_id = :s AND ordinal > :at ORDER BY ordinal, id LIMIT 2", **place)
    facts = {
        "who": f"{message.role}, {message.kind}" + (f", {message.tool}" if message.tool else ""),
        "when": _when(message.created_at),
        "session": f"[fw:{short_id(message.session_id)}] {session.title if session else ''}",
    }
    links = [f"{m.role} [fw:{short_id(m.id)}] {m.text[:100]}" for m in (*reversed(before), *after)]
    return _shown("message", message.id, message.text.strip().split("\n")[0][:100], facts, message.text, (), links)


def _session(tx: Tx, session: Session) -> Shown:
    from flywheel.retro.telling import lines

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
    points = find(tx, RetroPoint, "WHERE session_id = :id ORDER BY ordinal", id=session.id) if look else []
    look_back = lines(look, points) if look else ["No retrospective yet: the session may still go on."]
    body = "\n".join([*look_back, *summed(tx, "session", session.id)])
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
    body = "\n".join(summed(tx, "project", project.id)).strip()
    return _shown("project", project.id, project.name, facts, body, (), links)
