"""A batch of rows sorted into groups, as segments want them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

import numpy as np

from flywheel.index.vectors import Batch, Gone
from flywheel.index.vectors_segment import Group, Ids, Slab, sorted_slab
from flywheel.model import Embedding

Vectors = Mapping[Group, Mapping[str, bytes]]


def grouped(rows: Iterable[Embedding]) -> dict[Group, dict[str, bytes]]:
    """Vectors by group and id; zero ones, which nothing is near to, left out. The last of an id counts."""
    groups: dict[Group, dict[str, bytes]] = defaultdict(dict)
    for row in rows:
        if any(row.vector):
            groups[row.kind, row.project_id][row.id] = row.vector
    return groups


def leaving(batch: Batch) -> dict[Group, set[str]]:
    """What must not be found as it was: dropped, or put anew."""
    groups: dict[Group, set[str]] = defaultdict(set)
    leaving: list[Gone | Embedding] = [*batch.drop, *batch.put]
    for item in leaving:
        groups[item.kind, item.project_id].add(item.id)
    return groups


def keys(vectors: Vectors) -> dict[Group, set[str]]:
    """The ids of each group."""
    return {group: set(found) for group, found in vectors.items()}


def sorted_ids(groups: Mapping[Group, set[str]]) -> dict[Group, Ids]:
    """The ids of each group as a segment compares them."""
    return {group: np.array(sorted(id.encode() for id in ids)) for group, ids in groups.items()}


def without(kept: Vectors, present: Mapping[Group, set[bytes]], put: Vectors) -> dict[Group, dict[str, bytes]]:
    """``put`` and what of ``kept`` is not present."""
    groups: dict[Group, dict[str, bytes]] = defaultdict(dict)
    for group, vectors in kept.items():
        there = present.get(group, set())
        groups[group].update({id: vector for id, vector in vectors.items() if id.encode() not in there})
    for group, vectors in put.items():
        groups[group].update(vectors)
    return {group: vectors for group, vectors in groups.items() if vectors}


def slab(group: Group, vectors: Mapping[str, bytes]) -> Slab:
    """One group's rows on their way into a segment."""
    ids = np.array([id.encode() for id in vectors])
    whole = np.frombuffer(b"".join(vectors.values()), dtype=np.int8).reshape(len(ids), -1)
    return sorted_slab(group, [(ids, whole, np.arange(len(ids)))])
