"""What edges do to an answer: heirs stand in for what they superseded, prerequisites come before what needs them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from flywheel.model import EdgeKind, Kind, Status
from flywheel.search.rules import Candidate, Facts, Key
from flywheel.store import Tx

HOPS: Final = 6
"""Replacements that are followed one after the other."""

INHERITED: Final = 0.95
"""What a match of the superseded counts for its heir."""

WIDEST: Final = 24
"""Prerequisites that are looked at for one answer."""


def heirs(tx: Tx, ids: Collection[str]) -> dict[str, str]:
    """For each superseded entry among these, the entry that stands in its place now; those without one are left out.

    Merged entries lead to the one they went into, the others along ``supersedes`` edges, the newest first.
    """
    found: dict[str, str] = {}
    asked = {id: id for id in _superseded(tx, list(ids))}
    for _ in range(HOPS):
        if not asked:
            break
        after = _next(tx, sorted(set(asked.values())))
        again = set(_superseded(tx, sorted(set(after.values()))))
        later: dict[str, str] = {}
        for first, at in asked.items():
            new = after.get(at)
            if new is None or new == first:
                continue
            if new in again:
                later[first] = new
            else:
                found[first] = new
        asked = later
    return found


def _superseded(tx: Tx, ids: Sequence[str]) -> list[str]:
    if not ids:
        return []
    rows = tx.all("SELECT id FROM entry WHERE id IN :ids AND status = :was", ids=list(ids), was=Status.SUPERSEDED.value)
    return [id for (id,) in rows]


def _next(tx: Tx, ids: Sequence[str]) -> dict[str, str]:
    """What took the place of each, one step on."""
    rows = tx.all(
        "SELECT target_id, source_id FROM edge WHERE target_id IN :ids AND kind = :kind ORDER BY created_at, source_id",
        ids=list(ids),
        kind=EdgeKind.SUPERSEDES.value,
    )
    found: dict[str, str] = dict(rows)
    merged = tx.all("SELECT id, redirect_to FROM entry WHERE id IN :ids AND redirect_to IS NOT NULL", ids=list(ids))
    return found | dict(merged)


def replaced(tx: Tx, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates with heirs in the place of superseded entries, best first."""
    entries = [one.key[1] for one in candidates if one.key[0] is Kind.ENTRY]
    after = heirs(tx, entries) if entries else {}
    if not after:
        return list(candidates)
    found: dict[Key, Candidate] = {}
    for one in candidates:
        heir = after.get(one.key[1]) if one.key[0] is Kind.ENTRY else None
        if heir is not None:
            one = Candidate(
                key=(Kind.ENTRY, heir), score=one.score * INHERITED, text=one.text, vector=one.vector, named=one.named,
                why=[*one.why, "supersedes"],
            )  # fmt: skip
        known = found.get(one.key)
        if known is None or one.score > known.score:
            found[one.key] = one
    return sorted(found.values(), key=lambda one: (-one.score, one.key))


def prerequisites(tx: Tx, ids: Sequence[str], depth: int) -> Mapping[str, Sequence[str]]:
    """For each entry the entries that must be understood before it, the nearest first, ``depth`` steps at most.

    An edge of the kind ``prerequisite`` goes from what needs to what is needed.
    """
    found: dict[str, list[str]] = defaultdict(list)
    ahead: dict[str, list[str]] = {id: [id] for id in ids}  # reached → the entries that need it
    seen = 0
    for _ in range(depth):
        if not ahead or seen >= WIDEST:
            break
        rows = tx.all(
            "SELECT source_id, target_id FROM edge WHERE source_id IN :ids AND kind = :kind"
            " ORDER BY created_at, target_id LIMIT :most",
            ids=sorted(ahead),
            kind=EdgeKind.PREREQUISITE.value,
            most=WIDEST - seen,
        )
        seen += len(rows)
        further: dict[str, list[str]] = defaultdict(list)
        for source, target in rows:
            for needing in ahead[source]:
                if target != needing and target not in found[needing]:
                    found[needing].append(target)
                    further[target].append(needing)
        ahead = further
    return {id: needed for id, needed in found.items() if needed}


def before(order: Sequence[str], needed: Mapping[str, Sequence[str]], room: int) -> list[str]:
    """The ids with what they need before them, of which at most ``room`` are not among them: the nearest. Pure.

    Who stands in a circle keeps the given order.
    """
    given, placed = set(order), list[str]()
    for id in order:
        first: list[str] = []
        for one in needed.get(id, ()):
            if one in placed or one in first or one == id:
                continue
            if one not in given:
                if room <= 0:
                    continue
                room -= 1
            first.append(one)
        placed += [*reversed(first), *([] if id in placed else [id])]
    return placed


def confirmed(known: Facts) -> bool:
    """Whether a person confirmed an entry and nothing took that back; it may have gone stale since."""
    return known.held or known.status == Status.CONFIRMED


def confirmed_first(candidates: Sequence[Candidate], facts: Mapping[Key, Facts]) -> list[Candidate]:
    """No unconfirmed entry stands before a confirmed one on the same subject. Pure."""
    last: dict[str, int] = {}
    for place, one in enumerate(candidates):
        known = facts[one.key]
        if known.subject and confirmed(known):
            last[known.subject] = place
    if not last:
        return list(candidates)

    def order(pair: tuple[int, Candidate]) -> tuple[int, bool, int]:
        place, one = pair
        known = facts[one.key]
        unsure = known.status == Status.CANDIDATE or (known.status == Status.STALE and not known.held)
        return (max(place, last.get(known.subject, 0)) if unsure and known.subject else place, unsure, place)

    return [one for _, one in sorted(enumerate(candidates), key=order)]
