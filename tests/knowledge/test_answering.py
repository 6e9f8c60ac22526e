"""When an open question is answered: a table of cases, and its page whatever comes first."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from tests.knowledge.claiming import claim

from flywheel.knowledge.answering import answer_to, still_open
from flywheel.knowledge.compiling import compile_page
from flywheel.knowledge.conflict import DAY
from flywheel.knowledge.judging import judge
from flywheel.knowledge.parts import QUESTION
from flywheel.model import Claim, ClaimId, ClaimType, Clean, Micros, Status

NOON = Micros(20_000 * DAY + DAY // 2)
LATE = Micros(NOON + 900 * DAY)


def asked(*, scope: str = "", rank: int = 1, days: float = 0, status: Status = Status.CANDIDATE) -> Claim:
    """How long scans are kept, asked so many days after noon of a day."""
    return replace(
        claim("asked", "How long are scans kept?"),
        attribute=Clean(QUESTION), subject=Clean("scan"), value=Clean("retention"), scope=Clean(scope), rank=rank,
        said_at=Micros(int(NOON + days * DAY)), type=ClaimType.HYPOTHESIS, status=status,
    )  # fmt: skip


def told(
    value: str = "30 days", *, scope: str = "", rank: int = 1, days: float = 1, status: Status = Status.CANDIDATE,
    attribute: str = "retention", subject: str = "scan",
) -> Claim:  # fmt: skip
    """How long they are kept."""
    name = ClaimId(f"{subject}-{attribute}-{value}-{scope}-{rank}-{days}")
    return replace(
        claim(name, f"Scans are kept for {value}."), id=name,
        attribute=Clean(attribute), subject=Clean(subject), value=Clean(value), scope=Clean(scope), rank=rank,
        said_at=Micros(int(NOON + days * DAY)), status=status,
    )  # fmt: skip


CASES: Sequence[tuple[str, Claim, Sequence[Claim], bool]] = [
    ("nothing was said", asked(), [], False),
    ("said on a later day", asked(), [told()], True),
    ("said the day before", asked(), [told(days=-1)], False),
    ("later on the same day", asked(), [told(days=0.1)], True),
    ("at the same moment", asked(), [told(days=0)], False),
    ("the same day, with more weight", asked(), [told(days=-0.1, rank=3)], True),
    ("the same day, earlier", asked(), [told(days=-0.1)], False),
    ("only a draft says so", asked(), [told(rank=0)], False),
    ("a draft says so, and a person confirmed it", asked(), [told(rank=0, status=Status.CONFIRMED)], True),
    ("a draft asks, a draft says so", asked(rank=0), [told(rank=0)], True),
    ("a design asks, a conversation says so", asked(rank=3), [told(rank=1)], True),
    ("of another attribute", asked(), [told(attribute="format", value="csv")], False),
    ("of another subject", asked(), [told(subject="pass")], False),
    ("two disagree", asked(), [told(), told("60 days")], False),
    ("for one plan only", asked(), [told(scope="plan:pro")], False),
    ("for the plan that is asked about", asked(scope="plan:pro"), [told(scope="plan:pro")], True),
    ("for everybody", asked(scope="plan:pro"), [told()], True),
    ("for another plan", asked(scope="plan:pro"), [told(scope="plan:free")], False),
]


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_a_question_is_answered_by_what_holds_of_it_and_was_said_later(
    case: tuple[str, Claim, Sequence[Claim], bool],
) -> None:
    """By the source's own day, its weight and its scope; what is disputed answers nothing."""
    _, question, said, answered = case
    by_id: dict[str, Claim] = {one.id: one for one in (question, *said)}
    judged = judge(by_id.values(), at=LATE)
    assert (answer_to(question, judged, by_id) is not None) is answered
    assert bool(still_open(by_id.values(), judged, by_id, LATE)) is not answered


@pytest.mark.parametrize("status", [Status.REJECTED, Status.SUPERSEDED])
def test_a_question_that_a_person_closed_stays_closed(status: Status) -> None:
    """Rejected or taken out, it is open no more, though nothing answers it."""
    one = asked(status=status)
    assert still_open([one], (), {one.id: one}, LATE) == []


def test_a_page_of_nothing_but_a_question_says_that_nothing_is_settled() -> None:
    """It cites the question, states nothing, and says that it is closed once it is."""
    page = compile_page([asked()], at=LATE)
    assert page is not None and page.judged == ()
    assert page.summary == "Open question: How long are scans kept?"
    assert page.body.startswith("Nothing is settled yet. [fw:")
    assert page.questions.startswith("How long are scans kept? [fw:")
    assert page.questions.endswith("] (asked on 2024-10-04, said by the user)")
    closed = compile_page([asked(status=Status.REJECTED)], at=LATE)
    assert closed is not None and (closed.body, closed.questions) == ("", "")
    assert closed.summary == "No longer open: How long are scans kept?"


def test_the_page_is_the_same_whatever_came_first() -> None:
    """Questions, values, drafts and disputes in any order give the same bytes."""
    claims = [asked(), asked(scope="plan:pro", days=2), told(), told("60 days", rank=3), told("9 days", rank=0, days=5),
              told("90 days", scope="plan:pro", days=3), told(attribute="format", value="csv")]  # fmt: skip
    claims[1] = replace(claims[1], id=ClaimId("asked-pro"), text=Clean("How long on pro?"))
    first = compile_page(claims, at=LATE)
    shuffled = list(claims)
    for seed in range(20):
        random.Random(seed).shuffle(shuffled)
        assert compile_page(shuffled, at=LATE) == first
