"""Whether what was told is told to be used, and to be called wrong: labelled pairs of an item and a later message.

The corpus (`benchmarks/corpora/attribution.toml`) was written for this project. The half whose digest begins with an
even digit set the thresholds; the other half was held out. Long pairs put the message between twelve other items' ones.
Floor: three words of the item anywhere in the message, and any word of denial beside an id.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from flywheel.harvest.rules.topic import stems
from flywheel.model import Message, MessageId, MessageKind, Micros, ProjectId, Role, SessionId, digest
from flywheel.retro.attribution.items import Item, item_of
from flywheel.retro.attribution.nearness import is_near
from flywheel.retro.attribution.watching import REPEATED, Watch
from flywheel.text.redact import Redactor

CORPUS: Final = Path(__file__).parent / "corpora" / "attribution.toml"
AROUND: Final = 12
"""Items whose other messages surround a long pair."""

_SHORT: Final = "7f3a1c"
_CLEAN: Final = Redactor().text

Row = Mapping[str, Any]
Judge = Callable[["Pair"], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """An item with a message, and what is true of it."""

    row: Row
    sort: str  # uses, near, misses, long; wrong, fine
    said: str
    truth: bool

    @property
    def held_out(self) -> bool:
        """Whether the pair had no part in setting thresholds."""
        return is_held_out(self.row["text"])


def is_held_out(text: str) -> bool:
    """By the first digit of the digest of an item's text."""
    return int(digest(text)[0], 16) % 2 == 1


def run(data: Path | None, n: int | None) -> dict[str, Any]:
    """Precision and recall in percent, of each half: text repeated (``long`` apart), called wrong, near what was asked.

    ``n`` items (all unless given); ``data`` is not used.
    """
    rows = tomllib.loads(CORPUS.read_text("utf-8"))["item"][: n or None]
    results, floor, counts = {}, {}, {}
    for half, held in (("tuning", False), ("held_out", True)):
        for name, (pairs, found, simple) in SORTS.items():
            mine = [pair for pair in pairs(rows) if pair.held_out == held]
            results[f"{half}_{name}"] = rates([(pair.truth, found(pair)) for pair in mine])
            floor[f"{half}_{name}"] = rates([(pair.truth, simple(pair)) for pair in mine])
            counts[f"{half}_{name}"] = {"pairs": len(mine), "true": sum(pair.truth for pair in mine)}
    return {"results": results, "floor": floor, "n": counts}


def repeats(rows: list[Row]) -> Iterator[Pair]:
    """Messages that take an item up, that use its words without saying it, and that have little to do with it."""
    for row in rows:
        yield from (Pair(row=row, sort="uses", said=said, truth=True) for said in row["uses"])
        yield from (Pair(row=row, sort="misses", said=said, truth=False) for said in (*row["misses"], row["near"]))


def longs(rows: list[Row]) -> Iterator[Pair]:
    """The same within long replies about other things."""
    for number, row in enumerate(rows):
        others = [rows[(number + step) % len(rows)] for step in range(1, AROUND + 1)]
        around = [said for one in others for said in (*one["misses"], one["near"])]
        half = len(around) // 2
        for said, truth in ((row["uses"][0], True), (" ".join((*row["misses"], row["near"])), False)):
            text = " ".join((*around[:half], said, *around[half:]))
            yield Pair(row=row, sort="long", said=text, truth=truth)


def objections(rows: list[Row]) -> Iterator[Pair]:
    """Messages that call the item wrong, and such that only sound like it."""
    for row in rows:
        for sort in ("wrong", "fine"):
            yield from (
                Pair(row=row, sort=sort, said=said.replace("{id}", _SHORT), truth=sort == "wrong") for said in row[sort]
            )


def prompts(rows: list[Row]) -> Iterator[Pair]:
    """What was asked when the item mattered, and what was asked about all others."""
    for row in rows:
        yield from (Pair(row=row, sort="near", said=one["prompt"], truth=one is row) for one in rows)


def found_repeated(pair: Pair) -> bool:
    """Whether the product says that the item was repeated."""
    return any(sign == REPEATED for _, sign in _watched(pair).signs)


def found_wrong(pair: Pair) -> bool:
    """Whether the product says that the item was called wrong."""
    return bool(_watched(pair).wrong())


def found_near(pair: Pair) -> bool:
    """Whether the product says that the item is near what was asked."""
    return is_near(_item(pair), (), stems(pair.said))


def floor_near(pair: Pair) -> bool:
    """A word of the item in the prompt."""
    return bool(set(stems(pair.row["text"])) & set(stems(pair.said)))


def floor_repeated(pair: Pair) -> bool:
    """Three of its words anywhere."""
    return len(set(stems(pair.row["text"])) & set(stems(pair.said))) >= 3


def floor_wrong(pair: Pair) -> bool:
    """A word of denial anywhere, with the id."""
    words = {"wrong", "outdated", "stale", "obsolete", "incorrect", "longer", "date", "false", "true"}
    return f"fw:{_SHORT}" in pair.said and bool(words & set(pair.said.lower().replace(".", " ").split()))


def rates(judged: list[tuple[bool, bool]]) -> dict[str, float]:
    """Precision and recall in percent."""
    counts = Counter(judged)
    hits, alarms, lost = counts[True, True], counts[False, True], counts[True, False]
    return {
        "precision": round(100 * hits / max(1, hits + alarms), 1),
        "recall": round(100 * hits / max(1, hits + lost), 1),
    }


def _item(pair: Pair) -> Item:
    return item_of(id=_SHORT * 5, kind="entry", at=Micros(0), short=_SHORT, text=pair.row["text"])


def _watched(pair: Pair) -> Watch:
    watch = Watch([_item(pair)], ["/srv/shop"])
    watch.hear(_message(1, MessageKind.PROMPT, pair.row["prompt"]))
    watch.hear(_message(2, MessageKind.REPLY, pair.said))
    return watch


SORTS: Final[Mapping[str, tuple[Callable[[list[Row]], Iterator[Pair]], Judge, Judge]]] = {
    "repeated": (repeats, found_repeated, floor_repeated),
    "long": (longs, found_repeated, floor_repeated),
    "wrong": (objections, found_wrong, floor_wrong),
    "near": (prompts, found_near, floor_near),
}
"""What is judged: the pairs, the product's judgement, and the floor's."""


def _message(number: int, kind: MessageKind, text: str) -> Message:
    return Message(
        id=MessageId(str(number)), project_id=ProjectId("p"), session_id=SessionId("s"), ordinal=number,
        role=Role.USER if kind is MessageKind.PROMPT else Role.ASSISTANT, kind=kind, text=_CLEAN(text),
        created_at=Micros(number), sha256=digest(text),
    )  # fmt: skip
