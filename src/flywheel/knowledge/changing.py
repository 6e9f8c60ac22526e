"""The one door through which a page changes: what its claims say now is compiled anew, and how it read before is kept.

Whatever gives an entry a claim, or a claim another state, calls `changed` afterwards, in the same transaction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from flywheel.errors import NotFound
from flywheel.jobs import queue
from flywheel.jobs.kinds import ACROSS, ACROSS_DELAY
from flywheel.knowledge import anchors, editing, freshness, resting, settling, states
from flywheel.knowledge.compiling import Page, compile_page, fingerprint, heading, main_claim, told_type
from flywheel.knowledge.judging import Known
from flywheel.knowledge.reviewing_dates import review_by
from flywheel.model import (
    Category,
    Claim,
    Clean,
    Entry,
    EntryVersion,
    Kind,
    Micros,
    Status,
    evidence_id,
)
from flywheel.store import Tx
from flywheel.store.json import dump
from flywheel.store.mapper import find, get, insert_many
from flywheel.text.compose import fixed, join

HOPS: Final = 8
"""Merged entries that are followed one after the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recast:
    """What of an entry does not follow from its claims alone, and changes with them."""

    title: Clean
    tags: Sequence[str]
    score: float


def followed(tx: Tx, entry: Entry) -> Entry:
    """The entry itself, or the one that it was merged into."""
    for _ in range(HOPS):
        into = get(tx, Entry, id=entry.redirect_to) if entry.redirect_to else None
        if into is None:
            break
        entry = into
    return entry


def claims_of(tx: Tx, entry_id: str) -> list[Claim]:
    """The timeline of an entry, the oldest first."""
    return find(tx, Claim, "WHERE entry_id = :id ORDER BY said_at, id", id=entry_id)


def changed(
    tx: Tx, entry_id: str, *, now: Micros, reason: Clean, actor: Clean, recast: Recast | None = None
) -> Entry | None:
    """Bring an entry up to date with its claims: their states, its page, evidence, dates and state.

    How the page read before is kept with its number, the reason and the actor. Idempotent. A wording that a person
    chose stays until the claims change; so does a page that was confirmed as a whole. None when there is no such entry.
    """
    tx.run("UPDATE entry SET version = version WHERE id = :id", id=entry_id)  # whoever changes it too waits here
    before = get(tx, Entry, id=entry_id)
    if before is None:
        return None
    claims = editing.effective(tx, claims_of(tx, entry_id), now=now)
    claims = settling.settle(tx, claims, actor=actor, reason=reason, now=now)
    known = known_of(tx, claims)
    page = compile_page(claims, at=now, known=known)
    after = before if page is None else _rewritten(tx, before, claims, page, recast, known)
    after = replace(after, review_by=review_by(tx, after))
    _keep(tx, before, after, now=now, reason=reason, actor=actor)
    if page is not None:
        settling.restate(tx, after, claims, page, actor=actor, now=now)
    if states.whose(actor) is states.By.PERSON:
        _compare(tx, before, now)
    tx.changed(Kind.ENTRY, before.id, before.project_id)
    made = _freshened(tx, entry_id, claims, page, known, actor=actor, now=now)
    if made is not None:
        resting.source_changed(tx, made, now)
    return made


def _compare(tx: Tx, entry: Entry, now: Micros) -> None:
    """What a person decided may be worth something to other projects, or no longer."""
    project = entry.project_id
    queue.enqueue(tx, kind=ACROSS, key=project, project_id=project, now=now, delay=ACROSS_DELAY)


def _freshened(
    tx: Tx, id: str, claims: Sequence[Claim], page: Page | None, known: Known, *, actor: Clean, now: Micros
) -> Entry | None:
    """The entry as it is now, tied to what it speaks of, and stale where that has changed."""
    entry = get(tx, Entry, id=id)
    if entry is None:
        return None
    if entry.status in (Status.SUPERSEDED, Status.REJECTED):
        freshness.faded(tx, entry, actor=actor, now=now)
    if page is None or entry.status in (Status.SUPERSEDED, Status.REJECTED):
        return entry
    anchors.tie(tx, entry, known.places.values(), now)
    freshness.weigh_evidence(tx, entry, claims, page.judged, now)
    return get(tx, Entry, id=id) if freshness.settle(tx, entry, actor=actor, now=now) else entry


def known_of(tx: Tx, claims: Sequence[Claim]) -> Known:
    """What is known of these claims besides themselves."""
    ids = [claim.id for claim in claims]
    out = [claim.id for claim in claims if claim.valid_until is not None or claim.status is Status.SUPERSEDED]
    documents = [claim.id for claim in claims if claim.session_id is None]
    return Known(
        standing=states.decided(tx, ids) if any(_follows(claim) for claim in claims) else {},
        reasons=_reasons(tx, out),
        places=_places(tx, documents),
    )


def _follows(claim: Claim) -> bool:
    return claim.status in (Status.SUPERSEDED, Status.DISPUTED, Status.STALE)


_REASONS: Final = """
SELECT target_id, reason FROM review WHERE target_id IN :ids AND kind = 'claim' AND actor <> 'rules' AND reason <> ''
AND new_status = 'superseded' ORDER BY created_at, id
"""
_DOCUMENTS: Final = """
SELECT c.claim_id, d.path FROM citation c JOIN document d ON d.id = c.document_id WHERE c.claim_id IN :ids
ORDER BY c.claim_id, d.path
"""


