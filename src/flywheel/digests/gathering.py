"""Digests of many sessions: of a thread, of a project; pure, and made of the sessions' own digests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from flywheel.digests import LONG, SHORT, TOKENS
from flywheel.digests.picking import Line, Written, write
from flywheel.model import Clean, Micros
from flywheel.text.compose import dated, fixed, join, reworded, span
from flywheel.text.prose import sentences
from flywheel.text.tokens import clip
from flywheel.text.words import terms

TASK: Final = {SHORT: 11, LONG: 20}
"""Length → tokens of one session's task, so that a digest tells of several."""

KNOWN: Final = {SHORT: 2, LONG: 6}
"""Length → standing decisions of a project at most."""

LATEST: Final = 24
"""Sessions of a thread or a project that are looked at, the latest."""

SHARED: Final = 2.0
"""How much more a word is worth that several sessions of a thread say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """One session as the digests above it see it: its task, how it ended, and lines of its own digest."""

    id: str
    at: Micros
    task: Clean
    outcome: Clean = fixed("")  # "" where nothing tells
    lines: Sequence[Line] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A decision of the project that a person confirmed."""

    entry: str
    title: Clean


def digest_thread(sessions: Sequence[Past]) -> dict[str, Written]:
    """A thread's digest by length: where it stands by its last session, and what its sessions said of it."""
    past = sorted(sessions, key=lambda one: (one.at, one.id))[-LATEST:]
    lines = [
        replace(line, place=(1, number, *line.place), ids=(*line.ids, f"session:{one.id}"))
        for number, one in enumerate(past)
        for line in one.lines
    ]
    often = Counter(word for number in range(len(past)) for word in _words(lines, number))
    values = {word: SHARED if many > 1 else 1.0 for word, many in often.items()}
    written = {}
    for length, limit in TOKENS.items():
        heads = [_head(one, length, (0, number)) for number, one in enumerate(reversed(past)) if one.task]
        written[length] = write(heads[: 1 if length == SHORT else 4], lines, values, limit)
    return written


def digest_project(sessions: Sequence[Past], standing: Sequence[Standing]) -> dict[str, Written]:
    """A project's digest by length: its last sessions, newest first, and what stands of its decisions.

    ``standing`` in the order of importance.
    """
    past = sorted(sessions, key=lambda one: (one.at, one.id), reverse=True)[:LATEST]
    written = {}
    for length, limit in TOKENS.items():
        told = [_head(one, length, (0, number)) for number, one in enumerate(past) if one.task]
        known = [_known(one, length, (1, number)) for number, one in enumerate(standing[: KNOWN[length]])]
        written[length] = write(_in_turn(told, known), (), {}, limit)
    return written


def _in_turn(told: Sequence[Line], known: Sequence[Line]) -> list[Line]:
    """Three sessions, a decision, two sessions, a decision, and so on."""
    lines = list(told[:3])
    rest, more = list(told[3:]), list(known)
    while rest or more:
        lines += [*more[:1], *rest[:2]]
        rest, more = rest[2:], more[1:]
    return lines


def _head(one: Past, length: str, place: tuple[int, ...]) -> Line:
    """A session on one line: its task, how it ended, and in the long digest its day."""
    task = reworded(clip(_first_of(one.task), TASK[length]), one.task)
    ended = join([fixed("("), one.outcome, fixed(")")], "") if one.outcome else fixed("")
    parts = [dated(one.at) if length == LONG else fixed(""), task, ended]
    text = join([part for part in parts if part])
    return Line(kind="session", text=text, ids=(f"session:{one.id}",), place=place, words=frozenset(terms(task)))


def _first_of(task: Clean) -> Clean:
    """Its first sentence, where that is one."""
    first = next(iter(sentences(task)), None)
    return span(task, first.start, first.stop) if first is not None and len(first.plain.split()) > 3 else task


def _known(one: Standing, length: str, place: tuple[int, ...]) -> Line:
    title = reworded(clip(one.title, TASK[length]), one.title)
    return Line(kind="known", text=join([fixed("Decided:"), title]), ids=(f"entry:{one.entry}",), place=place)


def _words(lines: Sequence[Line], number: int) -> frozenset[str]:
    """What the session at this place says."""
    return frozenset(word for line in lines if line.place[1] == number for word in line.words)
