"""What is wrong with beliefs: contradictions, what barely survives, crowded categories, places that are gone; pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from flywheel.behaviour.rules import FLOOR, Category, Held
from flywheel.model import ProjectId

BARELY: Final = 0.15
"""Below this confidence (and not below `FLOOR`) a belief barely survives."""

CROWDED: Final = 100
"""More beliefs than this of one category in one project are a crowd: the strongest no longer stand out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Warned:
    """One thing that is wrong, and what to do about it."""

    check: str  # contradiction, barely-survives, crowded, vanished
    project_id: ProjectId
    ids: Sequence[str]  # of the beliefs; those of a crowd are not listed
    message: str
    remedy: str


def lint(held: Sequence[Held], gone: Collection[tuple[ProjectId, str]]) -> list[Warned]:
    """Everything that is wrong; ``gone`` names the files and symbols that no longer exist, by project."""
    return [*_contradictions(held), *_vanished(held, gone), *_crowds(held), *_survivors(held)]


def _contradictions(held: Iterable[Held]) -> Iterable[Warned]:
    """One tool is liked and avoided at once."""
    tools: dict[tuple[str, str], list[Held]] = defaultdict(list)
    for one in held:
        if one.belief.category in (Category.AFFINITY, Category.AVOIDANCE):
            tools[one.belief.project_id, one.belief.name].append(one)
    for (project, name), some in sorted(tools.items()):
        if len({one.belief.category for one in some}) == 2:
            told = " and ".join(f"{one.belief.category} {one.confidence:.2f}" for one in some)
            yield Warned(
                check="contradiction",
                project_id=ProjectId(project),
                ids=[one.belief.id for one in some],
                message=f"{name} is liked and avoided at once: {told}",
                remedy="flywheel habits rm ID removes the one that is wrong; the weaker one also fades by itself",
            )


def _vanished(held: Iterable[Held], gone: Collection[tuple[ProjectId, str]]) -> Iterable[Warned]:
    for one in held:
        if one.belief.category == Category.ENTITY and (one.belief.project_id, one.belief.name) in gone:
            yield Warned(
                check="vanished",
                project_id=one.belief.project_id,
                ids=[one.belief.id],
                message=f"{one.belief.name} is no longer there",
                remedy="flywheel habits rm ID; left alone it fades",
            )


def _crowds(held: Iterable[Held]) -> Iterable[Warned]:
    counts = Counter((one.belief.project_id, one.belief.category) for one in held)
    for (project, category), count in sorted(counts.items()):
        if count > CROWDED:
            yield Warned(
                check="crowded",
                project_id=project,
                ids=(),
                message=f"{category} holds {count} beliefs, more than {CROWDED}",
                remedy="what is not borne out fades; flywheel habits pin ID keeps what matters",
            )


def _survivors(held: Iterable[Held]) -> Iterable[Warned]:
    for one in held:
        if FLOOR <= one.confidence < BARELY and not one.belief.pinned:
            yield Warned(
                check="barely-survives",
                project_id=one.belief.project_id,
                ids=[one.belief.id],
                message=f"{one.belief.category} {one.belief.name} is at {one.confidence:.2f}; below {FLOOR} it goes",
                remedy="flywheel habits pin ID keeps it",
            )
