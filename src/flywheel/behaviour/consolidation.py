"""Consolidation: what waits of an identity's observations becomes beliefs, session by session, each session once.

It may die anywhere. A session's say about a belief is written in one transaction with the belief
(`model.Reinforcement`), and its observations are marked only when all of its beliefs are written: a second run says
nothing twice and leaves nothing out. Memory holds the distinct observations of some sessions, not all that wait.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from flywheel.behaviour import linting, queries
from flywheel.behaviour.decay import MICROS_A_DAY, DecayStrategy
from flywheel.behaviour.lint import Warned
from flywheel.behaviour.mapping import evidence_of
from flywheel.behaviour.queries import Waiting
from flywheel.behaviour.rules import Course, Evidence, belief_id, faded
from flywheel.model import Belief, Micros
from flywheel.store import Db, Tx
from flywheel.store.chunks import chunks

BATCH: Final = 5000
"""Observations that are read at a time: whole sessions, at least one."""

WRITTEN: Final = 400
"""Rows of one transaction, which keeps it short."""

FADED: Final = 200
"""Beliefs of one transaction that are written down anew."""

MARKED: Final = 500
"""Observations that one transaction marks or deletes."""

KEPT_DAYS: Final = 7
"""Days that an observation is kept after it was consolidated."""

HELD: Final = 30_000_000
"""Microseconds after which it is looked again whether sessions must still wait for earlier ones."""

STALE_DAYS: Final = 1
"""A belief whose confidence is older is written down anew, and deleted when it is below the floor."""


@dataclass(slots=True, kw_only=True)
class Consolidated:
    """What a consolidation came to."""

    sessions: int = 0
    observations: int = 0
    formed: int = 0  # beliefs
    moved: int = 0  # what sessions said of beliefs, new ones among them
    gone: int = 0  # beliefs
    later: Micros | None = None  # when the next session will have been quiet for long enough
    warnings: list[Warned] = field(default_factory=list)


Turn = tuple[str, Evidence]
"""A session, and what it says about one belief."""

Outcome = tuple[Belief, Sequence[queries.Said]]
"""A belief as it is now, and which sessions had their say."""


def consolidate(
    db: Db,
    identity: str,
    *,
    now: Micros,
    quiet: float,
    decay: DecayStrategy,
    pause: Callable[[], None] = lambda: None,
    hold: Micros | None = None,
) -> Consolidated:
    """Consolidate the sessions that have been quiet for ``quiet`` seconds; then fade, tidy and lint.

    ``hold`` is when the earliest session began that is still to be observed: what was last heard of since then waits,
    so that sessions have their say in the order of time; and nothing fades, since what is written down as of now would
    be too late for it. ``pause`` is called between transactions and may raise: what is done stays done.
    """
    result = Consolidated()
    with db.read() as tx:
        every = queries.waiting(tx, identity)
    until = now - int(quiet * 1e6)
    result.later = min((Micros(one.last + int(quiet * 1e6)) for one in every if one.last > until), default=None)
    ready = [one for one in every if one.last <= until and (hold is None or one.last < hold)]
    if hold is not None and any(hold <= one.last <= until for one in every):
        result.later = min(result.later or Micros(now + HELD), Micros(now + HELD))
    for batch in _batches(ready):
        _settle(db, identity, [one.native_session for one in batch], now, decay, pause, result)
        result.sessions += len(batch)
    if hold is None:
        _fade(db, identity, now, decay, pause, result)
    _purge(db, identity, now, pause)
    with db.read() as tx:
        result.warnings = linting.look(tx, identity, linting.projects_of(tx, identity), now, decay)
    return result


def _batches(sessions: Sequence[Waiting]) -> Iterator[list[Waiting]]:
    """Whole sessions, some together."""
    batch: list[Waiting] = []
    for one in sessions:
        if batch and sum(other.count for other in batch) + one.count > BATCH:
            yield batch
            batch = []
        batch.append(one)
    if batch:
        yield batch


def _settle(
    db: Db,
    identity: str,
    sessions: Sequence[str],
    now: Micros,
    decay: DecayStrategy,
    pause: Callable[[], None],
    result: Consolidated,
) -> None:
    with db.read() as tx:
        ids = queries.ids_waiting(tx, identity, sessions)
        seen = queries.seen_of(tx, identity, sessions)
        turns = _by_belief(identity, [(session, one) for session in sessions for one in evidence_of(seen[session])])
        known = queries.beliefs_with(tx, identity, list(turns))
        done = queries.settled(tx, identity, sessions)
    for portion in _portions(list(_courses(identity, turns, known, done, decay))):
        pause()
        with db.write(bulk=True) as tx:
            _write(tx, portion, known, result)
    for some in chunks(ids, MARKED):
        pause()
        with db.write(bulk=True) as tx:
            queries.mark(tx, some, now)
    result.observations += len(ids)


def _by_belief(identity: str, turns: Sequence[Turn]) -> dict[str, list[Turn]]:
    """What sessions say, by belief; of each belief in the order of the sessions."""
    found: dict[tuple[str, str, str], list[Turn]] = defaultdict(list)
    for session, one in turns:
        found[one.project_id, one.category.value, one.name].append((session, one))
    return {belief_id(identity, *about): some for about, some in found.items()}


def _courses(
    identity: str,
    turns: Mapping[str, Sequence[Turn]],
    known: Mapping[str, Belief],
    done: Collection[tuple[str, str]],
    decay: DecayStrategy,
) -> Iterator[Outcome]:
    """Let each session have its say about each belief, unless it had it: the beliefs that this changes."""
    for id, some in turns.items():
        course = Course(identity, known.get(id), decay)
        said = [
            (id, session, one.project_id, identity, one.at)
            for session, one in some
            if (id, session) not in done and course.hear(one)
        ]
        belief = course.end()
        if said and belief is not None:
            yield belief, said


def _portions(outcomes: Sequence[Outcome]) -> Iterator[list[Outcome]]:
    """Outcomes in portions of so many rows, at least one outcome each."""
    portion, rows = list[Outcome](), 0
    for one in outcomes:
        if portion and rows + len(one[1]) + 1 > WRITTEN:
            yield portion
            portion, rows = [], 0
        portion.append(one)
        rows += len(one[1]) + 1
    if portion:
        yield portion


def _write(tx: Tx, outcomes: Sequence[Outcome], known: Mapping[str, Belief], result: Consolidated) -> None:
    """Write beliefs with which sessions had their say; what a person deleted stays away."""
    gone = queries.dropped(tx, [belief.id for belief, _ in outcomes])
    left = [(belief, said) for belief, said in outcomes if belief.id not in gone]
    queries.keep(tx, [belief for belief, _ in left], [row for _, said in left for row in said])
    result.formed += sum(belief.id not in known for belief, _ in left)
    result.moved += sum(len(said) for _, said in left)


def _fade(
    db: Db, identity: str, now: Micros, decay: DecayStrategy, pause: Callable[[], None], result: Consolidated
) -> None:
    """Write down today's confidence where the written one is old; delete what is below the floor."""
    before = Micros(now - STALE_DAYS * MICROS_A_DAY)
    while True:
        pause()
        with db.write(bulk=True) as tx:
            old = queries.older(tx, identity, before, FADED)
            left = [faded(one, now, decay) for one in old]
            queries.keep(tx, [one for one in left if one is not None], ())
            lost = [one.id for one, kept in zip(old, left, strict=True) if kept is None]
            result.gone += queries.delete(tx, identity, lost) if lost else 0
        if len(old) < FADED:
            return


def _purge(db: Db, identity: str, now: Micros, pause: Callable[[], None]) -> None:
    """Delete observations that were used long enough ago."""
    before = Micros(now - KEPT_DAYS * MICROS_A_DAY)
    while True:
        pause()
        with db.write(bulk=True) as tx:
            if queries.purge(tx, identity, before, MARKED) < MARKED:
                return
