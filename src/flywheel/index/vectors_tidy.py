"""Which segments to write anew, and their living rows together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Final

import numpy as np

from flywheel.index.vectors_manifest import DeadRows, Part
from flywheel.index.vectors_segment import Bytes8, Group, Ids, Rows, Segment, Slab, sorted_slab

DEAD_SHARE: Final = 0.1
"""A segment with a larger part of dead rows is written anew."""

TIER: Final = 8
"""So many segments of one size class are merged; a class spans this factor, so a row is copied log8(n) times."""

SMALLEST: Final = 256
"""Rows up to which a segment is of the lowest class."""

LARGEST: Final = 262_144
"""Rows (64 MB at 256 dimensions) that a merge does not go beyond."""


def choose(parts: Sequence[Part], erase: Collection[str] = ()) -> list[Part]:
    """The segments to write anew as one, oldest first; empty when all is well.

    First those named in ``erase`` that have dead rows, then any with too many, then the classes that are full.
    """
    for part in parts:
        if part.dead_rows > part.rows * DEAD_SHARE or (part.dead_rows and part.name in erase):
            return [part]
    classes: dict[int, list[Part]] = defaultdict(list)
    for part in parts:
        if _alive(part) <= LARGEST // 2:
            classes[_size_class(_alive(part))].append(part)
    for _, full in sorted(classes.items()):
        if len(full) >= TIER:
            return _within(full)
    return []


def living(segments: Sequence[tuple[Segment, DeadRows]]) -> list[Slab]:
    """The rows of several segments that still count, sorted anew."""
    parts: dict[Group, list[tuple[Ids, Bytes8, Rows]]] = defaultdict(list)
    for segment, dead in segments:
        alive = np.ones(segment.rows, dtype=np.bool_)
        alive[dead] = False
        for group, (start, stop) in segment.ranges.items():
            rows = start + np.flatnonzero(alive[start:stop])
            if len(rows):
                parts[group].append((segment.ids[rows], segment.vectors, rows))
    return [sorted_slab(group, found) for group, found in parts.items()]


def _alive(part: Part) -> int:
    return part.rows - part.dead_rows


def _size_class(rows: int) -> int:
    level = 0
    while rows > SMALLEST:
        rows //= TIER
        level += 1
    return level


def _within(parts: Sequence[Part]) -> list[Part]:
    """The oldest that stay within `LARGEST` together, two at least."""
    chosen: list[Part] = []
    total = 0
    for part in parts:
        total += _alive(part)
        if len(chosen) >= 2 and total > LARGEST:
            break
        chosen.append(part)
    return chosen
