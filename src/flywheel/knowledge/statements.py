"""Statements: what a declarative sentence says of what, as subject, attribute, value and scope. Pure; rules, no model.

Understood are the forms that facts of a project are written in: "the A of S is V", "S's A is V", "S is kept for V",
"S runs on V", "the company that made S is V", "we use V for S", "A of S: V", "`key` = V". What asks, supposes, denies
or sets a condition states nothing. What can be true of several things at once ("supports PNG") is an attribute of its
own with the value "true", so that a second one does not take the first one's place.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Final

from flywheel.knowledge.grammar.lines import readings
from flywheel.knowledge.grammar.restating import of_another_time, restated
from flywheel.knowledge.grammar.said import finite, trim, value_at, without_names
from flywheel.knowledge.normal import is_quantity
from flywheel.knowledge.scopes import Limit, join_scopes, limits
from flywheel.text import stance
from flywheel.text.prose import plain

LONGEST: Final = 500
"""Characters of a sentence that is looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What a sentence says. Subject, attribute, value and scope are in their normal forms.

    ``start`` and ``stop`` are the place of the words that say it in the sentence; ``named`` and ``told`` are the places
    of the subject and of the value as they are written ((0, 0): they are not).
    """

    subject: str
    attribute: str
    value: str
    scope: str = ""
    start: int
    stop: int
    named: tuple[int, int] = (0, 0)
    told: tuple[int, int] = (0, 0)
    decided: bool = False  # it is put as a decision


_LEAD: Final = re.compile(
    r"""\s*(?:(?:[-+•·]|\d{1,3}[.)]|>|\#{1,6})\s+|\[[ xX]\]\s+)*
    (?:(?:note|fyi|update|reminder|important|fact|for\s+the\s+record|to\s+be\s+clear|as\s+agreed|in\s+short|also|and|so
        |ok(?:ay)?|well|yes|actually|remember|confirmed|correction|edit|finally|first|second|third|then|by\s+the\s+way
        |sorry|oops|scratch\s+that|i\s+mean(?:t)?(?:\s+to\s+say)?)
      (?:[:,!—-]+\s*|\s+(?=that\s))(?:that\s+)?)*
    (?:(?:as\s+of|since|starting|effective|from|on|in)\s+(?:today|now|then|\d{4}(?:-\d\d(?:-\d\d)?)?
        |(?:(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s*)(?:\d{1,2}(?:st|nd|rd|th)?)?(?:,?\s*\d{4})?
        |(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:this|next|last)\s+\w+|version\s+[\d.]+)(?:\s+on(?:wards)?)?\s*,?\s+
      |(?:today|currently|now|nowadays|at\s+present|at\s+the\s+moment|generally|usually|by\s+default|from\s+now\s+on),?\s+)?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_DECIDED: Final = re.compile(
    r"(?:(?:we|the\s+team|i|it\s+was|they)(?:'ve|\s+have|\s+all|\s+also|\s+now|\s+finally|\s+then)*\s+)?"
    r"(?:(?:decided|agreed|chose|opted|committed|resolved|settled)\s+(?:to|that|on)\s+|(?:decision|decided|agreed|resolved)"
    r"\s*:\s*)",
    re.IGNORECASE,
)
_CONDITION: Final = re.compile(
    r"(?<![\w'-])(?:if|unless|whether|when|whenever|while|until|once|except|either|neither|as\s+long\s+as|provided"
    r"|depending|assuming|in\s+case)(?![\w'-])",
    re.IGNORECASE,
)
_SUPPOSED: Final = re.compile(
    r"(?<![\w'-])(?:should|could|would|might|may|can|maybe|perhaps|possibly|probably|hopefully|likely|wants?|wish(?:es)?"
    r"|propos(?:e|ed|es|al)|suggest(?:s|ed|ion)?|recommend(?:s|ed)?|plan(?:s|ned)?\s+to|think(?:s|ing)?|believe[sd]?"
    r"|hopes?|considers?|considered|considering|seems?|appears?|unclear|undecided|tbd|guess(?:es|ed)?|assumes?|expect(?:s|ed)?\s+to)"
    r"(?![\w'-])",
    re.IGNORECASE,
)
_SWITCHED: Final = re.compile(r"(?::|=|(?<!\S)(?:is|are|be|been|turned|switched))\s+on[\s.!]*$", re.IGNORECASE)
_PIECE: Final = re.compile(
    r"\s*[,;(]\s*(?:(?:and|but|while|whereas|although)\s+)?(?!\d)|\s*[,;(]\s+(?=\d)|\s*\((?=\d)"
    r"|\s+(?:and|but|while|whereas)\s+"
)
_JOINED: Final = re.compile(
    r"[\s,;:)(]*(?:(?:and|but|only)\s+)?(?:(?:it|they)(?:'s|'re|\s+is|\s+are)\s+|is\s+|are\s+)?(?:only\s+)?(?:for\s+|to\s+|at\s+|after\s+)?"
)


def parse(sentence: str, about: str = "") -> Statement | None:
    """The statement of one sentence, list item, table row of two cells or ``key: value`` line; None when it has none.

    ``about`` is what stands above it (a heading): the subject of a line that names none. Never raises. What has several
    ("30 days on basic and 90 days on pro") gives None; see `read`.
    """
    found = read(sentence, about)
    return found[0] if len(found) == 1 else None


def read(sentence: str, about: str = "") -> Sequence[Statement]:
    """Every statement of a sentence: mostly one or none; several where each scope has its value."""
    if len(sentence) > LONGEST:
        return []
    text = restated(plain(sentence))
    found = [one for one in limits(text) if one.scope]
    several = _each(text, found, about) if found else []
    if several:
        return several
    first = _parse(sentence, about)
    if first is None:
        return []
    kinds = [one.scope.partition(":")[0] for one in found]
    if len(set(kinds)) == len(kinds):
        return [first]
    together = all(before.stop == one.start for before, one in pairwise(found))
    return [replace(first, scope=one.scope) for one in found] if together else []


def _each(text: str, found: Sequence[Limit], about: str) -> Sequence[Statement]:
    """ "S is V1 on A and V2 on B", "S is V1, on B V2": what holds for all, if anything, and then each scope's value."""
    parts = _pieces(text, found)
    for count in range(1, len(parts)):
        stop = parts[count - 1][1]
        first = _parse(text[:stop] + " " * (len(text) - stop), about)
        if first is None or sum(one.start < stop for one in found) > 1:
            continue
        given = [first]
        for start, end in parts[count:]:
            mine = [one for one in found if start <= one.start and one.stop <= end]
            told = _alone(text, start, end, mine[0]) if len(mine) == 1 else (0, 0)
            value = value_at(text, told)
            if not value or not _like(value, first) or finite(text[: told[1]], told[0]):
                return []
            given.append(replace(first, value=value, scope=mine[0].scope, told=told))
        end = len(text.rstrip())
        return [replace(one, stop=end) for one in given] if len({one.scope for one in given}) == len(given) else []
    return []


def _pieces(text: str, found: Sequence[Limit]) -> Sequence[tuple[int, int]]:
    """The parts of a sentence between its commas, brackets and words that join; a limit is never cut."""
    marks = [
        mark.span()
        for mark in _PIECE.finditer(text)
        if not any(one.start < mark.end() and mark.start() < one.stop for one in found)
    ]
    edges = [0, *(place for mark in marks for place in mark), len(text.rstrip(" .!;:,"))]
    return [(start, stop) for start, stop in zip(edges[::2], edges[1::2], strict=True) if text[start:stop].strip()]


def _alone(text: str, start: int, stop: int, limit: Limit) -> tuple[int, int]:
    """Where the value of a part stands that has nothing but it and a limit; nowhere for any other."""
    before, after = (start, limit.start), (limit.stop, stop)
    places = []
    for begin, end in (before, after):
        joined = _JOINED.match(text, begin, end)
        place = trim(text, joined.end() if joined is not None else begin, end)
        if text[slice(*place)].strip(" )"):
            places.append(place)
    return places[0] if len(places) == 1 else (0, 0)


def _like(value: str, first: Statement) -> bool:
    """Whether a value can be another one of what the first statement gives."""
    truth = ("true", "false")
    if value in truth or first.value in truth:
        return value in truth and first.value in truth
    return is_quantity(value) is is_quantity(first.value) and len(value.split()) <= 3


@lru_cache(maxsize=4096)
def _parse(sentence: str, about: str) -> Statement | None:
    if len(sentence) > LONGEST or "[redacted:" in sentence or not sentence.strip():
        return None
    text = restated(plain(sentence))
    lead = _LEAD.match(text)
    start = lead.end() if lead is not None else 0
    decided = _DECIDED.match(text, start)
    start = decided.end() if decided is not None else start
    stop = len(text.rstrip(" .!;:,"))
    if stop <= start or _refused(text, start) or _tells(text, lead, start):
        return None
    for scoped in (True, False):
        found = _within(text, start, stop, about, scoped=scoped, decided=decided is not None)
        if found is not None:
            return found
    return None


def _within(text: str, start: int, stop: int, about: str, *, scoped: bool, decided: bool) -> Statement | None:
    found = limits(text[start:stop]) if scoped else []
    if scoped and not found:
        return None
    bare = text[:stop]
    for one in found:
        bare = bare[: start + one.start] + " " * (one.stop - one.start) + bare[start + one.stop :]
    begin = start + len(bare[start:]) - len(bare[start:].lstrip(" ,"))
    said = next(readings(bare, begin, about), None)
    if said is None:
        return None
    end = len(text) - len(text[stop:].lstrip(" .!;:,")) if text[stop:].strip(" .!;:,") else len(text.rstrip())
    return Statement(
        subject=said.subject,
        attribute=said.attribute,
        value=said.value,
        scope=join_scopes([one.scope for one in found]),
        start=start,
        stop=end,
        named=said.named,
        told=said.told,
        decided=decided,
    )


def _refused(text: str, start: int) -> bool:
    """Whether the sentence asks, supposes or sets a condition. Names may hold any word."""
    if text.rstrip(" \"')]`").endswith("?") or of_another_time(text, start):
        return True
    own = without_names(text, start)
    if stance.asks(own[start:]) or stance.tentative(own[start:]):
        return True
    if stance.unfinished(own[start:]) and _SWITCHED.search(own, start) is None:
        return True
    return _CONDITION.search(own, start) is not None or _SUPPOSED.search(own, start) is not None


def _tells(text: str, lead: re.Match[str] | None, start: int) -> bool:
    """Whether it tells what happened on a day, not what holds: "on 1 May exports were deleted after 30 days"."""
    begun = re.sub(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+", "", lead.group()) if lead is not None else ""
    dated = re.search(r"\d", begun) is not None
    return dated and re.search(r"(?<!\S)(?:was|were|had)(?!\S)", text[start:]) is not None
