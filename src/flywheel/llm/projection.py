"""What much work will cost, before it begins: for a person to say yes or no. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from flywheel.config import LlmConfig
from flywheel.llm import Usage
from flywheel.llm.budget import Spent, caps, dollars
from flywheel.llm.pricing import Price


@dataclass(frozen=True, slots=True, kw_only=True)
class Projection:
    """About how much ``calls`` calls take. ``days``: over how many the daily cap spreads it (0: it is never done)."""

    calls: int
    tokens: int
    cost: int  # micro-dollars
    days: int

    @property
    def words(self) -> str:
        """ "about 1.2 M tokens, $3.10"."""
        spread = f", spread over {self.days} days by the daily cap" if self.days > 1 else ""
        never = "; the daily cap allows none of it" if not self.days else ""
        money = dollars(self.cost) if self.cost else "no money"
        return f"about {_rounded(self.tokens)} tokens, {money}{spread}{never}"


def project(
    *, calls: int, prompt: int, prefix: int, answer: int, price: Price, config: LlmConfig, batch: bool = False
) -> Projection:
    """Of ``calls`` calls: ``prompt`` tokens together, a ``prefix`` that all share, and ``answer`` tokens each.

    Tokens are as `text.tokens` counts them. The prefix is written to the cache once and read afterwards.
    """
    usage = Usage(
        input=int(prompt * price.counts),
        output=int(answer * calls * price.counts),
        cache_write=int(prefix * price.counts) if calls else 0,
        cache_read=int(prefix * max(0, calls - 1) * price.counts),
    )
    cost = (
        price.cost(_each(usage, calls), batch=batch) * max(1, calls)
        if price.long_above
        else price.cost(usage, batch=batch)
    )
    spent = Spent(cost=cost if calls else 0, tokens=usage.total if calls else 0, calls=calls)
    return Projection(calls=calls, tokens=spent.tokens, cost=spent.cost, days=_days(spent, config))


def together(one: Projection, two: Projection, config: LlmConfig) -> Projection:
    """Both, under the same caps."""
    cost, tokens, calls = one.cost + two.cost, one.tokens + two.tokens, one.calls + two.calls
    days = _days(Spent(cost=cost, tokens=tokens, calls=calls), config)
    return Projection(calls=calls, tokens=tokens, cost=cost, days=days)


def _each(usage: Usage, calls: int) -> Usage:
    """A call's part: a longer prompt may cost more, and that is judged by each call's own."""
    share = max(1, calls)
    return Usage(
        input=usage.input // share,
        output=usage.output // share,
        cache_read=usage.cache_read // share,
        cache_write=usage.cache_write // share,
    )


def _days(spent: Spent, config: LlmConfig) -> int:
    day, _ = caps(config)
    days = 1
    for need, cap in ((spent.cost, day.cost), (spent.tokens, day.tokens)):
        if cap is not None and need:
            if cap <= 0:
                return 0
            days = max(days, -(-need // cap))
    return days


def _rounded(tokens: int) -> str:
    if tokens >= 1_000_000:
        return f"{tokens / 1e6:.1f} M"
    return f"{tokens / 1000:.0f} k" if tokens >= 10_000 else f"{tokens:,}"
