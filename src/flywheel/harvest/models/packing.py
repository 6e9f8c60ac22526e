"""What each of the two models is sent, in few tokens, framed as data. Pure.

Together both passes take at most a share of what a session itself would (``extract.model_share``), their fixed words
included: `least` says from which length on that can be, and `limits` what each of the two may hold then. What counts is
the first asking; an answer that has to be asked for again is not foreseen.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from flywheel.harvest.models import Offered, Piece, Span
from flywheel.harvest.models.pieces import PROMPT, clipped, shown
from flywheel.harvest.models.prompts import CLOSES, EDIT, EDITOR, OPENS, ROUTE, ROUTER
from flywheel.llm import Purpose, Request, Said, Tool
from flywheel.model import Clean, ProjectId, Role
from flywheel.text.compose import cite, dated, fixed, join, reworded
from flywheel.text.tokens import count

CHUNK: Final = 6_000
"""Tokens of records that the router sees at once."""

OVERLAP: Final = 2
"""Records before a chunk that are shown with it, so that a "yes" is read with what it answers."""

ROUTED: Final = 0.11
EDITED: Final = 0.08
"""The parts of a source's own tokens that the records shown to the router and to the editor take where they may."""

PART: Final = 0.55
"""The router's part of what is left for pages and records within a session's share."""

SHOWN: Final = 150
"""Tokens of pages and records that either must have: with less, asking is not worth its fixed words."""

FENCES: Final = 30
"""Tokens around pages and records."""

LINE: Final = 16
"""Tokens before the words of a record, at most."""

CARRIES: Final = 0.35
"""The rules' score of a statement from which on it is worth asking."""

LEAST: Final = 400
"""Tokens that either may have of a source however short."""

WHOLE: Final = 500
"""Tokens of one record that the editor sees."""

PAGE: Final = 160
"""Tokens of one page that the editor sees."""

LISTED: Final = 10
"""Pages that the router is offered."""

TITLE: Final = 40
"""Tokens of a page's title that it sees."""

OPENED: Final = 6
"""Pages that the editor has in view."""

ANSWER: Final = 3_000
"""Tokens that the editor may answer with; the router a third."""


def words_of(prefix: Clean, tool: Tool) -> int:
    """Tokens of what is the same in each call: what the model is told, and the tool."""
    schema = {"name": tool.name, "description": tool.description, "input_schema": tool.schema}
    return count(prefix) + count(json.dumps([schema]))


PAIR: Final = words_of(ROUTER, ROUTE) + words_of(EDITOR, EDIT) + 2 * FENCES
"""Tokens of both calls without a record."""


def least(share: float) -> int:
    """Tokens from which on something is worth reading if both calls may take this share of it; 0 with no bound."""
    return math.ceil((PAIR + 2 * SHOWN) / share) if share > 0 else 0


def limits(tokens: int, share: float) -> tuple[int, int] | None:
    """Tokens of pages and records that router and editor may have of something so long; None with no bound."""
    if share <= 0:
        return None
    left = max(0, int(share * tokens) - PAIR)
    return int(left * PART), left - int(left * PART)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """What one pair of calls is about: numbered from 1 in this order. ``own`` leaves out what came before it."""

    pieces: Sequence[Piece]
    before: int = 0  # how many of them were in the chunk before

    @property
    def marks(self) -> tuple[str, ...]:
        """The place of each piece, by number."""
        return tuple(piece.mark for piece in self.pieces)

    def silent(self, least: int) -> bool:
        """Whether nothing in it is worth a call: people said less than ``least`` tokens, agents no more than a little,
        and the rules find nothing in it."""
        own = self.pieces[self.before :]
        own = [piece for piece in own if piece.role is not Role.TOOL]
        if not own:
            return True
        spoken = sum(count(piece.short) for piece in own if piece.role is not Role.ASSISTANT)
        said = sum(count(piece.short) for piece in own)
        return spoken < least and said < LEAST and not any(piece.weight >= CARRIES for piece in own)


def chunks(pieces: Sequence[Piece], budget: int, earlier: Sequence[Piece] = ()) -> Iterator[Chunk]:
    """What is shown of a source, cut to ``budget`` tokens, in chunks of about one size that overlap; ``earlier`` was
    read before."""
    before = [piece for piece in earlier if piece.short][-OVERLAP:]
    kept = [*before, *fit(pieces, max(LEAST, budget))]
    start = len(before)
    total = sum(count(piece.short) for piece in kept[start:])
    each = total / max(1, math.ceil(total / (CHUNK - PROMPT)))
    size, passed, number = 0, 0, 1
    for at, piece in enumerate(kept[start:], start):
        cost = count(piece.short)
        if size and (size + cost > CHUNK or passed >= each * number):
            yield _chunk(kept, start, at)
            start, size, number = at, 0, number + 1
        size, passed = size + cost, passed + cost
    if start < len(kept):
        yield _chunk(kept, start, len(kept))


def _chunk(pieces: Sequence[Piece], start: int, stop: int) -> Chunk:
    first = max(0, start - OVERLAP)
    return Chunk(pieces=pieces[first:stop], before=start - first)


def _told(piece: Piece) -> int:
    return count(piece.short)


