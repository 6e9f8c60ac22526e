"""What takes the place of what across pages: statements of one subject and attribute, weighed by the rule of conflict.

A page about a subject settles its own claims (`settling`). Conversations also make pages of one statement each; what
they say of a subject's attribute is weighed here together with everything else that is said of it, in whatever order it
came: the loser's page leaves retrieval, with a ``supersedes`` edge from the winner's. What a person confirmed is never
touched, and nobody displaces a person's or a document's words by an assistant's or a web page's: such a one gets a
``contradicts`` edge, for somebody to look at. Sentences that no rule parses are lined up word by word (`alignment`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from flywheel.knowledge import alignment, freshness, states
from flywheel.knowledge.conflict import DAY, Stated, Step, Verdict, verdicts
from flywheel.knowledge.judging import stands
from flywheel.knowledge.normal import normal_value
from flywheel.knowledge.parts import STATES
from flywheel.knowledge.statements import parse
from flywheel.knowledge.states import RULES
from flywheel.model import (
    Claim,
    ClaimId,
    ClaimType,
    Clean,
    Edge,
    EdgeKind,
    Entry,
    EntryId,
    Kind,
    Micros,
    ProjectId,
    Role,
    Status,
)
from flywheel.projects import queries as projects
from flywheel.store import Tx
from flywheel.store.mapper import find, insert_many
from flywheel.text.compose import fixed, join

CHOICE: Final = "use"
"""The attribute of a decision for something, whatever the words."""

MOST: Final = 200
"""Claims about one thing that are weighed together."""

_LATER: Final = fixed("replaced by what was said later:")
_OUTRANKED: Final = fixed("outranked by what another source says:")
_OTHERWISE: Final = fixed("says otherwise of")
_OVER: Final = fixed("nothing that holds says otherwise any more")


@dataclass(frozen=True, slots=True)
class _Member:
    """A claim that takes part, as the rule sees it."""

    claim: Claim
    entry: Entry
    stated: Stated
    firm: bool  # a person's or a document's own words


def settle(tx: Tx, claims: Iterable[Claim], now: Micros) -> None:
    """Bring the states of everything that is said of the same things as these claims of statement pages into order.

    Idempotent, and the same whatever came first.
    """
    done: set[tuple[str, str]] = set()
    for claim in claims:
        if claim.attribute != STATES or not claim.subject or claim.type is ClaimType.HYPOTHESIS:
            continue
        attribute = attribute_of(claim)
        if attribute and (claim.subject, attribute) not in done:
            done.add((claim.subject, attribute))
            _weigh(tx, _members(tx, claim, attribute), now)
        elif not attribute and claim.type in (ClaimType.FACT, ClaimType.EXTERNAL):
            _weigh(tx, _aligned(tx, claim), now)


def attribute_of(claim: Claim) -> str:
    """The attribute that a claim of a statement page gives the value of; "" for none."""
    found = parse(claim.text)
    if found is not None and found.subject == claim.subject:
        return found.attribute
    chosen = claim.type is ClaimType.DECISION and claim.value and claim.subject not in ("", claim.value)
    return CHOICE if chosen else ""


def _members(tx: Tx, claim: Claim, attribute: str) -> list[_Member]:
    """Every claim about the attribute of the subject: of statement pages, and of the page about the subject."""
    family = projects.family(tx, claim.project_id)
    rows = find(
        tx,
        Claim,
        "WHERE project_id IN :projects AND subject = :subject AND attribute IN :attributes AND value <> ''"
        " AND status <> 'rejected' ORDER BY said_at DESC, id LIMIT :limit",
        projects=list(family),
        subject=claim.subject,
        attributes=[STATES, attribute],
        limit=MOST,
    )
    told = [one for one in rows if one.attribute == attribute or attribute_of(one) == attribute]
    return _with_entries(tx, [(one, _value_of(one)) for one in told])


def _value_of(claim: Claim) -> str:
    found = parse(claim.text) if claim.attribute == STATES else None
    return found.value if found is not None and found.subject == claim.subject else normal_value(claim.value)


def _aligned(tx: Tx, claim: Claim) -> list[_Member]:
    """The claim, and what restates it in nearly the same words with another end."""
    rows = find(
        tx,
        Claim,
        "WHERE project_id IN :projects AND subject = :subject AND attribute = '' AND value = ''"
        " AND status <> 'rejected' AND type IN ('fact', 'external_claim') ORDER BY said_at DESC, id LIMIT :limit",
        projects=list(projects.family(tx, claim.project_id)),
        subject=claim.subject,
        limit=MOST,
    )
    told = [(one, one.text.lower()) for one in rows if alignment.differing(claim.text, one.text) is not None]
    return _with_entries(tx, [(claim, claim.text.lower()), *told]) if told else []


def _with_entries(tx: Tx, told: Sequence[tuple[Claim, str]]) -> list[_Member]:
    ids = sorted({claim.entry_id for claim, _ in told})
    entries = {entry.id: entry for entry in find(tx, Entry, "WHERE id IN :ids", ids=ids)} if ids else {}
    group = {claim.id for claim, _ in told}
    found: list[_Member] = []
    for claim, value in told:
        entry = entries.get(claim.entry_id)
        if entry is None or entry.status is Status.REJECTED or entry.redirect_to or not stands(claim, _FOREVER_AGO):
            continue
        if claim.status is Status.SUPERSEDED and (claim.superseded_by not in group or _replaced(tx, claim)):
            continue
        found.append(_member(claim, entry, value))
    return found


def _replaced(tx: Tx, claim: Claim) -> bool:
    """Whether what took its place says in so many words that it does: that stands whatever the dates."""
    sql = (
        "SELECT 1 FROM claim k JOIN claim s ON s.entry_id = k.entry_id WHERE k.id = :by"
        " AND s.attribute = 'replaces' AND s.value = :value LIMIT 1"
    )
    return bool(claim.value) and tx.one(sql, by=claim.superseded_by, value=claim.value) is not None


_FOREVER_AGO: Final = Micros(0)
"""A claim whose end is known at all no longer takes part."""


def _member(claim: Claim, entry: Entry, value: str) -> _Member:
    firm = claim.role in (Role.USER, Role.SYSTEM) and claim.type is not ClaimType.EXTERNAL
    held = entry.held and claim.attribute == STATES
    status = Status.CONFIRMED if held or claim.status is Status.CONFIRMED else Status.CANDIDATE
    return _Member(
        claim=claim,
        entry=entry,
        stated=Stated(
            id=claim.id,
            value=value,
            scope=claim.scope,
            rank=claim.rank if firm or status is Status.CONFIRMED else -1,
            at=claim.said_at,
            type=claim.type,
            status=status,
        ),
        firm=firm,
    )


def _weigh(tx: Tx, members: Sequence[_Member], now: Micros) -> None:
    if len({one.stated.value for one in members}) < 2 and all(
        one.claim.status is not Status.SUPERSEDED and one.claim.status is not Status.DISPUTED for one in members
    ):
        return
    found = verdicts([one.stated for one in members])
    by_id: dict[str, _Member] = {one.claim.id: one for one in members}
    touched: dict[EntryId, _Member] = {}
    for one in members:
        if one.claim.attribute == STATES and _place(tx, one, found, by_id, now):
            touched.setdefault(one.entry.id, one)
    for one in touched.values():
        _restate(tx, one.entry, by_id, now)


def _place(tx: Tx, one: _Member, found: Sequence[Verdict], by_id: Mapping[str, _Member], now: Micros) -> bool:
    """Give one claim the state that follows; whether its page must follow."""
    mine = [verdict for verdict in found if one.stated.scope in ("", verdict.scope)]
    holding = [verdict for verdict in mine if one.claim.id in verdict.holds]
    disputed = [verdict for verdict in holding if verdict.step is Step.DISPUTED]
    if one.stated.status is Status.CONFIRMED:
        return False
    challenged = [verdict for verdict in mine if one.claim.id in verdict.challengers]
    if disputed or challenged:
        rivals = [id for verdict in (*disputed, *challenged) for id in verdict.holds]
        for rival in dict.fromkeys(id for id in rivals if by_id[id].stated.value != one.stated.value):
            _contradict(tx, one, by_id[rival], now)
    if holding or challenged:
        return _move(tx, one.claim, Status.CANDIDATE, None, _OVER, now)
    lost = next((lost for verdict in mine for lost in verdict.lost if lost.id == one.claim.id), None)
    if lost is None:
        return False
    winner = by_id[lost.to]
    if not one.firm and winner.firm and one.stated.at // DAY >= winner.stated.at // DAY:
        _contradict(tx, one, winner, now)
        return _move(tx, one.claim, Status.CANDIDATE, None, _OVER, now)
    why = _OUTRANKED if lost.step is Step.RANK else _LATER
    return _move(tx, one.claim, Status.SUPERSEDED, winner.claim.id, join([why, winner.claim.text]), now)


def _move(tx: Tx, claim: Claim, new: Status, by: ClaimId | None, reason: Clean, now: Micros) -> bool:
    """Whether the claim has another state, or another successor, now."""
    if claim.status is new and claim.superseded_by == by:
        return False
    if claim.status not in (Status.CANDIDATE, Status.SUPERSEDED, Status.DISPUTED):
        return False
    states.move(tx, claim, new, actor=RULES, reason=reason, now=now)
    tx.run("UPDATE claim SET superseded_by = :by WHERE id = :id", by=by, id=claim.id)
    return True


def _restate(tx: Tx, entry: Entry, by_id: Mapping[str, _Member], now: Micros) -> None:
    """A page whose every statement lost is superseded, by the pages that won; one that holds again is a candidate."""
    claims = find(tx, Claim, "WHERE entry_id = :id AND attribute = ''", id=entry.id)
    live = [claim for claim in claims if claim.status not in (Status.SUPERSEDED, Status.REJECTED)]
    winners = {by_id[id].entry.id: by_id[id] for c in claims if (id := c.superseded_by or "") in by_id}
    winners.pop(entry.id, None)
    for winner in () if live else winners.values():
        reason = join([_LATER, winner.claim.text])
        _edge(tx, winner.entry, entry, EdgeKind.SUPERSEDES, reason, now)
        if entry.status in (Status.CANDIDATE, Status.DISPUTED, Status.STALE):
            states.move(tx, entry, Status.SUPERSEDED, actor=RULES, reason=reason, now=now)
            entry = replace(entry, status=Status.SUPERSEDED)
    if live and entry.status is Status.SUPERSEDED and not states.decided_by_person(tx, entry.id):
        states.move(tx, entry, Status.CANDIDATE, actor=RULES, reason=_OVER, now=now)
        tx.run("DELETE FROM edge WHERE target_id = :id AND kind = 'supersedes'", id=entry.id)
    tx.changed(Kind.ENTRY, entry.id, entry.project_id)


def _contradict(tx: Tx, one: _Member, other: _Member, now: Micros) -> None:
    if one.entry.id == other.entry.id or _tied(tx, one.entry.id, other.entry.id):
        return
    _edge(tx, one.entry, other.entry, EdgeKind.CONTRADICTS, join([_OTHERWISE, one.claim.subject]), now)
    freshness.contradicted(tx, one.entry.id, other.entry.id, now)


def _tied(tx: Tx, one: EntryId, other: EntryId) -> bool:
    sql = (
        "SELECT 1 FROM edge WHERE kind = 'contradicts'"
        " AND ((source_id = :a AND target_id = :b) OR (source_id = :b AND target_id = :a))"
    )
    return tx.one(sql, a=one, b=other) is not None


def _edge(tx: Tx, source: Entry, target: Entry, kind: EdgeKind, reason: Clean, now: Micros) -> None:
    edge = Edge(
        project_id=source.project_id, source_id=source.id, target_id=target.id, kind=kind, reason=reason, created_at=now
    )
    insert_many(tx, [edge])


def about(tx: Tx, project: ProjectId, subject: str) -> Sequence[Claim]:
    """What people said of a subject in conversations, on statement pages, and what still stands of it."""
    rows = find(
        tx,
        Claim,
        "WHERE project_id IN :projects AND subject = :subject AND attribute = '' AND value <> '' AND role = 'user'"
        " AND type IN ('fact', 'decision') AND session_id IS NOT NULL AND status <> 'rejected'"
        " ORDER BY said_at DESC, id LIMIT :limit",
        projects=list(projects.family(tx, project)),
        subject=subject,
        limit=MOST,
    )
    return [claim for claim in rows if stands(claim, _FOREVER_AGO) or claim.superseded_by]
