"""Candidates that rest on what another project confirmed: made, ended when it falls, removed when it is private."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from flywheel.errors import Refused
from flywheel.jobs import queue
from flywheel.jobs.kinds import ACROSS, ACROSS_DELAY
from flywheel.knowledge import freshness, states
from flywheel.knowledge.across.lending import ERROR, House, Loan, fallen, house_of
from flywheel.knowledge.anchors import EVIDENCE
from flywheel.knowledge.changing import changed
from flywheel.knowledge.states import RULES
from flywheel.model import (
    GLOBAL,
    Anchor,
    Borrowed,
    Claim,
    ClaimId,
    Clean,
    Entry,
    EntryId,
    EntryLink,
    Kind,
    Met,
    Micros,
    ProjectId,
    Role,
    Status,
    evidence_id,
    new_id,
    short_id,
)
from flywheel.projects import queries as projects
from flywheel.projects.lookup import project_of
from flywheel.store import Tx
from flywheel.store.forget import entry_mark, is_forgotten, unlend
from flywheel.store.mapper import find, get, insert_many
from flywheel.text.compose import cite, fixed, join, reworded

MOST_OPEN: Final = 20
"""Candidates from other projects that wait in one project; no more are proposed until a person decides."""

TAG: Final = "across"
"""Marks an entry that was confirmed elsewhere."""

SCORE: Final = 0.7

_PROPOSED: Final = fixed("another project confirmed it")
_AGAIN: Final = fixed("it holds again where it was confirmed")
_ENDED: Final = fixed("it does not hold any more where it was confirmed")


def enqueue(tx: Tx, project: ProjectId | None, now: Micros) -> None:
    """Have a project compared with the others, soon: what it confirmed, and what it has met."""
    if project is not None:
        queue.enqueue(tx, kind=ACROSS, key=project, project_id=project, now=now, delay=ACROSS_DELAY)


def meet_errors(tx: Tx, project: ProjectId, marks: Sequence[str], now: Micros) -> None:
    """Note the errors that a project met, by their marks alone, and have it compared with the others."""
    insert_many(tx, [Met(project_id=project, kind=ERROR, name=mark, met_at=now) for mark in marks])
    enqueue(tx, project, now)


def key_of(claim: Claim) -> str:
    """The key of the entry that a claim is proposed as elsewhere."""
    return evidence_id("across", claim.id)


def borrow(tx: Tx, loan: Loan, now: Micros) -> bool:
    """Propose a loan in its target, once; whether it is new. What a person decided about it there stays."""
    if not _holds(tx, loan):
        return False
    key = key_of(loan.claim)
    known = get(tx, Entry, project_id=loan.target, key=key)
    if known is not None:
        return _again(tx, known, now)
    if is_forgotten(tx, "entry_mark", [entry_mark(loan.target, key)]) or _open(tx, loan.target) >= MOST_OPEN:
        return False
    entry, claim = _made(loan, key, now)
    if not insert_many(tx, [entry]):  # another worker was faster
        return False
    insert_many(tx, [claim])
    row = Borrowed(
        claim_id=claim.id, project_id=loan.target, entry_id=entry.id, origin_project=loan.claim.project_id,
        origin_claim=loan.claim.id, kind=loan.kind, created_at=now,
    )  # fmt: skip
    insert_many(tx, [row])
    if loan.kind == ERROR:  # so that whoever asks about the error finds it, though it holds none of its words
        name = reworded(loan.mark, loan.claim.text)
        insert_many(tx, [EntryLink(project_id=loan.target, entry_id=entry.id, kind=ERROR, name=name)])
    changed(tx, entry.id, now=now, reason=_PROPOSED, actor=RULES)
    return True


def _holds(tx: Tx, loan: Loan) -> bool:
    """Whether the claim is confirmed and its project not private, at this moment."""
    claim = get(tx, Claim, id=loan.claim.id)
    held = claim is not None and claim.status is Status.CONFIRMED and claim.valid_until is None
    return held and not is_private(tx, loan.origin.id)


def is_private(tx: Tx, project: ProjectId) -> bool:
    """Whether a project, or one that was merged into it, is kept to itself."""
    family = list(projects.family(tx, project))
    return tx.one("SELECT 1 FROM project WHERE id IN :ids AND private = 1", ids=family) is not None


def _open(tx: Tx, project: ProjectId) -> int:
    sql = (
        "SELECT COUNT(*) FROM borrowed b JOIN entry e ON e.id = b.entry_id WHERE b.project_id = :project"
        " AND e.status = 'candidate'"
    )
    (count,) = tx.one(sql, project=project) or (0,)
    return int(count)


def _made(loan: Loan, key: str, now: Micros) -> tuple[Entry, Claim]:
    """The entry and its one claim. An assistant's rank: what the project says of itself is never displaced by it."""
    id = EntryId(new_id(now))
    title, text = _told(loan)
    entry = Entry(
        id=id, short=short_id(id), project_id=loan.target, category=loan.entry.category, type=loan.claim.type,
        status=Status.CANDIDATE, subject=loan.claim.subject, title=title, summary=fixed(""), body=fixed(""),
        tags=(TAG,), score=SCORE, key=key, created_at=now, updated_at=now,
    )  # fmt: skip
    claim = Claim(
        id=ClaimId(evidence_id("claim", loan.target, key)), project_id=loan.target, entry_id=id, type=loan.claim.type,
        status=Status.CANDIDATE, text=text, role=Role.ASSISTANT, rank=0, subject=loan.claim.subject,
        said_at=loan.claim.said_at, recorded_at=now,
    )  # fmt: skip
    return entry, claim


