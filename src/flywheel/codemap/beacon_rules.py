"""Where the place that a beacon names is today: where it was, else where its code went, else nowhere. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from flywheel.model import Beacon
from flywheel.text.likeness import NAMED, closest, likeness

NAME: Final = 80
"""Characters of a beacon's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """A definition or a file as the code map has it now."""

    checkout: str
    path: str
    qualified: str = ""  # "" for a file
    kind: str = ""
    ordinal: int = 0
    hash: str = ""
    signature: str = ""
    doc: str = ""
    line: int = 1  # 1-based
    stop_line: int = 1  # inclusive
    symbol: str = ""  # id of its row

    @property
    def label(self) -> str:
        """The place as a person names it."""
        return f"{self.path}:{self.qualified}" if self.qualified else self.path


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What became of a beacon's place: ``here``, ``moved``, ``renamed``, ``ambiguous`` or ``gone``."""

    state: str
    spot: Spot | None = None
    among: Sequence[Spot] = ()  # of an ambiguous one


def label_of(beacon: Beacon) -> str:
    """The place that a beacon had last."""
    return f"{beacon.path}:{beacon.qualified}" if beacon.qualified else beacon.path


def at_home(beacon: Beacon, spots: Iterable[Spot]) -> Spot | None:
    """The spot at the beacon's own place; of several of one name the one with its number, else the first."""
    there = [
        spot for spot in spots if (spot.path, spot.qualified, spot.kind) == (beacon.path, beacon.qualified, beacon.kind)
    ]
    return min(there, key=lambda spot: (spot.ordinal != beacon.ordinal, spot.checkout, spot.ordinal), default=None)


def elsewhere(
    beacon: Beacon, spots: Iterable[Spot], shapes: Mapping[str, str], newcomers: Sequence[Spot] = ()
) -> Standing:
    """Where the code of a place that is no more went: the same code, the same under another name, the same name over
    code that is like it, and of the ``newcomers``, which came about when it went, the one that is most like it.

    ``shapes``: label → `likeness.sketch` of those whose text is known. What looked the same while the place was there
    (``twins``) is no sign. Of several signs of one sort none is believed.
    """
    others = [spot for spot in spots if spot.label not in beacon.twins and spot.kind == beacon.kind]
    own = beacon.qualified
    alike = [spot for spot in others if beacon.hash and spot.hash == beacon.hash]
    sorts = [
        [spot for spot in alike if spot.qualified == own],
        alike,
        [spot for spot in others if beacon.shape and shapes.get(spot.label) == beacon.shape],
        [spot for spot in others if same_name(beacon, spot) and _like(beacon, shapes.get(spot.label))],
        _closest(beacon, newcomers, shapes),
    ]
    for places in map(_distinct, sorts):
        if len(places) == 1:
            return Standing(state="renamed" if places[0].path == beacon.path else "moved", spot=places[0])
        if places:
            return Standing(state="ambiguous", among=places)
    return Standing(state="gone")


def _like(beacon: Beacon, shape: str | None) -> bool:
    """Whether the code under a beacon's name elsewhere may be its own: what cannot be read is believed."""
    return not beacon.shape or shape is None or likeness(beacon.shape, shape) >= NAMED


def _closest(beacon: Beacon, newcomers: Sequence[Spot], shapes: Mapping[str, str]) -> list[Spot]:
    found = {spot.label: spot for spot in newcomers if spot.label not in beacon.twins and spot.label in shapes}
    return [found[label] for label in closest(beacon.shape, {label: shapes[label] for label in found})]


def same_name(beacon: Beacon, spot: Spot) -> bool:
    """Whether a definition is called the same, or a file is."""
    if beacon.qualified:
        return spot.qualified == beacon.qualified
    return spot.path.rpartition("/")[2] == beacon.path.rpartition("/")[2]


def _distinct(spots: Iterable[Spot]) -> list[Spot]:
    """One for each place, whatever work trees have it."""
    found: dict[tuple[str, str], Spot] = {}
    for spot in sorted(spots, key=lambda spot: (spot.path, spot.qualified, spot.checkout, spot.ordinal)):
        found.setdefault((spot.path, spot.qualified), spot)
    return list(found.values())
