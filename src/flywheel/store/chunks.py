"""Long lists in pieces: a statement takes so many parameters, a transaction so much time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, TypeVar

CHUNK: Final = 500
"""Ids of one statement."""

T = TypeVar("T")


def chunks(items: Sequence[T], size: int = CHUNK) -> Iterator[Sequence[T]]:
    """``items`` in order, at most ``size`` at a time."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
