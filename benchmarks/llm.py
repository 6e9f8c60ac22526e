"""Looking at the caps and putting a call on the bill, in a month of many calls. Floor: one empty row in the same way.

Who asks a model waits for this before each call, and so does whoever else writes. The sums of a day make it the same
for a thousand calls and for a hundred thousand.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from flywheel.config import parse_config
from flywheel.llm import Purpose, Usage
from flywheel.llm.budget import periods
from flywheel.llm.ledger import Estimate, Ledger
from flywheel.model import LlmCall, LlmDay, Micros, ProjectId
from flywheel.store.connect import connect
from flywheel.store.mapper import insert_many, upsert_many

CALLS: Final = 100_000
"""Calls of the month so far."""

PROJECTS: Final = 20
ROUNDS: Final = 100

_NOON: Final = Micros(1_780_000_000_000_000)
_DAY: Final = 86_400_000_000
_CAPS: Final = {"llm": {"day_usd": 1e5, "month_usd": 1e6, "day_tokens": 10**12, "month_tokens": 10**13}}


def run(data: Path | None, n: int | None) -> dict[str, Any]:
    """Reserve in a month of ``n`` calls (`CALLS` unless given). ``ms`` and ``ms_p95`` of a reservation."""
    count = n or CALLS
    with tempfile.TemporaryDirectory(prefix="flywheel-llm-", dir=data) as folder:
        db = connect("sqlite", Path(folder))
        with db.write(bulk=True) as tx:
            insert_many(tx, (_call(number) for number in range(count)))
            upsert_many(tx, _days(count))
        book = Ledger(db, parse_config(_CAPS).llm)
        one = Estimate(usage=Usage(input=1000), cost=100)

        def reserve() -> None:
            book.reserve(
                purpose=Purpose.EXTRACT,
                project_id=ProjectId("p1"),
                provider="anthropic",
                model="m",
                estimates=[one],
                now=_NOON,
            )

        def floor() -> None:
            with db.write() as tx:
                tx.run(
                    "INSERT INTO setting (name, value) VALUES ('bench', '') ON CONFLICT (name) DO UPDATE SET value = ''"
                )

        took, least = _timed(reserve), _timed(floor)
        db.close()
    return {
        "results": {"ms": round(statistics.median(took), 3), "ms_p95": round(took[int(len(took) * 0.95)], 3)},
        "floor": {"ms": round(statistics.median(least), 3)},
        "n": count,
    }


def _timed(act: Callable[[], None]) -> list[float]:
    """Milliseconds of each round, in order of size."""
    took = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        act()
        took.append((time.perf_counter() - began) * 1000)
    return sorted(took)


def _call(number: int) -> LlmCall:
    at = Micros(_NOON - (number % 28) * _DAY)
    return LlmCall(
        id=f"{number:08}",
        purpose="extract",
        project_id=ProjectId(f"p{number % PROJECTS}"),
        provider="anthropic",
        model="m",
        outcome="ok",
        input_tokens=1000,
        output_tokens=100,
        cache_read=500,
        cache_write=0,
        cost=200,
        ms=900,
        batch="",
        created_at=at,
        settled_at=at,
    )


def _days(count: int) -> list[LlmDay]:
    first = periods(_NOON).day
    return [
        LlmDay(
            day=Micros(first - day * _DAY),
            project_id=ProjectId(f"p{project}"),
            purpose=purpose.value,
            cost=200 * count // 28 // PROJECTS,
            tokens=1600 * count // 28 // PROJECTS,
            calls=count // 28 // PROJECTS,
        )
        for day in range(28)
        for project in range(PROJECTS)
        for purpose in Purpose
    ]