def _told(loan: Loan) -> tuple[Clean, Clean]:
    """Title and statement: the origin's name, what both have in common, the value in its normal form, where to look."""
    name, mark = loan.origin.name, cite(short_id(loan.claim.id))
    if loan.kind == ERROR:
        what = loan.error or fixed("An error")
        title = join((what, fixed("as in project"), name))
        met = join((what, fixed("that came here, too, was met in project"), name))
        return title, join((met, fixed("and what mended it is confirmed there:"), mark))
    about = join((loan.attribute, fixed("of"), loan.claim.subject))
    title = join((about, fixed("as in project"), name))
    return title, join((fixed("In project"), name, fixed("it is confirmed:"), about, fixed("is"), loan.value, mark))


def _again(tx: Tx, entry: Entry, now: Micros) -> bool:
    """What had ended because it fell at its origin holds there again: a candidate, unless a person decided."""
    if entry.status is not Status.SUPERSEDED or states.decided_by_person(tx, entry.id):
        return False
    for claim in find(tx, Claim, "WHERE entry_id = :id AND status = 'superseded'", id=entry.id):
        states.move(tx, claim, Status.CANDIDATE, actor=RULES, reason=_AGAIN, now=now)
        tx.run("UPDATE claim SET valid_until = NULL WHERE id = :id", id=claim.id)
    changed(tx, entry.id, now=now, reason=_AGAIN, actor=RULES)
    return True


def of_origin(tx: Tx, house: House, project: ProjectId) -> list[Borrowed]:
    """What other projects borrowed from this one, or it from others."""
    family = list(house.families[project])
    where = "WHERE origin_project IN :family OR project_id IN :family ORDER BY claim_id"
    return find(tx, Borrowed, where, family=family)


def review(tx: Tx, house: House, one: Borrowed, now: Micros) -> bool:
    """End what fell at its origin, remove what must not be told; whether anything has changed."""
    origin = house.canonical.get(one.origin_project)
    if origin is None or house.private(origin) or origin == house.canonical.get(one.project_id):
        return remove(tx, [one], now)
    claim = get(tx, Claim, id=one.origin_claim)
    entry = get(tx, Entry, id=claim.entry_id) if claim is not None else None
    if claim is None:
        return remove(tx, [one], now)
    return fallen(house, one, claim, entry) and _end(tx, one, claim, now)


def _end(tx: Tx, one: Borrowed, origin: Claim, now: Micros) -> bool:
    """A candidate ends; what a person confirmed here is stale until somebody looks again."""
    entry = get(tx, Entry, id=one.entry_id)
    mine = get(tx, Claim, id=one.claim_id)
    if entry is None or mine is None or entry.status in (Status.REJECTED, Status.SUPERSEDED, Status.STALE):
        return False
    if entry.status is Status.CONFIRMED:
        note = join((_ENDED, cite(short_id(origin.id))))
        insert_many(tx, [Anchor(
            project_id=entry.project_id, entry_id=entry.id, kind=EVIDENCE, name=cite(short_id(origin.id)),
            target=fixed(""), note=note, created_at=now, based_at=now,
        )])  # fmt: skip
        freshness.settle(tx, entry, actor=RULES, now=now)
        tx.changed(Kind.ENTRY, entry.id, entry.project_id)
        return True
    states.move(tx, mine, Status.SUPERSEDED, actor=RULES, reason=_ENDED, now=now)
    changed(tx, entry.id, now=now, reason=_ENDED, actor=RULES)
    return True


def remove(tx: Tx, rows: Sequence[Borrowed], now: Micros) -> bool:
    """Delete borrowed entries with all that was rendered of them; they may be proposed again."""
    return unlend(tx, [one.claim_id for one in rows], fixed("its project is private, or it is gone there"), now) > 0


def withdraw(tx: Tx, house: House, project: ProjectId, now: Micros) -> int:
    """Take back everything that other projects have from this one; how many."""
    rows = find(tx, Borrowed, "WHERE origin_project IN :family ORDER BY claim_id", family=list(house.families[project]))
    return unlend(tx, [one.claim_id for one in rows], fixed("its project is private"), now)


def keep_private(tx: Tx, project: ProjectId, *, private: bool, now: Micros) -> tuple[Clean, int, int]:
    """Mark a project with its aliases; its name, whether that is new (0 or 1), and how many proposals were taken back.

    Raises Refused for the global project, which is no project's own.
    """
    if project == GLOBAL:
        raise Refused("the global project belongs to every project; name one of them")
    family = projects.family(tx, project)
    changed = tx.run(
        "UPDATE project SET private = :private WHERE id IN :ids AND private <> :private",
        private=int(private),
        ids=list(family),
    )
    taken = withdraw(tx, house_of(tx), family[0], now) if private else 0
    if changed:
        enqueue(tx, family[0], now)
    return project_of(tx, family[0]).name, int(changed > 0), taken
