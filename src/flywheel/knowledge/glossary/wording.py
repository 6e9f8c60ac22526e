"""What is said of a term, and its normal form. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Final

from flywheel.knowledge.normal import plain
from flywheel.model import Clean, Term
from flywheel.text.compose import reworded, span, squeeze

NAME: Final = 60
"""Characters of a name."""

MEANING: Final = 600
"""Characters of a meaning, and of a gotcha."""

MOST: Final = 24
"""Synonyms, targets, relations, related terms or gotchas of one term."""

_ARTICLES: Final = ("the ", "a ", "an ", "our ")
_EDGES: Final = " \t\n\"'`“”‘’*_.,;:!?()[]{}<>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """Everything that is said of a term, its name apart."""

    meaning: Clean = Clean("")
    synonyms: Sequence[str] = ()
    targets: Sequence[str] = ()
    relations: Sequence[str] = ()
    related: Sequence[str] = ()
    gotchas: Sequence[str] = ()


LISTS: Final = tuple(one.name for one in fields(Wording) if one.name != "meaning")
"""The fields that are lists."""


def normal(name: str) -> str:
    """What two spellings of one name share: lower case, straight quotes, no article, one space between words."""
    line = plain(name)
    for article in _ARTICLES:
        line = line.removeprefix(article)
    return line


def tidy_name(name: Clean) -> Clean:
    """A name as it is shown: on one line, without quotes, commas and marks at its ends."""
    line = squeeze(name)
    start, stop = 0, len(line)
    while start < stop and line[start] in _EDGES:
        start += 1
    while stop > start and line[stop - 1] in _EDGES:
        stop -= 1
    return span(line, start, min(stop, start + NAME))


def wording_of(term: Term) -> Wording:
    """How a term reads now."""
    return Wording(
        meaning=term.meaning,
        synonyms=term.synonyms,
        targets=term.targets,
        relations=term.relations,
        related=term.related,
        gotchas=term.gotchas,
    )


def worded(term: Term, wording: Wording) -> Term:
    """The term with another wording."""
    return replace(
        term,
        meaning=wording.meaning,
        synonyms=tuple(wording.synonyms),
        targets=tuple(wording.targets),
        relations=tuple(wording.relations),
        related=tuple(wording.related),
        gotchas=tuple(wording.gotchas),
    )


def settled(name: str, wording: Wording) -> Wording:
    """A wording in bounds: names said once, none of them the term's own; lists of at most `MOST`."""
    return Wording(
        meaning=span(squeeze(wording.meaning), 0, MEANING),
        synonyms=_once(wording.synonyms, but=name),
        targets=_once(wording.targets),
        relations=_once(wording.relations),
        related=_once(wording.related, but=name),
        gotchas=tuple(dict.fromkeys(" ".join(one.split())[:MEANING] for one in wording.gotchas if one.strip()))[:MOST],
    )


def _once(names: Iterable[str], but: str = "") -> tuple[str, ...]:
    found: dict[str, str] = {}
    for name in names:
        line = " ".join(name.split())
        if line and normal(line) != normal(but):
            found.setdefault(normal(line), line)
    return tuple(found.values())[:MOST]


def record_of(wording: Wording) -> Mapping[str, object]:
    """A wording as JSON; what is empty is left out."""
    given = {name: list(getattr(wording, name)) for name in LISTS}
    return {name: value for name, value in ({"meaning": str(wording.meaning)} | given).items() if value}


def recorded(term: Term, record: Mapping[str, object]) -> Wording:
    """The wording of a record that was stored with the term."""
    lists = {name: _strings(record.get(name)) for name in LISTS}
    return Wording(meaning=reworded(str(record.get("meaning", "")), term.name), **lists)


def added(wording: Wording, more: Wording) -> Wording:
    """A wording with what another one adds to it; a meaning that is there stays."""
    both = {name: (*getattr(wording, name), *getattr(more, name)) for name in LISTS}
    return Wording(meaning=wording.meaning or more.meaning, **both)


def changes(before: Wording, after: Wording) -> list[str]:
    """What differs, a line each, for people."""
    told = []
    if before.meaning != after.meaning:
        told.append(f"meaning: {after.meaning or 'none'}")
    for name in LISTS:
        old, new = getattr(before, name), getattr(after, name)
        gone, come = [one for one in old if one not in new], [one for one in new if one not in old]
        if gone or come:
            told.append(f"{name}: {', '.join([*(f'+{one}' for one in come), *(f'-{one}' for one in gone)])}")
    return told


def _strings(value: object) -> tuple[str, ...]:
    return tuple(str(one) for one in value) if isinstance(value, list | tuple) else ()
