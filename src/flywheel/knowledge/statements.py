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
        |ok(?:ay)?|well|yes|actually|remember|confirmed|correction|edit|finally|first|second|third|then|by\s+the\s+way)
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
_AND: Final = re.compile(
    r"\s*,?\s*(?:and|but|while|;|,)?\s*(?:it\s+is\s+|they\s+are\s+)?(?:for\s+|to\s+|at\s+|is\s+|are\s+)?"
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
    first = _parse(sentence, about)
    if first is not None:
        return [first]
    text = plain(sentence)
    found = [one for one in limits(text) if one.scope]
    if len(found) < 2 or len(sentence) > LONGEST:
        return []
    return _each(text, found, about)


def _each(text: str, found: Sequence[Limit], about: str) -> Sequence[Statement]:
    """ "S is V1 on A and V2 on B"."""
    first = _parse(text[: found[0].stop] + " " * (len(text) - found[0].stop), about)
    if first is None or first.told[1] > found[0].start:
        return []
    given = [first]
    for before, one in pairwise(found):
        joined = _AND.match(text, before.stop)
        told = trim(text, joined.end() if joined is not None else before.stop, one.start)
        value = value_at(text, told)
        if not value or is_quantity(value) is not is_quantity(first.value) or finite(text[: one.start], before.stop):
            return []
        given.append(replace(first, value=value, scope=one.scope, told=told))
    if finite(text, found[-1].stop) or len({one.scope for one in given}) < len(given):
        return []
    end = len(text.rstrip())
    return [replace(one, stop=end) for one in given]


@lru_cache(maxsize=4096)
def _parse(sentence: str, about: str) -> Statement | None:
    if len(sentence) > LONGEST or "[redacted:" in sentence or not sentence.strip():
        return None
    text = plain(sentence)
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
    if text.rstrip(" \"')]`").endswith("?"):
        return True
    own = without_names(text, start)
    if stance.asks(own[start:]) or stance.tentative(own[start:]) or stance.unfinished(own[start:]):
        return True
    return _CONDITION.search(own, start) is not None or _SUPPOSED.search(own, start) is not None


def _tells(text: str, lead: re.Match[str] | None, start: int) -> bool:
    """Whether it tells what happened on a day, not what holds: "on 1 May exports were deleted after 30 days"."""
    begun = re.sub(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+", "", lead.group()) if lead is not None else ""
    dated = re.search(r"\d", begun) is not None
    return dated and re.search(r"(?<!\S)(?:was|were|had)(?!\S)", text[start:]) is not None
