"""What an HTTP answer that is no answer means. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from flywheel.llm import Cause, Failure
from flywheel.text.waits import wait_of

LONGEST: Final = 300
"""Characters of a server's words that are repeated."""

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
