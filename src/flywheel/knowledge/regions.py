"""The regions of a document: lines below one heading, of one date, that are read the same way. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from flywheel.knowledge.documents import DAY, HEADED, MARKS, day_of
from flywheel.knowledge.grammar.lines import is_generic
from flywheel.knowledge.leaving_open import opens_questions
from flywheel.knowledge.normal import normal_attribute, singular
from flywheel.knowledge.wordlists import ATTRIBUTES, NOUNS
from flywheel.model import Micros

_STAMP: Final = re.compile(
    r"^[ \t]*(?:[-*][ \t]+)?[\[(]?(?P<day>\d{4}-\d\d-\d\d)"
    r"(?:[T ,]+\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?\s?(?:Z|UTC|[+-]\d\d:?\d\d|[AaPp][Mm])?)?[\])]?"
    r"[ \t]*(?:[-–—:|][ \t]*)?"
)
_CLOCK: Final = re.compile(r"^[ \t]*[\[(]?\d\d?:\d\d(?::\d\d)?(?:\s?[AaPp][Mm])?[\])]?[ \t]*(?:[-–—|][ \t]*)?")
_SPEAKER: Final = re.compile(
    r"[ \t]*(?:[-*][ \t]+)?(?:\*\*|<|@)?(?P<name>[A-Za-z][\w.' -]{0,40}?)(?:\*\*|>)?[ \t]*"
    r"(?:\([^)\n]{1,40}\))?:(?:\*\*)?[ \t]+"
)
_FENCE: Final = re.compile(r"^[ \t]*(?P<mark>`{3,}|~{3,})")
_ROW: Final = re.compile(r"^[ \t]*\|.*\|[ \t]*$")
_RULE: Final = re.compile(r"^[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-{2,}:?[ \t]*)*\|?[ \t]*$")
_NUMBERED: Final = re.compile(r"^\d+(?:\.\d+)*[.):]?\s+")
_ASIDE: Final = re.compile(r"\s*\((?:draft|wip|v?\d[\w.]*)\)\s*$", re.IGNORECASE)
_PREFIX: Final = re.compile(
    r"^(?:[\d.]+[.):]?\s+)?(?:(?:adr|rfc|design(?:\s+doc(?:ument)?)?|spec(?:ification)?|runbook|playbook|incident(?:\s+report)?"
    r"|post-?mortem|meeting(?:\s+(?:notes|minutes))?|minutes|notes?|faq|draft|proposal|kick-?off(?:\s+notes)?)[\s#\d-]*[:—–-]+\s*)+",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Head:
    """A heading that something stands below."""

    level: int
    title: str
    day: Micros | None
    asks: bool = False  # what stands below it is open


@dataclass(frozen=True, slots=True)
class Region:
    """Some lines under one heading, of one date."""

    start: int
    stop: int
    about: str
    said_at: Micros | None
    lines: str  # "prose", "row" or "talk"
    header: Sequence[str] = ()  # of a table
    asks: bool = False  # it stands below a heading of open questions


def subject_of(heading: str) -> str:
    """What a heading speaks of, without numbers, dates and words like "Runbook:"; "" when it names nothing."""
    bare = DAY.sub("", heading.replace("`", "").replace("*", ""))
    bare = _ASIDE.sub("", bare.strip())
    bare = _PREFIX.sub("", _NUMBERED.sub("", bare.strip(" :-–—()"))).strip(" :-–—,")
    if normal_attribute(bare) in NOUNS or normal_attribute(bare) in ATTRIBUTES.values():
        return ""
    if re.search(r"\.[a-z]{2,4}$", bare):
        return ""  # the name of a file
    return "" if not bare or len(bare.split()) > 5 or is_generic(bare) or bare.endswith("?") else bare


def regions_of(text: str, begins: int, top: str, talk: bool) -> Iterator[Region]:
    """The regions of a text; code between fences is none."""
    heads: list[_Head] = [_Head(0, top, None)]
    start, at, header = begins, begins, tuple[str, ...]()
    fence = ""
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        line = text[at:end]
        fenced = _FENCE.match(line)
        heading = HEADED.match(line) if not fence else None
        stamped = (_STAMP.match(line) or (_CLOCK.match(line) if talk else None)) if not fence and not heading else None
        row = not fence and _ROW.match(line) is not None
        spoken = _speaker(line) if talk and not fence and not heading and not row and not stamped else None
        if heading or stamped or row or spoken or fenced or fence:
            yield from _region(start, at, heads)
            start = min(end + 1, len(text))
        if fenced:
            fence = "" if fence and fenced["mark"].startswith(fence) else fence or fenced["mark"]
        elif heading:
            level, title = len(heading["marks"]), heading["title"]
            heads = [one for one in heads if one.level < level or one.level == 0]
            day = day_of(title) if DAY.search(title) else None
            heads.append(_Head(level, subject_of(title), day, opens_questions(title)))
        elif row:
            cells = cells_of(line)
            if not _RULE.match(line):
                yield Region(at, end, _above(heads), _day(heads), "row", header, _asks(heads))
                header = header or cells
        elif stamped or spoken:
            begin = at + (stamped.end() if stamped else 0)
            who = _speaker(text[begin:end]) if talk else None
            begin += who.end() if who is not None else 0
            moment = day_of(stamped["day"]) if stamped is not None and stamped.re is _STAMP else None
            stop = _paragraph(text, end, talk)
            yield Region(begin, stop, _above(heads), moment or _day(heads), "prose", (), _asks(heads))
            start = end = min(stop, len(text))
        if not row:
            header = ()
        at = max(end + 1, at + 1)
        start = (
            min(start, at)
            if not (heading or row or fenced or fence or stamped or spoken)
            else max(start, min(at, len(text)))
        )
    yield from _region(start, len(text), heads)


def _speaker(line: str) -> re.Match[str] | None:
    """Who speaks in a line of a talk; "Refund window: 7 days" is nobody's."""
    found = _SPEAKER.match(line)
    if found is None:
        return None
    name = normal_attribute(found["name"])
    return None if name in ATTRIBUTES.values() or singular(name.rpartition(" ")[2]) in NOUNS else found


def _region(start: int, stop: int, heads: Sequence[_Head]) -> Iterator[Region]:
    if stop > start:
        yield Region(start, stop, _above(heads), _day(heads), "prose", (), _asks(heads))


def _above(heads: Sequence[_Head]) -> str:
    return next((one.title for one in reversed(heads) if one.title), "")


def _day(heads: Sequence[_Head]) -> Micros | None:
    return next((one.day for one in reversed(heads) if one.day is not None), None)


def _asks(heads: Sequence[_Head]) -> bool:
    return any(one.asks for one in heads)


def _paragraph(text: str, end: int, talk: bool) -> int:
    """Where what begins on the line that ends at ``end`` ends: before an empty, stamped, spoken or listed line."""
    while end < len(text):
        stop = text.find("\n", end + 1)
        stop = len(text) if stop < 0 else stop
        line = text[end + 1 : stop]
        if not line.strip() or _STAMP.match(line) or HEADED.match(line) or _FENCE.match(line) or _ROW.match(line):
            return end
        if MARKS.match(line.lstrip()) or (talk and (_speaker(line) or _CLOCK.match(line))):
            return end
        end = stop
    return end


def cells_of(line: str) -> tuple[str, ...]:
    """The cells of a row of a table, without what sets them off."""
    return tuple(cell.strip().strip("*`").strip() for cell in line.strip().strip("|").split("|"))
