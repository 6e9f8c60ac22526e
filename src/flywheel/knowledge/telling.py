"""What a document says: its statements with their places, their headings and their own dates. Pure.

A statement is a sentence, an item, a row of a table or a ``key: value`` line that `statements` understands; the heading
above it is what a line speaks of that names nothing itself, and a date in a heading or before a line is its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from flywheel.knowledge.documents import HEAD, MARKS, About
from flywheel.knowledge.formats import Readable
from flywheel.knowledge.grammar.restating import corrects
from flywheel.knowledge.leaving_open import (
    Left,
    is_answered,
    is_blank,
    is_form,
    is_reply,
    item_left_open,
    left_open,
)
from flywheel.knowledge.normal import normal_attribute
from flywheel.knowledge.regions import Region, cells_of, regions_of, subject_of
from flywheel.knowledge.scopes import join_scopes, normal_part
from flywheel.knowledge.statements import Statement, read
from flywheel.knowledge.wordlists import TABLE_SCOPES
from flywheel.model import Micros
from flywheel.text import stance
from flywheel.text.prose import HEADING, QUOTE, TODO, sentences

SHORT: Final = 3
"""Words that a noted sentence has at least."""

_LINE: Final = re.compile(
    r"^[ \t]*(?:[-*+•][ \t]+)?(?:\*\*)?[`\"']?[A-Za-z_][\w ./()'-]{0,60}[`\"']?(?:\*\*)?[ \t]*"
    r"(?::(?:\*\*)?[ \t]|=[ \t]*(?!=))[ \t]*\S"
)
_META: Final = frozenset(
    """
    date status attendees participants present absent author authors tags updated created deciders reviewers from to cc
    bcc subject title time location kind type category scope slug id link links source sources
    """.split()  # noqa: SIM905 - a list of words is read as words
)
"""Keys at the head of a document that speak of itself."""

_VERB: Final = re.compile(
    r"(?<!\S)(?:is|are|was|were|has|have|had|will|must|[a-z]{2,}(?:s|ed)|runs?|goes|went|made|took|got|kept|held|built|sent)(?!\S)"
)
_INITIALS: Final = re.compile(r"(?:^|[\s(])(?:[A-Z]\.){2,}$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A statement of a document: ``text[start:stop]`` says it. Without ``statement`` it is only a sentence."""

    start: int
    stop: int
    statement: Statement | None  # its places are those in ``text[start:stop]``
    about: str = ""  # the heading above it
    said_at: Micros | None = None  # its own date, where a heading or a stamp gives one
    left: Left | None = None  # it leaves something open, and ``statement`` is what an answer would give the value of


def statements_of(found: Readable, about: About, *, every: bool = False) -> Iterator[Told]:
    """What a document says, in order, each place once. With ``every``, sentences that no rule parses come as well."""
    if about.gone:
        return
    talk = found.talk or about.kind in ("chat", "minutes")
    top = subject_of(about.title)
    done, last = found.begins, (-1, -1)
    for region in regions_of(found.text, found.begins, top, talk):
        for told in _said_in(found.text, region, every=every):
            place = told.start, told.stop
            if (told.start >= done or place == last) and not _describes(told, found, region):
                done, last = told.stop, place
                yield told


def _said_in(text: str, region: Region, *, every: bool) -> Iterator[Told]:
    if region.asks:
        yield from _asked_in(text, region)
        return
    if region.lines == "row":
        yield from _of_row(text, region)
        return
    lines = list(_of_lines(text, region))
    spans = [(one.start, one.stop) for one in lines]
    spoken = [
        told
        for told in _of_sentences(text, region, every=every)
        if not any(told.start < stop and start < told.stop for start, stop in spans)
    ]
    yield from sorted((*lines, *spoken), key=lambda one: one.start)


def _asked_in(text: str, region: Region) -> Iterator[Told]:
    """What stands below a heading of open questions: each item asks once, by its first question or first sentence."""
    blocks: dict[int, list[tuple[int, int]]] = {}
    for one in sentences(text[region.start : region.stop]) if region.lines == "prose" else ():
        if one.kind not in (QUOTE, HEADING):
            blocks.setdefault(one.block, []).append((region.start + one.start, region.start + one.stop))
    for places in blocks.values():
        whole = text[places[0][0] : places[-1][1]]
        start, stop = next((place for place in places if text[slice(*place)].rstrip(" *_)").endswith("?")), places[0])
        line = text[text.rfind("\n", 0, places[0][0]) + 1 : places[0][0]]
        nested = line.startswith(("  ", "\t")) and not text[start:stop].rstrip().endswith("?")
        answered = is_answered(line + whole) or any(is_reply(text[slice(*one)]) for one in places if one[0] > start)
        left = item_left_open(text[start:stop], region.about) if not nested and not answered else None
        if left is not None:
            yield Told(
                start=start, stop=stop, statement=left.asked, about=region.about, said_at=region.said_at, left=left
            )


