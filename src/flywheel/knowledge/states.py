"""The states of claims and entries: which may follow which, and by whom; every step leaves a review row.

Code moves things among the states that nobody decided; what a person decided only follows from another act of a person.
Nothing becomes confirmed by code; but a mark that code made, code takes off again (`unmark`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final, TypeVar

from flywheel.errors import Conflict
from flywheel.model import Claim, Clean, Entry, Micros, Review, Status, new_id
from flywheel.store import Tx
from flywheel.store.mapper import find, insert
from flywheel.text.compose import fixed

RULES: Final = fixed("rules")
"""The actor of what code decides; every other actor is a person, through some door."""

Thing = TypeVar("Thing", Entry, Claim)


class By(StrEnum):
    """Whose act a step is."""

    RULES = "rules"
    PERSON = "person"


_EITHER: Final = frozenset(By)
_PERSON: Final = frozenset({By.PERSON})

ALLOWED: Final[Mapping[tuple[Status, Status], frozenset[By]]] = {
    (Status.CANDIDATE, Status.CONFIRMED): _PERSON,
    (Status.CANDIDATE, Status.REJECTED): _PERSON,
    (Status.CANDIDATE, Status.SUPERSEDED): _EITHER,  # taken back, or something else took its place
    (Status.CANDIDATE, Status.DISPUTED): _EITHER,
    (Status.CANDIDATE, Status.STALE): _EITHER,
    (Status.CONFIRMED, Status.CANDIDATE): _PERSON,  # the confirmation is taken back
    (Status.CONFIRMED, Status.REJECTED): _PERSON,
    (Status.CONFIRMED, Status.SUPERSEDED): _PERSON,  # by what a person confirmed, or invalidated
    (Status.CONFIRMED, Status.DISPUTED): _PERSON,  # by what a person confirmed as well
    (Status.CONFIRMED, Status.STALE): _EITHER,  # its source changed
    (Status.REJECTED, Status.CANDIDATE): _PERSON,
    (Status.REJECTED, Status.CONFIRMED): _PERSON,
    (Status.REJECTED, Status.SUPERSEDED): _PERSON,  # merged into another
    (Status.SUPERSEDED, Status.CANDIDATE): _EITHER,  # said again, or what took its place went
    (Status.SUPERSEDED, Status.CONFIRMED): _PERSON,
    (Status.SUPERSEDED, Status.REJECTED): _PERSON,
    (Status.SUPERSEDED, Status.DISPUTED): _EITHER,
    (Status.DISPUTED, Status.CANDIDATE): _EITHER,
    (Status.DISPUTED, Status.CONFIRMED): _PERSON,
    (Status.DISPUTED, Status.REJECTED): _PERSON,
    (Status.DISPUTED, Status.SUPERSEDED): _EITHER,
    (Status.DISPUTED, Status.STALE): _EITHER,
    (Status.STALE, Status.CANDIDATE): _EITHER,  # what had changed is as it was
    (Status.STALE, Status.CONFIRMED): _PERSON,  # read again
    (Status.STALE, Status.REJECTED): _PERSON,
    (Status.STALE, Status.SUPERSEDED): _EITHER,
    (Status.STALE, Status.DISPUTED): _EITHER,
}
"""Every step from one state into another that there is, and who may make it."""


def whose(actor: str) -> By:
    """Whose act it is, by the actor of a review row."""
    return By.RULES if actor == RULES else By.PERSON


def may(old: Status, new: Status, by: By) -> bool:
    """Whether this step may be made by such an actor. Staying where it is always may."""
    return old is new or by in ALLOWED.get((old, new), frozenset())


def move(tx: Tx, thing: Thing, new: Status, *, actor: Clean, reason: Clean, now: Micros) -> bool:
    """Give a claim or an entry another state and record it; whether it has changed.

    ``thing`` is as it was read in this transaction; one that somebody moved since stays where it is. Raises Conflict
    for a step that is not in the table.
    """
    old = thing.status
    if old is new:
        return False
    if not may(old, new, whose(actor)):
        raise Conflict(f"what is {old.value} does not become {new.value} by {whose(actor).value}")
    kind = "entry" if isinstance(thing, Entry) else "claim"
    if not tx.run(f"UPDATE {kind} SET status = :new WHERE id = :id AND status = :old", id=thing.id, new=new, old=old):
        return False
    record(tx, thing, new, actor=actor, reason=reason, now=now)
    return True


def unmark(tx: Tx, thing: Thing, *, reason: Clean, now: Micros) -> bool:
    """Take off what a person had confirmed the mark "stale" that code had put on it, and record it; whether it was.

    No confirmation: only the state below the mark comes back, and no date moves. What a person marked, or what a person
    decided otherwise, stays as it is.
    """
    mark = last_step(tx, thing.id, Status.STALE)
    if thing.status is not Status.STALE or mark is None or mark.actor != RULES or mark.old_status != Status.CONFIRMED:
        return False
    kind = "entry" if isinstance(thing, Entry) else "claim"
    sql = f"UPDATE {kind} SET status = 'confirmed' WHERE id = :id AND status = 'stale'"
    if not tx.run(sql, id=thing.id):
        return False
    record(tx, thing, Status.CONFIRMED, actor=RULES, reason=reason, now=now)
    return True


def last_step(tx: Tx, id: str, new: Status) -> Review | None:
    """The last step of an entry or a claim into a state; None when there was none, or a later decision."""
    rows = find(
        tx,
        Review,
        "WHERE target_id = :id AND old_status <> new_status ORDER BY created_at DESC, id DESC LIMIT 1",
        id=id,
    )
    return rows[0] if rows and rows[0].new_status == new.value else None


def record(tx: Tx, thing: Thing, new: Status, *, actor: Clean, reason: Clean, now: Micros) -> None:
    """Note an act about a claim or an entry; ``new`` is its state afterwards, the same for what changes none."""
    insert(
        tx,
        Review(
            id=new_id(now),
            project_id=thing.project_id,
            kind="entry" if isinstance(thing, Entry) else "claim",
            target_id=thing.id,
            old_status=thing.status.value,
            new_status=new.value,
            actor=actor,
            reason=reason,
            created_at=now,
        ),
    )


_HISTORY: Final = """
SELECT target_id, new_status FROM review WHERE target_id IN :ids
AND new_status IN ('candidate', 'confirmed', 'rejected') ORDER BY created_at, id
"""


def decided(tx: Tx, ids: Sequence[str]) -> Mapping[str, Status]:
    """What was last decided of each: candidate, confirmed or rejected, under a state that follows from others.

    Of what nobody ever decided there is nothing.
    """
    return {id: Status(status) for id, status in tx.all(_HISTORY, ids=list(ids))} if ids else {}


def decided_by_person(tx: Tx, id: str) -> bool:
    """Whether a person ever decided about an entry or a claim."""
    sql = "SELECT 1 FROM review WHERE target_id = :id AND actor <> :rules LIMIT 1"
    return tx.one(sql, id=id, rules=RULES) is not None
