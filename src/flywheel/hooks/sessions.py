"""What this process knows of the agents' sessions: what went into them, and which events came already."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Final

from flywheel.model import Micros

SESSIONS: Final = 256
"""Sessions that are remembered; the ledger knows the others."""

EVENTS: Final = 32
"""Events of one session that are remembered."""

TWIN_MICROS: Final = 5_000_000
"""An event that comes again within this time is the same one, delivered by a second program."""


@dataclass(slots=True)
class _Session:
    injected: set[str] = field(default_factory=set)
    complete: bool = False  # `injected` holds what the ledger knows, too
    seen: OrderedDict[str, Micros] = field(default_factory=OrderedDict)


class Sessions:
    """Bounded, for any number of threads. ``ledger`` gives the ids that went into a session before this process."""

    def __init__(self, ledger: Callable[[str], Collection[str]]) -> None:
        self._ledger = ledger
        self._lock = threading.Lock()
        self._known: OrderedDict[str, _Session] = OrderedDict()

    def first(self, name: str, twin: str, now: Micros) -> bool:
        """Whether no equal event of the session came within the last seconds; remembers this one."""
        with self._lock:
            seen = self._session(name).seen
            last = seen.get(twin)
            seen[twin] = now
            seen.move_to_end(twin)
            while len(seen) > EVENTS:
                seen.popitem(last=False)
        return last is None or not 0 <= now - last < TWIN_MICROS

    def restart(self, name: str) -> None:
        """The session's context is empty again: nothing of what was injected is left in it."""
        with self._lock:
            session = self._session(name)
            session.injected.clear()
            session.complete = True

    def injected(self, name: str) -> frozenset[str]:
        """Ids of the items that are in the session's context."""
        with self._lock:
            complete = self._session(name).complete
        found = () if complete else self._ledger(name)
        with self._lock:
            session = self._session(name)
            session.injected.update(found)
            session.complete = True
            return frozenset(session.injected)

    def add(self, name: str, ids: Collection[str]) -> None:
        """These items went into the session."""
        with self._lock:
            self._session(name).injected.update(ids)

    def _session(self, name: str) -> _Session:
        session = self._known.setdefault(name, _Session())
        self._known.move_to_end(name)
        while len(self._known) > SESSIONS:
            self._known.popitem(last=False)
        return session
