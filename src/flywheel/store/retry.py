"""Doing a write transaction again when the database was only busy."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Final, TypeVar

from flywheel.errors import StoreBusy
from flywheel.store import Db, Tx

T = TypeVar("T")

TRIES: Final = 5
FIRST_PAUSE: Final = 0.02
"""Seconds before the second try; doubled for each further one, with jitter."""


def retrying(act: Callable[[], T], tries: int = TRIES) -> T:
    """The answer of ``act``, called again after StoreBusy (a lock held too long, a deadlock, a lost serialisation)."""
    for attempt in range(1, tries):
        try:
            return act()
        except StoreBusy:
            time.sleep(FIRST_PAUSE * 2 ** (attempt - 1) * random.uniform(0.5, 1.5))
    return act()


def commit(db: Db, work: Callable[[Tx], T], *, bulk: bool = False, tries: int = TRIES) -> T:
    """``work`` in a write transaction, whole and again when the database was busy; so it must not act outside of it."""

    def once() -> T:
        with db.write(bulk=bulk) as tx:
            return work(tx)

    return retrying(once, tries)
