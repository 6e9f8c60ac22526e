"""Drafts into entries: found or made, with claims, citations and links; what people decided is never undone.

An entry is found by a claim that is already there, by its key, or by saying the same in other words about the same
subject. Everything has an id that follows from what was said, so that writing twice changes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from flywheel.harvest.entry_edges import settle_reversals
from flywheel.harvest.entry_structure import settle_statements, structure_of
from flywheel.harvest.entry_upkeep import refresh
from flywheel.harvest.rules import Draft, Link, Point, Quote, Refusal
from flywheel.harvest.rules.topic import same, sayings
from flywheel.knowledge import states
from flywheel.knowledge.changing import followed
from flywheel.knowledge.keys import page_key
from flywheel.knowledge.parts import STATES, WITHDRAWN
from flywheel.knowledge.relating import relate, settle_needs
from flywheel.knowledge.states import RULES
from flywheel.knowledge.subject_pages import gather
from flywheel.model import (
    Citation,
    Claim,
    ClaimId,
    Clean,
    Entry,
    EntryId,
    EntryLink,
    Kind,
    Micros,
    ProjectId,
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

_TAKEN_BACK: Final = fixed("taken back in the conversation")
_ALIKE: Final = 60  # entries of the same subject that are compared


@dataclass(slots=True, kw_only=True)
class Written:
    """What became of some drafts."""

    new: int = 0
    merged: int = 0
    unchanged: int = 0
    refused: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a draft comes from: a project, and the session in which it was said; what a file says has none."""

    project_id: ProjectId
    session: Session | None = None


def write_drafts(tx: Tx, drafts: Sequence[Draft], session: Session, now: Micros) -> Written:
    """Write the drafts of a session, in the order they were said; the changed entries are in the change feed."""
    written = Written()
    for draft in drafts:
        write_draft(tx, draft, Origin(project_id=session.project_id, session=session), now, written)
    return written


def write_draft(tx: Tx, draft: Draft, origin: Origin, now: Micros, written: Written) -> Entry | None:
    """Write one draft and count in ``written`` what became of it; the entry it belongs to, None when it has none."""
    project = origin.project_id
    points = [point for point in _points(draft) if _verified(tx, point, written.refused)]
    if not points or points[0] is not draft.points[0]:
        return None
    claims = [(_claim(draft, point, origin, now), point) for point in points]
    entry = _find(tx, draft, claims, project)
    if entry is None:
        if is_forgotten(tx, "entry_mark", [entry_mark(project, draft.key)]):
            written.refused["forgotten"] += 1
            return None
        entry = _new(draft, project)
        known = not insert_many(tx, [entry])  # another worker may have been faster
        entry = (get(tx, Entry, project_id=project, key=draft.key) or entry) if known else entry
    else:
        known = True
    if known and draft.points[0].role is Role.ASSISTANT and _told(tx, entry, origin.session):
        written.refused["echo"] += 1
        return entry
    if entry.status is Status.REJECTED:
        written.refused["rejected before"] += 1
        return entry
    if not _add_claims(tx, entry, claims):
        written.unchanged += 1
        return entry
    fresh = _add_links(tx, entry, draft)
    if not known and entry.key == page_key(entry.subject):
        gather(tx, entry)
    refresh(tx, entry, draft, now)
    if fresh:
        relate(tx, entry, fresh, now)
    settle_needs(tx, entry, [claim for claim, _ in claims], now)
    settle_reversals(tx, entry.id, now)
    settle_statements(tx, entry, [claim for claim, _ in claims], now)
    tx.changed(Kind.ENTRY, entry.id, entry.project_id)
    written.merged += known
    written.new += not known
    return entry


def _told(tx: Tx, entry: Entry, session: Session | None) -> bool:
    """Whether the session was told this entry by a briefing: an assistant that repeats it is no further evidence."""
    if session is None:
        return False
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
        table, id = ("document", quote.document_id) if quote.document_id else ("message", quote.message_id)
        row = tx.one(
            f"SELECT substr(text, :start, :length) FROM {table} WHERE id = :id",
            id=id,
            start=quote.start + 1,
            length=quote.stop - quote.start,
        )
        if row is None or row[0] != quote.quote or not quote.quote:
            refused[str(Refusal.CITATION)] += 1
            return False
    return True


