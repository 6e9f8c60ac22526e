"""Which entries the models may speak of: those that rest on the same messages, then those that share rare names."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from flywheel.harvest.models import Offered, Piece
from flywheel.harvest.models.pieces import shown
from flywheel.model import Entry, EntryId, ProjectId
from flywheel.projects import queries as projects
from flywheel.store import Tx
from flywheel.store.chunks import chunks
from flywheel.store.mapper import find
from flywheel.text.compose import current
from flywheel.text.phrases import subjects_in

COMMON: Final = 40
"""Entries that share a name past which the name says nothing."""

NAMES: Final = 600
"""Names that are looked up for one chunk."""

_OUT: Final = ("rejected", "superseded")
_RESTING: Final = """
SELECT DISTINCT k.entry_id FROM citation c JOIN claim k ON k.id = c.claim_id JOIN entry e ON e.id = k.entry_id
WHERE c.{source}_id IN :ids AND e.project_id IN :projects
"""
_NAMED: Final = """
SELECT l.name, l.entry_id FROM entry_link l WHERE l.project_id IN :projects AND l.kind = 'subject' AND l.name IN :names
"""


def offer(tx: Tx, project: ProjectId, pieces: Sequence[Piece], names: Iterable[str], limit: int) -> list[Offered]:
    """The entries of a project that these pieces may touch, the likeliest first. ``names``: subjects besides theirs."""
    family = list(projects.family(tx, project))
    weights: dict[str, float] = defaultdict(float)
    for source, ids in (
        ("message", [piece.message_id for piece in pieces if piece.message_id]),
        ("document", [piece.document_id for piece in pieces if piece.document_id]),
    ):
        for part in chunks(sorted(set(ids))):
            for (id,) in tx.all(_RESTING.format(source=source), ids=part, projects=family):
                weights[id] += 2.0
    for name, sharing in _sharing(tx, family, [*names, *_names(pieces)]).items():
        for id in sharing if len(sharing) < COMMON else ():
            weights[id] += len(name.split()) / math.log2(1 + len(sharing) + 1)
    best = sorted(weights, key=lambda id: (-weights[id], id))[: 2 * limit]
    return opened(tx, best)[:limit]


def opened(tx: Tx, ids: Sequence[str]) -> list[Offered]:
    """These entries as models see them, in this order; what was rejected, superseded or merged is left out."""
    found = {entry.id: entry for entry in find(tx, Entry, "WHERE id IN :ids", ids=list(ids))} if ids else {}
    live = [found[EntryId(id)] for id in ids if EntryId(id) in found]
    return [_offered(entry) for entry in live if entry.status.value not in _OUT and not entry.redirect_to]


def _offered(entry: Entry) -> Offered:
    return Offered(
        id=entry.id, short=entry.short, title=shown(entry.title), text=shown(current(entry.body)), held=entry.held
    )


def _names(pieces: Sequence[Piece]) -> Iterable[str]:
    """Phrases of what is shown, which may name a subject."""
    found: dict[str, None] = {}
    for piece in pieces:
        words = piece.short.split()
        for start in range(0, len(words), 12):
            found.update(dict.fromkeys(subjects_in(" ".join(words[start : start + 24]))))
            if len(found) >= NAMES:
                return found
    return found


def _sharing(tx: Tx, family: Sequence[str], names: Sequence[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for part in chunks(list(dict.fromkeys(name.lower() for name in names))):
        for name, id in tx.all(_NAMED, projects=family, names=part):
            found[name].add(id)
    return found
