"""Words that name a stretch of time: "last week", "in March", "3 May", "two weeks ago". Pure.

Each pattern has a function that gives the stretch, in local time without a zone; None when the words mean none after
all. What may mean several stretches means the most recent past one. Weeks begin on Monday; seasons are the
meteorological ones of the northern half.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from typing import Final

Stretch = tuple[datetime, datetime]
"""From (inclusive) to (exclusive)."""

Found = Callable[[re.Match[str], datetime], Stretch | None]

_MONTHS: Final = (
    "january february march april may june july august september october november december".split()  # noqa: SIM905
)
_DAYS: Final = "monday tuesday wednesday thursday friday saturday sunday".split()  # noqa: SIM905
_SEASONS: Final = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_NUMBERS: Final = {
    word: number
    for number, words in enumerate(
        ("", "a an one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
    )
    for word in words.split()
} | {"couple of": 2, "a couple of": 2, "few": 3, "a few": 3, "several": 4}
_DAYS_OF: Final = {"day": 1, "week": 7, "fortnight": 14, "month": 30, "quarter": 91, "year": 365}

_MONTH: Final = "|".join([*_MONTHS, *(name[:3] for name in _MONTHS), "sept"])
_COUNT: Final = r"\d{1,3}|" + "|".join(sorted(_NUMBERS, key=len, reverse=True)).replace(" ", r"\s+")
_WEEKDAY: Final = "|".join(_DAYS)
_ORDINAL: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_ENDS: Final = r"(?=\s*(?:$|[?.!,;:)]|(?:we|i|you|did|was|were|about|at|when|what|that)\b))"
_PART: Final = r"(?:\s+(?P<part>morning|afternoon|evening|night))?"


def _day(day: date) -> datetime:
    return datetime.combine(day, time())


def _at(year: int, month: int, day: int) -> datetime:
    return _day(date(year, month, day))


def _days(first: date, count: int = 1) -> Stretch:
    return _day(first), _day(first + timedelta(days=count))


def _of_month(year: int, month: int) -> Stretch:
    return _at(year, month, 1), _at(year + month // 12, month % 12 + 1, 1)


def _parted(day: date, part: str | None) -> Stretch:
    """A part of a day; the night reaches into the next morning."""
    hours = {"morning": (0, 12), "afternoon": (12, 18), "evening": (17, 24), "night": (18, 30)}
    first, last = hours.get((part or "").lower(), (0, 24))
    return _day(day) + timedelta(hours=first), _day(day) + timedelta(hours=last)


def _relative_day(m: re.Match[str], now: datetime) -> Stretch | None:
    word = " ".join(m["word"].lower().split())
    back = {"today": 0, "tonight": 0, "yesterday": 1, "last night": 1, "the day before yesterday": 2}.get(word, 0)
    part = "night" if word == "last night" else "evening" if word == "tonight" else m["part"]
    return _parted(now.date() - timedelta(days=back), part or word.removeprefix("this "))


def _weekday(m: re.Match[str], now: datetime) -> Stretch | None:
    today, number = now.date(), _DAYS.index(m["weekday"].lower())
    monday = today - timedelta(days=today.weekday())
    if m["of"]:
        weeks = 1 if m["of"].lower().startswith(("last", "of last")) else 0
        return _parted(monday - timedelta(days=7 * weeks - number), m["part"])
    if (m["which"] or "").lower().strip() == "this" and number <= today.weekday():
        return _parted(monday + timedelta(days=number), m["part"])
    back = (today.weekday() - number) % 7 or 7
    return _parted(today - timedelta(days=back), m["part"])


def _week_day(m: re.Match[str], now: datetime) -> Stretch | None:
    monday = now.date() - timedelta(days=now.weekday() + (7 if m["which"].lower() == "last" else 0))
    return _days(monday + timedelta(days=_DAYS.index(m["weekday"].lower())))


def _period(m: re.Match[str], now: datetime) -> Stretch | None:
    unit, back = m["unit"].lower(), 0 if m["which"].lower() in ("this", "the current") else 1
    return _calendar(unit, now.date(), back)


def _calendar(unit: str, today: date, back: int) -> Stretch | None:
    """The calendar unit that holds today, or one so many before it."""
    if unit == "day":
        return _days(today - timedelta(days=back))
    if unit in ("week", "fortnight"):
        days = 7 * (2 if unit == "fortnight" else 1)
        return _days(today - timedelta(days=today.weekday() + days * back), 7)
    if unit == "weekend":
        saturday = today - timedelta(days=(today.weekday() - 5) % 7)
        return _days(saturday - timedelta(days=7 * back if today.weekday() >= 5 else 0), 2)
    if unit == "year":
        return (_at(today.year - back, 1, 1), _at(today.year - back + 1, 1, 1)) if back < 50 else None
    months = today.year * 12 + today.month - 1
    if unit == "quarter":
        first = months - months % 3 - 3 * back
        return _quarter(first // 12, first % 12 + 1)
    first = months - back
    return _of_month(first // 12, first % 12 + 1) if unit == "month" else None


def _weekend(m: re.Match[str], now: datetime) -> Stretch | None:
    return _calendar("weekend", now.date(), 0)


def _before_last(m: re.Match[str], now: datetime) -> Stretch | None:
    return _calendar(m["unit"].lower(), now.date(), 2)


def _ago(m: re.Match[str], now: datetime) -> Stretch | None:
    count, unit = _count(m["count"]), m["unit"].lower()
    if unit in ("minute", "min", "hour"):
        step = timedelta(hours=1) if unit == "hour" else timedelta(minutes=1)
        return now - (count + 1) * step, now - (count - 1) * step
    if m["count"].lower().endswith("few"):  # vaguely: two to five
        span = timedelta(days=_DAYS_OF[unit])
        return _day((now - 5 * span).date()), _day((now - 2 * span).date() + timedelta(days=1))
    return _calendar(unit, now.date(), count)


def _rolling(m: re.Match[str], now: datetime) -> Stretch | None:
    count, unit = _count(m["count"]) if m["count"] else 1, m["unit"].lower()
    if unit in ("minute", "min", "hour"):
        return now - timedelta(hours=count) if unit == "hour" else now - timedelta(minutes=count), now
    return _day((now - timedelta(days=count * _DAYS_OF[unit])).date()), now


def _count(text: str) -> int:
    plain = " ".join(text.lower().split())
    return int(plain) if plain.isdigit() else _NUMBERS[plain]


def _iso(m: re.Match[str], now: datetime) -> Stretch | None:
    return _exactly(int(m["year"]), int(m["month"]), int(m["day"]))


def _iso_month(m: re.Match[str], now: datetime) -> Stretch | None:
    return _of_month(int(m["year"]), int(m["month"]))


def _slashed(m: re.Match[str], now: datetime) -> Stretch | None:
    """Of 03/05/2026 either day; the most recent one that is past, and of two future ones the nearer."""
    one, two, year = int(m["one"]), int(m["two"]), int(m["year"])
    found = [day for day in (_exactly(year, one, two), _exactly(year, two, one)) if day is not None]
    past = [day for day in found if day[0] <= now]
    return max(past) if past else min(found, default=None)


def _exactly(year: int, month: int, day: int) -> Stretch | None:
    try:
        return _days(date(year, month, day))
    except ValueError:
        return None


def _month_number(name: str) -> int:
    return next(number for number, full in enumerate(_MONTHS, 1) if full.startswith(name.lower()[:3]))


def _month_day(m: re.Match[str], now: datetime) -> Stretch | None:
    month, day = _month_number(m["month"]), int(m["day"])
    if m["year"]:
        return _exactly(int(m["year"]), month, day)
    for year in range(now.year, now.year - 8, -1):  # 29 February may be years ago
        found = _exactly(year, month, day)
        if found and found[0] <= now:
            return found
    return None


def _month(m: re.Match[str], now: datetime) -> Stretch | None:
    month = _month_number(m["month"])
    year = int(m["year"]) if m["year"] else now.year - (month > now.month)
    if not m["year"] and (m["which"] or "").lower().strip() == "last" and month == now.month:
        year -= 1
    first, last = _of_month(year, month)
    match (m["third"] or "").lower():
        case "early" | "the beginning of" | "the start of":
            return first, first + timedelta(days=10)
        case "mid":
            return first + timedelta(days=10), first + timedelta(days=20)
        case "late" | "the end of":
            return first + timedelta(days=20), last
    return first, last


def _season(m: re.Match[str], now: datetime) -> Stretch | None:
    month = _SEASONS[m["season"].lower()]
    if m["year"]:
        return _quarter(int(m["year"]), month)
    back = 0 if _at(now.year, month, 1) <= now else 1
    if (m["which"] or "").lower().strip() == "last" and _quarter(now.year - back, month)[1] > now:
        back += 1
    return _quarter(now.year - back, month)


def _quarter(year: int, month: int) -> Stretch:
    """Three months."""
    after = year * 12 + month + 2
    return _at(year, month, 1), _at(after // 12, after % 12 + 1, 1)


def _numbered_quarter(m: re.Match[str], now: datetime) -> Stretch | None:
    month = 3 * int(m["quarter"]) - 2
    year = int(m["year"]) if m["year"] else now.year - (_at(now.year, month, 1) > now)
    return _quarter(year, month)


def _year(m: re.Match[str], now: datetime) -> Stretch | None:
    year = int(m["year"])
    return (_at(year, 1, 1), _at(year + 1, 1, 1)) if 2000 <= year <= now.year else None


def _day_of_month(m: re.Match[str], now: datetime) -> Stretch | None:
    months = now.year * 12 + now.month - 1
    for back in range(4):
        found = _exactly((months - back) // 12, (months - back) % 12 + 1, int(m["day"]))
        if found and found[0] <= now:
            return found
    return None


_YEAR: Final = r"(?:,?\s+(?:of\s+)?(?P<year>(?:19|20)\d\d)(?![\d.-]))?"
_UNITS: Final = r"(?P<unit>minute|min|hour|day|week|fortnight|month|quarter|year)s?"

PATTERNS: Final[tuple[tuple[re.Pattern[str], Found], ...]] = tuple(
    (re.compile(r"(?<![\w./-])" + pattern + r"(?![\w/]|-\w)(?:['’]s\b)?", flags), found)
    for pattern, flags, found in (
        (r"(?P<year>(?:19|20)\d\d)(?P<mark>[-/])(?P<month>\d\d?)(?P=mark)(?P<day>\d\d?)", 0, _iso),
        (r"(?P<year>20\d\d)-(?P<month>0[1-9]|1[0-2])", 0, _iso_month),
        (r"(?P<day>\d\d?)\.(?P<month>\d\d?)\.(?P<year>20\d\d)", 0, _iso),
        (r"(?P<one>\d\d?)/(?P<two>\d\d?)/(?P<year>20\d\d)", 0, _slashed),
        (rf"(?:the\s+)?{_ORDINAL}\s+(?:of\s+)?(?P<month>{_MONTH})\.?{_YEAR}", re.IGNORECASE, _month_day),
        (rf"(?P<month>{_MONTH})\.?\s+(?:the\s+)?{_ORDINAL}{_YEAR}", re.IGNORECASE, _month_day),
        (
            rf"(?P<word>today|yesterday|tonight|last\s+night|the\s+day\s+before\s+yesterday){_PART}",
            re.IGNORECASE, _relative_day,
        ),
        (r"(?P<word>this\s+(?:morning|afternoon|evening))(?P<part>)", re.IGNORECASE, _relative_day),
        (
            rf"(?P<which>last|this)\s+week(?:['’]s|\s+on)?\s+(?P<weekday>{_WEEKDAY})", re.IGNORECASE, _week_day,
        ),
        (
            rf"(?P<which>(?:last|this|past)\s+)?(?P<weekday>{_WEEKDAY}){_PART}(?:\s+(?P<of>(?:of\s+)?(?:last|this)\s+week))?",
            re.IGNORECASE, _weekday,
        ),
        (r"the\s+(?P<unit>week|month|year|quarter|weekend)\s+before\s+last", re.IGNORECASE, _before_last),
        (
            r"(?:earlier\s+|later\s+)?(?P<which>last|this|the\s+current|previous|the\s+previous)\s+"
            r"(?P<unit>week|month|year|quarter|weekend)", re.IGNORECASE, _period,
        ),
        (r"(?:on\s+|at\s+|over\s+)(?P<which>the)\s+(?P<unit>weekend)", re.IGNORECASE, _weekend),
        (rf"(?P<count>{_COUNT})\s+{_UNITS}\s+(?:ago|back|earlier)", re.IGNORECASE, _ago),
        (rf"(?:the\s+)?(?:last|past|previous)\s+(?P<count>{_COUNT})\s+{_UNITS}", re.IGNORECASE, _rolling),
        (r"the\s+past\s+(?P<count>)(?P<unit>hour|day|week|month|quarter|year)", re.IGNORECASE, _rolling),
        (
            rf"(?:(?P<third>early|mid|late|the\s+(?:beginning|start|end)\s+of)[\s-]+)?(?P<which>(?:last|this)\s+)?"
            rf"(?P<month>{_MONTH}){_YEAR}", re.IGNORECASE, _month,
        ),
        (
            rf"(?P<which>last\s+|this\s+|the\s+|)(?P<season>spring|summer|autumn|fall|winter){_YEAR}",
            re.IGNORECASE, _season,
        ),
        (r"Q(?P<quarter>[1-4])(?:[\s/-]+(?P<year>20\d\d))?", re.IGNORECASE, _numbered_quarter),
        (r"(?P<year>20\d\d)", 0, _year),
        (rf"the\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th){_ENDS}", re.IGNORECASE, _day_of_month),
    )
)  # fmt: skip
"""Patterns and what each means; of those that begin at one place the longest counts."""
