"""Sessions as `effect` counts them, made up for tests."""

from __future__ import annotations

from typing import Any

from flywheel.api import Effect
from flywheel.model import Micros
from flywheel.retro.effect_rules import LEAST_ITEMS, LEAST_SESSIONS, Counted, by_name, by_week, row_of

DAY = 86_400_000_000
MONDAY = 1_796_000_000_000_000 // DAY * DAY  # 2026-11-30


def counted(number: int, **given: Any) -> Counted:
    """A session; nothing happened in it unless told."""
    plain: dict[str, Any] = {
        "session": f"s{number}", "project": "postroom", "agent": "claude", "at": MONDAY, "edit_tokens": None,
        "edit_calls": None, "injected": 0, "injected_tokens": 0, "shown": 0, "used": 0, "irrelevant": 0,
        "repeated": 0, "wrong": 0,
    }  # fmt: skip
    return Counted(**{**plain, **given})


def effect_from(*sessions: Counted, project: str = "postroom", signals: dict[str, int] | None = None) -> Effect:
    """What `effect` would say of them."""
    return Effect(
        project=project, agent="", since=Micros(MONDAY - 30 * DAY), until=Micros(MONDAY + 30 * DAY),
        least_sessions=LEAST_SESSIONS, least_items=LEAST_ITEMS, total=row_of("all", sessions),
        briefed=row_of("with a briefing", [one for one in sessions if one.injected]),
        unbriefed=row_of("without", [one for one in sessions if not one.injected]), weeks=by_week(sessions),
        projects=by_name(sessions, lambda one: one.project), agents=by_name(sessions, lambda one: one.agent),
        signals=signals or {},
    )  # fmt: skip


def busy(weeks: int = 3) -> list[Counted]:
    """Some weeks of work, with and without briefings, of two projects and agents."""
    return [
        counted(
            n, at=MONDAY + n % weeks * 7 * DAY, edit_tokens=1000 * (n % 7 + 1), edit_calls=n % 9,
            injected=5 * (n % 2), injected_tokens=400 * (n % 2), shown=4 * (n % 2), used=n % 2, irrelevant=n % 2,
            avoided=n % 2, saved_tokens=300 * (n % 2), project=("postroom", "shop")[n % 3 == 0],
            agent=("claude", "codex")[n % 5 == 0],
        )
        for n in range(60)
    ]  # fmt: skip
