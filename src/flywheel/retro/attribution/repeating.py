"""Whether a text repeats items: the share of an item's words that stand close together in it. Pure.

One pass over the text serves all items: an index leads from each word to the items that have it.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from flywheel.retro.attribution.items import WORDS, Item

SHARE: Final = 0.65
"""Share of an item's words from which a text repeats it. `benchmarks attribution` has the figures."""

SLACK: Final = 4
"""Words more than the item has within which they must stand."""


class Index:
    """The words of items. ``said`` are words that the user brought: whoever repeats those repeats the user."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._items = {item.id: item for item in items}
        self._by_word: defaultdict[str, list[str]] = defaultdict(list)
        for item in self._items.values():
            for word in item.words:
                self._by_word[word].append(item.id)

    def drop(self, id: str) -> None:
        """An item that is not looked for any more."""
        item = self._items.pop(id, None)
        for word in item.words if item else ():
            self._by_word[word].remove(id)

    def repeated(self, words: Sequence[str], said: Collection[str], *, least: float = SHARE) -> Mapping[str, float]:
        """The items that a text of these stems repeats, with the share of their words that it has."""
        places: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
        for at, word in enumerate(words):
            for id in self._by_word.get(word, ()):
                places[id].append((at, word))
        found: dict[str, float] = {}
        for id, hits in places.items():
            if len(hits) < WORDS:
                continue
            own = self._items[id].words
            if said:
                own = own.difference(said)
            if len(hits) < least * len(own) or len(own) < WORDS:
                continue
            share = closest([hit for hit in hits if hit[1] in own], len(own))
            if share >= least:
                found[id] = share
        return found


def closest(hits: Sequence[tuple[int, str]], size: int) -> float:
    """The largest share of ``size`` different words that stand within ``size + SLACK`` words; 0 for less than `WORDS`.

    ``hits`` are (place, word) in order.
    """
    if size < WORDS:
        return 0.0
    if len({word for _, word in hits}) < WORDS:
        return 0.0
    best = 0
    window: deque[tuple[int, str]] = deque()
    within: dict[str, int] = defaultdict(int)
    for at, word in hits:
        window.append((at, word))
        within[word] += 1
        while window[0][0] <= at - size - SLACK:
            gone = window.popleft()[1]
            within[gone] -= 1
            if not within[gone]:
                del within[gone]
        best = max(best, len(within))
    return best / size if best >= WORDS else 0.0
