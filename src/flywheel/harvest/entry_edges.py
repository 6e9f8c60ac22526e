"""What takes the place of what among the entries of a project (`knowledge.relating` has the other edges).

A reversal supersedes an earlier candidate only when both clearly speak of one subject; what is less clear becomes a
``contradicts`` edge for a person to look at. What a person confirmed is never touched.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from flywheel.harvest.rules.topic import stems
from flywheel.knowledge import freshness, states
from flywheel.knowledge.changing import changed
from flywheel.knowledge.compiling import main_claim
from flywheel.knowledge.parts import REPLACES, STATES
from flywheel.knowledge.relating import edge
from flywheel.knowledge.states import RULES
from flywheel.model import (
    Category,
    Claim,
    Clean,
    EdgeKind,
    Entry,
    EntryId,
    Micros,
    Role,
    Status,
)
from flywheel.store import Tx
from flywheel.store.mapper import find, get
from flywheel.text.compose import fixed, join

_COMMON: Final = 120  # entries that share a name past which the name says nothing
_CHOICES: Final = (Category.DECISIONS, Category.CONVENTIONS, Category.PREFERENCES, Category.ARCHITECTURE)


def settle_reversals(tx: Tx, entry_id: EntryId, now: Micros) -> None:
    """Let an entry supersede what it replaces, and be superseded by what was said later to replace it."""
    entry = get(tx, Entry, id=entry_id)
    if entry is None or entry.category not in _CHOICES or entry.status is Status.REJECTED:
        return
    claims = _claims(tx, entry.id)
    for claim in claims:
        if claim.attribute == REPLACES and claim.status is not Status.SUPERSEDED:
            others = [old for old in _saying(tx, entry, STATES, claim.value) if _when(old) < claim.said_at]
            for old in others:
                _reverse(tx, old, (entry, claims), now, only=len(others) == 1)
    mine = main_claim(claims)
    if mine is None or not mine.value or mine.status is Status.SUPERSEDED:
        return
    for new in _saying(tx, entry, REPLACES, mine.value):
        if any(claim.attribute == REPLACES and claim.said_at > mine.said_at for claim in new[1]):
            _reverse(tx, (entry, claims), new, now, only=True)
    _mark_rivals(tx, entry, mine, now)


_Told = tuple[Entry, Sequence[Claim]]
"""An entry with its claims."""


def _claims(tx: Tx, id: str) -> Sequence[Claim]:
    return find(tx, Claim, "WHERE entry_id = :id ORDER BY said_at, id", id=id)


def _when(told: _Told) -> Micros:
    main = main_claim(told[1])
    return main.said_at if main is not None else Micros(0)


_SAYING: Final = """
SELECT DISTINCT k.entry_id FROM claim k WHERE k.attribute = :attribute AND k.value = :value AND k.status <> 'superseded'
AND k.entry_id IN (SELECT l.entry_id FROM entry_link l WHERE l.project_id = :project AND l.kind = 'subject'
                   AND l.name = :value ORDER BY l.entry_id DESC LIMIT :limit)
"""


def _saying(tx: Tx, entry: Entry, attribute: str, value: str) -> list[_Told]:
    """The other entries of the project that choose this, or that take its place."""
    rows = tx.all(_SAYING, attribute=attribute, value=value, project=entry.project_id, limit=_COMMON)
    ids = [id for (id,) in rows if id != entry.id]
    others = find(tx, Entry, "WHERE id IN :ids ORDER BY id", ids=ids)
    return [(other, _claims(tx, other.id)) for other in others if other.category in _CHOICES]


def _mark_rivals(tx: Tx, entry: Entry, mine: Claim, now: Micros) -> None:
    """A decision for something else on the same subject contradicts this one until somebody says which holds."""
    if entry.category is not Category.DECISIONS or entry.subject == mine.value or entry.status is Status.SUPERSEDED:
        return
    rows = tx.all(
        "SELECT DISTINCT e.id FROM entry e JOIN claim k ON k.entry_id = e.id WHERE e.project_id = :project"
        " AND e.id IN (SELECT entry_id FROM entry_link WHERE project_id = :project AND kind = 'subject' AND name ="
        " :name)"
        " AND e.id <> :id AND e.category = 'decisions' AND e.subject = :name"
        " AND e.status IN ('candidate', 'confirmed', 'stale')"
        " AND k.attribute = '' AND k.value <> '' AND k.value <> :value ORDER BY e.id DESC LIMIT 3",
        project=entry.project_id,
        name=entry.subject,
        id=entry.id,
        value=mine.value,
    )
    for (other,) in rows:
        if tx.one(_JOINED, a=entry.id, b=other) is None:
            why = join((fixed("another choice for"), entry.subject))
            contradict(tx, entry, EntryId(other), now, why)


_JOINED: Final = """
SELECT 1 FROM edge WHERE kind IN ('contradicts', 'supersedes')
AND ((source_id = :a AND target_id = :b) OR (source_id = :b AND target_id = :a))
"""


def _reverse(tx: Tx, old: _Told, new: _Told, now: Micros, *, only: bool) -> None:
    """Supersede the old by the new, or mark that they contradict each other when it is not clear."""
    was, main = main_claim(old[1]), main_claim(new[1])
    if was is None or main is None or new[0].status in (Status.REJECTED, Status.SUPERSEDED):
        return
    bare = old[0].subject == was.value or new[0].subject in (main.value, was.value, "")
    clear = same_subject(old[0].subject, new[0].subject) or (only and bare)
    outranked = was.role is Role.USER and main.role is not Role.USER
    if old[0].status is Status.CANDIDATE and clear and not outranked:
        _supersede(tx, old[0], new[0], main, now)
    elif old[0].status in (Status.CANDIDATE, Status.CONFIRMED, Status.STALE):
        contradict(tx, new[0], old[0].id, now, join((fixed("says to replace"), was.value)))


def contradict(tx: Tx, source: Entry, target: EntryId, now: Micros, reason: Clean) -> None:
    """An edge for a person to look at; what is confirmed of the two is no longer fresh."""
    if edge(tx, source, target, EdgeKind.CONTRADICTS, now, reason):
        freshness.contradicted(tx, source.id, target, now)


def same_subject(one: str, two: str) -> bool:
    """Whether two subjects share at least half of the longer one's words."""
    left, right = set(stems(one)), set(stems(two))
    return bool(left) and 2 * len(left & right) >= max(len(left), len(right))


def _supersede(tx: Tx, old: Entry, new: Entry, main: Claim, now: Micros) -> None:
    reason = join((fixed("replaced by what was said later:"), new.title))
    if not states.move(tx, old, Status.SUPERSEDED, actor=RULES, reason=reason, now=now):
        return
    for claim in _claims(tx, old.id):
        if claim.status is Status.CANDIDATE:
            states.move(tx, claim, Status.SUPERSEDED, actor=RULES, reason=reason, now=now)
            tx.run("UPDATE claim SET superseded_by = :by WHERE id = :id", by=main.id, id=claim.id)
    edge(tx, new, old.id, EdgeKind.SUPERSEDES, now, reason)
    changed(tx, old.id, now=now, reason=reason, actor=RULES)
