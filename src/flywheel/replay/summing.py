"""What replayed sessions come to: pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from flywheel.api.replay import ReplayRun, ReplaySession


def sum_up(settings: Sequence[str], sessions: Sequence[ReplaySession]) -> ReplayRun:
    """The shares of all needs, and of those that had come up before.

    ``early`` and ``late`` are those of the halves of the sessions that needed anything; of an odd number of them the
    middle one is in the later half.
    """
    needy = [one for one in sessions if one.needed]
    half = len(needy) // 2
    return ReplayRun(
        settings=tuple(settings),
        sessions=tuple(sessions),
        share=_told(needy),
        plain=share((one.plain, one.needed) for one in needy),
        met=share((one.told, one.met) for one in needy),
        early=_told(needy[:half]),
        late=_told(needy[half:]) if half else None,
    )


def _told(sessions: Sequence[ReplaySession]) -> float | None:
    return share((one.told, one.needed) for one in sessions)


def share(parts: Iterable[tuple[int, int]]) -> float | None:
    """Of pairs (told, needed) the part that was told, in all; None where nothing was needed."""
    pairs = list(parts)
    needed = sum(all_ for _, all_ in pairs)
    return round(sum(one for one, _ in pairs) / needed, 4) if needed else None
