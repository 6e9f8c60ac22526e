"""Normal forms: the same value, subject or attribute in other words is the same text. Pure, idempotent."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Final

from flywheel.knowledge.wordlists import (
    APPROXIMATE,
    ATTRIBUTES,
    DETERMINERS,
    EVERY,
    NUMBERS,
    SAME_NAMES,
    SINGULAR,
    UNITS,
    UNTIMELY,
)

_PLAIN: Final = str.maketrans(
    {"’": "'", "‘": "'", "“": " ", "”": " ", "–": "-", "—": "-", "\u00a0": " ", "`": " ", "*": " ", '"': " "}
)
_EDGES: Final = " .,;:!?'"
_DETERMINER: Final = re.compile(rf"(?:{'|'.join(DETERMINERS)})\s+(?=\S)")
_ANY: Final = re.compile(rf"(?:{'|'.join((*EVERY, *DETERMINERS))})\s+(?=\S)")
_UNTIMELY: Final = re.compile(rf"(?:{'|'.join(UNTIMELY)})\s+(?=\S)")
_APPROXIMATE: Final = re.compile(rf"(?:{'|'.join(APPROXIMATE)})\s+(?=\S)")
_WORDS_OF_NUMBERS: Final = "|".join(sorted(NUMBERS, key=len, reverse=True))
_COUNT: Final = re.compile(
    rf"(?P<sign>[-+~≤≥<>]?\s?)(?:(?P<digits>\d{{1,3}}(?:[,_' ]\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?)(?P<k>k(?![a-z]))?"
    rf"|(?P<words>(?:{_WORDS_OF_NUMBERS})(?:[\s-]+(?:and\s+)?(?:{_WORDS_OF_NUMBERS}))*|an?))"
    rf"(?:\s*-?\s*(?P<unit>%|[a-zµ]+\.?))?(?P<rest>.*)"
)
_RATE: Final = re.compile(r"(?:\s+[a-z]+)?\s*(?:/\s*|per\s+|an?\s+|each\s+|every\s+)(?P<unit>[a-z]+)")
_MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sept sep",
            "october oct",
            "november nov",
            "december dec",
        ),
        1,
    )
    for name in names.split()
}
_MONTH: Final = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DATES: Final = (
    re.compile(r"(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})"),
    re.compile(rf"(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\.?\s+(?:of\s+)?(?P<name>{_MONTH})\.?,?\s+(?P<y>\d{{4}})"),
    re.compile(rf"(?P<name>{_MONTH})\.?\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y>\d{{4}})"),
    re.compile(rf"(?P<name>{_MONTH})\.?,?\s+(?P<y>\d{{4}})"),
)
_VERSION: Final = re.compile(r"(?:version|release|v\.?)\s?(?P<number>\d[\w.+-]*)")
_BOOLEAN: Final = {
    **dict.fromkeys(("true", "yes", "on", "enabled", "active", "switched on", "turned on"), "true"),
    **dict.fromkeys(("false", "no", "off", "disabled", "inactive", "switched off", "turned off"), "false"),
}
_STEPS: Final = (("days", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1000))
"""Milliseconds of each unit that a duration is told in."""


def plain(text: str) -> str:
    """On one line, in lower case, with straight quotes and without marks at its ends."""
    line = " ".join(text.translate(_PLAIN).lower().split())
    return line.strip(_EDGES) or line


@lru_cache(maxsize=4096)
def normal_value(text: str) -> str:
    """A value: quantities with their unit, dates, versions, yes and no, names without their article.

    "thirty days" and "30 d" are "30 days", "24 h" is "1 day", "1,000" is "1000", "enabled" is "true", "v2.1" is
    "2.1", "1 May 2026" is "2026-05-01". Whole multiples of a longer unit are told in it, up to days, and months in
    years.
    """
    return _settled(_normal_value, text)


def _settled(form: Callable[[str], str], text: str) -> str:
    """A form that is its own: what one step uncovers, the next one sees."""
    for _ in range(_STEPS_AT_MOST):
        found = form(text)
        if found == text:
            break
        text = found
    return text


_STEPS_AT_MOST: Final = 8


def _normal_value(text: str) -> str:
    line = _without(_APPROXIMATE, plain(text))
    found = _BOOLEAN.get(line) or _date(line) or _version(line) or quantity(line)
    if found:
        return found
    line = _without(_DETERMINER, line)
    return SAME_NAMES.get(line, line)


def quantity(line: str) -> str:
    """The normal form of a number with or without a unit; "" for what is none. ``line`` is in lower case."""
    found = _COUNT.fullmatch(line)
    if found is None:
        return ""
    number = _number(found["digits"], found["words"], thousands=found["k"] is not None)
    unit = (found["unit"] or "").rstrip(".")
    bare = (found["words"] or "") in ("a", "an")
    if number is None or (bare and unit not in UNITS):
        return ""
    sign = found["sign"].strip().replace("~", "").replace("<", "≤").replace(">", "≥").replace("+", "")
    kind = UNITS.get(unit)
    rest = found["rest"].strip()
    if kind is not None and not rest:
        return sign + _measured(number, kind)
    if not unit and not rest:
        return sign + _digits(number)
    rate = _RATE.fullmatch(found["rest"])
    per = UNITS.get(rate["unit"]) if rate else None
    if rate and per and unit and per != "%":
        return f"{sign}{_digits(number)} {singular(unit)}/{per}"
    return ""


def _number(digits: str | None, words: str | None, *, thousands: bool) -> Fraction | None:
    if digits:
        number = Fraction(re.sub(r"[,_' ]", "", digits))
        return number * 1000 if thousands else number
    total = Fraction(0)
    part = Fraction(0)
    for word in re.split(r"[\s-]+", words or ""):
        value = NUMBERS.get(word)
        if word in ("a", "an"):
            part += 1
        elif value is None:
            continue
        elif value >= 100:
            part = (part or Fraction(1)) * value
            if value >= 1000:
                total, part = total + part, Fraction(0)
        else:
            part += value
    return total + part


def _measured(number: Fraction, unit: str) -> str:
    if unit == "weeks":
        number, unit = number * 7, "days"
    if unit == "years" and (number * 12).denominator == 1:
        number, unit = number * 12, "months"
    if unit == "months" and number >= 12 and number % 12 == 0:
        number, unit = number / 12, "years"
    of = {"ms": 1, **dict(_STEPS)}.get(unit)
    if of is not None and number:
        total = number * of
        unit, size = next(((name, size) for name, size in _STEPS if total % size == 0), ("ms", 1))
        number = total / size
    one = number == 1 and unit in ("days", "months", "years")
    return f"{_digits(number)} {unit[:-1] if one else unit}"


def _digits(number: Fraction) -> str:
    if number.denominator == 1:
        return str(number.numerator)
    return f"{float(number):.6f}".rstrip("0").rstrip(".")


def is_duration(value: str) -> bool:
    """Whether a normal value is a length of time, or "forever"."""
    return (
        value in ("forever", "indefinitely")
        or re.fullmatch(r"[≤≥]?-?[\d.]+ (?:ms|s|min|h|days?|months?|years?)", value) is not None
    )


def is_date(value: str) -> bool:
    """Whether a normal value is a day, a month or a year."""
    return re.fullmatch(r"\d{4}(?:-\d\d(?:-\d\d)?)?", value) is not None


def is_quantity(value: str) -> bool:
    """Whether a normal value begins with a number."""
    return re.match(r"[≤≥-]?\d", value) is not None


def _date(line: str) -> str:
    for pattern in _DATES:
        found = pattern.fullmatch(line)
        if found is None:
            continue
        parts = found.groupdict()
        month = _MONTHS[parts["name"]] if parts.get("name") else int(parts["m"])
        day = int(parts["d"]) if parts.get("d") else 0
        if 1 <= month <= 12 and day <= 31:
            return f"{parts['y']}-{month:02d}" + (f"-{day:02d}" if day else "")
    return ""


def _version(line: str) -> str:
    found = _VERSION.fullmatch(line)
    return found["number"].rstrip(".+-") if found else ""


@lru_cache(maxsize=4096)
def normal_subject(text: str) -> str:
    """What is spoken of: without determiners, the last word in the singular, one name for what has several.

    "The exports" and "our export" are "export"; "K8s" is "kubernetes".
    """
    return _settled(_normal_subject, text)


def _normal_subject(text: str) -> str:
    line = _without(_ANY, _without(_DETERMINER, re.sub(r"'s?(?=\s|$)", "", plain(text))))
    return _named_once(line)


@lru_cache(maxsize=4096)
def normal_attribute(text: str) -> str:
    """What is said of it: without words of time, and synonyms (`wordlists.ATTRIBUTES`) are one attribute.

    "retention period" and "kept for" are "retention", "current maximum size" is "max size".
    """
    return _settled(_normal_attribute, text)


def _normal_attribute(text: str) -> str:
    line = _without(_DETERMINER, plain(text))
    line = _without(_UNTIMELY, line)
    line = re.sub(r"\bmaxim(?:um|al)\b", "max", line)
    line = re.sub(r"\bminim(?:um|al)\b", "min", line)
    line = ATTRIBUTES.get(line, line)
    head, _, last = line.rpartition(" ")
    line = f"{head} {singular(last)}".strip()
    return ATTRIBUTES.get(line, line)


def _named_once(line: str) -> str:
    line = SAME_NAMES.get(line, line)
    head, _, last = line.rpartition(" ")
    line = f"{head} {singular(last)}".strip()
    return SAME_NAMES.get(line, line)


def _without(pattern: re.Pattern[str], line: str) -> str:
    """Without any number of such words at its beginning."""
    while (found := pattern.match(line)) is not None:
        line = line[found.end() :]
    return line


@lru_cache(maxsize=8192)
def singular(word: str) -> str:
    """A word in the singular, for comparing only: "exports" and "export" are one, "policies" is "policy"."""
    while (one := _singular(word)) != word:
        word = one
    return word


def _singular(word: str) -> str:
    if word in SINGULAR:
        return SINGULAR[word]
    if len(word) < 4 or not word.isalpha() or word.endswith(("ss", "us", "is", "os", "as")) or not word.endswith("s"):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("sses", "shes", "ches", "xes", "zzes")) else word[:-1]
