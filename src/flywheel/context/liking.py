"""What somebody likes to use, for searches: read off the store once in a while."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from flywheel.behaviour import queries
from flywheel.behaviour.decay import STRATEGIES
from flywheel.behaviour.identity import local_identity
from flywheel.behaviour.liking import likings
from flywheel.config import BehaviourConfig
from flywheel.model import GLOBAL, Micros, ProjectId
from flywheel.store import Tx

FRESH: Final = 60.0
"""What is liked is read anew after so many seconds."""

KEPT: Final = 128
"""Sets of projects that are remembered."""


class Liking:
    """The likings of an identity, per set of projects. For any number of threads."""

    def __init__(self, config: BehaviourConfig, now: Callable[[], Micros], identity: str = "") -> None:
        """``identity``: the user of the operating system unless given."""
        self._now, self._decay = now, STRATEGIES[config.decay]
        self._identity = identity or local_identity()
        self._known: dict[tuple[ProjectId, ...], tuple[float, Mapping[str, float]]] = {}

    def of(self, tx: Tx, projects: Sequence[ProjectId]) -> Mapping[str, float]:
        """Name of a tool or command → −1 to 1; nothing where no project is named."""
        own = tuple(project for project in projects if project != GLOBAL)
        until, known = self._known.get(own, (0.0, {}))
        if own and time.monotonic() >= until:
            known = self._read(tx, own)
            if len(self._known) >= KEPT:
                self._known.clear()
            self._known[own] = (time.monotonic() + FRESH, known)
        return known

    def _read(self, tx: Tx, projects: Sequence[ProjectId]) -> Mapping[str, float]:
        return likings(queries.strongest(tx, self._identity, projects, self._now(), self._decay))
