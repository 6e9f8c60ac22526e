"""Accounting for what an embedding server or a reranker is sent, with whoever keeps the ledger."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Final, Protocol

from flywheel.embed import EmbedderDown
from flywheel.embed.calling import Answered

_USED: Final = re.compile(rb'"(?:total_tokens|prompt_tokens|input_tokens)"\s*:\s*(\d{1,15})')


class Meter(Protocol):
    """A ledger of requests. Safe to share between threads."""

    def begin(self, tokens: int) -> object:
        """Note a request of about so many tokens before it is made. Raises EmbedderDown where a cap is reached."""

    def end(self, ticket: object, outcome: str, tokens: int | None, ms: int) -> None:
        """Note what became of it; ``tokens`` None leaves the estimate."""

    def forgo(self, ticket: object) -> None:
        """Take it back: there was no connection, and a server that is away is tried again and again."""


class Unmetered:
    """Satisfies `Meter` where nobody keeps a ledger."""

    def begin(self, tokens: int) -> object:
        """Nothing."""
        return None

    def end(self, ticket: object, outcome: str, tokens: int | None, ms: int) -> None:
        """Nothing."""

    def forgo(self, ticket: object) -> None:
        """Nothing."""


def metered(meter: Meter, tokens: int, post: Callable[[], Answered]) -> Answered:
    """A request, accounted for. An answer that is none costs nothing, unless the server may have counted it.

    Raises EmbedderDown, also where a cap is reached.
    """
    ticket, began = meter.begin(tokens), time.monotonic()
    try:
        answer = post()
    except EmbedderDown as error:
        if not error.sent:
            meter.forgo(ticket)
            raise
        meter.end(ticket, "broken" if error.charged else "refused", None if error.charged else 0, _ms(began))
        raise
    if answer.status == 200:
        meter.end(ticket, "ok", tokens_of(answer.body), _ms(began))
    else:
        meter.end(ticket, "refused", 0, _ms(began))
    return answer


def tokens_of(body: bytes) -> int | None:
    """What the server says that it counted; None where it does not say."""
    found = [int(match) for match in _USED.findall(body)]
    return max(found, default=0) or None


def _ms(began: float) -> int:
    return round((time.monotonic() - began) * 1000)
