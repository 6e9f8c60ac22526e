"""Which of several claims about one thing holds, and why: scope, then the source's rank, then its day. Pure.

The rule (docs/architecture.md, "Conflict"): a claim for all applies to each narrower scope, and two narrower scopes are
no conflict; being specific earns no rank. Of what applies the highest source rank holds, a confirmed decision ranking
as approved whatever its source; among equals the later calendar day of the source itself, never the time of recording;
what is still undecided is disputed, and a person decides. What nobody confirmed never displaces what somebody did: it
is a challenger until it is reviewed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from flywheel.model import ClaimType, Micros, Status

EVERYWHERE: Final = ""
"""The scope of a claim for all."""

APPROVED: Final = 4
"""Rank of an approved decision, whatever the source it stands in."""

DAY: Final = 86_400_000_000
"""Microseconds of a calendar day (UTC)."""

GONE: Final = (Status.REJECTED,)
"""States in which a claim takes no part: a person took it out."""


class Step(StrEnum):
    """What decided."""

    ONLY = "only"  # nothing says otherwise
    SCOPE = "scope"  # what says otherwise is about another scope
    RANK = "rank"  # the source outranks what says otherwise
    DATE = "date"  # the source is of a later day than its equals that say otherwise
    DISPUTED = "disputed"  # equals of the same day disagree


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """One claim as the rule sees it. ``value`` is normalised: equal values agree."""

    id: str
    value: str
    scope: str = EVERYWHERE
    rank: int
    at: Micros  # the source's own date
    type: ClaimType = ClaimType.FACT
    status: Status = Status.CANDIDATE

    @property
    def weight(self) -> tuple[int, int]:
        """Rank and day, the greater the stronger."""
        approved = self.type is ClaimType.DECISION and self.status is Status.CONFIRMED
        return (max(self.rank, APPROVED) if approved else self.rank, self.at // DAY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """A claim that does not hold in a scope, and the step at which it lost; ``to`` is the first claim that holds."""

    id: str
    value: str
    step: Step
    to: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What holds in one scope. Disputed: several values, each with its claims; otherwise one."""

    scope: str
    step: Step
    values: Sequence[str]
    holds: Sequence[str]  # ids of the claims that say so, the strongest first
    lost: Sequence[Lost] = ()
    challengers: Sequence[str] = ()  # ids of unconfirmed claims that would change it if somebody confirmed them
    confirmed: bool = False

    @property
    def value(self) -> str:
        """The value that holds; "" when it is disputed."""
        return self.values[0] if self.step is not Step.DISPUTED else ""


def verdicts(claims: Sequence[Stated]) -> Sequence[Verdict]:
    """What holds in every scope that some claim names, the one for all first.

    The same whatever the order of the claims. Claims of one subject and attribute; what was rejected takes no part.
    """
    live = sorted((one for one in claims if one.status not in GONE), key=lambda one: one.id)
    scopes = sorted({one.scope for one in live})
    return [_settle(scope, [one for one in live if one.scope in (scope, EVERYWHERE)], live) for scope in scopes]


def _settle(scope: str, applying: Sequence[Stated], live: Sequence[Stated]) -> Verdict:
    """The verdict of one scope, over what was confirmed where anything was, else over all."""
    confirmed = [one for one in applying if one.status is Status.CONFIRMED]
    verdict = _weigh(scope, confirmed or applying, live)
    if not confirmed:
        return verdict
    others = [one for one in applying if one not in confirmed]
    challengers = [one.id for one in _strongest_first(others) if _would_change(verdict, one, confirmed)]
    lost = [
        Lost(id=one.id, value=one.value, step=_step_against(one, confirmed), to=verdict.holds[0])
        for one in others
        if one.value not in verdict.values and one.id not in challengers
    ]
    return Verdict(
        scope=scope,
        step=verdict.step,
        values=verdict.values,
        holds=verdict.holds,
        lost=(*verdict.lost, *lost),
        challengers=challengers,
        confirmed=True,
    )


def _weigh(scope: str, claims: Sequence[Stated], live: Sequence[Stated]) -> Verdict:
    top = max(one.weight for one in claims)
    best = [one for one in claims if one.weight == top]
    values = sorted({one.value for one in best})
    if len(values) > 1:
        step = Step.DISPUTED
    else:
        step = _deciding(values[0], top, claims, [one for one in live if one.scope not in (scope, EVERYWHERE)])
    holds = [one for one in _strongest_first(claims) if one.value in values]
    holds.sort(key=lambda one: one.weight != top)
    lost = [
        Lost(id=one.id, value=one.value, step=Step.RANK if one.weight[0] < top[0] else Step.DATE, to=holds[0].id)
        for one in _strongest_first(claims)
        if one.value not in values
    ]
    return Verdict(scope=scope, step=step, values=values, holds=[one.id for one in holds], lost=lost)


def _deciding(value: str, top: tuple[int, int], claims: Sequence[Stated], elsewhere: Sequence[Stated]) -> Step:
    """The last step that was needed for the value to hold; ``elsewhere`` are the claims of other scopes."""
    against = [one for one in claims if one.value != value]
    if any(one.weight[0] == top[0] for one in against):
        return Step.DATE
    if against:
        return Step.RANK
    return Step.SCOPE if any(one.value != value for one in elsewhere) else Step.ONLY


def _would_change(verdict: Verdict, one: Stated, confirmed: Sequence[Stated]) -> bool:
    """Whether confirming the claim would give another verdict."""
    if one.value in verdict.values and verdict.step is not Step.DISPUTED:
        return False
    approved = max(one.rank, APPROVED) if one.type is ClaimType.DECISION else one.rank
    return (approved, one.weight[1]) >= max(other.weight for other in confirmed)


def _step_against(one: Stated, confirmed: Sequence[Stated]) -> Step:
    best = max(other.weight for other in confirmed)
    return Step.RANK if one.weight[0] < best[0] else Step.DATE


def _strongest_first(claims: Sequence[Stated]) -> list[Stated]:
    return sorted(claims, key=lambda one: (-one.weight[0], -one.weight[1], one.id))
