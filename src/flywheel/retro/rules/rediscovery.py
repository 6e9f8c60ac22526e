"""What a session found out although memory had it: discoveries held against what was known before it began; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from flywheel.harvest.rules.topic import stems
from flywheel.harvest.rules.values import Quote
from flywheel.model import Clean, EntryId, Micros
from flywheel.retro.rules.discoveries import Discovery
from flywheel.retro.rules.trajectory import ticked
from flywheel.retro.rules.values import KNOWN, LATER, MOST, TOLD, UNTOLD, Point
from flywheel.text.compose import fixed, join, reworded

_AGAIN: Final = {
    "file": fixed("Searched for and found:"),
    "command": fixed("Found out by failing:"),
    "said": fixed("Explained again"),
    "reasoned": fixed("Worked out again"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What an entry said before the session began."""

    entry_id: EntryId
    words: str  # its title and summary
    names: Sequence[str] = ()  # files that it names, commands that it tells
    said_at: Micros
    recorded_at: Micros  # when memory had it


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """Words of the session that an entry of an earlier session already held."""

    known: Known
    quote: Quote
    at: Micros
    by_user: bool


def match(found: Sequence[Discovery], known: Sequence[Known]) -> list[tuple[Discovery, Known]]:
    """Which discoveries an entry already held: the command itself; or the file, and a word of what was searched.

    The words of the file's own path do not count: they were what led to it.
    """
    pairs: list[tuple[Discovery, Known]] = []
    for one in found:
        best: tuple[int, Known] | None = None
        for entry in known:
            weight = _weight(one, entry)
            if weight and (best is None or weight > best[0]):
                best = (weight, entry)
        if best is not None:
            pairs.append((one, best[1]))
    return pairs


def _weight(one: Discovery, entry: Known) -> int:
    if one.kind == "command":
        return int(any(name == one.name for name in entry.names))
    path = str(one.name)
    if not any(path == name or path.endswith("/" + name.removeprefix("./")) for name in entry.names):
        return 0
    return len((one.words & set(stems(entry.words))) - set(stems(path)))


def points(
    pairs: Sequence[tuple[Discovery, Known]], again: Sequence[Again], told: Mapping[str, Micros], started: Micros
) -> list[Point]:
    """The points of what memory had. ``told``: entry → when a briefing of the session first held it.

    ``started``: when the session, or the one that it helps, began; what memory read later it could not tell.
    """
    made = [
        Point(
            section=KNOWN,
            kind=f"known {one.kind}",
            subject=one.name,
            text=join((_AGAIN[one.kind], one.name if one.kind == "file" else ticked(one.name), _took(one))),
            cost=one.cost,
            cites=one.cites,
            entry_id=entry.entry_id,
            told=_told(entry, one.at, told, started),
        )
        for one, entry in pairs
    ]
    made += [
        Point(
            section=KNOWN,
            kind="known said" if one.by_user else "known reasoned",
            subject=reworded(one.known.entry_id, one.quote.quote),
            text=_AGAIN["said" if one.by_user else "reasoned"],
            cites=[one.quote],
            entry_id=one.known.entry_id,
            told=_told(one.known, one.at, told, started),
        )
        for one in again[:MOST]
    ]
    return made


def _took(one: Discovery) -> Clean:
    return reworded(f"({one.cost} {'step' if one.cost == 1 else 'steps'})", one.name)


def _told(entry: Known, at: Micros, told: Mapping[str, Micros], started: Micros) -> str:
    if entry.entry_id in told and told[entry.entry_id] <= at:
        return TOLD
    return UNTOLD if entry.recorded_at <= started else LATER
