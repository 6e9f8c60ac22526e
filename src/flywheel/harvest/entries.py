"""Drafts into entries: found or made, with claims, citations and links; what people decided is never undone.

An entry is found by a claim that is already there, by its key, or by saying the same in other words about the same
subject. Everything has an id that follows from what was said, so that writing twice changes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from flywheel.harvest.entry_edges import relate, settle_reversals
from flywheel.harvest.entry_upkeep import refresh
from flywheel.harvest.rules import Draft, Link, Point, Quote, Refusal
from flywheel.harvest.rules.topic import same, sayings
from flywheel.harvest.rules.values import STATES, WITHDRAWN
from flywheel.model import (
    Citation,
    Claim,
    ClaimId,
    Entry,
    EntryId,
    EntryLink,
    Kind,
    Micros,
    Role,
    Session,
    Status,
    digest,
    evidence_id,
    new_id,
    short_id,
)
from flywheel.store import Tx
from flywheel.store.forget import entry_mark, is_forgotten
from flywheel.store.mapper import get, insert_many
from flywheel.text.compose import fixed

CONVERSATION: Final = 1
"""The rank of what was said in a conversation."""

_ALIKE: Final = 60  # entries of the same subject that are compared


@dataclass(slots=True, kw_only=True)
class Written:
    """What became of some drafts."""

    new: int = 0
    merged: int = 0
    unchanged: int = 0
    refused: Counter[str] = field(default_factory=Counter)


def write_drafts(tx: Tx, drafts: Sequence[Draft], session: Session, now: Micros) -> Written:
    """Write the drafts of a session, in the order they were said; the changed entries are in the change feed."""
    written = Written()
    for draft in drafts:
        _write(tx, draft, session, now, written)
    return written


def _write(tx: Tx, draft: Draft, session: Session, now: Micros, written: Written) -> None:
    points = [point for point in _points(draft) if _verified(tx, point, written.refused)]
    if not points or points[0] is not draft.points[0]:
        return
    claims = [(_claim(draft, point, session, now), point) for point in points]
    entry = _find(tx, draft, claims, session)
    if entry is None:
        if is_forgotten(tx, "entry_mark", [entry_mark(session.project_id, draft.key)]):
            written.refused["forgotten"] += 1
            return
        entry = _new(draft, session)
        known = not insert_many(tx, [entry])  # another worker may have been faster
        entry = (get(tx, Entry, project_id=session.project_id, key=draft.key) or entry) if known else entry
    else:
        known = True
    if known and draft.points[0].role is Role.ASSISTANT and _told(tx, entry, session):
        written.refused["echo"] += 1
        return
    if entry.status is Status.REJECTED:
        written.refused["rejected before"] += 1
        return
    if not _add_claims(tx, entry, claims):
        written.unchanged += 1
        return
    fresh = _add_links(tx, entry, draft)
    refresh(tx, entry, draft, now)
    if fresh:
        relate(tx, entry, fresh, now)
    settle_reversals(tx, entry.id, now)
    tx.changed(Kind.ENTRY, entry.id, entry.project_id)
    written.merged += known
    written.new += not known


def _told(tx: Tx, entry: Entry, session: Session) -> bool:
    """Whether the session was told this entry by a briefing: an assistant that repeats it is no further evidence."""
    sql = "SELECT 1 FROM injection WHERE item_id = :entry AND native_session = :session AND agent = :agent LIMIT 1"
    return tx.one(sql, entry=entry.id, session=session.native_id, agent=session.agent) is not None


def _points(draft: Draft) -> Iterator[Point]:
    yield from draft.points
    taken = draft.withdrawn
    if taken is not None:
        yield Point(
            attribute=WITHDRAWN,
            type=draft.type,
            text=taken.quote,
            role=Role.USER,
            said_at=draft.said_at,
            quotes=(taken,),
        )


def _verified(tx: Tx, point: Point, refused: Counter[str]) -> bool:
    """Whether every span of a point reads in the store as it is quoted."""
    for quote in point.quotes:
        row = tx.one(
            "SELECT substr(text, :start, :length) FROM message WHERE id = :id",
            id=quote.message_id,
            start=quote.start + 1,
            length=quote.stop - quote.start,
        )
        if row is None or row[0] != quote.quote or not quote.quote:
            refused[str(Refusal.CITATION)] += 1
            return False
    return True


def _claim(draft: Draft, point: Point, session: Session, now: Micros) -> Claim:
    quote = point.quotes[0]
    id = evidence_id(
        "claim", draft.key, point.attribute, quote.message_id, str(quote.start), str(quote.stop), digest(point.text)
    )
    withdrawn = draft.withdrawn is not None and point.attribute == STATES
    return Claim(
        id=ClaimId(id),
        project_id=session.project_id,
        entry_id=EntryId(""),
        type=point.type,
        status=Status.SUPERSEDED if withdrawn else Status.CANDIDATE,
        text=point.text,
        role=point.role,
        session_id=session.id,
        rank=CONVERSATION,
        subject=draft.subject,
        attribute=fixed("") if point.attribute == STATES else _ATTRIBUTES[point.attribute],
        value=point.value,
        said_at=point.said_at,
        recorded_at=now,
    )


_ATTRIBUTES: Final = {
    name: fixed(name)
    for name in ("why", "detail", "symptom", "cause", "fix", "proof", "fails", "replaces", "withdrawn")
}  # fmt: skip


def _find(tx: Tx, draft: Draft, claims: Sequence[tuple[Claim, Point]], session: Session) -> Entry | None:
    """The entry that this draft belongs to; None when it is new."""
    for claim, _ in claims:
        row = tx.one("SELECT entry_id FROM claim WHERE id = :id", id=claim.id)
        if row is not None:
            return get(tx, Entry, id=row[0])
    return get(tx, Entry, project_id=session.project_id, key=draft.key) or _alike(tx, draft, session)


def _alike(tx: Tx, draft: Draft, session: Session) -> Entry | None:
    """An entry of the same shelf that says the same in other words, among those of the same subjects."""
    names = {str(link.name) for link in draft.links if link.kind == "subject"} | {str(draft.subject)}
    rows = tx.all(
        "SELECT k.entry_id, k.text, k.value FROM claim k WHERE k.attribute = '' AND k.entry_id IN ("
        " SELECT l.entry_id FROM entry_link l JOIN entry e ON e.id = l.entry_id"
        " WHERE l.project_id = :project AND l.kind = 'subject' AND l.name IN :names AND e.category = :category"
        " ORDER BY l.entry_id DESC LIMIT :limit) ORDER BY k.said_at, k.id",
        project=session.project_id,
        names=sorted(names),
        category=draft.category,
        limit=_ALIKE,
    )
    if not rows or {"command", "bug"} & set(draft.tags):
        return None
    mine = sayings(draft.category, draft.statement)
    for id, text, value in rows:
        if value == draft.value and same(mine, sayings(draft.category, text)):
            return get(tx, Entry, id=id)
    return None


def _new(draft: Draft, session: Session) -> Entry:
    id = EntryId(new_id(draft.said_at))
    return Entry(
        id=id,
        short=short_id(id),
        project_id=session.project_id,
        category=draft.category,
        type=draft.type,
        status=Status.CANDIDATE,
        subject=draft.subject,
        title=draft.title,
        summary=draft.summary,
        body=fixed(""),
        tags=tuple(draft.tags),
        score=draft.score,
        key=draft.key,
        created_at=draft.said_at,
        updated_at=draft.said_at,
    )


def _add_claims(tx: Tx, entry: Entry, claims: Sequence[tuple[Claim, Point]]) -> int:
    """Insert what is not there yet, each claim with its citations; mark what was taken back. How many changed."""
    changed = 0
    for claim, point in claims:
        mine = replace(claim, entry_id=entry.id)
        if insert_many(tx, [mine]):
            insert_many(tx, [_citation(mine, quote) for quote in point.quotes])
            changed += 1
        elif claim.status is Status.SUPERSEDED:
            changed += tx.run(
                "UPDATE claim SET status = 'superseded' WHERE id = :id AND status = 'candidate'", id=claim.id
            )
    return changed


def _citation(claim: Claim, quote: Quote) -> Citation:
    return Citation(
        id=evidence_id("citation", claim.id, quote.message_id, str(quote.start), str(quote.stop)),
        project_id=claim.project_id,
        claim_id=claim.id,
        message_id=quote.message_id,
        start=quote.start,
        stop=quote.stop,
        quote=quote.quote,
        sha256=digest(quote.quote),
        created_at=claim.recorded_at,
    )


def _add_links(tx: Tx, entry: Entry, draft: Draft) -> list[Link]:
    """Links that the entry did not have."""
    named = [*draft.links, *([Link(kind="subject", name=draft.subject)] if draft.subject else [])]
    return [
        link
        for link in {(link.kind, str(link.name)): link for link in named if link.name}.values()
        if insert_many(tx, [EntryLink(project_id=entry.project_id, entry_id=entry.id, kind=link.kind, name=link.name)])
    ]
