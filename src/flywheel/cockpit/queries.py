"""What the cockpit reads of the store. No statement looks at every page: each takes its rows off an index."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from flywheel.cockpit.value import Detail, Seen
from flywheel.knowledge.priority import called, rivals, uses
from flywheel.knowledge.thresholds import Thresholds
from flywheel.model import Category, ClaimType, Micros, ProjectId, Status, short_id
from flywheel.store import Row, Tx
from flywheel.tree.naming import page_path
from flywheel.tree.page import DAY

MANY: Final = {Status.CANDIDATE: 20, Status.DISPUTED: 8, Status.STALE: 8}
"""Decisions, and facts, that are weighed in each state; of what weighs less by its type, `LESS`."""

LESS: Final = {Status.CANDIDATE: 8, Status.DISPUTED: 4, Status.STALE: 4}

AGED: Final = 4
"""Pages that are weighed of each shelf, among those that nobody looked at for longest."""

SPOKEN: Final = 200
"""Confirmed pages, those that were spoken of last, among which news are looked for."""

SIGNALLED: Final = 60
"""Pages that are weighed because something contradicts them, or because an agent called them wrong."""

SOURCES: Final = 3
"""Sources of a line that are named."""

VALUES: Final = 3
"""Values of a dispute that are named."""

OPEN: Final = (Status.CANDIDATE, Status.DISPUTED, Status.STALE)
"""The states in which a page waits for a person."""

SINCE: Final = "COALESCE(last_confirmed, updated_at)"
"""When somebody last looked at a page."""

HELD: Final = "status = 'confirmed' AND redirect_to IS NULL"  # as the partial index has it
_BACK: Final = "COALESCE(deferred_until, 0) <= :now"


# ---- the pages to weigh


def pages(tx: Tx, projects: Sequence[ProjectId], limits: Thresholds, now: Micros) -> list[Seen]:
    """The pages that may need a person, with all that their place depends on.

    Of each type in each open state those that most sessions say, the newest first; of each shelf the confirmed ones
    that nobody looked at for longest; and those whose review is due, that something new was said of, that contradict
    another, that an agent called wrong, or that are pinned.
    """
    ids = list(dict.fromkeys(id for project in projects for id in _pool(tx, project, limits, now)))
    if not ids:
        return []
    rows = tx.all(f"SELECT {_LIGHT} FROM entry WHERE id IN :ids", ids=ids)
    facts = _Facts.read(tx, {row[0]: Status(row[1]) for row in rows})
    return [_seen(row, facts) for row in rows]


_LIGHT: Final = "id, status, type, category, evidence, updated_at, last_confirmed, review_by, deferred_until, pinned"


def _pool(tx: Tx, project: ProjectId, limits: Thresholds, now: Micros) -> list[str]:
    """Ids of one project, each part by one ordered look into an index."""
    parts = [_waiting(status, type_) for status in OPEN for type_ in ClaimType]
    parts += [_ageing(category) for category in Category]
    parts += [_DUE, _NEWS, *_AGAINST, _CALLED, _PINNED]
    bounds = {f"before_{category.value}": now - limits.days(category) * DAY // 2 for category in Category}
    sql = " UNION ALL ".join(f"SELECT id FROM ({part}) AS part" for part in parts)
    return [id for (id,) in tx.all(sql, project=project, now=now, **bounds)]


def _waiting(status: Status, type_: ClaimType) -> str:
    many = (MANY if type_ in (ClaimType.DECISION, ClaimType.FACT) else LESS)[status]
    return (
        f"SELECT id FROM entry WHERE project_id = :project AND status = '{status.value}' AND type = '{type_.value}'"
        f" AND redirect_to IS NULL AND {_BACK} ORDER BY evidence DESC, updated_at DESC, id DESC LIMIT {many}"
    )


def _ageing(category: Category) -> str:
    return (
        f"SELECT id FROM entry WHERE project_id = :project AND category = '{category.value}' AND {HELD}"
        f" AND {SINCE} <= :before_{category.value} AND {_BACK} ORDER BY {SINCE}, id LIMIT {AGED}"
    )


_DUE: Final = (
    "SELECT id FROM entry WHERE project_id = :project AND review_by IS NOT NULL AND review_by <= :now"
    f" AND redirect_to IS NULL AND {_BACK} ORDER BY review_by DESC, id LIMIT {SIGNALLED}"
)
_NEWS: Final = (
    "SELECT id FROM (SELECT id FROM entry WHERE project_id = :project AND status = 'confirmed'"
    f" ORDER BY updated_at DESC, id LIMIT {SPOKEN}) AS spoken"
    " WHERE EXISTS (SELECT 1 FROM claim k WHERE k.entry_id = spoken.id AND k.status = 'candidate')"
)
_AGAINST: Final = tuple(
    f"SELECT DISTINCT e.id FROM edge d JOIN entry e ON e.id = d.{end} WHERE d.project_id = :project"
    f" AND d.kind = 'contradicts' AND e.status IN ('candidate', 'confirmed') ORDER BY e.id DESC LIMIT {SIGNALLED}"
    for end in ("source_id", "target_id")
)
_CALLED: Final = (
    "SELECT DISTINCT target_id AS id FROM feedback WHERE project_id = :project AND verdict IN ('wrong', 'stale')"
    f" ORDER BY target_id DESC LIMIT {SIGNALLED}"
)
_PINNED: Final = (
    "SELECT id FROM (SELECT id, status FROM entry WHERE project_id = :project AND pinned = 1"
    f" ORDER BY updated_at DESC, id LIMIT {SIGNALLED}) AS pins WHERE status = 'candidate'"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Facts:
    """What is known of pages beside their rows."""

    said: frozenset[str]
    news: Mapping[str, tuple[int, bool]]
    against: Mapping[str, int]
    called: Mapping[str, str]
    told: Mapping[str, int]
    needed: Mapping[str, int]

    @staticmethod
    def read(tx: Tx, states: Mapping[str, Status]) -> _Facts:
        """Of these pages by id."""
        ids = list(states)
        candidates = [id for id, status in states.items() if status is Status.CANDIDATE]
        held = [id for id, status in states.items() if status in (Status.CONFIRMED, Status.STALE)]
        challenges = tx.all(_CHALLENGES, ids=held) if held else ()
        return _Facts(
            said=frozenset(id for (id,) in tx.all(_SAID, ids=candidates)) if candidates else frozenset(),
            news={id: (int(count), bool(other)) for id, count, other in challenges},
            against=rivals(tx, ids),
            called=called(tx, ids),
            told=uses(tx, ids),
            needed=dict(tx.all(_NEEDED, ids=ids)),
        )


_SAID: Final = "SELECT DISTINCT entry_id FROM claim WHERE entry_id IN :ids AND (role = 'user' OR session_id IS NULL)"
_NEEDED: Final = (
    "SELECT target_id, COUNT(*) FROM edge WHERE target_id IN :ids AND kind = 'prerequisite' GROUP BY target_id"
)
_CHALLENGES: Final = """
SELECT n.entry_id, COUNT(DISTINCT n.id), MAX(CASE WHEN k.id IS NULL THEN 0 ELSE 1 END)
FROM claim n
LEFT JOIN claim k ON k.entry_id = n.entry_id AND k.status = 'confirmed' AND k.subject = n.subject
  AND k.attribute = n.attribute AND k.scope = n.scope AND n.value <> '' AND k.value <> '' AND k.value <> n.value
