"""The composition root: the Api in process, and the parts that the daemon and its workers are made of."""

from __future__ import annotations

from flywheel.app.indexing import Indexer, Readers, open_readers, seconds_behind
from flywheel.app.inside import App
from flywheel.app.parts import LANES, WORKERS, Parts, make_redactor, open_parts, seconds_to_next_job, wall_clock
from flywheel.app.work import handler_of, lanes_with_work, settle_all

__all__ = [
    "LANES",
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
