"""The dates of a question: which time the words mean, what is left of the question, and what is no date at all."""

from __future__ import annotations

from datetime import datetime

import pytest

from flywheel.errors import BadInput
from flywheel.model import Micros
from flywheel.search.when import stretch_of, told, understand, zone_of

ZONE = zone_of("Europe/Berlin")


def at(text: str, zone: str = "Europe/Berlin") -> Micros:
    """A local time, written as ISO."""
    return Micros(int(datetime.fromisoformat(text).replace(tzinfo=zone_of(zone)).timestamp() * 1e6))


NOW = at("2026-05-20T15:30")
"""A Wednesday."""

PHRASES: dict[str, tuple[str, str]] = {
    # question: (what it means, what is left)
    "what did we discuss about the migration last week?": (
        "2026-05-11 to 2026-05-17",
        "what did we discuss about the migration?",
    ),
    "last week's migration": ("2026-05-11 to 2026-05-17", "migration"),
    "the migration of last week": ("2026-05-11 to 2026-05-17", "the migration"),
    "what happened this week": ("2026-05-18 to 2026-05-24", "what happened"),
    "earlier this week we broke it": ("2026-05-18 to 2026-05-24", "we broke it"),
    "what did we do today?": ("2026-05-20", "what did we do?"),
    "this morning": ("2026-05-20 00:00 to 2026-05-20 12:00", ""),
    "yesterday": ("2026-05-19", ""),
    "yesterday's outage": ("2026-05-19", "outage"),
    "yesterday evening": ("2026-05-19 17:00 to 2026-05-20 00:00", ""),
    "last night": ("2026-05-19 18:00 to 2026-05-20 06:00", ""),
    "the day before yesterday": ("2026-05-18", ""),
    "on Monday": ("2026-05-18", ""),
    "what was decided on Wednesday": ("2026-05-13", "what was decided"),
    "this Wednesday": ("2026-05-20", ""),
    "on Friday": ("2026-05-15", ""),
    "last friday": ("2026-05-15", ""),
    "since Monday": ("since 2026-05-18", ""),
    "Monday last week": ("2026-05-11", ""),
    "last week on Thursday": ("2026-05-14", ""),
    "at the weekend": ("2026-05-16 to 2026-05-17", ""),
    "last weekend": ("2026-05-16 to 2026-05-17", ""),
    "the week before last": ("2026-05-04 to 2026-05-10", ""),
    "two weeks ago": ("2026-05-04 to 2026-05-10", ""),
    "3 days ago": ("2026-05-17", ""),
    "a month ago": ("2026-04-01 to 2026-04-30", ""),
    "a year ago": ("2025-01-01 to 2025-12-31", ""),
    "a couple of weeks ago": ("2026-05-04 to 2026-05-10", ""),
    "a few days ago": ("2026-05-15 to 2026-05-18", ""),
    "two hours ago": ("2026-05-20 12:30 to 2026-05-20 14:30", ""),
    "in the last 3 days": ("2026-05-17 to 2026-05-20", ""),
    "over the past week": ("2026-05-13 to 2026-05-20", ""),
    "in the past two months": ("2026-03-21 to 2026-05-20", ""),
    "this month": ("2026-05-01 to 2026-05-31", ""),
    "last month": ("2026-04-01 to 2026-04-30", ""),
    "last year": ("2025-01-01 to 2025-12-31", ""),
    "this quarter": ("2026-04-01 to 2026-06-30", ""),
    "last quarter": ("2026-01-01 to 2026-03-31", ""),
    "in Q4": ("2025-10-01 to 2025-12-31", ""),
    "Q1 2025 plans": ("2025-01-01 to 2025-03-31", "plans"),
    "in March": ("2026-03-01 to 2026-03-31", ""),
    "in may": ("2026-05-01 to 2026-05-31", ""),
    "last May": ("2025-05-01 to 2025-05-31", ""),
    "in December": ("2025-12-01 to 2025-12-31", ""),
    "early March": ("2026-03-01 to 2026-03-10", ""),
    "at the end of April": ("2026-04-21 to 2026-04-30", ""),
    "March 2024": ("2024-03-01 to 2024-03-31", ""),
    "before March": ("before 2026-03-01", ""),
    "after March": ("since 2026-04-01", ""),
    "until March": ("before 2026-04-01", ""),
    "on 3 May": ("2026-05-03", ""),
    "on May 3rd": ("2026-05-03", ""),
    "the 3rd of May": ("2026-05-03", ""),
    "the talk of May 3, 2025": ("2025-05-03", "the talk"),
    "on 30 June": ("2025-06-30", ""),
    "24 Dec": ("2025-12-24", ""),
    "on 29 February": ("2024-02-29", ""),
    "on the 3rd": ("2026-05-03", ""),
    "on the 28th": ("2026-04-28", ""),
    "what broke on 2026-05-03?": ("2026-05-03", "what broke?"),
    "in 2026-04": ("2026-04-01 to 2026-04-30", ""),
    "03.05.2026": ("2026-05-03", ""),
    "05/03/2026": ("2026-05-03", ""),
    "05/06/2026": ("2026-05-06", ""),
    "in 2025": ("2025-01-01 to 2025-12-31", ""),
    "since 2024": ("since 2024-01-01", ""),
    "between 3 May and 10 May": ("2026-05-03 to 2026-05-10", ""),
    "between March and April": ("2026-03-01 to 2026-04-30", ""),
    "from Monday to Wednesday": ("2026-05-13 to 2026-05-18", ""),
    "from 2026-04-28 until 2026-05-02, the queue": ("2026-04-28 to 2026-05-02", "the queue"),
    "from March onwards": ("since 2026-03-01", ""),
    "last spring": ("2025-03-01 to 2025-05-31", ""),
    "last winter": ("2025-12-01 to 2026-02-28", ""),
    "in the summer of 2025": ("2025-06-01 to 2025-08-31", ""),
}