WHERE n.entry_id IN :ids AND n.status = 'candidate' GROUP BY n.entry_id
"""


def _seen(row: Row, facts: _Facts) -> Seen:
    id, status, type_, category, evidence, at, last_confirmed, review_by, deferred_until, pinned = row
    news, challenged = facts.news.get(id, (0, False))
    return Seen(
        id=id,
        status=Status(status),
        type=ClaimType(type_),
        category=Category(category),
        evidence=evidence,
        at=at,
        last_confirmed=last_confirmed,
        review_by=review_by,
        deferred_until=deferred_until,
        pinned=bool(pinned),
        said=id in facts.said,
        news=news,
        challenged=challenged,
        against=facts.against.get(id, 0),
        called=facts.called.get(id, ""),
        told=facts.told.get(id, 0),
        needed=facts.needed.get(id, 0),
    )


# ---- what is shown of a page


def details(tx: Tx, ids: Sequence[str]) -> Mapping[str, Detail]:
    """What the lines of these pages show."""
    if not ids:
        return {}
    rows = tx.all("SELECT id, short, title, summary, category, slug, stale_reason FROM entry WHERE id IN :ids", ids=ids)
    values, sources = _values(tx, ids), _sources(tx, ids)
    return {
        id: Detail(
            short=short,
            title=title,
            summary=summary,
            link=page_path(category, slug) if slug else "",
            reason=reason,
            values=values.get(id, ()),
            sources=sources[id][:SOURCES],
            source_count=len(sources[id]),
        )
        for id, short, title, summary, category, slug, reason in rows
    }


_SIDES: Final = """
SELECT entry_id, attribute, scope, value, status FROM claim
WHERE entry_id IN :ids AND status IN ('disputed', 'confirmed', 'candidate') AND value <> ''
ORDER BY entry_id, said_at, value, id
"""


def _values(tx: Tx, ids: Sequence[str]) -> Mapping[str, list[str]]:
    """Entry → the values of the first attribute on which its claims disagree."""
    sides: dict[tuple[str, str, str], dict[str, str]] = defaultdict(dict)
    for entry, attribute, scope, value, status in tx.all(_SIDES, ids=ids):
        sides[entry, attribute, scope].setdefault(value, status)
    found: dict[str, list[str]] = {}
    for (entry, attribute, scope), told in sides.items():
        if len(told) > 1 and entry not in found:
            label = f"{attribute} ({scope})" if scope else attribute
            words = [f"{value}{_STANDS.get(status, '')}" for value, status in told.items()]
            found[entry] = [f"{label}: {words[0]}", *words[1:VALUES]]
    return found


_STANDS: Final = {Status.CONFIRMED.value: " (confirmed)", Status.CANDIDATE.value: " (unconfirmed)"}

_RESTS: Final = """
SELECT DISTINCT k.entry_id, COALESCE(m.session_id, c.document_id, k.session_id) FROM claim k
LEFT JOIN citation c ON c.claim_id = k.id LEFT JOIN message m ON m.id = c.message_id
WHERE k.entry_id IN :ids AND k.status NOT IN ('rejected', 'superseded') ORDER BY 1, 2
"""


def _sources(tx: Tx, ids: Iterable[str]) -> Mapping[str, list[str]]:
    """Entry → short ids of the sessions and documents that it rests on."""
    found: dict[str, list[str]] = defaultdict(list)
    for entry, source in tx.all(_RESTS, ids=list(ids)):
        if source:
            found[entry].append(short_id(source))
    return found
