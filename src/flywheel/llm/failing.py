"""What an HTTP answer that is no answer means. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Final

from flywheel.llm import Cause, Failure

LONGEST: Final = 300
"""Characters of a server's words that are repeated."""

MOST: Final = 86_400.0
"""Seconds of a wait that is believed."""

_OVERLOADED: Final = (503, 529)
_PASSING: Final = (408, 409, 425)
_ADVICE: Final = {
    401: "the key is wrong or missing",
    402: "the account has no credit",
    403: "the key may not use this",
    404: "the model or the address is wrong",
    413: "the request is too large",
}


def failure_of(status: int, headers: Mapping[str, str], said: str, now: float) -> Failure:
    """What a status other than 200 stands for. ``headers`` have lower-case names; ``now`` is Unix seconds."""
    words = " ".join(said.split())[:LONGEST]
    told = f"HTTP {status}: {words or 'no reason given'}"
    after = wait_of(headers, now)
    if status == 429:
        return Failure(Cause.LIMITED, told, after=after, status=status)
    if status in _OVERLOADED:
        return Failure(Cause.OVERLOADED, told, after=after, status=status)
    if status >= 500 or status in _PASSING:
        return Failure(Cause.BROKEN, told, after=after, status=status)
    advice = _ADVICE.get(status)
    return Failure(Cause.REFUSED, f"{advice} ({told})" if advice else told, status=status)


def wait_of(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that ``retry-after-ms`` or ``retry-after`` (seconds or an HTTP date, RFC 9110 §10.2.3) asks for."""
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
