"""What has changed of the code that an entry speaks of: as it was at the last confirmation, and as it is."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from flywheel.api import Shown
from flywheel.knowledge import code_places
from flywheel.knowledge.anchor_rules import CUT, kept_text, parted
from flywheel.knowledge.source_text import lines_of
from flywheel.model import Anchor, Clean
from flywheel.store import Tx
from flywheel.store.mapper import find

MOST: Final = 3
"""Definitions whose changes are shown."""

LINES: Final = 60
"""Lines of one diff."""


def with_changes(tx: Tx, shown: Shown, clean: Callable[[str], Clean]) -> Shown:
    """An entry as it is shown, with the then-and-now of the definitions that have changed, below its body."""
    lines = changes(tx, shown.id, clean)
    return replace(shown, body="\n".join([shown.body, "", *lines]).lstrip("\n")) if lines else shown


def changes(tx: Tx, entry_id: str, clean: Callable[[str], Clean]) -> list[str]:
    """Lines of then and now for the definitions that an entry speaks of and that have changed; ``clean`` redacts."""
    changed = find(
        tx,
        Anchor,
        "WHERE entry_id = :id AND kind = 'symbol' AND note <> '' ORDER BY based_at DESC, name LIMIT :most",
        id=entry_id,
        most=MOST,
    )
    return [line for anchor in changed for line in _then_and_now(tx, anchor, clean)]


def _then_and_now(tx: Tx, anchor: Anchor, clean: Callable[[str], Clean]) -> list[str]:
    """One definition's diff; of its signature where no text of it was kept or is there."""
    place = code_places.at(tx, anchor.checkout, *parted(anchor.target))
    then = str(anchor.text)
    read = lines_of(place.checkout, place.path, place.start, place.stop) if place is not None and then else ""
    now = str(kept_text(clean(read))) if read else ""
    if place is not None and (not then or not now):
        then, now = str(anchor.signature), str(place.signature)
    if then == now or not (then or now):
        return [f"Then and now: {anchor.note}."]
    diff = difflib.unified_diff(_lines(then), _lines(now), "then", "now", lineterm="", n=2)
    lines = [line for line in diff if line not in ("--- then", "+++ now") and not line.startswith("@@")]
    more = [f"… and {len(lines) - LINES} more lines"] if len(lines) > LINES else []
    return [f"Then and now: {anchor.note}.", *(f"    {line}" for line in lines[:LINES]), *more]


def _lines(text: str) -> list[str]:
    return text.removesuffix(CUT).split("\n")
