"""Observations made up for tests, and beliefs as they are stored."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from flywheel.behaviour.consolidation import Consolidated, consolidate
from flywheel.behaviour.decay import AdaptiveDecay
from flywheel.behaviour.rules import Category, Held, belief_id, weighed
from flywheel.model import Belief, Clean, MessageId, Micros, Observation, ProjectId
from flywheel.store import Db
from flywheel.store.mapper import find, insert_many

DAY = 86_400_000_000
NOW = Micros(1_900_000_000_000_000)
P = ProjectId("p")
_NUMBERS = itertools.count()


def seen(
    subject: str,
    kind: str = "tool_success",
    *,
    session: str = "s1",
    identity: str = "u1",
    at: int = NOW - DAY,
    project: str = P,
    told: bool = True,
    facts: Mapping[str, object] | None = None,
) -> Observation:
    """One observation; ``told`` by a transcript, else by a hook."""
    id = f"o{next(_NUMBERS)}"
    return Observation(
        id=id,
        project_id=ProjectId(project),
        native_session=session,
        identity=identity,
        kind=kind,
        subject=Clean(subject),
        facts=facts or {},
        created_at=Micros(at),
        message_id=MessageId(f"m-{id}") if told else None,
    )


def note(db: Db, *rows: Observation) -> None:
    """Store observations."""
    with db.write() as tx:
        insert_many(tx, rows)


def weigh(db: Db, *, identity: str = "u1", now: int = NOW, quiet: float = 0.0) -> Consolidated:
    """Consolidate what waits of an identity."""
    return consolidate(db, identity, now=Micros(now), quiet=quiet, decay=AdaptiveDecay())


def beliefs(db: Db, identity: str = "u1") -> dict[tuple[str, str], Belief]:
    """An identity's beliefs by category and name."""
    with db.read() as tx:
        rows = find(tx, Belief, "WHERE identity = :identity ORDER BY category, name", identity=identity)
    return {(one.category, one.name): one for one in rows}


def belief(
    category: Category,
    name: str,
    *,
    confidence: float = 0.8,
    sessions: int = 5,
    pinned: bool = False,
    identity: str = "u1",
    project: str = P,
    at: int = NOW,
    ease: float = 1.3,
) -> Belief:
    """One belief."""
    return weighed(
        Belief(
            id=belief_id(identity, project, category, name),
            identity=identity,
            project_id=ProjectId(project),
            category=category.value,
            name=Clean(name),
            confidence=confidence,
            ease=ease,
            reinforced=sessions,
            pinned=pinned,
            created_at=Micros(at),
            updated_at=Micros(at),
            last_seen=Micros(at),
        )
    )


def held(*some: Belief) -> Sequence[Held]:
    """Beliefs with the confidence that they were written with, in this order."""
    return [Held(belief=one, confidence=one.confidence) for one in some]
