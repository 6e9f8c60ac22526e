"""The rule that weighs claims: a table of cases for each of its steps, and what holds whatever the claims are."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flywheel.knowledge.conflict import DAY, EVERYWHERE, Stated, Step, Verdict, verdicts
from flywheel.model import ClaimType, Micros, Status

DRAFT, TALK, RUNBOOK, DESIGN, APPROVED = range(5)
CONFIRMED, CANDIDATE, REJECTED, SUPERSEDED = Status.CONFIRMED, Status.CANDIDATE, Status.REJECTED, Status.SUPERSEDED


def said(
    id: str,
    value: str,
    rank: int = TALK,
    day: int = 1,
    *,
    scope: str = EVERYWHERE,
    type: ClaimType = ClaimType.FACT,
    status: Status = CANDIDATE,
    hour: int = 0,
) -> Stated:
    """A claim of a day."""
    at = Micros(day * DAY + hour * DAY // 24)
    return Stated(id=id, value=value, scope=scope, rank=rank, at=at, type=type, status=status)


def verdict(*claims: Stated, scope: str = EVERYWHERE) -> Verdict:
    """The verdict of one scope."""
    (found,) = [one for one in verdicts(claims) if one.scope == scope]
    return found


TABLE: Sequence[tuple[str, Sequence[Stated], str, Step]] = [
    ("one claim", [said("a", "30")], "30", Step.ONLY),
    ("two that agree", [said("a", "30"), said("b", "30", RUNBOOK, 9)], "30", Step.ONLY),
    ("a higher rank", [said("a", "30", RUNBOOK), said("b", "90", TALK, 9)], "30", Step.RANK),
    ("a lower rank of a later day", [said("a", "30", DESIGN), said("b", "90", RUNBOOK, 9)], "30", Step.RANK),
    ("a later day of one rank", [said("a", "30"), said("b", "90", TALK, 2)], "90", Step.DATE),
    ("a later hour of one day", [said("a", "30", hour=1), said("b", "90", hour=23)], "", Step.DISPUTED),
    ("two of one rank and day", [said("a", "30"), said("b", "90")], "", Step.DISPUTED),
    (
        "a draft cannot settle two runbooks that disagree",
        [said("a", "30", RUNBOOK), said("b", "90", RUNBOOK), said("c", "30", DRAFT, 9)],
        "",
        Step.DISPUTED,
    ),
    (
        "nor can talk, however often it is repeated",
        [said("a", "30", RUNBOOK), said("b", "90", RUNBOOK), *(said(f"c{n}", "90", TALK, 9 + n) for n in range(5))],
        "",
        Step.DISPUTED,
    ),
    (
        "a confirmed decision outranks a design document",
        [
            said("a", "30", DESIGN, 5),
            said("b", "90", DRAFT, 1, type=ClaimType.DECISION, status=CONFIRMED),
            said("c", "30", DESIGN, 5, status=CONFIRMED),
        ],
        "90",
        Step.RANK,
    ),
    (
        "an unconfirmed decision has its source's rank",
        [said("a", "30", DESIGN), said("b", "90", TALK, 9, type=ClaimType.DECISION)],
        "30",
        Step.RANK,
    ),
    (
        "the later of two confirmed decisions",
        [
            said("a", "30", TALK, 1, type=ClaimType.DECISION, status=CONFIRMED),
            said("b", "90", DRAFT, 2, type=ClaimType.DECISION, status=CONFIRMED),
        ],
        "90",
        Step.DATE,
    ),
    (
        "what was rejected takes no part",
        [said("a", "30"), said("b", "90", DESIGN, 9, status=REJECTED)],
        "30",
        Step.ONLY,
    ),
    (
        "what was superseded is weighed like any other",
        [said("a", "30", TALK, 1, status=SUPERSEDED), said("b", "90", TALK, 2)],
        "90",
        Step.DATE,
    ),
    (
        "what nobody confirmed does not displace what somebody did",
        [said("a", "30", TALK, 1, status=CONFIRMED), said("b", "90", DESIGN, 9)],
        "30",
        Step.ONLY,
    ),
]


@pytest.mark.parametrize(("claims", "value", "step"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_the_steps(claims: Sequence[Stated], value: str, step: Step) -> None:
    """Rank, then day, then dispute; each case says which step decided."""
    found = verdict(*claims)
    assert (found.value, found.step) == (value, step)


def test_both_values_of_a_dispute() -> None:
    """A dispute states every value that stands, with the claims that say so."""
    found = verdict(said("a", "30"), said("b", "90"), said("c", "90", DRAFT))
    assert (found.values, found.value) == (["30", "90"], "")
    assert set(found.holds) == {"a", "b", "c"}


def test_two_scopes_are_no_conflict() -> None:
    """Each scope has its own value, and the step says that it was the scope."""
    plans = [said("a", "30", scope="plan:basic"), said("b", "365", scope="plan:enterprise")]
    assert {one.scope: (one.value, one.step) for one in verdicts(plans)} == {
        "plan:basic": ("30", Step.SCOPE),
        "plan:enterprise": ("365", Step.SCOPE),
    }


def test_a_claim_for_all_applies_to_each_narrower_scope() -> None:
    """A later one for all displaces an older one for some: being specific earns no rank."""
    older = said("a", "365", TALK, 1, scope="plan:enterprise")
    later = said("b", "30", TALK, 2)
    assert verdict(older, later, scope="plan:enterprise").value == "30"
    assert verdict(older, later).value == "30"
    stronger = said("c", "365", RUNBOOK, 1, scope="plan:enterprise")
    assert verdict(stronger, later, scope="plan:enterprise").value == "365"
    assert verdict(stronger, later).value == "30"


def test_what_lost_says_at_which_step_and_to_what() -> None:
    """Each losing claim names the step at which it lost and the claim that holds."""
    found = verdict(said("a", "30", RUNBOOK, 5), said("b", "60", RUNBOOK, 4), said("c", "90", TALK, 9))
    assert [(one.id, one.value, one.step, one.to) for one in found.lost] == [
        ("b", "60", Step.DATE, "a"),
        ("c", "90", Step.RANK, "a"),
    ]


def test_a_challenger_waits_for_review() -> None:
    """An unconfirmed claim that would win if it was confirmed is named; one that would not is merely lost."""
    held = said("a", "30", RUNBOOK, 5, status=CONFIRMED)
    found = verdict(held, said("b", "90", RUNBOOK, 6), said("c", "60", TALK, 9), said("d", "30", TALK, 9))
    assert (found.value, found.confirmed, found.challengers) == ("30", True, ["b"])
    assert [one.id for one in found.lost] == ["c"]
    decided = verdict(held, said("e", "90", TALK, 1, type=ClaimType.DECISION))
    assert decided.challengers == ["e"]


claims = st.lists(
    st.builds(
        lambda value, rank, day, scope, type, status: said("", value, rank, day, scope=scope, type=type, status=status),
        st.sampled_from(["30", "60", "90"]),
        st.integers(0, 4),
        st.integers(1, 4),
        st.sampled_from([EVERYWHERE, "plan:basic", "plan:pro"]),
        st.sampled_from(list(ClaimType)),
        st.sampled_from([CANDIDATE, CONFIRMED, REJECTED, SUPERSEDED]),
    ),
    max_size=9,
).map(lambda found: [_named(one, f"c{number}") for number, one in enumerate(found)])


def _named(one: Stated, id: str) -> Stated:
    return Stated(id=id, value=one.value, scope=one.scope, rank=one.rank, at=one.at, type=one.type, status=one.status)


@given(claims, st.integers())
def test_the_order_of_arrival_does_not_matter(found: list[Stated], seed: int) -> None:
    """Any order of the same claims gives the same verdicts."""
    shuffled = list(found)
    random.Random(seed).shuffle(shuffled)
    assert verdicts(shuffled) == verdicts(found)


@given(claims)
def test_what_holds_in_any_case(found: list[Stated]) -> None:
    """Every verdict accounts for every claim that applies; nothing from another scope takes part; reasons are true."""
    by_id = {one.id: one for one in found}
    for one in verdicts(found):
        applying = {id for id, claim in by_id.items() if claim.scope in (one.scope, EVERYWHERE)}
        applying -= {id for id in applying if by_id[id].status is REJECTED}
        lost = [loser.id for loser in one.lost]
        agreeing = {id for id in applying if by_id[id].value in one.values}
        assert set(one.holds) <= agreeing
        assert set(lost) | set(one.challengers) | agreeing == applying
        assert not set(lost) & set(one.holds)
        assert len(set(lost)) == len(lost)
        assert (len(one.values) > 1) == (one.step is Step.DISPUTED)
        for loser in one.lost:
            winner = by_id[loser.to]
            assert winner.value in one.values and winner.value != loser.value
        if one.confirmed:
            assert all(by_id[id].status is CONFIRMED for id in one.holds)


@given(claims, st.sampled_from(["30", "60", "90"]), st.integers(0, 3), st.integers(1, 4))
def test_a_weaker_claim_changes_no_value(found: list[Stated], value: str, rank: int, day: int) -> None:
    """One more unconfirmed claim for all, of a lower rank than everything, changes no value anywhere."""
    live = [one for one in found if one.status is not REJECTED]
    if not live or min(one.weight[0] for one in live) <= rank:
        return
    before = {one.scope: (one.value, one.values) for one in verdicts(found)}
    after = {one.scope: (one.value, one.values) for one in verdicts([*found, said("z", value, rank, day)])}
    assert {scope: after[scope] for scope in before} == before
