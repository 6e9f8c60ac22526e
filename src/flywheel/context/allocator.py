"""Packing a briefing to its budget: pure, and bound by four laws.

1. The total never exceeds the budget, in tokens and in the agent's own unit.
2. Each source has its priority-weighted share. What it leaves is offered to the others in priority order: what a
   source gets from its own share and from what higher ones leave never depends on a lower source, and what lower ones
   leave may only add.
3. Within a source by relevance; an item goes in whole at one of its levels or not at all.
4. The same input gives the same packing, whatever the order of the offered items.

Of what nobody has reviewed (`Piece.unreviewed`), a source takes its cap at most, and never ahead of a reviewed item on
the same subject.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from flywheel.context.telling import Told

LOOKAHEAD: Final = 3
"""A larger level is taken only if this many of the following items still fit at their smallest."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Tokens, and units of the agent's own limit (UTF-16 units, or bytes)."""

    tokens: int = 0
    units: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.tokens + other.tokens, self.units + other.units)

    def __sub__(self, other: Cost) -> Cost:
        return Cost(self.tokens - other.tokens, self.units - other.units)

    def fits(self, room: Cost) -> bool:
        """Whether ``room`` holds it."""
        return self.tokens <= room.tokens and self.units <= room.units

    def part(self, share: float) -> Cost:
        """A fraction, rounded down."""
        return Cost(int(self.tokens * share), int(self.units * share))


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """One way to write an item: ``body``, ``summary`` or ``title``. ``cost`` is the text's, line end included."""

    name: str
    text: str
    cost: Cost