def _claim(draft: Draft, point: Point, origin: Origin, now: Micros) -> Claim:
    quote = point.quotes[0]
    source = quote.document_id or quote.message_id
    id = evidence_id("claim", draft.key, point.attribute, source, str(quote.start), str(quote.stop), digest(point.text))
    withdrawn = draft.withdrawn is not None and point.attribute == STATES
    about = structure_of(draft, point)
    return Claim(
        id=ClaimId(id),
        project_id=origin.project_id,
        entry_id=EntryId(""),
        type=point.type,
        status=Status.SUPERSEDED if withdrawn else Status.CANDIDATE,
        text=point.text,
        role=point.role,
        session_id=origin.session.id if origin.session else None,
        rank=draft.rank,
        scope=draft.scope or about.scope,
        subject=about.subject,
        attribute=fixed("") if point.attribute == STATES else _ATTRIBUTES[point.attribute],
        value=about.value,
        said_at=point.said_at,
        recorded_at=now,
    )


_ATTRIBUTES: Final = {
    name: fixed(name)
    for name in ("why", "detail", "symptom", "cause", "fix", "proof", "fails", "replaces", "withdrawn", "question")
}  # fmt: skip


def _find(tx: Tx, draft: Draft, claims: Sequence[tuple[Claim, Point]], project: ProjectId) -> Entry | None:
    """The entry that this draft belongs to; None when it is new."""
    for claim, _ in claims:
        row = tx.one("SELECT entry_id FROM claim WHERE id = :id", id=claim.id)
        if row is not None:
            return get(tx, Entry, id=row[0])
    known = get(tx, Entry, project_id=project, key=draft.key)
    return followed(tx, known) if known else _alike(tx, draft, project, claims[0][0].value)


def _alike(tx: Tx, draft: Draft, project: ProjectId, mine_value: Clean) -> Entry | None:
    """An entry of the same shelf that says the same in other words, among those of the same subjects."""
    names = {str(link.name) for link in draft.links if link.kind == "subject"} | {str(draft.subject)}
    rows = tx.all(
        "SELECT k.entry_id, k.text, k.value FROM claim k WHERE k.attribute = '' AND k.entry_id IN ("
        " SELECT l.entry_id FROM entry_link l JOIN entry e ON e.id = l.entry_id"
        " WHERE l.project_id = :project AND l.kind = 'subject' AND l.name IN :names AND e.category = :category"
        " AND e.scope = :scope ORDER BY l.entry_id DESC LIMIT :limit) ORDER BY k.said_at, k.id",
        project=project,
        names=sorted(names),
        category=draft.category,
        scope=draft.scope,
        limit=_ALIKE,
    )
    if not rows or {"command", "bug", "open question"} & set(draft.tags):
        return None
    mine = sayings(draft.category, draft.statement)
    for id, text, value in rows:
        if value == mine_value and same(mine, sayings(draft.category, text)):
            return get(tx, Entry, id=id)
    return None


def _new(draft: Draft, project: ProjectId) -> Entry:
    id = EntryId(new_id(draft.said_at))
    return Entry(
        id=id,
        short=short_id(id),
        project_id=project,
        category=draft.category,
        type=draft.type,
        status=Status.CANDIDATE,
        scope=draft.scope,
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
            stored = get(tx, Claim, id=claim.id)
            if stored is not None and stored.status is Status.CANDIDATE:
                now = claim.recorded_at
                changed += states.move(tx, stored, Status.SUPERSEDED, actor=RULES, reason=_TAKEN_BACK, now=now)
    return changed


def _citation(claim: Claim, quote: Quote) -> Citation:
    return Citation(
        id=evidence_id("citation", claim.id, quote.document_id or quote.message_id, str(quote.start), str(quote.stop)),
        project_id=claim.project_id,
        claim_id=claim.id,
        message_id=None if quote.document_id else quote.message_id,
        document_id=quote.document_id,
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
