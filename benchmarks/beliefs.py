"""Loading habits for a briefing, and consolidating observations. Floor: one indexed row; reading and marking the rows.

Loading is what a session's start does: the strongest of ``n`` beliefs of one identity in one project, the profile and
the section of a briefing. Consolidation is ten observations for each belief: of a thousand sessions within a year, in
which a few tools and files come up again and again.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from benchmarks.render import memory
from flywheel.behaviour import queries
from flywheel.behaviour.consolidation import consolidate
from flywheel.behaviour.decay import MICROS_A_DAY, AdaptiveDecay
from flywheel.behaviour.formatting import section
from flywheel.behaviour.mapping import ACCESS, FAILURE, PATTERN, SUCCESS
from flywheel.behaviour.rules import Category, belief_id, weighed
from flywheel.model import Belief, Clean, MessageId, Micros, Observation, ProjectId
from flywheel.store import Db
from flywheel.store.connect import connect
from flywheel.store.mapper import insert_many
from flywheel.text.tokens import count as tokens

BELIEFS: Final = 10_000
"""Beliefs of the bar; observations are ten times as many."""

ROUNDS: Final = 1000
"""Loadings that are timed."""

SESSIONS: Final = 1000

_NOW: Final = Micros(1_900_000_000_000_000)
_PROJECT: Final = ProjectId("bench")
_ME: Final = "1000"


def run(data: Path | None, n: int | None) -> dict[str, Any]:
    """Load from ``n`` beliefs (`BELIEFS` unless given), then consolidate ten times as many observations.

    ``p50_ms``, ``p99_ms`` of loading beliefs with profile and section; ``consolidate_s`` by the clock,
    ``consolidate_cpu_s`` of the processor, ``peak_mb`` (10^6 bytes of resident memory that it added).
    """
    size = n or BELIEFS
    chance = random.Random(6)
    with tempfile.TemporaryDirectory(prefix="flywheel-beliefs-", dir=data) as folder:
        db = connect("sqlite", Path(folder))
        _believe(db, chance, size)
        loading = _timed(lambda: _load(db))
        floor = _timed(lambda: _one_row(db))
        print(f"{size} beliefs loaded {ROUNDS} times", file=sys.stderr)
        with db.write() as tx:
            tx.run("DELETE FROM belief")
        _observe(db, chance, 10 * size)
        before, used, began = memory(), time.process_time(), time.perf_counter()
        result = consolidate(db, _ME, now=_NOW, quiet=0.0, decay=AdaptiveDecay())
        seconds, cpu, peak = time.perf_counter() - began, time.process_time() - used, memory() - before
        marking = _mark_all(db)
        db.close()
    return {
        "results": {
            "p50_ms": round(loading[len(loading) // 2], 2),
            "p99_ms": round(loading[int(len(loading) * 0.99)], 2),
            "consolidate_s": round(seconds, 2),
            "consolidate_cpu_s": round(cpu, 2),
            "peak_mb": round(peak, 1),
            "formed": result.formed,
            "moved": result.moved,
            "gone": result.gone,
            "warnings": len(result.warnings),
        },
        "floor": {"p99_ms": round(floor[int(len(floor) * 0.99)], 2), "consolidate_s": round(marking, 2)},
        "n": {"beliefs": size, "rounds": ROUNDS, "observations": result.observations},
    }


def _load(db: Db) -> str:
    with db.read() as tx:
        held = queries.strongest(tx, _ME, [_PROJECT], _NOW, AdaptiveDecay())
    text = section(held, 300, tokens)
    assert text
    return text


def _one_row(db: Db) -> object:
    with db.read() as tx:
        return tx.one("SELECT id FROM belief WHERE identity = :me AND project_id = :p LIMIT 1", me=_ME, p=_PROJECT)


def _timed(act: Callable[[], object]) -> list[float]:
    """Milliseconds of each round, sorted."""
    took = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        act()
        took.append((time.perf_counter() - began) * 1000)
    return sorted(took)


def _believe(db: Db, chance: random.Random, size: int) -> None:
    """Beliefs of every category, age and strength."""
    for start in range(0, size, 1000):
        with db.write() as tx:
            insert_many(tx, [_belief(chance, number) for number in range(start, min(start + 1000, size))])


def _belief(chance: random.Random, number: int) -> Belief:
    category = chance.choice(list(Category))
    name = f"{chance.choice(['file', 'command', 'tool', 'language', 'area', 'task'])}:src/some/part-{number}.py"
    at = Micros(_NOW - chance.randrange(30 * MICROS_A_DAY))
    return weighed(
        Belief(
            id=belief_id(_ME, _PROJECT, category, name), identity=_ME, project_id=_PROJECT, category=category.value,
            name=Clean(name), confidence=chance.uniform(0.1, 1.0), ease=chance.uniform(1.3, 2.5),
            reinforced=1 + int(chance.expovariate(0.2)), created_at=at, updated_at=at, last_seen=at,
        )
    )  # fmt: skip


def _observe(db: Db, chance: random.Random, size: int) -> None:
    """Observations of sessions over a year, the latest yesterday; a few names come up again and again."""
    for start in range(0, size, 1000):
        rows = [_observation(chance, number, size) for number in range(start, min(start + 1000, size))]
        with db.write() as tx:
            insert_many(tx, rows)


def _observation(chance: random.Random, number: int, size: int) -> Observation:
    session = number * SESSIONS // size
    at = Micros(_NOW - (SESSIONS - session) * 365 * MICROS_A_DAY // SESSIONS - MICROS_A_DAY + number)
    place = min(int(chance.paretovariate(0.6)), 5000)
    kind = chance.choices((ACCESS, SUCCESS, FAILURE, PATTERN), (45, 40, 10, 5))[0]
    subject = {ACCESS: f"file:src/part{place % 40}/file{place}.py", PATTERN: f"task:{'fix' if place % 2 else 'test'}"}
    return Observation(
        id=f"o{number}", project_id=_PROJECT, native_session=f"s{session}", identity=_ME, kind=kind,
        subject=Clean(subject.get(kind, f"command:make target-{place % 300}")),
        facts={"error": f"assertionerror: thing {place % 50} is missing"} if kind == FAILURE else {}, created_at=at,
        message_id=MessageId(f"m{number}"),
    )  # fmt: skip


def _mark_all(db: Db) -> float:
    """Seconds to read all observations and mark them again, in transactions of the same size."""
    began = time.perf_counter()
    with db.read() as tx:
        ids = [id for id, *_ in tx.all("SELECT id, kind, subject, facts, created_at FROM observation")]
    for start in range(0, len(ids), 500):
        with db.write(bulk=True) as tx:
            queries.mark(tx, ids[start : start + 500], Micros(_NOW + 1))
    return time.perf_counter() - began
