"""When a project's lint is due."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from flywheel.knowledge.linting.keeping import Ran, is_due
from flywheel.model import Micros

ZONE = timezone(timedelta(hours=2))
NOW = datetime(2026, 5, 28, 4, 30, tzinfo=ZONE)


def ran(**ago: int) -> Ran:
    """A run that ended so long ago."""
    at = Micros(int((NOW - timedelta(**ago)).timestamp() * 1e6))
    return Ran(began=at, at=at, counts={})


@pytest.mark.parametrize(
    ("last", "hour", "due"),
    [
        (None, 3, True),
        (ran(hours=24), 3, True),
        (ran(hours=5), 3, True),  # yesterday evening, here
        (ran(hours=4), 3, False),  # today, though before the hour
        (ran(minutes=1), 3, False),
        (None, 4, True),
        (None, 5, False),
        (ran(days=9), 5, False),
        (None, 0, True),
        (None, -1, False),
    ],
)
def test_once_a_day_from_an_hour_on(last: Ran | None, hour: int, due: bool) -> None:
    """Due from the hour on, on each local day on which it has not run; never when the hour is below 0."""
    assert is_due(last, NOW, hour) is due
