"""Whether an item that was not used lay near what the session did, and which rows of the ledger repeat. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from flywheel.model import Injection
from flywheel.retro.attribution.items import Item

PART: Final = 0.1
"""Share of an item's words that the user must have said, from which it is near what was asked.

`benchmarks attribution`, ``near``: rather too few are near than too many.
"""


def is_near(item: Item, touched: Collection[str], said: Collection[str]) -> bool:
    """Whether one of its files or a neighbour in the same folder was touched, or the user spoke of what it says.

    ``touched`` are the session's files, ``said`` the stems of its prompts.
    """
    folders = {path.rpartition("/")[0] for path in touched if path.count("/") > 1}
    if any(path in touched or (path.count("/") > 1 and path.rpartition("/")[0] in folders) for path in item.files):
        return True
    shared = len(item.words.intersection(said))
    return shared > 0 and shared >= PART * len(item.words)


def count_repeated(ledger: Iterable[Injection], compacted: Sequence[int]) -> int:
    """Rows that tell an item again that the session had since the last compaction. ``compacted``: when, in order."""
    seen: set[tuple[str, int]] = set()
    repeated = 0
    for row in sorted(ledger, key=lambda row: (row.created_at, row.briefing_id, row.item_id)):
        key = (row.item_id, bisect_right(compacted, row.created_at))
        repeated += key in seen
        seen.add(key)
    return repeated
