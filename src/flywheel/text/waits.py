"""How long a server wants one to wait before another request. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Final

MOST: Final = 86_400.0
"""Seconds of a wait that is believed."""


def wait_of(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that ``retry-after-ms`` or ``retry-after`` (seconds or an HTTP date, RFC 9110 §10.2.3) asks for.

    ``headers`` have lower-case names; ``now`` is Unix seconds. None where neither says so.
    """
    if (ms := _number(headers.get("retry-after-ms", ""))) is not None:
        return min(ms / 1000, MOST)
    given = headers.get("retry-after", "")
    if (seconds := _number(given)) is not None:
        return min(seconds, MOST)
    try:
        return min(max(0.0, parsedate_to_datetime(given).timestamp() - now), MOST) if given else None
    except ValueError:
        return None


def _number(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if 0 <= found < float("inf") else None
