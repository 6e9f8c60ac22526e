"""The verbs of the code: definitions, beacons, the map."""

from __future__ import annotations

from typing import Protocol


class Coding(Protocol):
    """The verbs of the code: definitions, beacons, the map; see `Api`."""
