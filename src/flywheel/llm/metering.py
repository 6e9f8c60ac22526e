"""Embedding servers and rerankers on the ledger, and under the caps in money: satisfies `embed.metering.Meter`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, cast

from flywheel.config import LlmConfig
from flywheel.embed import EmbedderDown
from flywheel.errors import Waiting
from flywheel.llm import Purpose, Usage
from flywheel.llm.ledger import Estimate, Ledger
from flywheel.llm.pricing import Price
from flywheel.model import GLOBAL, LlmCall, Micros
from flywheel.store import Db

SAFETY: Final = 1.15
"""By how much an estimate is above what the counter says."""


class LedgerMeter:
    """The requests to one server's model. For any number of threads."""

    def __init__(
        self,
        db: Db,
        config: LlmConfig,
        *,
        purpose: Purpose,
        provider: str,
        price: Price,
        now: Callable[[], Micros],
    ) -> None:
        self._ledger = Ledger(db, config)
        self._purpose, self._provider, self._price, self._now = purpose, provider, price, now

    def begin(self, tokens: int) -> object:
        """See `Meter`. Of no project: one request holds texts of several."""
        usage, now = Usage(input=int(tokens * SAFETY)), self._now()
        try:
            (call,) = self._ledger.reserve(
                purpose=self._purpose,
                project_id=GLOBAL,
                provider=self._provider,
                model=self._price.model,
                estimates=[Estimate(usage=usage, cost=self._price.cost(usage))],
                now=now,
            )
        except Waiting as error:
            raise EmbedderDown(error.message, after=max(1.0, (error.until - now) / 1e6)) from error
        return call

    def forgo(self, ticket: object) -> None:
        """See `Meter`."""
        self._ledger.withdraw(cast("LlmCall", ticket))

    def end(self, ticket: object, outcome: str, tokens: int | None, ms: int) -> None:
        """See `Meter`."""
        usage = None if tokens is None else Usage(input=tokens)
        cost = None if usage is None else self._price.cost(usage)
        call = cast("LlmCall", ticket)
        self._ledger.settle(call, outcome=outcome, usage=usage, cost=cost, ms=ms, now=self._now())
