"""The daemon's clock: APScheduler says when, and nothing runs in it but short looks for work."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

import structlog
from apscheduler.schedulers.background import BackgroundScheduler

from flywheel.config import Config
from flywheel.daemon.sweep import Sweep

LINT_SECONDS: Final = 900
"""How often it is looked whether a project was linted today."""

FEED_SECONDS: Final = 6 * 3600
"""How often the change feed is compacted."""

HISTORY_SECONDS: Final = 3600
"""How often it is looked whether sessions are left that an older version read."""

log = structlog.get_logger("clock")


@contextlib.contextmanager
def start_clock(
    config: Config, sweep: Sweep, drain: Callable[[], object], keep: Callable[[], object] = lambda: None
) -> Iterator[None]:
    """Tick: transcripts every ``harvest.interval_seconds``, checkouts every ``code.sweep_seconds``, spooled events,
    memory trees every ``tree.sweep_seconds``, whether it is time for the day's lint, whether there is history to
    catch up with, and the change feed, which is compacted.

    ``keep`` brings always-on files up to date as often as transcripts are looked for.

    ``misfire_grace_time=None`` because APScheduler's default of one second silently drops late ticks.
    """
    defaults = {"misfire_grace_time": None, "coalesce": True, "max_instances": 1}
    scheduler = BackgroundScheduler(timezone=UTC, job_defaults=defaults)
    now = datetime.now(UTC)
    ticks = (
        ("transcripts", sweep.transcripts, config.harvest.interval_seconds, 0.0),
        ("spool", drain, config.harvest.interval_seconds, 0.5),
        ("standing", keep, config.harvest.interval_seconds, 3.0),
        ("checkouts", sweep.checkouts, config.code.sweep_seconds, 2.0),
        ("trees", sweep.trees, config.tree.sweep_seconds, 5.0),
        ("lint", sweep.lint, LINT_SECONDS, 60.0),
        ("history", sweep.history, HISTORY_SECONDS, 1.0),
        ("feed", sweep.feed, FEED_SECONDS, 1800.0),
    )
    for name, call, seconds, first in ticks:
        scheduler.add_job(
            _safely(name, call), "interval", seconds=seconds, id=name, next_run_time=now + timedelta(seconds=first)
        )
    scheduler.start()
    try:
        yield
    finally:
        scheduler.shutdown(wait=True)


def _safely(name: str, call: Callable[[], object]) -> Callable[[], None]:
    """A tick that fails is logged and tried again at the next one."""

    def tick() -> None:
        try:
            call()
        except Exception as error:
            log.exception("tick_failed", tick=name, error=type(error).__name__)

    return tick
