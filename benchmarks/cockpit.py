"""Drawing the cockpit of a project of many pages in every state. Floor: counting its pages by state, off an index.

Two thirds of the pages are open or overdue, 7,500 times a session was told one, and what an operator would see is
drawn as ``cockpit.md``. Also the line of a session's start, which is one statement.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.render import ENTRIES, plant
from flywheel.cockpit.worker import draw
from flywheel.context.standing import read_standing
from flywheel.model import GLOBAL, ClaimType, Injection, Micros, Project, Status
from flywheel.store import Db
from flywheel.store.connect import connect
from flywheel.store.mapper import find, insert_many
from flywheel.tree.page import DAY

ROUNDS: Final = 100
"""Cockpits that are drawn."""

SESSIONS: Final = 300
TOLD: Final = 25
"""Sessions, and pages that each was told."""

_NOW: Final = Micros(1_750_000_000_000_000)
_STATES: Final = [Status.CANDIDATE] * 50 + [Status.CONFIRMED] * 40 + [Status.DISPUTED] * 4 + [Status.STALE] * 6


def run(data: Path | None, n: int | None) -> dict[str, Any]:
    """Draw the cockpit of ``n`` pages (`ENTRIES` unless given).

    ``ms``, ``ms_p95`` of a drawing; ``cpu_ms``, its processor time (what a busy machine adds is not in it);
    ``line_ms`` of the line at a session's start.
    """
    count = n or ENTRIES
    chance = random.Random(5)
    with tempfile.TemporaryDirectory(prefix="flywheel-cockpit-", dir=data) as folder:
        db = connect("sqlite", Path(folder))
        _age(db, chance, plant(db, chance, count))
        with db.read() as tx:
            (project,) = find(tx, Project, "WHERE id <> :id", id=GLOBAL)
        print(f"{count} pages", file=sys.stderr)
        cpu, wall = _timed(lambda: draw(db, Path(folder), project, _NOW))
        with db.read() as tx:
            _, line = _timed(lambda: read_standing(tx, [project.id, GLOBAL], _NOW))
            sql = "SELECT status, COUNT(*) FROM entry WHERE project_id = :id AND redirect_to IS NULL GROUP BY status"
            _, floor = _timed(lambda: tx.all(sql, id=project.id))
        db.close()
    return {
        "results": {
            "ms": round(statistics.median(wall), 2),
            "ms_p95": round(wall[int(len(wall) * 0.95)], 2),
            "cpu_ms": round(statistics.median(cpu), 2),
            "cpu_ms_min": round(cpu[0], 2),
            "line_ms": round(statistics.median(line), 3),
        },
        "floor": {"ms": round(statistics.median(floor), 2)},
        "n": count,
    }


def _timed(act: Callable[[], object]) -> tuple[list[float], list[float]]:
    """Milliseconds of processor time and by the clock of each round, sorted."""
    cpu, wall = [], []
    for _ in range(ROUNDS):
        used, began = time.thread_time(), time.perf_counter()
        act()
        wall.append((time.perf_counter() - began) * 1000)
        cpu.append((time.thread_time() - used) * 1000)
    return sorted(cpu), sorted(wall)


def _age(db: Db, chance: random.Random, ids: Sequence[str]) -> None:
    """Give the pages states, types, dates and bodies of some length, and sessions that were told some of them."""
    sql = (
        "UPDATE entry SET status = :status, type = :type, updated_at = :at, evidence = :evidence,"
        " last_confirmed = :confirmed, body = :body WHERE id = :id"
    )
    with db.write() as tx:
        project = tx.all("SELECT project_id FROM entry LIMIT 1")[0][0]
        for id in ids:
            status, at = chance.choice(_STATES), _NOW - chance.randrange(200) * DAY
            held = status is Status.CONFIRMED
            tx.run(
                sql,
                id=id,
                status=status,
                type=chance.choice(list(ClaimType)),
                at=at,
                evidence=1 + int(chance.expovariate(1)),
                confirmed=at if held else None,
                body="word " * chance.randrange(20, 500),
            )
            if held:
                tx.run("UPDATE claim SET status = 'confirmed' WHERE entry_id = :id", id=id)
        for session in range(SESSIONS):
            told = chance.sample(ids[: 20 * TOLD], min(TOLD, len(ids)))
            insert_many(tx, [_told(project, session, id) for id in told])


def _told(project: Any, session: int, entry: str) -> Injection:
    return Injection(
        briefing_id=f"b{session}", project_id=project, session_id=None, native_session=f"s{session}", agent="claude",
        event="SessionStart", source="entries", item_kind="entry", item_id=entry, tokens=9, created_at=_NOW,
    )  # fmt: skip
