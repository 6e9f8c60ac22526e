"""The verb of effect: whether the flywheel turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from flywheel.model import Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A number and what it rests on. ``value`` is None where ``n`` is too small to tell.

    ``low`` and ``high`` bound what it may be with about 95 %, as if the ``n`` were drawn by chance; None of a ratio.
    """

    value: float | None
    n: int
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectRow:
    """What some sessions came to: of a week, a project, an agent, with or without a briefing, or all.

    Medians are over sessions that edited something for good; shares (0 to 1) over items whose use can be told, and of
    ``repeated`` over all that was put in. Sums are over the row's ``sessions``, which is their n.
    """

    name: str  # the week's Monday as 2026-11-30, a project, an agent, "with a briefing", "without", "all"
    sessions: int
    briefed: int  # sessions that a briefing went into
    edit_tokens: Figure  # median of tokens before the first useful edit
    edit_calls: Figure  # median of tool calls before it
    used: Figure
    irrelevant: Figure
    wrong: Figure
    repeated: Figure
    injected_tokens: int
    saved_tokens: int  # what the sessions that first found out had spent on what was told and used since
    avoided: int  # things that were told and used, and that an earlier session had to find out
    rediscovered: int  # things that were found out although an earlier session had
    rediscovered_tokens: int  # that this took
    saved_per_injected: Figure  # saved over injected tokens; n is the number of avoided re-discoveries


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """Whether the flywheel turns, over a stretch of time."""

    project: str  # "" for all
    agent: str  # "" for all
    since: Micros
    until: Micros
    least_sessions: int  # below this many a median says nothing
    least_items: int  # below this many a share says nothing
    total: EffectRow
    briefed: EffectRow  # side by side: sessions with a briefing,
    unbriefed: EffectRow  # and without
    weeks: Sequence[EffectRow]  # in order; those without sessions are left out
    projects: Sequence[EffectRow]
    agents: Sequence[EffectRow]
    signals: Mapping[str, int] = field(default_factory=dict)  # by what sign items were used, or called wrong


class Effecting(Protocol):
    """The verb of effect; see `Api`."""

    def effect(
        self,
        *,
        cwd: str = "",
        project: str = "",
        agent: str = "",
        since: Micros | None = None,
        until: Micros | None = None,
        everywhere: bool = False,
    ) -> Effect:
        """What briefings changed, of the sessions that began within the time (30 days until now unless given).

        With ``everywhere`` of all projects. Raises BadInput when no project is named and when ``since`` is not before
        ``until``, NotFound for an unknown project.
        """
