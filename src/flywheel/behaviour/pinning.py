"""What a person does about beliefs: keep them, or delete them for good."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from flywheel.behaviour import queries
from flywheel.behaviour.decay import DecayStrategy
from flywheel.behaviour.rules import confidence_at, weighed
from flywheel.errors import BadInput, NotFound
from flywheel.model import SHORT, Belief, Micros, Tombstone
from flywheel.store import Tx
from flywheel.store.mapper import find, insert_many, upsert
from flywheel.text.compose import fixed

MANY = 20
"""Beliefs of one beginning that are looked at."""


def resolve(tx: Tx, identity: str, ids: Sequence[str], *, gone: bool = False) -> list[Belief]:
    """The beliefs of these full or short ids, each once; with ``gone`` those that a person deleted are passed over.

    Raises NotFound, and BadInput when a short id is the beginning of several or nothing is named.
    """
    if not ids:
        raise BadInput("name at least one habit; see: flywheel habits", field="ids")
    found: dict[str, Belief] = {}
    for given in ids:
        wanted = given.strip().removeprefix("fw:").lower()
        rows = _starting(tx, identity, wanted) if len(wanted) >= SHORT else []
        if len(rows) > 1:
            raise BadInput(f"{given[:40]!r} is the beginning of several habits; give more of the id", field="ids")
        if rows:
            found[rows[0].id] = rows[0]
        elif not (gone and len(wanted) == 32 and queries.dropped(tx, [wanted])):
            raise NotFound(f"there is no habit {given[:40]!r}; see: flywheel habits")
    return list(found.values())


def pin(tx: Tx, belief: Belief, pinned: bool, now: Micros, decay: DecayStrategy) -> None:
    """Keep a belief with the confidence that it has now, or let it fade from now on."""
    if belief.pinned is not pinned:
        now = Micros(max(now, belief.updated_at))
        after = replace(belief, pinned=pinned, confidence=confidence_at(belief, now, decay), updated_at=now)
        upsert(tx, weighed(after))


def drop(tx: Tx, identity: str, beliefs: Sequence[Belief], now: Micros) -> None:
    """Delete beliefs; a tombstone each keeps them from being learned again."""
    insert_many(
        tx,
        [
            Tombstone(
                kind=queries.DROPPED, id=one.id, project_id=one.project_id, reason=fixed("a person deleted it"),
                created_at=now,
            )
            for one in beliefs
        ],
    )  # fmt: skip
    queries.delete(tx, identity, [one.id for one in beliefs])


def _starting(tx: Tx, identity: str, wanted: str) -> list[Belief]:
    tail = "WHERE identity = :identity AND id >= :low AND id < :high ORDER BY id LIMIT :many"
    return find(tx, Belief, tail, identity=identity, low=wanted, high=f"{wanted}g", many=MANY)