@pytest.mark.parametrize("question", PHRASES)
def test_what_words_mean(question: str) -> None:
    """A person asks on a Wednesday in May; the words mean the most recent past, and go out of the question."""
    when = understand(question, NOW, ZONE)
    assert (told(when.since, when.until, ZONE), when.rest) == PHRASES[question]
    assert when.phrase


NO_DATES = """
it may fail
we may 3 times see it
why may 3 workers fail?
May 3 workers run at once?
march on
a march of errors
the second attempt
on the 2nd attempt
the third migration
python 3.11
since 3.11 it is slow
version 2026.05.03
v1.12.2
a last minute change
the last release
last time
the last one
next week
tomorrow's deploy
in Spring Boot
the Spring service
fall back to the cache
in 2000 ms
over 2024 rows
a 24 hour cache
the sun icon
the mar field
port 2026
10.0.5.2026
src/2026-05-03/notes.md
the weekday column
session 7
the hour field
""".strip().splitlines()


@pytest.mark.parametrize("question", NO_DATES)
def test_what_is_no_date(question: str) -> None:
    """Verbs, versions, ordinals, numbers of things, names and what is to come are left in the question."""
    when = understand(question, NOW, ZONE)
    assert (when.since, when.until, when.phrase, when.rest) == (None, None, "", question)


def test_a_time_that_nobody_told_is_named() -> None:
    """It stays in the question, which is searched as it is."""
    when = understand("what changed before the release?", NOW, ZONE)
    assert (when.unknown, when.since, when.until) == ("before the release", None, None)
    assert when.rest == "what changed before the release?"


@pytest.mark.parametrize(
    ("now", "question", "since", "until"),
    [
        ("2026-01-01T00:30", "yesterday", "2025-12-31T00:00", "2026-01-01T00:00"),
        ("2026-01-02T10:00", "last week", "2025-12-22T00:00", "2025-12-29T00:00"),
        ("2026-01-02T10:00", "last month", "2025-12-01T00:00", "2026-01-01T00:00"),
        ("2026-01-02T10:00", "in December", "2025-12-01T00:00", "2026-01-01T00:00"),
        ("2026-01-02T10:00", "last quarter", "2025-10-01T00:00", "2026-01-01T00:00"),
        ("2027-01-01T10:00", "on 31 December", "2026-12-31T00:00", "2027-01-01T00:00"),
        ("2026-03-30T10:00", "yesterday", "2026-03-29T00:00", "2026-03-30T00:00"),  # a day of 23 hours
        ("2026-10-26T10:00", "yesterday", "2026-10-25T00:00", "2026-10-26T00:00"),  # a day of 25 hours
        ("2026-03-31T10:00", "a month ago", "2026-02-01T00:00", "2026-03-01T00:00"),
    ],
)
def test_years_end_and_clocks_change(now: str, question: str, since: str, until: str) -> None:
    """Days begin and end at local midnight, whatever their length."""
    when = understand(question, at(now), ZONE)
    assert (when.since, when.until) == (at(since), at(until))


def test_a_day_depends_on_the_zone() -> None:
    """At the same moment it is Wednesday in Berlin and Thursday in Auckland."""
    moment = at("2026-05-20T18:00")
    there = zone_of("Pacific/Auckland")
    assert told(*_span("today", moment), ZONE) == "2026-05-20"
    when = understand("today", moment, there)
    assert told(when.since, when.until, there) == "2026-05-21"
    assert (when.since, when.until) == (at("2026-05-21", "Pacific/Auckland"), at("2026-05-22", "Pacific/Auckland"))
    assert zone_of("-03:30").utcoffset(None) == -zone_of("+03:30").utcoffset(None)  # type: ignore[operator]


def _span(text: str, now: Micros) -> tuple[Micros | None, Micros | None]:
    when = understand(text, now, ZONE)
    return when.since, when.until


@pytest.mark.parametrize("text", ["14d", "2026-05-01", "last week", "yesterday", " 2W "])
def test_options_take_dates_ages_and_words(text: str) -> None:
    """What --since and --until take is before now."""
    since, until = stretch_of(text, NOW, ZONE)
    assert 0 < since <= until <= NOW


@pytest.mark.parametrize("text", ["soon", "", "the release", "last week or so", "5x"])
def test_options_refuse_the_rest(text: str) -> None:
    """And say what can be written."""
    with pytest.raises(BadInput, match="2026-01-31"):
        stretch_of(text, NOW, ZONE)


def test_a_zone_that_is_none_is_refused() -> None:
    """By its name."""
    with pytest.raises(BadInput, match="Europe/Berlin"):
        zone_of("Middle/Earth")