def _of_row(text: str, region: Region) -> Iterator[Told]:
    """A row of a table: its first cell is what is spoken of, the heads of the columns are what is said of it."""
    line = text[region.start : region.stop]
    cells = cells_of(line)
    if len(cells) < 2 or not cells[0] or (region.header and cells == tuple(region.header)):
        return
    told = replace(_BLANK, start=region.start, stop=region.stop, about=region.about, said_at=region.said_at)
    heads = region.header
    if not heads:
        return
    kind = TABLE_SCOPES.get(heads[0].lower())
    if kind is not None:
        yield from _scoped_row(line, cells, region, told, kind)
        return
    named = len(cells) == 2 and normal_attribute(heads[1]) in ("value", "setting", "default value", "default")
    if named:
        for one in read(f"{cells[0]}: {cells[1]}", region.about):
            yield replace(told, statement=_placed(one, line, cells[0], cells[1]))
        return
    for head, cell in zip(heads[1:], cells[1:], strict=False):
        if head and cell and cell not in ("-", "—", "n/a"):
            for one in read(f"{head} of {cells[0]}: {cell}", region.about):
                yield replace(told, statement=_placed(one, line, cells[0], cell))


def _scoped_row(line: str, cells: Sequence[str], region: Region, told: Told, kind: str) -> Iterator[Told]:
    """A row whose first cell says for whom it holds: a plan, an environment, a region."""
    scope = "" if cells[0].lower() in ("all", "any", "every", "default") else f"{kind}:{normal_part(cells[0])}"
    for head, cell in zip(region.header[1:], cells[1:], strict=False):
        if head and cell and cell not in ("-", "—", "n/a"):
            for one in read(f"{head}: {cell}", region.about):
                whole = replace(one, scope=join_scopes([*one.scope.split(","), scope]))
                yield replace(told, statement=_placed(whole, line, "", cell))


def _placed(one: Statement, line: str, subject: str, value: str) -> Statement:
    """A statement that was read of a row, with its places in the row."""
    at, to = line.find(subject), line.rfind(value)
    return replace(
        one,
        start=0,
        stop=len(line),
        named=(at, at + len(subject)) if subject and at >= 0 else (0, 0),
        told=(to, to + len(value)) if to >= 0 else (0, 0),
    )


_BLANK: Final = Told(start=0, stop=0, statement=None)


def _of_lines(text: str, region: Region) -> Iterator[Told]:
    """``key: value`` and ``key = value`` lines."""
    at = region.start
    while at < region.stop:
        end = text.find("\n", at, region.stop)
        end = region.stop if end < 0 else end
        line = text[at:end]
        if _LINE.match(line) and len(line) < 300:
            bare = line.strip()
            begin = at + len(line) - len(line.lstrip())
            for one in read(bare, region.about):
                yield Told(
                    start=begin, stop=begin + len(bare), statement=one, about=region.about, said_at=region.said_at
                )
        at = end + 1


def _of_sentences(text: str, region: Region, *, every: bool) -> Iterator[Told]:
    told_so = list(_joined(text, region))
    form = is_form(text[region.start : region.stop])
    for (start, stop, kind), (then, after, _) in pairwise((*told_so, (0, 0, ""))):
        if kind in (QUOTE, TODO, HEADING):
            continue
        words = text[start:stop]
        told = Told(start=start, stop=stop, statement=None, about=region.about, said_at=region.said_at)
        found = read(words, region.about)
        for one in found:
            yield replace(told, statement=one)
        left = left_open(words, region.about) if not found and not is_reply(text[then:after]) else None
        if left is not None and form and is_blank(words):
            continue
        if left is not None:
            yield replace(told, statement=left.asked, left=left)
        elif not found and every and _declares(words):
            yield told


def _joined(text: str, region: Region) -> Iterator[tuple[int, int, str]]:
    """The sentences of a region; what goes on in lower case after a name's own mark ("... D.C. is") is one."""
    held: tuple[int, int, str, int] | None = None
    for one in sentences(text[region.start : region.stop]):
        start, stop = region.start + one.start, region.start + one.stop
        words = text[start:stop]
        if held is not None and held[3] == one.block and _goes_on(text[held[0] : held[1]], words):
            held = held[0], stop, held[2], held[3]
            continue
        if held is not None and held[3] == one.block and corrects(one.plain):
            held = held[0], stop, held[2], held[3]
            continue
        if held is not None:
            yield held[0], held[1], held[2]
        held = start, stop, one.kind, one.block
    if held is not None:
        yield held[0], held[1], held[2]


def _goes_on(before: str, words: str) -> bool:
    """Whether a sentence only seemed to end: "... D.C. is", "the author of L.A. Confidential is"."""
    if before[-1:] not in ".!?":
        return False
    return words[:1].islower() or (_INITIALS.search(before) is not None and _VERB.search(before) is None)


def _declares(words: str) -> bool:
    """Whether a sentence that no rule parses states something at all."""
    bare = MARKS.sub("", words.strip())
    return (
        len(bare.split()) >= SHORT
        and "[redacted:" not in bare
        and not stance.asks(bare)
        and not stance.tentative(bare)
        and not stance.unfinished(bare)
        and _VERB.search(bare) is not None
        and re.search(r"(?<![\w'-])(?:not|never|cannot|if|unless|should|could|would|might|may)(?![\w'-])|n't", bare)
        is None
    )


def _describes(told: Told, found: Readable, region: Region) -> bool:
    """Whether it only speaks of the document: its date, status, who was there."""
    words = found.text[told.start : told.stop]
    key = re.match(r"[-*+\s]*(?P<k>[A-Za-z][\w -]{0,30}?)\**\s*:", words)
    return key is not None and key["k"].strip().lower() in _META and told.start < found.begins + HEAD
