"""Confirming: an entry with the claims that make its page, or one claim of it; as it is, or as a person corrects it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from flywheel.errors import BadInput, Conflict
from flywheel.knowledge import anchors, changing, resting, states
from flywheel.knowledge.compiling import main_claim
from flywheel.knowledge.conflict import Step
from flywheel.knowledge.deciding import Act, Target, put_out, recompiled
from flywheel.knowledge.judging import Judged, has_value, judge, stands
from flywheel.knowledge.parts import EDIT
from flywheel.model import Claim, ClaimType, Clean, Entry, Micros, Status, short_id
from flywheel.store import Tx
from flywheel.text.compose import fixed, join


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How something is confirmed: another type or scope than it has, and what was read again."""

    type: ClaimType | None = None
    scope: Clean | None = None
    reread: Sequence[Clean] = ()


_PLAIN: Final = Terms()
_CHOSEN: Final = fixed("decided against, in favour of another")


def confirm(tx: Tx, target: Target, act: Act, terms: Terms = _PLAIN) -> bool:
    """Confirm an entry with the claims that make its page, or one claim of it; whether anything has changed.

    Raises Conflict for an entry that is disputed (one of its claims must be chosen), BadInput for a stale one when
    nothing is named that was read again.
    """
    if isinstance(target, Claim):
        return _confirm_claim(tx, target, act, terms)
    entry = changing.followed(tx, target)
    claims = changing.claims_of(tx, entry.id)
    if entry.status is Status.STALE and not terms.reread:
        raise BadInput(
            f"[fw:{entry.short}] is stale: read again what it rests on, and name that (reread)", field="reread"
        )
    judged = judge(claims, at=act.now, known=changing.known_of(tx, claims))
    _not_disputed(entry, judged)
    chosen = _making(claims, judged, act.now)
    moved = [_take(tx, claim, act, terms) for claim in chosen]
    fresh = states.move(tx, entry, Status.CONFIRMED, actor=act.actor, reason=_why(act, terms), now=act.now)
    edited = _retype(tx, entry, terms)
    if not (fresh or edited or any(moved) or terms.reread):
        return False
    if not fresh and (terms.reread or edited):
        states.record(tx, entry, entry.status, actor=act.actor, reason=_why(act, terms), now=act.now)
    if entry.status is Status.SUPERSEDED:
        tx.run("DELETE FROM edge WHERE target_id = :id AND kind = 'supersedes'", id=entry.id)  # it holds again
    _stamp(tx, entry, act.now)
    recompiled(tx, entry.id, act)
    return True


def _not_disputed(entry: Entry, judged: Sequence[Judged]) -> None:
    disputed = [one for one in judged if one.verdict.step is Step.DISPUTED]
    if disputed:
        sides = ", ".join(f"{short_id(id)}" for one in disputed for id in one.verdict.holds)
        raise Conflict(
            f"[fw:{entry.short}] is disputed: confirm the claim that holds, one of {sides}",
            claims=[id for one in disputed for id in one.verdict.holds],
        )


def _making(claims: Sequence[Claim], judged: Sequence[Judged], now: Micros) -> list[Claim]:
    """The claims that make the page as it reads: what holds of each attribute, and what tells the statement."""
    holding = {id for one in judged for id in one.verdict.holds}
    found = [claim for claim in claims if claim.id in holding]
    parts = [claim for claim in claims if not has_value(claim) and claim.attribute != EDIT]
    live = [claim for claim in parts if stands(claim, now) and claim.superseded_by is None]
    return found + (live or ([main] if (main := main_claim(parts)) and not found else []))


def _take(tx: Tx, claim: Claim, act: Act, terms: Terms) -> bool:
    """Confirm one claim, with another type or scope where one is given."""
    changed = False
    if terms.scope is not None and claim.scope != terms.scope:
        changed = bool(tx.run("UPDATE claim SET scope = :scope WHERE id = :id", scope=terms.scope, id=claim.id))
    if terms.type is not None and claim.type is not terms.type:
        changed = bool(tx.run("UPDATE claim SET type = :type WHERE id = :id", type=terms.type, id=claim.id)) or changed
    if claim.status is not Status.CONFIRMED:
        _back(tx, claim)
    return states.move(tx, claim, Status.CONFIRMED, actor=act.actor, reason=_why(act, terms), now=act.now) or changed


def _back(tx: Tx, claim: Claim) -> None:
    """A claim that was taken out holds again."""
    tx.run("UPDATE claim SET superseded_by = NULL, valid_until = NULL WHERE id = :id", id=claim.id)


def _retype(tx: Tx, entry: Entry, terms: Terms) -> bool:
    changed = 0
    if terms.type is not None and entry.type is not terms.type:
        changed += tx.run("UPDATE entry SET type = :type WHERE id = :id", type=terms.type, id=entry.id)
    if terms.scope is not None and entry.scope != terms.scope:
        changed += tx.run("UPDATE entry SET scope = :scope WHERE id = :id", scope=terms.scope, id=entry.id)
    return bool(changed)


def _stamp(tx: Tx, entry: Entry, now: Micros) -> None:
    """The moment of a person's look: only a confirmation moves it. What the entry rests on is taken as it is now."""
    tx.run(
        "UPDATE entry SET last_confirmed = :now, deferred_until = NULL, stale_reason = '' WHERE id = :id",
        now=now,
        id=entry.id,
    )
    anchors.take_anew(tx, entry.id, now)
    resting.taken_anew(tx, entry.id, now)


def _why(act: Act, terms: Terms) -> Clean:
    parts = [act.reason] if act.reason else []
    if terms.reread:
        parts.append(join([fixed("read again:"), join(terms.reread, ", ")]))
    return join(parts, "; ")


def _confirm_claim(tx: Tx, claim: Claim, act: Act, terms: Terms) -> bool:
    """Confirm one claim: its equals in dispute are out, and its entry is confirmed once all of it is."""
    rivals = _rivals(tx, claim, act.now)
    if not _take(tx, claim, act, terms):
        return False
    for rival in rivals:
        put_out(tx, rival, claim, replace(act, reason=_CHOSEN))
    entry = recompiled(tx, claim.entry_id, act)
    if entry is None:
        return True
    claims = changing.claims_of(tx, entry.id)
    judged = judge(claims, at=act.now, known=changing.known_of(tx, claims))
    statement = main_claim([one for one in claims if not has_value(one) and one.status is not Status.REJECTED])
    whole = all(one.verdict.confirmed and one.verdict.step is not Step.DISPUTED for one in judged) and (
        bool(judged) or (statement is not None and statement.status is Status.CONFIRMED)
    )
    if whole and (entry.status is not Status.STALE or terms.reread):
        fresh = states.move(tx, entry, Status.CONFIRMED, actor=act.actor, reason=_why(act, terms), now=act.now)
        _retype(tx, entry, replace(terms, scope=None) if judged else terms)
        if fresh or terms.reread:
            _stamp(tx, entry, act.now)
            recompiled(tx, entry.id, act)
    return True


def _rivals(tx: Tx, claim: Claim, now: Micros) -> list[Claim]:
    """What disputes the claim, as equal to it."""
    claims = {one.id: one for one in changing.claims_of(tx, claim.entry_id)}
    judged = judge(claims.values(), at=now, known=changing.known_of(tx, list(claims.values())))
    disputed = {id for one in judged if claim.id in one.verdict.holds and one.verdict.step is Step.DISPUTED
                for id in one.verdict.holds}  # fmt: skip
    return [one for one in claims.values() if one.id in disputed and one.value != claim.value]