def fit(pieces: Sequence[Piece], budget: int, cost: Callable[[Piece], int] = _told) -> Sequence[Piece]:
    """The pieces that are shown at all, in order, within so many tokens: what tools and agents said goes first."""
    shown = [piece for piece in pieces if piece.short]
    over = sum(map(cost, shown)) - budget
    out: set[str] = set()
    for piece in sorted(shown, key=lambda one: (one.role in (Role.USER, Role.SYSTEM), one.weight, one.mark)):
        if over <= 0:
            break
        out.add(piece.mark)
        over -= cost(piece)
    return [piece for piece in shown if piece.mark not in out]


def route(chunk: Chunk, offered: Sequence[Offered], project: ProjectId, most: int | None = None) -> Request:
    """The question to the router. ``most``: tokens of pages and records; titles take a quarter of it at most."""
    titles = [join([cite(page.short), clipped(page.title, TITLE)]) for page in offered[:LISTED]]
    pages = titles if most is None else _first(titles, most // 4)
    pieces = list(enumerate(chunk.pieces, 1))
    if most is not None:
        left = most - sum(map(count, pages))
        kept = {one.mark for one in fit(chunk.pieces, left, lambda piece: count(piece.short) + LINE)}
        pieces = [(number, piece) for number, piece in pieces if piece.mark in kept] or _dearest(pieces, left)
    lines = [_line(number, piece, piece.short) for number, piece in pieces]
    return _request(ROUTER, ROUTE, pages, lines, project, ANSWER // 3)


def _dearest(pieces: Sequence[tuple[int, Piece]], most: int) -> list[tuple[int, Piece]]:
    """Where not one piece fits, the one that matters most, cut."""
    own = [(number, piece) for number, piece in pieces if piece.short]
    if not own:
        return []
    number, best = max(own, key=lambda one: (one[1].role in (Role.USER, Role.SYSTEM), one[1].weight, one[1].mark))
    return [(number, replace(best, short=clipped(best.short, max(1, most - LINE))))]


def _first(texts: Sequence[Clean], most: int) -> list[Clean]:
    """The first texts that have room within so many tokens."""
    found: list[Clean] = []
    for text in texts:
        most -= count(text) + 1
        if most < 0:
            break
        found.append(text)
    return found


def edit(
    chunk: Chunk,
    spans: Sequence[Span],
    offered: Sequence[Offered],
    project: ProjectId,
    budget: int,
    most: int | None = None,
) -> Request | None:
    """The question to the editor: the spans' records and the pages that they touch; None when they name no record.

    ``budget``: tokens of records and pages that it should have, and ``most`` those that it may have; a third of them is
    kept for pages, where there are some. What does not fit is left out, the last spans first.
    """
    left = max(LEAST, budget) if most is None else min(max(LEAST, budget), most)
    spare = left // 3 if offered and most is not None else 0
    left -= spare
    lines: list[Clean] = []
    for number in numbers(chunk, spans):
        piece = chunk.pieces[number - 1]
        line = _line(number, piece, clipped(shown(piece.text), max(1, min(WHOLE, left - LINE))))
        cost = count(line)
        if cost > left and lines:
            break
        left -= cost
        lines.append(line)
    left += spare
    pages: list[Clean] = []
    for page in offered[:OPENED]:
        told = join([cite(page.short), page.title, fixed("::"), clipped(shown(page.text), PAGE)])
        if count(told) <= max(left, PAGE if not pages and most is None else 0):
            left -= count(told)
            pages.append(told)
    return _request(EDITOR, EDIT, pages, lines, project, ANSWER) if lines else None


def numbers(chunk: Chunk, spans: Sequence[Span]) -> Sequence[int]:
    """The numbers that the spans name, in order."""
    found = {number for one in spans for number in range(max(1, one.first), min(one.last, len(chunk.pieces)) + 1)}
    return sorted(found)


def touched(spans: Sequence[Span], offered: Sequence[Offered]) -> Sequence[Offered]:
    """The pages that the spans touch, of those that were offered."""
    named = dict.fromkeys(short for one in spans for short in one.touches)
    by_short = {page.short: page for page in offered}
    return [by_short[short] for short in named if short in by_short]


_WHO: Final = {
    Role.USER: fixed("user"),
    Role.ASSISTANT: fixed("assistant"),
    Role.TOOL: fixed("from outside"),
    Role.SYSTEM: fixed("document"),
}


def _line(number: int, piece: Piece, text: Clean) -> Clean:
    """A record on a line of its own, so that no text can begin another."""
    mark = reworded(f"#{number}", text)
    return join([mark, _WHO[piece.role], join([dated(piece.said_at), fixed(":")], ""), text])


def _request(
    prefix: Clean, tool: Tool, pages: Sequence[Clean], lines: Sequence[Clean], project: ProjectId, answer: int
) -> Request:
    body = [OPENS, *([fixed("pages:"), *pages, fixed("records:")] if pages else []), *lines, CLOSES]
    said = Said(role=Role.USER, text=join(body, "\n"))
    return Request(
        purpose=Purpose.EXTRACT, project_id=project, prefix=prefix, messages=[said], tool=tool, max_tokens=answer
    )


def renumbered(pieces: Sequence[Piece], marks: Sequence[str]) -> Chunk:
    """A chunk as it was numbered when it was sent; pieces that are gone since keep their number, without a word."""
    by_mark = {piece.mark: piece for piece in pieces}
    empty = [replace(pieces[0], text=fixed(""), short=fixed(""))] if pieces else []
    return Chunk(pieces=[by_mark.get(mark, *empty) for mark in marks] if pieces else [])
