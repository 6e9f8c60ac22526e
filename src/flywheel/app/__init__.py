"""The composition root: the Api in process, and the parts that the daemon and its workers are made of.

Names are loaded when they are first used: a lane's process imports what it runs and nothing else.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flywheel.app.indexing import PACE, Indexer
    from flywheel.app.inside import App
    from flywheel.app.pace import seconds_behind
    from flywheel.app.parts import LANES, WORKERS, Parts, make_redactor, open_parts, seconds_to_next_job, wall_clock
    from flywheel.app.reading import Readers, open_readers
    from flywheel.app.work import handler_of, lanes_with_work, settle_all

_HOMES = {
    "indexing": ("PACE", "Indexer"),
    "inside": ("App",),
    "pace": ("seconds_behind",),
    "parts": ("LANES", "WORKERS", "Parts", "make_redactor", "open_parts", "seconds_to_next_job", "wall_clock"),
    "reading": ("Readers", "open_readers"),
    "work": ("handler_of", "lanes_with_work", "settle_all"),
}

__all__ = [
    "LANES",
    "PACE",
    "WORKERS",
    "App",
    "Indexer",
    "Parts",
    "Readers",
    "handler_of",
    "lanes_with_work",
    "make_redactor",
    "open_parts",
    "open_readers",
    "seconds_behind",
    "seconds_to_next_job",
    "settle_all",
    "wall_clock",
]


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(name)
