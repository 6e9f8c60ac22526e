"""The consolidate job: an identity's observations become beliefs."""

from __future__ import annotations

from collections import Counter
from typing import Final

import structlog

from flywheel.behaviour.consolidation import Consolidated, consolidate
from flywheel.behaviour.decay import STRATEGIES
from flywheel.behaviour.identity import USER
from flywheel.behaviour.watching import ask, first_unobserved, horizon
from flywheel.jobs.kinds import CONSOLIDATE, CONSOLIDATE_DELAY
from flywheel.jobs.worker import Deps, Stopped
from flywheel.model import Identity, Job
from flywheel.store.mapper import get, upsert

KIND: Final = CONSOLIDATE

KEPT: Final = 50
"""Warnings that are kept with the result."""

log = structlog.get_logger("behaviour")


def run(job: Job, deps: Deps) -> None:
    """Consolidate what waits; running it again changes nothing. Sessions that are still going on are left for later."""

    def pause() -> None:
        if deps.stopping():
            raise Stopped
        deps.beat("consolidating what was observed")

    now = deps.now()
    idle = deps.config.extract.idle_minutes * 60.0
    decay = STRATEGIES[deps.config.behaviour.decay]
    with deps.db.read() as tx:
        hold = first_unobserved(tx, horizon(now, deps.config.behaviour.decay))
    result = consolidate(deps.db, job.key, now=now, quiet=idle, decay=decay, pause=pause, hold=hold)
    with deps.db.write() as tx:
        before = get(tx, Identity, id=job.key)
        upsert(
            tx,
            Identity(
                id=job.key,
                kind=USER,
                created_at=before.created_at if before else now,
                consolidated_at=now,
                result=as_facts(result),
            ),
        )
        if result.later is not None:
            ask(tx, job.key, deps.db.clock(), delay=max(0.0, (result.later - now) / 1e6) + CONSOLIDATE_DELAY)
    if result.sessions:
        log.info("consolidated", sessions=result.sessions, observations=result.observations, gone=result.gone)


def as_facts(result: Consolidated) -> dict[str, object]:
    """What is kept of a consolidation: counts, and the first warnings with how many there are of each."""
    return {
        "sessions": result.sessions,
        "observations": result.observations,
        "formed": result.formed,
        "moved": result.moved,
        "gone": result.gone,
        "warned": dict(Counter(one.check for one in result.warnings)),
        "warnings": [f"{one.check}: {one.message}" for one in result.warnings[:KEPT]],
    }
