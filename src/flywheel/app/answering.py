"""The verb ``why``: what holds of each attribute in each scope, which step decided, what lost, and the timeline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from flywheel.api import Lost, Reason, Value, WhyAnswer
from flywheel.app.foremost import asked_first
from flywheel.knowledge import changing
from flywheel.knowledge.bullets import SAID
from flywheel.knowledge.compiling import compile_page
from flywheel.knowledge.conflict import Step
from flywheel.knowledge.judging import Judged, Known
from flywheel.knowledge.parts import EDIT, QUESTION
from flywheel.model import Claim, Kind, Micros, Status, short_id
from flywheel.store import Tx

TIMELINE: Final = 12
"""Lines of a timeline at most, the newest."""

STEPS: Final = {
    Step.ONLY: "nothing says otherwise",
    Step.SCOPE: "what says otherwise is about another scope",
    Step.RANK: "its source outranks the others",
    Step.DATE: "its source is of a later day",
    Step.DISPUTED: "equal sources of one day disagree: a person decides",
}
"""What decided, in words."""


def deepened(tx: Tx, answer: WhyAnswer, *, as_of: Micros | None, now: Micros) -> WhyAnswer:
    """The answer with what the claims of each entry say; as of a time, with what had been said by then."""
    question = answer.question
    found = [
        _deepened(tx, one, question, as_of, now) if one.kind == Kind.ENTRY.value else one for one in answer.reasons
    ]
    return replace(answer, reasons=[one for one in found if one is not None])


def _deepened(tx: Tx, reason: Reason, question: str, as_of: Micros | None, now: Micros) -> Reason | None:
    claims = [claim for claim in changing.claims_of(tx, reason.id) if claim.attribute != EDIT]
    if as_of is not None:
        claims = _as_they_were([claim for claim in claims if claim.said_at < as_of], as_of)
        if not claims:
            return None
        reason = _until(reason, claims, as_of)
    known = changing.known_of(tx, claims)
    page = compile_page(claims, at=as_of or now, known=known)
    if page is None:
        return reason
    return replace(
        reason,
        statement=page.summary if as_of is not None or page.judged else reason.statement,
        values=[_value(one, claims, known) for one in asked_first(page.judged, claims, question)],
        timeline=_timeline(claims, known),
        questions=page.questions.split("\n") if page.questions else (),
    )


def _as_they_were(claims: Sequence[Claim], as_of: Micros) -> list[Claim]:
    """Claims as they stood then: what ended later, or what something took the place of that was said later, held."""
    said = {claim.id for claim in claims}
    return [
        replace(claim, status=Status.CANDIDATE, superseded_by=None)
        if claim.status is Status.SUPERSEDED
        and (
            (claim.valid_until is not None and claim.valid_until > as_of)
            or (claim.superseded_by is not None and claim.superseded_by not in said)
        )
        else claim
        for claim in claims
    ]


def _until(reason: Reason, claims: Sequence[Claim], as_of: Micros) -> Reason:
    """Only what had been said by then: no later quote, no later day, no warning about today."""
    return replace(
        reason,
        at=max(claim.said_at for claim in claims),
        receipts=[one for one in reason.receipts if one.at < as_of],
        banner="",
    )


def _value(one: Judged, claims: Sequence[Claim], known: Known) -> Value:
    by_id: dict[str, Claim] = {claim.id: claim for claim in claims}
    verdict = one.verdict
    return Value(
        subject=one.subject,
        attribute=one.attribute,
        scope=one.scope,
        values=list(one.values),
        step=verdict.step.value,
        decided=STEPS[verdict.step],
        confirmed=verdict.confirmed,
        claims=[short_id(id) for id in verdict.holds],
        lost=[
            Lost(
                value=lost.value,
                claim=short_id(lost.id),
                step=lost.step.value,
                to=short_id(lost.to),
                at=by_id[lost.id].said_at,
                where=_where(by_id[lost.id], known),
            )
            for lost in verdict.lost
        ],
        unconfirmed=[f"{by_id[id].value} [fw:{short_id(id)}]" for id in verdict.challengers],
    )


def _where(claim: Claim, known: Known) -> str:
    place = known.places.get(claim.id)
    if place:
        return str(place)
    session = f", session [fw:{short_id(claim.session_id)}]" if claim.session_id else ""
    return f"{SAID[claim.role]}{session}"


def _sort(claim: Claim) -> str:
    if claim.attribute == QUESTION:
        return "question, answered since" if claim.status is Status.SUPERSEDED else "open question"
    return f"{claim.type.value}, {claim.status.value}"


def _timeline(claims: Sequence[Claim], known: Known) -> list[str]:
    """One line a statement, the oldest first; said again in the same words it is one line."""
    lines = {f"{claim.text}\0{claim.status}": claim for claim in reversed(claims)}
    shown = sorted(lines.values(), key=lambda claim: (claim.said_at, claim.id))[-TIMELINE:]
    return [
        f"{datetime.fromtimestamp(one.said_at / 1e6, UTC):%Y-%m-%d} {_sort(one)},"
        f" {_where(one, known)}: {one.text} [fw:{short_id(one.id)}]"
        for one in shown
    ]
