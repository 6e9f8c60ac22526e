"""In what order things wait for a person: what is at stake first, what says nearly the same behind one another."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from flywheel.model import Category, ClaimType, Micros, ProjectId, Status
from flywheel.store import Row, Tx
from flywheel.text.words import terms

POOL: Final = 1000
"""Entries among which the most consequential are looked for."""

FOLDED: Final = 12
"""Similar candidates that stand behind one."""

ALIKE: Final = 0.6
"""The part of their titles' words that similar candidates share."""

CHALLENGED: Final = 200
"""Confirmed entries with unconfirmed claims that are looked at."""

_DENIALS: Final = frozenset({"not", "never", "no", "without", "avoid", "stop", "cannot", "neither", "nor"})
_TYPES: Final = {ClaimType.DECISION: 30.0, ClaimType.FACT: 20.0, ClaimType.JUDGMENT: 15.0, ClaimType.HYPOTHESIS: 10.0}
_SHELVES: Final = {
    Category.POLICIES: 12.0,
    Category.CONVENTIONS: 8.0,
    Category.ARCHITECTURE: 8.0,
    Category.DECISIONS: 6.0,
}
OPEN: Final = (Status.CANDIDATE.value, Status.DISPUTED.value, Status.STALE.value)
"""The states in which an entry waits for a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Light:
    """An entry as far as its place depends on it."""

    id: str
    short: str
    status: Status
    type: ClaimType
    category: Category
    evidence: int
    score: float
    at: Micros
    title: str
    stale_reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """An entry with its weight and the reasons for it."""

    light: Light
    weight: float
    why: Sequence[str]


_LIGHT: Final = "id, short, status, type, category, evidence, score, updated_at, title, stale_reason"
NOT_PUT_OFF: Final = "redirect_to IS NULL AND COALESCE(deferred_until, 0) <= :now"
"""The condition for what was neither merged nor put off."""


def placed(tx: Tx, projects: Sequence[ProjectId], now: Micros) -> list[Placed]:
    """What waits, the most consequential first."""
    rows = tx.all(
        f"SELECT {_LIGHT} FROM entry WHERE project_id IN :projects AND status IN :open AND {NOT_PUT_OFF}"
        " ORDER BY CASE status WHEN 'candidate' THEN 1 ELSE 0 END, evidence DESC, score DESC, updated_at DESC, id"
        " LIMIT :pool",
        projects=list(projects),
        open=OPEN,
        now=now,
        pool=POOL,
    )
    challenged = [id for (id,) in tx.all(_CHALLENGED, projects=list(projects), now=now, many=CHALLENGED)]
    more = tx.all(f"SELECT {_LIGHT} FROM entry WHERE id IN :ids", ids=challenged) if challenged else []
    lights = [_light(row) for row in (*rows, *more)]
    ids = [one.id for one in lights]
    against, told, names = rivals(tx, ids), uses(tx, ids), called(tx, ids)
    found = [_weighed(one, against.get(one.id, 0), told.get(one.id, 0), names.get(one.id, "")) for one in lights]
    return sorted(found, key=lambda one: (-one.weight, -one.light.at, one.light.id))


_CHALLENGED: Final = f"""
SELECT id FROM entry WHERE project_id IN :projects AND status = 'confirmed' AND {NOT_PUT_OFF}
AND EXISTS (SELECT 1 FROM claim k WHERE k.entry_id = entry.id AND k.status = 'candidate')
ORDER BY updated_at DESC, id LIMIT :many
"""


def _light(row: Row) -> Light:
    id, short, status, type_, category, evidence, score, at, title, stale = row
    return Light(
        id=id,
        short=short,
        status=Status(status),
        type=ClaimType(type_),
        category=Category(category),
        evidence=evidence,
        score=score,
        at=at,
        title=title,
        stale_reason=stale,
    )


def rivals(tx: Tx, ids: Sequence[str]) -> Mapping[str, int]:
    """How much each contradicts: 2 for each confirmed entry, 1 for each other one that is served."""
    found: dict[str, int] = defaultdict(int)
    for mine, other in (("source_id", "target_id"), ("target_id", "source_id")):
        rows = tx.all(
            f"SELECT d.{mine}, e.status FROM edge d JOIN entry e ON e.id = d.{other} WHERE d.{mine} IN :ids"
            " AND d.kind = 'contradicts' AND e.status IN ('confirmed', 'candidate', 'disputed', 'stale')",
            ids=list(ids),
        )
        for id, status in rows:
            found[id] += 2 if status == Status.CONFIRMED else 1
    return found


def uses(tx: Tx, ids: Sequence[str]) -> Mapping[str, int]:
    """In how many sessions' briefings each stood."""
    rows = tx.all(
        "SELECT item_id, COUNT(DISTINCT native_session) FROM injection WHERE item_id IN :ids GROUP BY item_id",
        ids=list(ids),
    )
    return dict(rows)


