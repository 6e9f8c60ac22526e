"""What needs a person, and how much: a table of cases for each factor, and the laws of the order."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cockpit.seeing import NOW, judged, line, seen

from flywheel.cockpit import rules
from flywheel.cockpit.layout import chosen
from flywheel.cockpit.rules import LEVERAGE, UNCERTAINTY, URGENCY, consequence, points, ranked, section_of
from flywheel.cockpit.value import Counts, Detail, Moments, Section, Seen
from flywheel.knowledge.thresholds import Thresholds, parse
from flywheel.model import Category, ClaimType, Micros, Status
from flywheel.tree.page import DAY

LIMITS = Thresholds()
CONFIRMED = {"status": Status.CONFIRMED}
DISPUTED = {"status": Status.DISPUTED}
STALE = {"status": Status.STALE}


@pytest.mark.parametrize(
    ("given", "urgency"),
    [
        ({**DISPUTED, "put_off": True}, 0),
        (DISPUTED, 3),
        ({**CONFIRMED, "news": 1, "challenged": True}, 3),
        ({"against": 2}, 3),
        ({"called": "wrong"}, 3),
        (STALE, 2),
        ({**CONFIRMED, "overdue": True}, 2),
        ({**CONFIRMED, "due": True}, 2),
        ({"due": True}, 1),
        ({**CONFIRMED, "news": 2}, 2),
        ({}, 1),
        ({"against": 1}, 1),
        ({**CONFIRMED, "ageing": True, "type": ClaimType.DECISION}, 1),
        ({**CONFIRMED, "ageing": True}, 0),
        (CONFIRMED, 0),
    ],
)
def test_urgency(given: dict[str, Any], urgency: int) -> None:
    """What may mislead a session now presses most; what a person put off not at all."""
    assert points(URGENCY, judged(**given)) == urgency


@pytest.mark.parametrize(
    ("type_", "category", "expected"),
    [
        (ClaimType.DECISION, Category.DECISIONS, 3),
        (ClaimType.FACT, Category.POLICIES, 3),
        (ClaimType.DECISION, Category.ARCHITECTURE, 3),
        (ClaimType.FACT, Category.KNOWLEDGE, 2),
        (ClaimType.FACT, Category.MISC, 1),
        (ClaimType.JUDGMENT, Category.CONVENTIONS, 2),
        (ClaimType.HYPOTHESIS, Category.DEBUGGING, 1),
        (ClaimType.EXTERNAL, Category.KNOWLEDGE, 1),
        (ClaimType.HYPOTHESIS, Category.MISC, 0),
    ],
)
def test_consequence(type_: ClaimType, category: Category, expected: int) -> None:
    """A wrong decision on a shelf that rules the work costs most, a wrong guess about nothing in particular nothing."""
    assert consequence(judged(type=type_, category=category)) == expected


@pytest.mark.parametrize(
    ("given", "uncertainty"),
    [
        (DISPUTED, 3),
        ({"said": False, "evidence": 5}, 3),
        ({"against": 1, "evidence": 5}, 3),
        (STALE, 2),
        ({**CONFIRMED, "challenged": True}, 2),
        ({**CONFIRMED, "against": 1}, 2),
        ({**CONFIRMED, "called": "stale"}, 2),
        ({"called": "wrong", "evidence": 3}, 2),
        ({**CONFIRMED, "overdue": True}, 2),
        ({**CONFIRMED, "due": True}, 2),
        ({}, 2),
        ({"evidence": 2}, 1),
        ({**CONFIRMED, "ageing": True}, 1),
        ({**CONFIRMED, "news": 1}, 1),
        (CONFIRMED, 0),
    ],
)
def test_uncertainty(given: dict[str, Any], uncertainty: int) -> None:
    """What only a machine said, or what sources disagree on, is known least; a confirmation leaves no doubt."""
    assert points(UNCERTAINTY, judged(**given)) == uncertainty


@pytest.mark.parametrize(
    ("given", "leverage"),
    [
        ({"status": Status.SUPERSEDED, "told": 50}, 0),
        ({"status": Status.REJECTED}, 0),
        ({"pinned": True}, 3),
        ({"told": 10}, 3),
        ({"evidence": 10}, 3),
        ({"needed": 3}, 3),
        ({"told": 3}, 2),
        ({"evidence": 3}, 2),
        ({"needed": 1}, 2),
        ({"told": 2, "evidence": 2}, 1),
        ({}, 1),
    ],
)
def test_leverage(given: dict[str, Any], leverage: int) -> None:
    """More hangs on what many sessions are told, many say or other pages need, and on what is pinned."""
    assert points(LEVERAGE, judged(**given)) == leverage


@pytest.mark.parametrize(
    ("given", "section"),
    [
        ({"type": ClaimType.DECISION}, Section.DECISIONS),
        ({**CONFIRMED, "type": ClaimType.DECISION, "ageing": True}, Section.DECISIONS),
        ({}, Section.UNCONFIRMED),
        ({"due": True}, Section.UNCONFIRMED),
        ({**CONFIRMED, "news": 1}, Section.UNCONFIRMED),
        ({**DISPUTED, "type": ClaimType.DECISION}, Section.DISPUTES),
        ({**CONFIRMED, "news": 1, "challenged": True}, Section.DISPUTES),
        ({**STALE, "type": ClaimType.DECISION}, Section.STALE),
        ({**CONFIRMED, "overdue": True, "type": ClaimType.DECISION}, Section.STALE),
    ],
)
def test_section(given: dict[str, Any], section: Section) -> None:
    """Where a page stands follows from what is the matter with it."""
    assert section_of(judged(**given)) is section


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({**CONFIRMED, "last_confirmed": NOW - 90 * DAY}, {"overdue", "ageing"}),
        ({**CONFIRMED, "last_confirmed": NOW - 90 * DAY + 1}, {"ageing"}),
        ({**CONFIRMED, "last_confirmed": NOW - 45 * DAY}, {"ageing"}),
        ({**CONFIRMED, "last_confirmed": NOW - 45 * DAY + 1}, set()),
        ({**CONFIRMED, "at": NOW - 90 * DAY}, {"overdue", "ageing"}),
        ({"last_confirmed": NOW - 900 * DAY}, set()),
        ({**CONFIRMED, "category": Category.PEOPLE, "last_confirmed": NOW - 10 * DAY}, {"overdue", "ageing"}),
        ({"review_by": NOW}, {"due"}),
        ({"review_by": NOW + 1}, set()),
        ({"deferred_until": NOW + 1}, {"put_off"}),
        ({"deferred_until": NOW}, set()),
    ],
)
def test_thresholds(given: dict[str, Any], expected: set[str]) -> None:
    """A threshold has passed at the very moment that it names; each shelf may have its own."""
    page = seen(**given)
    one = rules.judged(page, parse("- freshness-days-people: 10").days(page.category) * DAY, NOW)
    assert {name for name in ("overdue", "ageing", "due", "put_off") if getattr(one, name)} == expected


PAGES = st.builds(
    lambda number, status, type_, category, facts, flags, dates: seen(
        id=f"e{number}", status=status, type=type_, category=category, evidence=facts[0], told=facts[1],
        needed=facts[2], against=facts[3], at=Micros(NOW - dates[0]), said=flags[0], challenged=flags[1],
        pinned=flags[2], last_confirmed=None if flags[3] else Micros(NOW - dates[1]),
        review_by=None if flags[4] else Micros(NOW + dates[2]),
    ),
    st.integers(0, 10**6),
    st.sampled_from(Status),
    st.sampled_from(ClaimType),
    st.sampled_from(Category),
    st.tuples(*[st.integers(0, 12)] * 4),
    st.tuples(*[st.booleans()] * 5),
    st.tuples(st.integers(0, 200 * DAY), st.integers(0, 200 * DAY), st.integers(-DAY, DAY)),
)  # fmt: skip


@given(st.lists(PAGES, max_size=40, unique_by=lambda one: one.id), st.randoms(use_true_random=False))
def test_order_does_not_depend_on_the_order_of_arrival(pages: list[Seen], chance: random.Random) -> None:
    """The same pages in any order give the same ranking: scores falling, each the product of its factors, none 0."""
    before = ranked(pages, LIMITS, NOW)
    chance.shuffle(pages)
    assert ranked(pages, LIMITS, NOW) == before
    for one in before:
        factors = (one.factors.urgency, one.factors.consequence, one.factors.uncertainty, one.factors.leverage)
        assert all(0 <= factor <= 3 for factor in factors) and one.score > 0
        assert one.score == factors[0] * factors[1] * factors[2] * factors[3]
    assert [one.score for one in before] == sorted((one.score for one in before), reverse=True)


def test_every_section_is_heard_before_any_is_full() -> None:
    """The first of each section is shown before the second of any; what does not fit is left out."""
    some = [("disputes", n) for n in range(10)] + [("unconfirmed", 10), ("decisions", 11), ("decisions", 12)]
    taken = chosen(some, lambda one: one[0], 9)
    assert taken == [("decisions", 11), *(("disputes", n) for n in range(4)), ("unconfirmed", 10)]
    assert chosen(some, lambda one: one[0], 3, lambda one: 2) == [("disputes", 0)]
    assert chosen(some, lambda one: one[0], 1) == []


@given(st.lists(st.sampled_from(Section), max_size=40), st.integers(-2, 24), st.integers(1, 4))
def test_what_is_chosen_fits(sections: list[Section], room: int, height: int) -> None:
    """Lines and headings never take more than the room."""
    taken = chosen(sections, lambda one: one.value, room, lambda one: height)
    assert len(taken) * height + len(set(taken)) <= max(0, room)


def test_generated_at_is_the_latest_change_or_threshold() -> None:
    """It is the store's time, not the clock's: it moves when something changes, or a threshold passes."""
    moments = Moments(changed=Micros(NOW - 200 * DAY), confirmed=Micros(NOW - 100 * DAY))
    at = Micros(NOW - 10 * DAY)
    assert rules.generated_at(moments, LIMITS, at) == at == rules.generated_at(moments, LIMITS, NOW)
    assert rules.generated_at(moments, LIMITS, Micros(at - 1)) == NOW - 100 * DAY
    later = Moments(changed=Micros(NOW - 1), passed=Micros(NOW - 2), confirmed=moments.confirmed)
    assert rules.generated_at(later, LIMITS, NOW) == NOW - 1


def test_banner() -> None:
    """It shouts from the day on that nobody has confirmed anything for too long, and where nobody ever did."""
    some = Counts(open={(Status.CANDIDATE, ClaimType.FACT): 1})
    assert rules.banner(None, some, LIMITS, NOW).startswith("NEVER CONFIRMED.")
    assert rules.banner(None, Counts(), LIMITS, NOW) == ""
    assert rules.banner(Micros(NOW - 90 * DAY + 1), some, LIMITS, NOW) == ""
    told = rules.banner(Micros(NOW - 90 * DAY), some, LIMITS, NOW)
    assert told.startswith("NOT CONFIRMED SINCE 2024-07-06 (more than 90 days).")


def test_totals_and_unverified() -> None:
    """Every page that waits is counted in its section; what was put off is unverified all the same."""
    open_ = {
        (Status.CANDIDATE, ClaimType.DECISION): 2,
        (Status.CANDIDATE, ClaimType.FACT): 3,
        (Status.DISPUTED, ClaimType.FACT): 1,
        (Status.STALE, ClaimType.DECISION): 1,
    }
    counts = Counts(open=open_, put_off=4, confirmed=9, overdue=2)
    assert rules.totals(counts, []) == {"decisions": 2, "disputes": 1, "stale": 3, "unconfirmed": 3}
    assert rules.totals(Counts(), [Section.DISPUTES, Section.DISPUTES]) == {"disputes": 2}
    assert rules.unverified(counts) == 13


@pytest.mark.parametrize(
    ("given", "detail", "text", "next_"),
    [
        ({}, {}, "said once, on 2024-10-04", "flywheel confirm 0000a1"),
        ({"evidence": 3}, {}, "said in 3 sessions, last on 2024-10-04", "flywheel confirm 0000a1"),
        ({}, {"summary": "Mail leaves at one."}, "Mail leaves at one.", "flywheel confirm 0000a1"),
        ({"against": 2}, {}, "contradicts what is confirmed", "flywheel confirm 0000a1"),
        ({"called": "wrong"}, {}, "an agent called it wrong", "flywheel confirm 0000a1"),
        (DISPUTED, {"values": ("kept: 30 days", "90 days")}, "kept: 30 days against 90 days", "flywheel review"),
        (DISPUTED, {}, "sources of equal weight disagree", "flywheel review"),
        (STALE, {"reason": "mw.py changed"}, "mw.py changed", "flywheel show 0000a1"),
        (STALE, {}, "what it rests on has changed", "flywheel show 0000a1"),
        (
            {**CONFIRMED, "last_confirmed": NOW - 100 * DAY},
            {},
            "not confirmed since 2024-06-26 (90 days are allowed)",
            "flywheel show 0000a1",
        ),
        ({**CONFIRMED, "review_by": NOW}, {}, "review was due by 2024-10-04", "flywheel show 0000a1"),
        ({**CONFIRMED, "news": 2}, {}, "2 unconfirmed claims since it was confirmed", "flywheel review"),
        (
            {**CONFIRMED, "type": ClaimType.DECISION, "last_confirmed": NOW - 50 * DAY},
            {},
            "confirmed on 2024-08-15, half of its time is over",
            "flywheel show 0000a1",
        ),
    ],
)
def test_a_line_says_why_it_stands_there_and_what_comes_next(
    given: dict[str, Any], detail: dict[str, Any], text: str, next_: str
) -> None:
    """In a few words, with the command to type."""
    (one,) = ranked([seen(**given)], LIMITS, NOW)
    told = {"short": "0000a1", "title": "Mail leaves at noon", "summary": "Mail leaves at noon.", **detail}
    assert rules.text_of(one, Detail(**told), LIMITS) == text
    assert rules.next_of(one, "0000a1") == next_


def test_lines_name_the_sections_as_the_rules_do() -> None:
    """The api's words for sections are the rules'."""
    assert line().section == Section.UNCONFIRMED.value
