"""The verbs of habits: what was learned of how somebody works, and what a person does about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from flywheel.api.done import Done
from flywheel.model import Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class Habit:
    """A belief about how somebody works in a project."""

    id: str
    short: str
    category: str  # tool_affinity, tool_avoidance, entity_frequency, domain_preference, failure_pattern
    name: str  # "command:make test", "file:src/a.py", "language:Python"
    confidence: float  # now, 0 to 1
    reinforced: int  # sessions that bore it out
    strength: float  # confidence × reinforced, by which they are ranked
    pinned: bool
    served: bool  # sure enough for a briefing
    first_seen: Micros
    last_seen: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class HabitList:
    """Habits of the one who asks in one project, the strongest first."""

    project: str
    profile: str  # three to five sentences; "" where too little is known
    habits: Sequence[Habit]
    total: int  # that there are, before ``limit``
    waiting: int = 0  # observations that are not consolidated yet
    consolidated_at: Micros | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HabitWarning:
    """What is wrong with habits, and what to do about it."""

    check: str  # contradiction, barely-survives, crowded, vanished
    ids: Sequence[str]  # short ids of the habits
    message: str
    remedy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HabitWarnings:
    """What the lint of habits found."""

    project: str
    warnings: Sequence[HabitWarning]
    counts: Mapping[str, int] = field(default_factory=dict)  # check → how many


class Behaving(Protocol):
    """The verbs of habits; see `Api`. Each speaks of the habits of the one who asks, never of anybody else's."""

    def habits(self, *, cwd: str = "", project: str = "", category: str = "", limit: int = 50) -> HabitList:
        """What was learned of how you work in a project.

        Raises BadInput for a category that there is none of, and for a limit outside 1 to 10,000.
        """

    def habit_pin(self, *, ids: Sequence[str], off: bool = False) -> Done:
        """Keep habits, whatever their confidence: they neither fade nor go. With ``off`` they fade again from now on.

        ``ids``: full or short ones. Idempotent. Raises NotFound.
        """

    def habit_drop(self, *, ids: Sequence[str]) -> Done:
        """Delete habits for good: they are not learned again. Idempotent. Raises NotFound for what never was."""

    def habits_lint(self, *, cwd: str = "", project: str = "") -> HabitWarnings:
        """What is wrong with the habits in a project now: contradictions, crowds, places that are gone."""
