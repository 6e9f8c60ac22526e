"""What may be spent: caps by day and month (UTC), in money and tokens, and the shares of them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from flywheel.config import LlmConfig
from flywheel.model import Micros

MILLION: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What calls took."""

    cost: int = 0  # micro-dollars
    tokens: int = 0
    calls: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Cap:
    """What may be spent within a period; None is no cap."""

    cost: int | None  # micro-dollars
    tokens: int | None

    def part(self, share: float) -> Cap:
        """A share of it."""
        return Cap(cost=_part(self.cost, share), tokens=_part(self.tokens, share))

    @property
    def none(self) -> bool:
        """Whether nothing is capped."""
        return self.cost is None and self.tokens is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Periods:
    """The day and the month (UTC) that a time is in: where they began and where they end."""

    day: Micros
    month: Micros
    next_day: Micros
    next_month: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """What was spent of one thing so far today and this month."""

    day: Spent
    month: Spent


@dataclass(frozen=True, slots=True, kw_only=True)
class Full:
    """A cap that a call would break, and when it is lifted."""

    why: str
    until: Micros


def periods(now: Micros) -> Periods:
    """Of a time."""
    at = datetime.fromtimestamp(now / MILLION, UTC)
    day = at.replace(hour=0, minute=0, second=0, microsecond=0)
    month = day.replace(day=1)
    following = (month + timedelta(days=32)).replace(day=1)
    return Periods(
        day=_micros(day), month=_micros(month), next_day=_micros(day + timedelta(days=1)), next_month=_micros(following)
    )


def caps(config: LlmConfig) -> tuple[Cap, Cap]:
    """Of a day and of a month."""
    return (
        Cap(cost=_money(config.day_usd), tokens=None if config.day_tokens < 0 else config.day_tokens),
        Cap(cost=_money(config.month_usd), tokens=None if config.month_tokens < 0 else config.month_tokens),
    )


def refusal(
    config: LlmConfig, used: Mapping[str, Used], shares: Mapping[str, float], need: Spent, when: Periods
) -> Full | None:
    """The cap that stands in the way of spending ``need``; of several the one that is lifted last. What needs none of a
    thing is held up by no cap of it.

    ``used`` and ``shares`` name the same things: "" (everything, share 1), "the project shop", "the purpose ask".
    """
    found = list(_broken(config, used, shares, need, when))
    return max(found, key=lambda full: full.until) if found else None


def _broken(
    config: LlmConfig, used: Mapping[str, Used], shares: Mapping[str, float], need: Spent, when: Periods
) -> Iterator[Full]:
    day, month = caps(config)
    for name, share in shares.items():
        whose = f"{name}'s share of " if name else ""
        for what, cap, spent, until in (
            ("the day's cap", day.part(share), used[name].day, when.next_day),
            ("the month's cap", month.part(share), used[name].month, when.next_month),
        ):
            if cap.cost is not None and need.cost and spent.cost + need.cost > cap.cost:
                yield Full(why=f"{whose}{what} of {dollars(cap.cost)} is reached ({dollars(spent.cost)})", until=until)
            if cap.tokens is not None and need.tokens and spent.tokens + need.tokens > cap.tokens:
                yield Full(why=f"{whose}{what} of {cap.tokens:,} tokens is reached ({spent.tokens:,})", until=until)


def dollars(micro: int) -> str:
    """Micro-dollars for a person: "$3.10", "$0.0021", "$0.000020"."""
    value = micro / MILLION
    if value >= 0.1 or not micro:
        return f"${value:,.2f}"
    return f"${value:.4f}" if micro >= 100 else f"${value:.6f}"


def _part(cap: int | None, share: float) -> int | None:
    return None if cap is None else int(cap * share)


def _money(usd: float) -> int | None:
    return None if usd < 0 else round(usd * MILLION)


def _micros(at: datetime) -> Micros:
    return Micros(round(at.timestamp()) * MILLION)