Less = Callable[[Told], "Piece | None"]
"""Makes an item anew without what is told already; None where nothing is left of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One item that a source offers, with its levels from the largest to the smallest."""

    kind: str
    id: str
    short: str
    relevance: float
    levels: Sequence[Level]
    subject: str = ""
    unreviewed: bool = False
    less: Less | None = field(default=None, compare=False, repr=False)  # the same without what is told already


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What one source offers. Offers stand in priority order."""

    source: str
    share: float  # of the budget; the shares of all offers add up to at most 1
    pieces: Sequence[Piece]
    heading: Cost = field(default=Cost())  # paid with the first item
    cap: float = 1.0  # the part of the share that unreviewed items may take


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """An item that goes in, at a level."""

    piece: Piece
    level: Level


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """What one source got: from its share and from higher ones (``own``), and from lower ones (``extra``)."""

    source: str
    share: Cost
    own: Sequence[Placed]
    extra: Sequence[Placed]
    cost: Cost
    left_out: int

    @property
    def placed(self) -> Sequence[Placed]:
        """Everything, in the order of `in_order`."""
        both = {id(placed.piece): placed for placed in (*self.own, *self.extra)}
        return [both[id(piece)] for piece in in_order(placed.piece for placed in both.values())]


def allocate(budget: Cost, offers: Sequence[Offer]) -> Sequence[Packed]:
    """Pack the offers, which stand in priority order, into the budget; one result per offer.

    Going down the sources, each fills its share and whatever came down to it. What it leaves is offered first to the
    sources above it, from the top, which may add items and change none; the rest goes down to the next.
    """
    bins = [_Bin(offer, budget.part(offer.share)) for offer in offers]
    left = budget.part(max(0.0, 1.0 - sum(offer.share for offer in offers)))
    for number, current in enumerate(bins):
        left = current.fill(left + current.share, current.own)
        for higher in bins[:number]:
            left = higher.fill(left, higher.extra)
    return [current.packed() for current in bins]


def in_order(pieces: Iterable[Piece]) -> list[Piece]:
    """By relevance, ties by kind and id; an unreviewed item after every reviewed one on its subject."""
    ranked = sorted(pieces, key=_rank)
    last: dict[str, int] = {}
    for place, piece in enumerate(ranked):
        if piece.subject and not piece.unreviewed:
            last[piece.subject] = place
    places = {
        id(piece): (max(place, last.get(piece.subject, 0)) if piece.unreviewed else place, piece.unreviewed, place)
        for place, piece in enumerate(ranked)
    }
    return sorted(ranked, key=lambda piece: places[id(piece)])


class _Bin:
    """One source while it is packed."""

    def __init__(self, offer: Offer, share: Cost) -> None:
        self.offer, self.share = offer, share
        self.own: list[Placed] = []
        self.extra: list[Placed] = []
        self._waiting = in_order(offer.pieces)
        self._blockers = _reviewed_by_subject(self._waiting)
        self._spent = Cost()
        self._cap = share.part(offer.cap)
        self._least = _least(self._waiting)

    def fill(self, room: Cost, into: list[Placed]) -> Cost:
        """Place what fits of what still waits; the room that is left."""
        if room.tokens < self._least:
            return room
        waiting = self._waiting
        self._waiting = []
        for at, piece in enumerate(waiting):
            level = self._choose(piece, room, waiting[at + 1 : at + 1 + LOOKAHEAD])
            if level is None:
                self._waiting.append(piece)
                continue
            cost = self._price(level)
            room, self._spent = room - cost, self._spent + cost
            if piece.unreviewed:
                self._cap -= level.cost
            elif piece.subject:
                self._blockers[piece.subject] -= 1
            into.append(Placed(piece=piece, level=level))
        self._least = _least(self._waiting)
        return room

    def packed(self) -> Packed:
        return Packed(
            source=self.offer.source,
            share=self.share,
            own=tuple(self.own),
            extra=tuple(self.extra),
            cost=self._spent,
            left_out=len(self._waiting),
        )

    def _choose(self, piece: Piece, room: Cost, following: Sequence[Piece]) -> Level | None:
        """The largest level beside which the next items still fit at their smallest, or else the smallest that fits."""
        if piece.unreviewed and self._blockers.get(piece.subject, 0) > 0:
            return None
        heading = Cost() if self.own or self.extra else self.offer.heading
        tokens, units = room.tokens - heading.tokens, room.units - heading.units
        if piece.unreviewed:
            tokens, units = min(tokens, self._cap.tokens), min(units, self._cap.units)
        smallest = [other.levels[-1].cost for other in following if other.levels]
        spare_tokens = room.tokens - heading.tokens - sum(cost.tokens for cost in smallest)
        spare_units = room.units - heading.units - sum(cost.units for cost in smallest)
        found = None
        for level in piece.levels:
            cost = level.cost
            if cost.tokens <= tokens and cost.units <= units:
                found = level
                if cost.tokens <= spare_tokens and cost.units <= spare_units:
                    break
        return found

    def _price(self, level: Level) -> Cost:
        """The level's cost, with the heading's when nothing stands below it yet."""
        return level.cost if self.own or self.extra else level.cost + self.offer.heading


def _rank(piece: Piece) -> tuple[float, str, str]:
    return -piece.relevance, piece.kind, piece.id


def _reviewed_by_subject(pieces: Iterable[Piece]) -> dict[str, int]:
    """How many reviewed items each subject has: while any waits, no unreviewed one of it goes in."""
    counts: dict[str, int] = {}
    for piece in pieces:
        if piece.subject and not piece.unreviewed:
            counts[piece.subject] = counts.get(piece.subject, 0) + 1
    return counts


def _least(pieces: Sequence[Piece]) -> float:
    """Tokens of the smallest level of all; infinite when there is none."""
    return min((piece.levels[-1].cost.tokens for piece in pieces if piece.levels), default=float("inf"))


def total(packed: Iterable[Packed]) -> Cost:
    """What all sources together cost."""
    return sum((one.cost for one in packed), Cost())


def shares(weights: Mapping[str, float], sources: Sequence[str]) -> dict[str, float]:
    """Each source's share of the budget: its weight, scaled down only where all together exceed 1."""
    given = {source: max(0.0, weights.get(source, 0.0)) for source in sources}
    scale = max(1.0, sum(given.values()))
    return {source: weight / scale for source, weight in given.items()}
