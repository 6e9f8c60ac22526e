"""What waits for a person, the most consequential first, with all that one needs to decide it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from flywheel.api import Page, ReviewItem, ReviewQueue
from flywheel.knowledge import changing, preview
from flywheel.knowledge.compiling import main_claim
from flywheel.knowledge.conflict import Step
from flywheel.knowledge.judging import has_value, judge
from flywheel.knowledge.parts import EDIT, QUESTION
from flywheel.knowledge.priority import NOT_PUT_OFF, OPEN, Light, Placed, folded, placed
from flywheel.model import Claim, Entry, Micros, ProjectId, Status, short_id
from flywheel.store import Tx
from flywheel.store.mapper import get

COUNTED: Final = 10_000
"""What waits is counted so far."""


def review_queue(tx: Tx, projects: Sequence[ProjectId], *, limit: int, now: Micros) -> ReviewQueue:
    """The first ``limit`` things to decide; similar candidates stand behind the first of them."""
    items: list[ReviewItem] = []
    for first, similar in folded(placed(tx, projects, now)):
        if len(items) >= limit:
            break
        entry = get(tx, Entry, id=first.light.id)
        if entry is not None:
            items += _items(tx, entry, first, similar, now)
    waiting, deferred = _counted(tx, projects, now)
    return ReviewQueue(items=items[:limit], waiting=waiting, deferred=deferred)


def _counted(tx: Tx, projects: Sequence[ProjectId], now: Micros) -> tuple[int, int]:
    """How many entries wait, and how many were put off."""
    counts = []
    for condition in (NOT_PUT_OFF, "redirect_to IS NULL AND deferred_until > :now"):
        row = tx.one(
            "SELECT COUNT(*) FROM (SELECT 1 FROM entry WHERE project_id IN :projects AND status IN :open"
            f" AND {condition} LIMIT :most) AS few",
            projects=list(projects),
            open=OPEN,
            now=now,
            most=COUNTED,
        )
        counts.append(int(row[0]) if row else 0)
    return counts[0], counts[1]


def _items(tx: Tx, entry: Entry, place: Placed, similar: Sequence[Light], now: Micros) -> list[ReviewItem]:
    """One item for an entry; one for each side of a dispute, and for each claim against what is confirmed."""
    claims = changing.claims_of(tx, entry.id)
    pages = [Page(id=one.id, short=one.short, title=one.title, status=one.status.value) for one in similar]
    sides = _sides(tx, entry, claims, now)
    found = [_item(tx, entry, claims, claim, place, (), now) for claim in sides]
    if entry.status is Status.CONFIRMED or any(claim.attribute != EDIT for claim in sides):
        return found
    return [*found, _item(tx, entry, claims, None, place, pages, now)]


def _sides(tx: Tx, entry: Entry, claims: Sequence[Claim], now: Micros) -> list[Claim]:
    """The claims that a person must choose among, the first of each value, and unconfirmed news of confirmed pages."""
    judged = judge(claims, at=now, known=changing.known_of(tx, claims))
    by_id: dict[str, Claim] = {claim.id: claim for claim in claims}
    found: dict[tuple[str, str], Claim] = {}
    for one in judged:
        open_ = list(one.verdict.challengers)
        if one.verdict.step is Step.DISPUTED:
            open_ += one.verdict.holds
        for id in open_:
            claim = by_id[id]
            found.setdefault((f"{claim.attribute} {claim.scope}", claim.value), claim)
    for claim in claims:
        if claim.attribute == EDIT and claim.status is Status.CANDIDATE:
            found[EDIT, claim.id] = claim
    if entry.held:
        for claim in preview.news(claims):
            found.setdefault((claim.attribute, claim.text), claim)
    return sorted(found.values(), key=lambda claim: (claim.said_at, claim.id))


def _item(
    tx: Tx,
    entry: Entry,
    claims: Sequence[Claim],
    claim: Claim | None,
    place: Placed,
    similar: Sequence[Page],
    now: Micros,
) -> ReviewItem:
    told = claim or main_claim([one for one in claims if not has_value(one)]) or _valued(claims) or _asked(claims)
    cited = preview.cited(tx, told) if told else preview.NOTHING
    return ReviewItem(
        kind="claim" if claim else "entry",
        id=claim.id if claim else entry.id,
        short=short_id(claim.id) if claim else entry.short,
        entry=entry.short,
        title=entry.title,
        statement=(claim.text if claim else entry.summary) or entry.title,
        type=(claim.type if claim else entry.type).value,
        status=entry.status.value,
        scope=claim.scope if claim else entry.scope,
        category=entry.category.value,
        evidence=entry.evidence,
        at=told.said_at if told else entry.updated_at,
        said_by=told.role.value if told else "",
        where=cited.where,
        quote=cited.quote,
        before=cited.before,
        after=cited.after,
        diff=preview.diff(tx, entry, claims, claim, now),
        contradicts=_contradicted(tx, entry),
        why=place.why,
        stale=entry.stale_reason,
        similar=similar,
    )


def _valued(claims: Sequence[Claim]) -> Claim | None:
    """The newest claim that gives a value."""
    return next((claim for claim in reversed(claims) if has_value(claim)), None)


def _asked(claims: Sequence[Claim]) -> Claim | None:
    """The newest question, of a page that has nothing else."""
    return next((claim for claim in reversed(claims) if claim.attribute == QUESTION), None)


def _contradicted(tx: Tx, entry: Entry) -> list[str]:
    """The served entries that say otherwise."""
    found: dict[str, str] = {}
    for mine, other in (("source_id", "target_id"), ("target_id", "source_id")):
        rows = tx.all(
            f"SELECT e.id, e.short, e.title, e.status FROM edge d JOIN entry e ON e.id = d.{other}"
            f" WHERE d.{mine} = :id AND d.kind = 'contradicts' AND e.status NOT IN ('rejected', 'superseded')"
            " ORDER BY e.id",
            id=entry.id,
        )
        found |= {id: f"[fw:{short}] {title} ({status})" for id, short, title, status in rows}
    return list(found.values())
