"""How far the indexer is, for importers that should not run ahead of it; and where its files lie."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import orjson

from flywheel.app.parts import Parts

TEXT: Final = Path("index") / "text"
"""Where the text index lies below the data folder."""

CURRENT: Final = Path("index") / "current.json"
"""What the indexer said last: the time until which everything that was committed is indexed."""


def seconds_behind(parts: Parts) -> Callable[[], float]:
    """How long ago everything committed was indexed, for an importer that should slow down; cheap to ask.

    Counts from the importer's own start at the earliest: an index that nobody runs holds nothing up for ever.
    """
    path = parts.data / CURRENT
    begun = time.time()
    seen = looked = 0.0

    def behind() -> float:
        nonlocal seen, looked
        now = time.time()
        if now - looked > 0.1:
            looked = now
            try:
                seen = float(orjson.loads(path.read_bytes())["until"])
            except (OSError, ValueError, KeyError, TypeError):
                seen = 0.0
        return now - max(seen, begun)

    return behind
