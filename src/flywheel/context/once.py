"""Packing a briefing in which nothing is told twice: pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from flywheel.context.allocator import Cost, Offer, Packed, Piece, Placed, allocate
from flywheel.context.telling import Told


def pack_once(room: Cost, offers: Sequence[Offer]) -> Sequence[Packed]:
    """Packed, and packed anew without what lower sources would repeat of the entries that went in.

    These are a higher source, so they stay; should what they had beyond their own share not fit any more, the first
    packing stands.
    """
    first = allocate(room, offers)
    went_in = {one.piece.id: one.level.text for one in _placed_of(first, "entries")}
    told = Told(went_in.values())
    if not told:
        return first
    less = [replace(offer, pieces=[one for one in map(_less(told), offer.pieces) if one]) for offer in offers]
    if less == list(offers):
        return first
    again = allocate(room, less)
    return again if went_in.keys() <= {one.piece.id for one in _placed_of(again, "entries")} else first


def _less(told: Told) -> Callable[[Piece], Piece | None]:
    return lambda piece: piece.less(told) if piece.less else piece


def _placed_of(packed: Sequence[Packed], source: str) -> Sequence[Placed]:
    return [placed for one in packed if one.source == source for placed in one.placed]