def _reasons(tx: Tx, ids: Sequence[str]) -> Mapping[str, Clean]:
    """Why a person took these out, in the words given."""
    return dict(tx.all(_REASONS, ids=list(ids))) if ids else {}


def _places(tx: Tx, ids: Sequence[str]) -> Mapping[str, Clean]:
    """The documents that these were read in."""
    return dict(tx.all(_DOCUMENTS, ids=list(ids))) if ids else {}


def _rewritten(tx: Tx, entry: Entry, claims: Sequence[Claim], page: Page, recast: Recast | None, known: Known) -> Entry:
    """The entry as its claims make it."""
    main = main_claim([claim for claim in claims if claim.status is not Status.REJECTED])
    after = replace(
        entry,
        type=told_type(main, entry.type) if main and entry.category in _TYPED else entry.type,
        evidence=_sessions(tx, entry.id),
        updated_at=Micros(max(claim.said_at for claim in claims)),
        created_at=Micros(min(claim.said_at for claim in claims)),
    )
    if entry.held:
        recast = None
    if recast is not None:
        after = replace(after, tags=tuple(recast.tags), score=recast.score)
    ever = any(Status.CONFIRMED in (claim.status, known.standing.get(claim.id)) for claim in claims)
    if entry.held and not ever:
        return replace(entry, evidence=after.evidence)  # confirmed as a whole, before claims were
    mark = fingerprint(claims)
    if entry.worded and entry.worded == mark:
        return after
    return replace(
        after,
        title=(recast.title if recast else entry.title) or heading(claims),
        summary=page.summary,
        body=page.body,
        questions=page.questions,
        worded="",
    )


_TYPED: Final = (Category.DEBUGGING, Category.KNOWLEDGE)
"""Shelves on which the type of what is said last is the entry's."""


def _sessions(tx: Tx, entry_id: str) -> int:
    """How many sessions say it; a subagent's counts as its parent's."""
    row = tx.one(
        "SELECT COUNT(DISTINCT COALESCE(s.parent_id, s.id)) FROM claim k JOIN session s ON s.id = k.session_id"
        " WHERE k.entry_id = :id",
        id=entry_id,
    )
    return max(1, row[0] if row is not None else 1)


def _keep(tx: Tx, before: Entry, after: Entry, *, now: Micros, reason: Clean, actor: Clean) -> None:
    """Write what changed, never the state; where the wording did, keep how it read and count on."""
    if before == after:
        return
    reworded = _wording(before) != _wording(after)
    if reworded and before.body:
        insert_many(tx, [version_of(before, now=now, reason=reason, actor=actor)])
        after = replace(after, version=before.version + 1)
    tx.run(
        "UPDATE entry SET type = :type, title = :title, summary = :summary, body = :body, questions = :questions,"
        " tags = :tags, score = :score, evidence = :evidence, created_at = :created, updated_at = :updated,"
        " version = :version, worded = :worded, review_by = :review WHERE id = :id",
        type=after.type,
        title=after.title,
        summary=after.summary,
        body=after.body,
        questions=after.questions,
        tags=dump(after.tags),
        score=after.score,
        evidence=after.evidence,
        created=after.created_at,
        updated=after.updated_at,
        version=after.version,
        worded=after.worded,
        review=after.review_by,
        id=after.id,
    )


def _wording(entry: Entry) -> tuple[str, ...]:
    return (entry.title, entry.summary, entry.body, entry.questions)


def version_of(entry: Entry, *, now: Micros, reason: Clean, actor: Clean) -> EntryVersion:
    """How an entry reads, to be kept: with its number, and why and by whom it is rewritten now."""
    return EntryVersion(
        id=evidence_id("version", entry.id, str(entry.version)),
        project_id=entry.project_id,
        entry_id=entry.id,
        title=entry.title,
        summary=entry.summary,
        body=entry.body,
        created_at=now,
        version=entry.version,
        reason=reason,
        actor=actor,
    )


def reword(
    tx: Tx, entry: Entry, *, title: Clean, summary: Clean, body: Clean, now: Micros, reason: Clean, actor: Clean
) -> bool:
    """Give a page a wording that a person chose, which stays until its claims change; whether it reads otherwise."""
    after = replace(entry, title=title, summary=summary, body=body)
    if _wording(after) == _wording(entry):
        return False
    _keep(tx, entry, replace(after, worded=fingerprint(claims_of(tx, entry.id))), now=now, reason=reason, actor=actor)
    states.record(tx, entry, entry.status, actor=actor, reason=reason, now=now)
    tx.changed(Kind.ENTRY, entry.id, entry.project_id)
    return True


def revert(tx: Tx, entry: Entry, version: int, *, now: Micros, reason: Clean, actor: Clean) -> bool:
    """Bring an old wording back, as a new version; whether the page reads otherwise now. Raises NotFound."""
    if version == entry.version:
        return False
    old = get(tx, EntryVersion, entry_id=entry.id, version=version)
    if old is None:
        kept = tx.all("SELECT version FROM entry_version WHERE entry_id = :id ORDER BY version", id=entry.id)
        known = ", ".join(str(number) for (number,) in kept) or "none"
        raise NotFound(f"[fw:{entry.short}] has no version {version}; kept are: {known}; it is at {entry.version}")
    why = join([_REVERTED, reason]) if reason else _REVERTED
    return reword(tx, entry, title=old.title, summary=old.summary, body=old.body, now=now, reason=why, actor=actor)


_REVERTED: Final = fixed("an old wording brought back.")
