"""What a person decides about entries and claims: each act is recorded and idempotent, what follows is done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from flywheel.errors import BadInput, Conflict
from flywheel.knowledge import changing, states
from flywheel.knowledge.compiling import main_claim
from flywheel.model import Claim, Clean, Edge, EdgeKind, Entry, Kind, Micros, Status, short_id
from flywheel.store import Tx
from flywheel.store.mapper import get, insert_many
from flywheel.text.compose import fixed

Target = Entry | Claim
"""What is decided about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """Who does it, when and why; ``actor`` names the door (`doors.actor`)."""

    actor: Clean
    now: Micros
    reason: Clean = Clean("")


def put_out(tx: Tx, claim: Claim, by: Claim | None, act: Act) -> bool:
    """A claim held until now; ``by`` takes its place."""
    if claim.status is Status.REJECTED:
        return False
    moved = states.move(tx, claim, Status.SUPERSEDED, actor=act.actor, reason=act.reason, now=act.now)
    if not moved and claim.valid_until is not None:
        return False
    tx.run(
        "UPDATE claim SET valid_until = :now, superseded_by = :by WHERE id = :id",
        now=act.now,
        by=by.id if by else None,
        id=claim.id,
    )
    if not moved:
        states.record(tx, claim, claim.status, actor=act.actor, reason=act.reason, now=act.now)
    return True


def reject(tx: Tx, target: Target, act: Act) -> bool:
    """Reject an entry with all its claims, or one claim; an entry whose last claim goes is rejected with it."""
    if isinstance(target, Entry):
        entry = changing.followed(tx, target)
        claims = changing.claims_of(tx, entry.id)
    else:
        entry, claims = entry_of(tx, target), [target]
    moved = [
        states.move(tx, claim, Status.REJECTED, actor=act.actor, reason=act.reason, now=act.now) for claim in claims
    ]
    left = [one for one in changing.claims_of(tx, entry.id) if one.status is not Status.REJECTED]
    whole = isinstance(target, Entry) or not left
    fresh = whole and states.move(tx, entry, Status.REJECTED, actor=act.actor, reason=act.reason, now=act.now)
    if fresh or any(moved):
        recompiled(tx, entry.id, act)
    return fresh or any(moved)


def invalidate(tx: Tx, target: Target, act: Act) -> bool:
    """It held, and holds no longer: an entry with all its claims, or one claim."""
    if not act.reason:
        raise BadInput("say why it holds no longer (reason)", field="reason")
    if isinstance(target, Claim):
        done = put_out(tx, target, None, act)
        entry = entry_of(tx, target)
        if done:
            recompiled(tx, entry.id, act)
        return done
    entry = changing.followed(tx, target)
    return _end(tx, entry, None, act)


def _end(tx: Tx, entry: Entry, by: Claim | None, act: Act) -> bool:
    """An entry and its claims hold no longer."""
    done = [put_out(tx, claim, by, act) for claim in changing.claims_of(tx, entry.id)]
    moved = entry.status is not Status.REJECTED and states.move(
        tx, entry, Status.SUPERSEDED, actor=act.actor, reason=act.reason, now=act.now
    )
    if moved or any(done):
        recompiled(tx, entry.id, act)
    return moved or any(done)


def supersede(tx: Tx, old: Target, new: Target, act: Act) -> bool:
    """One takes the place of the other: both entries, or both claims. Raises BadInput, Conflict for a circle."""
    if old.id == new.id or isinstance(old, Entry) is not isinstance(new, Entry) or old.project_id != new.project_id:
        raise BadInput("name two different entries, or two different claims, of one project", field="new")
    if isinstance(old, Claim) and isinstance(new, Claim):
        if new.superseded_by == old.id and new.valid_until is not None:
            raise Conflict(
                f"[fw:{short_id(new.id)}] was superseded by [fw:{short_id(old.id)}] itself; confirm it first"
            )
        done = put_out(tx, old, new, act)
        if done:
            recompiled(tx, old.entry_id, act)
        return done
    if not isinstance(old, Entry) or not isinstance(new, Entry):
        raise AssertionError
    return _supersede_entry(tx, changing.followed(tx, old), changing.followed(tx, new), act)


def _supersede_entry(tx: Tx, old: Entry, new: Entry, act: Act) -> bool:
    back = tx.one(
        "SELECT 1 FROM edge WHERE source_id = :old AND target_id = :new AND kind = :kind",
        old=old.id,
        new=new.id,
        kind=EdgeKind.SUPERSEDES.value,
    )
    if back is not None or old.id == new.id:
        raise Conflict(f"[fw:{new.short}] was superseded by [fw:{old.short}] itself; confirm it first")
    edge = Edge(
        project_id=old.project_id, source_id=new.id, target_id=old.id, kind=EdgeKind.SUPERSEDES, reason=act.reason,
        created_at=act.now,
    )  # fmt: skip
    fresh = bool(insert_many(tx, [edge]))
    done = _end(tx, old, main_claim(changing.claims_of(tx, new.id)), act)
    if fresh or done:
        tx.changed(Kind.ENTRY, new.id, new.project_id)
        tx.changed(Kind.ENTRY, old.id, old.project_id)
    return fresh or done


def defer(tx: Tx, target: Target, until: Micros, act: Act) -> bool:
    """Put the review of an entry off until a time."""
    entry = changing.followed(tx, target) if isinstance(target, Entry) else entry_of(tx, target)
    if entry.deferred_until == until:
        return False
    tx.run("UPDATE entry SET deferred_until = :until WHERE id = :id", until=until, id=entry.id)
    states.record(tx, entry, entry.status, actor=act.actor, reason=act.reason or _PUT_OFF, now=act.now)
    tx.changed(Kind.ENTRY, entry.id, entry.project_id)
    return True


def pin(tx: Tx, target: Target, act: Act, *, pinned: bool) -> bool:
    """Let an entry stand first in its share, or no more."""
    entry = changing.followed(tx, target) if isinstance(target, Entry) else entry_of(tx, target)
    if entry.pinned is pinned:
        return False
    tx.run("UPDATE entry SET pinned = :pinned WHERE id = :id", pinned=int(pinned), id=entry.id)
    reason = act.reason or (_PINNED if pinned else _UNPINNED)
    states.record(tx, entry, entry.status, actor=act.actor, reason=reason, now=act.now)
    tx.changed(Kind.ENTRY, entry.id, entry.project_id)
    return True


_PUT_OFF: Final = fixed("put off")
_PINNED: Final = fixed("pinned")
_UNPINNED: Final = fixed("no longer pinned")


def entry_of(tx: Tx, claim: Claim) -> Entry:
    """The entry that a claim belongs to. Raises Conflict when it is gone."""
    entry = get(tx, Entry, id=claim.entry_id)
    if entry is None:
        raise Conflict(f"the entry of [fw:{short_id(claim.id)}] is gone")
    return entry


def recompiled(tx: Tx, entry_id: str, act: Act) -> Entry | None:
    """Bring an entry up to date after an act."""
    return changing.changed(tx, entry_id, now=act.now, reason=act.reason, actor=act.actor)