def called(tx: Tx, ids: Sequence[str]) -> Mapping[str, str]:
    """What agents called wrong or stale, with the verdict."""
    rows = tx.all(
        "SELECT target_id, verdict FROM feedback WHERE target_id IN :ids AND verdict IN ('wrong', 'stale')"
        " ORDER BY verdict",
        ids=list(ids),
    )
    return dict(rows)


def _weighed(one: Light, against: int, told: int, called: str) -> Placed:
    """The place of an entry: what is at stake, then how much of it there is."""
    why: list[str] = []
    weight = _TYPES.get(one.type, 5.0) + _SHELVES.get(one.category, 0.0) + 5 * one.score
    if one.status is Status.DISPUTED:
        weight, why = weight + 100, ["sources of equal weight disagree"]
    elif one.status is Status.STALE:
        weight, why = weight + 60, [one.stale_reason or "what it rests on has changed"]
    elif one.status is Status.CONFIRMED:
        weight, why = weight + 80, ["something was said against or besides what is confirmed"]
    if against:
        weight += 20 * min(against, 3)
        why.append("contradicts what is confirmed" if against > 1 else "contradicts another entry")
    if called:
        weight += 15
        why.append(f"an agent called it {called}")
    if told:
        weight += min(10.0, 2 * math.log2(1 + told))
        why.append(f"told in {told} session{'s' if told != 1 else ''}")
    if one.evidence > 1:
        weight += min(10.0, 3 * math.log2(one.evidence))
        why.append(f"said in {one.evidence} sessions")
    return Placed(light=one, weight=weight, why=tuple(why))


def folded(all_: Sequence[Placed]) -> Iterator[tuple[Placed, Sequence[Light]]]:
    """Each that leads, with the later candidates that say nearly the same."""
    words = {one.light.id: _sense(one.light) for one in all_}
    taken: set[str] = set()
    for number, first in enumerate(all_):
        if first.light.id in taken:
            continue
        similar: list[Light] = []
        if first.light.status is Status.CANDIDATE:
            for other in all_[number + 1 :]:
                one = other.light
                if len(similar) == FOLDED:
                    break
                if one.status is Status.CANDIDATE and one.id not in taken and _similar(first.light, one, words):
                    similar.append(one)
        taken |= {one.id for one in similar}
        yield first, similar


_Sense = tuple[Category, bool, frozenset[str]]
"""Shelf, polarity and words of a title: what similar candidates share."""


def _sense(one: Light) -> _Sense:
    denies = any(word in _DENIALS or word.endswith("n't") for word in one.title.lower().split())
    return one.category, denies, frozenset(terms(one.title))


def _similar(one: Light, other: Light, words: Mapping[str, _Sense]) -> bool:
    (shelf, denies, mine), (their_shelf, they_deny, theirs) = words[one.id], words[other.id]
    if shelf is not their_shelf or denies is not they_deny or not mine:
        return False
    return len(mine & theirs) >= ALIKE * len(mine | theirs)
