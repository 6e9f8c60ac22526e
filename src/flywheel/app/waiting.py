"""Waiting for what a job brings about, on behalf of whoever asked for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeVar

T = TypeVar("T")

_LOOK: Final = 0.05
"""Seconds between two looks."""


def wait_for(look: Callable[[], T | None], seconds: float) -> T | None:
    """What ``look`` gives as soon as it gives something, and None when it does not within ``seconds``."""
    end = time.monotonic() + seconds
    while (found := look()) is None and time.monotonic() <= end:
        time.sleep(_LOOK)
    return found
