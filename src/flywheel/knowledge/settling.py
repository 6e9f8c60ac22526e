"""What follows for the states of claims and of their entry from what holds: losers, disputes, and their end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from flywheel.knowledge import states
from flywheel.knowledge.answering import answer_to, is_asked
from flywheel.knowledge.compiling import Page, main_claim
from flywheel.knowledge.conflict import Step
from flywheel.knowledge.judging import Judged, Known, has_value, judge, stands
from flywheel.knowledge.parts import QUESTION
from flywheel.knowledge.states import RULES
from flywheel.model import Claim, ClaimId, Clean, Entry, Micros, Status, short_id
from flywheel.store import Tx
from flywheel.text.compose import cite, fixed, join

_STATES: Final[dict[Step, Clean]] = {
    Step.RANK: fixed("outranked by what another source says"),
    Step.DATE: fixed("a later source says otherwise"),
    Step.DISPUTED: fixed("equal sources of one day disagree"),
}
_ANSWERED: Final = fixed("answered by what was said later:")
_ASKED_AGAIN: Final = fixed("what answered it holds no longer")
_OVER: Final = fixed("nothing that holds says otherwise any more")


def settle(tx: Tx, claims: Sequence[Claim], *, actor: Clean, reason: Clean, now: Micros) -> list[Claim]:
    """Give each claim with a value the state that follows from the verdicts; the claims as they are now.

    What a person decided follows a person's acts only: code supersedes no confirmed claim, and confirms none.
    """
    if not any(has_value(claim) or claim.attribute == QUESTION for claim in claims):
        return list(claims)
    standing = states.decided(tx, [claim.id for claim in claims])
    judged = judge(claims, at=now, known=Known(standing=standing))
    by_id: dict[str, Claim] = {claim.id: claim for claim in claims}
    settled = [
        _settled(tx, claim, judged, standing.get(claim.id, Status.CANDIDATE), actor=actor, now=now)
        if has_value(claim) and stands(claim, now) and claim.status is not Status.STALE
        else claim
        for claim in claims
    ]
    return [
        _answered(tx, claim, answer_to(claim, judged, by_id), standing.get(claim.id, Status.CANDIDATE), now)
        if claim.attribute == QUESTION and is_asked(claim, now)
        else claim
        for claim in settled
    ]


def _answered(tx: Tx, claim: Claim, answer: Claim | None, decided: Status, now: Micros) -> Claim:
    """An open question that something answers is closed by it, and open again when that falls."""
    by = answer.id if answer is not None else None
    wanted = Status.SUPERSEDED if answer is not None else decided if claim.status is Status.SUPERSEDED else claim.status
    if claim.superseded_by == by or not states.may(claim.status, wanted, states.By.RULES):
        return claim
    why = join([_ANSWERED, cite(short_id(answer.id))]) if answer is not None else _ASKED_AGAIN
    states.move(tx, claim, wanted, actor=RULES, reason=why, now=now)
    tx.run("UPDATE claim SET superseded_by = :by WHERE id = :id", by=by, id=claim.id)
    return replace(claim, status=wanted, superseded_by=by)


def _settled(tx: Tx, claim: Claim, judged: Sequence[Judged], decided: Status, *, actor: Clean, now: Micros) -> Claim:
    base = claim.status if claim.status in (Status.CANDIDATE, Status.CONFIRMED) else decided
    wanted, why, by = _wanted(claim, judged, base)
    if wanted is claim.status:
        return claim
    by_rules = states.may(claim.status, wanted, states.By.RULES)
    who = RULES if by_rules else actor
    if not states.may(claim.status, wanted, states.whose(who)):
        return claim
    if not states.move(tx, claim, wanted, actor=who, reason=why, now=now):
        return claim
    tx.run("UPDATE claim SET superseded_by = :by WHERE id = :id", by=by, id=claim.id)
    return replace(claim, status=wanted, superseded_by=by)


def _wanted(claim: Claim, judged: Sequence[Judged], base: Status) -> tuple[Status, Clean, ClaimId | None]:
    """The state that a claim should have, why, and what took its place."""
    mine = [one.verdict for one in judged if (one.subject, one.attribute) == (claim.subject, claim.attribute)]
    holding = [one for one in mine if claim.id in one.holds]
    if any(one.step is Step.DISPUTED for one in holding):
        return Status.DISPUTED, _STATES[Step.DISPUTED], None
    if holding or any(claim.id in one.challengers for one in mine):
        return base, _OVER, None
    lost = next((lost for one in mine if one.scope == claim.scope for lost in one.lost if lost.id == claim.id), None)
    if lost is None:
        return base, _OVER, None
    return Status.SUPERSEDED, _STATES[lost.step], ClaimId(lost.to)


def restate(tx: Tx, entry: Entry, claims: Sequence[Claim], page: Page, *, actor: Clean, now: Micros) -> None:
    """The state of an entry that follows from its claims: taken back, said again, disputed, and no more disputed."""
    verdicts = [one.verdict for one in page.judged]
    disputed = [one for one in verdicts if one.step is Step.DISPUTED]
    if entry.status is Status.CANDIDATE and not _stated(claims, page):
        _move(tx, entry, Status.SUPERSEDED, fixed("taken back"), RULES, now)
    elif entry.status is Status.SUPERSEDED and _stated(claims, page) and not states.decided_by_person(tx, entry.id):
        _move(tx, entry, Status.CANDIDATE, fixed("said again"), RULES, now)
    elif entry.status is Status.CANDIDATE and disputed:
        _move(tx, entry, Status.DISPUTED, _STATES[Step.DISPUTED], RULES, now)
    elif entry.status is Status.CONFIRMED and any(one.confirmed for one in disputed):
        _move(tx, entry, Status.DISPUTED, _STATES[Step.DISPUTED], actor, now)
    elif entry.status is Status.DISPUTED and verdicts and not disputed:
        before = states.decided(tx, [entry.id]).get(entry.id, Status.CANDIDATE)
        new = before if before is Status.CONFIRMED else Status.CANDIDATE
        who = RULES if states.may(entry.status, new, states.By.RULES) else actor
        _move(tx, entry, new, _OVER, who, now)


def _move(tx: Tx, entry: Entry, new: Status, why: Clean, actor: Clean, now: Micros) -> None:
    if states.may(entry.status, new, states.whose(actor)):
        states.move(tx, entry, new, actor=actor, reason=why, now=now)


def _stated(claims: Sequence[Claim], page: Page) -> bool:
    """Whether any claim still states the entry."""
    if page.judged:
        return True
    main = main_claim(claims)
    if main is None:
        return bool(page.questions)
    return any(
        claim.attribute == main.attribute and claim.status not in (Status.SUPERSEDED, Status.REJECTED)
        for claim in claims
    )
