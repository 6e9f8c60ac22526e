"""The dates of a question: "what did we discuss about the migration last week?" is one about the migration. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from flywheel.errors import BadInput
from flywheel.model import Micros
from flywheel.search.when_days import PATTERNS, Stretch


@dataclass(frozen=True, slots=True, kw_only=True)
class When:
    """When a question speaks of, and the question without those words."""

    rest: str
    since: Micros | None = None  # inclusive
    until: Micros | None = None  # exclusive
    phrase: str = ""  # the words, as they were written; "" when there are none
    unknown: str = ""  # words that speak of a time that nobody has told: "before the release"


AROUND: Final = 40
"""Characters beside the words for a time that are looked at."""

_BEFORE: Final = re.compile(
    r"(?:^|(?<=[\s(,]))(?P<word>since|after|before|until|till|up\s+to|by|from|between|in|on|during|within|over|around|of|for|at"
    r"|as\s+of|back\s+in|throughout)\s+$",
    re.IGNORECASE,
)
_AND: Final = re.compile(r"\s*(?:and|to|until|till|through|[-–—])\s+(?:the\s+)?", re.IGNORECASE)
_ONWARDS: Final = re.compile(r"\s+(?:onwards?|on)\b(?=\s*(?:$|[?.!,;]))", re.IGNORECASE)
_UNKNOWN: Final = re.compile(
    r"\b(?:since|before|after|until|around|during)\s+(?:the\s+|our\s+)?(?:last\s+|first\s+|next\s+)?"
    r"(?:\w+\s+)?(?:release|launch|go-?live|outage|incident|freeze|kick-?off|offsite|cutover|sprint|holidays?)\b",
    re.IGNORECASE,
)
_WEAK_MONTH: Final = re.compile(r"(?:may|march|mar|jun|jan|dec|sept?|oct|nov|feb|apr|jul|aug)\.?$", re.IGNORECASE)
_VERBS: Final = re.compile(r"(?:may|march|mar)\b", re.IGNORECASE)
_SEASON: Final = re.compile(r"(?P<which>last\s+|this\s+|the\s+|)(?:spring|summer|autumn|fall|winter)\b", re.IGNORECASE)
_AFTER_SEASON: Final = re.compile(
    r"\s*(?:$|[?.!,;:)]|(?:we|i|you|when|about|for|on|did|was|were|and|to|until)\b)", re.IGNORECASE
)
_MEASURES: Final = re.compile(
    r"\s*(?:%|ms\b|s\b|px\b|seconds?\b|minutes?\b|lines?\b|rows?\b|bytes?\b|[kmg]b\b|tokens?\b|files?\b|items?\b|tests?\b"
    r"|requests?\b|users?\b|errors?\b|messages?\b|characters?\b|workers?\b|times\b)",
    re.IGNORECASE,
)
_DAY_NAMED: Final = re.compile(r"(?:of\s+)?last\s|this\s|\d", re.IGNORECASE)
_LEFT_OVER: Final = re.compile(r"\s+([?.!,;:])|^\s*[,;:]\s*")
_AGE: Final = re.compile(r"(\d{1,6})\s*([hdwmy])")
_DAYS_OF: Final = {"h": 1 / 24, "d": 1.0, "w": 7.0, "m": 30.0, "y": 365.0}
_OFFSET: Final = re.compile(r"([+-])(\d\d):(\d\d)")


def understand(text: str, now: Micros, zone: tzinfo) -> When:
    """What a question says of its time, as the person meant it at ``now`` in ``zone``.

    The first words that name a time count, with what ties them ("since", "between ... and ..."). Of several times that
    they may mean it is the most recent past one.
    """
    local = datetime.fromtimestamp(now / 1e6, zone).replace(tzinfo=None)
    found = _first(text, local)
    unknown = _UNKNOWN.search(text)
    if found is None:
        return When(rest=text, unknown=unknown.group() if unknown else "")
    start, stop, stretch = found
    tie = _tie(text, start)
    word = " ".join(tie["word"].lower().split()) if tie else ""
    begin = tie.start() if tie else start
    first, last = _tied(word, stretch)
    if word in ("between", "from"):
        second = _second(text, stop, local)
        if second is not None:
            stop, other = second
            first, last = min(stretch[0], other[0]), max(stretch[1], other[1])
        elif word == "between":
            first, last = stretch
    onwards = _ONWARDS.match(text, stop)
    if onwards and word in ("from", "since"):
        stop = onwards.end()
    rest = _LEFT_OVER.sub(r"\1", " ".join(f"{text[:begin].rstrip()} {text[stop:].lstrip()}".split())).strip()
    return When(
        rest=rest,
        since=_micros(first, zone),
        until=_micros(last, zone),
        phrase=" ".join(text[begin:stop].split()),
    )


def stretch_of(text: str, now: Micros, zone: tzinfo) -> tuple[Micros, Micros]:
    """What ``--since`` and ``--until`` take: a date, an age (14d), or words (last week). Raises BadInput."""
    age = _AGE.fullmatch(text.strip().lower())
    if age:
        at = Micros(max(0, int(now - int(age[1]) * _DAYS_OF[age[2]] * 86_400_000_000)))
        return at, at
    found = understand(text.strip(), now, zone)
    if found.since is None or found.until is None or found.rest.strip():
        raise BadInput(f"a time is a date (2026-01-31), an age (14d) or words (last week), not {text[:40]!r}")
    return found.since, found.until


def zone_of(name: str) -> tzinfo:
    """The zone of an IANA name or an offset ("+02:00"); UTC for "". Raises BadInput."""
    offset = _OFFSET.fullmatch(name)
    if offset:
        minutes = int(offset[2]) * 60 + int(offset[3])
        if minutes < 24 * 60:
            return timezone(timedelta(minutes=-minutes if offset[1] == "-" else minutes))
    try:
        return ZoneInfo(name) if name else UTC
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise BadInput(f"there is no time zone {name[:60]!r}; write it as Europe/Berlin or +02:00") from error


def told(since: Micros | None, until: Micros | None, zone: tzinfo) -> str:
    """A stretch for a person: "2026-05-01 to 2026-05-31", "since 2026-05-01", "before 2026-05-01", or a day."""
    first = datetime.fromtimestamp(since / 1e6, zone) if since is not None else None
    last = datetime.fromtimestamp(until / 1e6, zone) if until is not None else None
    if first is None or last is None:
        return f"since {_day(first)}" if first else f"before {_day(last)}" if last else ""
    if (first.hour, first.minute, last.hour, last.minute) != (0, 0, 0, 0) and last - first < timedelta(days=2):
        return f"{first:%Y-%m-%d %H:%M} to {last:%Y-%m-%d %H:%M}"
    end = last - timedelta(microseconds=1)
    return _day(first) if first.date() == end.date() else f"{_day(first)} to {_day(end)}"


def _day(at: datetime) -> str:
    return f"{at:%Y-%m-%d}"


def _micros(local: datetime | None, zone: tzinfo) -> Micros | None:
    return None if local is None else Micros(round(local.replace(tzinfo=zone).timestamp() * 1e6))


def _tie(text: str, start: int) -> re.Match[str] | None:
    """The word before a time that says how it is meant: "since", "in", "between"."""
    return _BEFORE.search(text, max(0, start - AROUND), start)


def _tied(word: str, stretch: Stretch) -> tuple[datetime | None, datetime | None]:
    """What a stretch comes to after such a word."""
    match word:
        case "since" | "from":
            return stretch[0], None
        case "after":
            return stretch[1], None
        case "before":
            return None, stretch[0]
        case "until" | "till" | "up to" | "by" | "as of":
            return None, stretch[1]
    return stretch


def _first(text: str, now: datetime) -> tuple[int, int, Stretch] | None:
    """The first words that name a stretch: where they begin and end, and which it is; the longest of one place."""
    best: tuple[int, int, Stretch] | None = None
    for pattern, meaning in PATTERNS:
        for match in pattern.finditer(text):
            if best is not None and (match.start(), -match.end()) >= (best[0], -best[1]):
                break
            stretch = meaning(match, now) if _means_time(match, text) else None
            if stretch is not None:
                best = match.start(), match.end(), stretch
                break
    return best


def _second(text: str, at: int, now: datetime) -> tuple[int, Stretch] | None:
    """The end of "between X and Y": where it ends, and which stretch it is."""
    tie = _AND.match(text, at)
    if tie is None:
        return None
    found = _first(text[tie.end() :], now)
    return (tie.end() + found[1], found[2]) if found and found[0] == 0 else None


def _means_time(match: re.Match[str], text: str) -> bool:
    """Whether these words name a time here: "may" is a verb, Spring a framework, and 2024 may be a number of rows."""
    start, end = match.span()
    words, before, after = match.group(), text[max(0, start - AROUND) : start], text[end : end + AROUND]
    tied = _tie(text, start) is not None
    given = match.re.groupindex
    if "season" in given:
        return _names_season(match, tied, after)
    if "month" in given and not words[0].isdigit() and "day" not in given:
        return _names_month(match, tied, after)
    if "month" in given and "day" in given and "mark" not in given and not words[:4].isdigit():
        return _names_day(match, tied, after)
    if set(given) == {"year"}:
        return tied and not _MEASURES.match(after) and not before.rstrip().lower().endswith(("for", "of", "at", "over"))
    if "quarter" in given:
        return tied or bool(match["year"]) or words.startswith("Q")
    if set(given) == {"day"}:
        return before.rstrip().lower().endswith(("on", "since", "before", "after", "until", "by"))
    return True


def _names_month(match: re.Match[str], tied: bool, after: str) -> bool:
    """A month alone: by its whole name, and "may" and "march" only where no verb can stand."""
    if match["year"] or (match["which"] and match["which"].strip()) or match["third"]:
        return True
    if _WEAK_MONTH.match(match["month"]) and match["month"].lower() not in ("may", "march"):
        return False
    if _VERBS.match(match["month"]):
        return tied and not re.match(r"\s+(?:not|be|have|need|fail|cause|break)\b", after, re.IGNORECASE)
    return tied or match["month"][0].isupper()


def _names_day(match: re.Match[str], tied: bool, after: str) -> bool:
    """A day of a month: not "it may 3 times fail", nor "mar 10 workers"."""
    if not _VERBS.match(match.group()) or match["year"] or tied:
        return not _MEASURES.match(after)
    sure = match.group()[0].isupper() and match.start() > 0
    return sure and not _MEASURES.match(after)


def _names_season(match: re.Match[str], tied: bool, after: str) -> bool:
    """A season: "last spring", "in the summer of 2025", "since winter"; not "in Spring Boot" and not "fall back"."""
    which = match["which"].lower().strip()
    if match["year"] or which in ("last", "this"):
        return re.match(r"[\s-]+(?:boot|framework|security|cloud|mvc|back|through)\b", after, re.IGNORECASE) is None
    plain = match["season"].lower() not in ("spring", "fall")
    return tied and (plain or which == "the") and _AFTER_SEASON.match(after) is not None
