"""How pages read: one fact a line, each with its source; what lost is struck through with its reason."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.knowledge.claiming import START, claim, mark, value

from flywheel.knowledge.compiling import Page, compile_page, fingerprint, heading, told_type
from flywheel.knowledge.conflict import DAY
from flywheel.knowledge.judging import Known
from flywheel.model import Claim, ClaimType, Clean, Micros, Role, Status
from flywheel.text.compose import current

NOW = Micros(START + 400 * DAY)
DRAFT, TALK, RUNBOOK, DESIGN, APPROVED = range(5)


def page(*claims: Claim, **known: Any) -> Page:
    """The page that they make."""
    found = compile_page(claims, at=NOW, known=Known(**known))
    assert found is not None
    return found


def test_one_bullet_for_each_attribute_and_scope() -> None:
    """What holds for all first, then each scope; every line cites its claim, the summary cites nothing."""
    made = page(
        value("a", "retention", "30 days", rank=RUNBOOK),
        value("b", "retention", "90 days", rank=DESIGN, scope=Clean("plan:enterprise")),
        value("c", "max size", "5 gb"),
        value("d", "encrypted at rest", "true"),
        value("e", "public", "false"),
    )
    assert made.body.split("\n") == [
        f"- Encrypted at rest {mark('d')}",
        f"- Max size: 5 gb {mark('c')}",
        f"- Public: no {mark('e')}",
        f"- Retention: 30 days {mark('a')}",
        f"- Retention (plan enterprise): 90 days {mark('b')}",
    ]
    assert made.summary.startswith("Encrypted at rest; Max size: 5 gb; Public: no; Retention: 30 days;")
    assert "[fw:" not in made.summary and made.questions == ""


def test_a_loser_is_struck_through_with_the_step_that_decided() -> None:
    """Outranked, or replaced on a day; the winner is named and cited; the current part has neither."""
    made = page(
        value("old", "retention", "14 days", day=1),
        value("new", "retention", "30 days", day=3),
        value("high", "max size", "5 gb", rank=DESIGN, day=1),
        value("low", "max size", "9 gb", rank=DRAFT, day=9),
    )
    holds, past = made.body.split("## No longer\n")
    assert holds.split("\n")[:2] == [f"- Max size: 5 gb {mark('high')}", f"- Retention: 30 days {mark('new')}"]
    assert f"- ~~Max size: 9 gb~~ {mark('low')} 2024-10-13: outranked by 5 gb {mark('high')}" in past
    assert f"- ~~Retention: 14 days~~ {mark('old')} 2024-10-05: replaced by 30 days on 2024-10-07 {mark('new')}" in past
    assert current(made.body) == "- Max size: 5 gb\n- Retention: 30 days"


def test_a_dispute_states_both_values() -> None:
    """In the bullet, in the summary and as an open question, each side with its source."""
    made = page(value("a", "retention", "30 days", rank=RUNBOOK), value("b", "retention", "90 days", rank=RUNBOOK))
    assert made.body == f"- Retention: DISPUTED, 30 days {mark('a')} or 90 days {mark('b')}"
    assert made.summary == "Retention DISPUTED: 30 days or 90 days"
    assert made.questions == f"Retention is disputed: 30 days {mark('a')} or 90 days {mark('b')}?"


def test_what_nobody_confirmed_against_what_somebody_did_is_a_question() -> None:
    """The confirmed value holds; the challenger is asked about; what is unconfirmed on a confirmed page says so."""
    made = page(
        value("a", "retention", "30 days", status=Status.CONFIRMED),
        value("b", "retention", "90 days", day=9),
        value("c", "max size", "5 gb"),
    )
    assert made.body.split("\n") == [f"- Max size: 5 gb {mark('c')} (unconfirmed)", f"- Retention: 30 days {mark('a')}"]
    assert made.questions == f"Retention: 90 days? said by the user on 2024-10-13 {mark('b')} (unconfirmed)"


def test_invalidated_and_rejected_values() -> None:
    """What a person ended is struck through with the reason given; what was rejected never was: it is not shown."""
    made = page(
        value("a", "retention", "30 days"),
        value("b", "retention", "14 days", status=Status.SUPERSEDED, valid_until=Micros(NOW - 1)),
        value("c", "retention", "7 days", status=Status.SUPERSEDED, valid_until=Micros(NOW - 1)),
        value("d", "retention", "99 days", status=Status.REJECTED),
        reasons={value("b", "x", "y").id: Clean("the contract ended")},
    )
    past = made.body.split("## No longer\n")[1]
    assert f"- ~~Retention: 14 days~~ {mark('b')} 2024-10-05: the contract ended" in past
    assert f"~~Retention: 7 days~~ {mark('c')} 2024-10-05: held until" in past
    assert "99" not in made.body


def test_a_statement_reads_as_its_parts() -> None:
    """The statement, then symptom to withdrawal in order, each line with its claim."""
    made = page(
        claim("s", "Use cents for money.", day=2),
        claim("w", "Floats lost a cent.", attribute=Clean("why")),
        claim("r", "Use cents for money.", attribute=Clean("replaces"), value=Clean("floats")),
    )
    assert made.body.split("\n") == [
        f"Use cents for money. {mark('s')}",
        f"Why: Floats lost a cent. {mark('w')}",
        f"In place of: floats {mark('r')}",
    ]
    assert made.summary == "Use cents for money."


def test_saying_it_again_does_not_rewrite_a_page() -> None:
    """The first claim that says it so stays cited."""
    once = page(claim("a", "Use cents.", day=1))
    again = page(claim("a", "Use cents.", day=1), claim("b", "Use cents.", day=5))
    assert once.body == again.body


def test_a_confirmed_statement_is_not_reworded_by_what_comes_after() -> None:
    """What a person confirmed is what the page says."""
    made = page(
        claim("a", "Use cents.", status=Status.CONFIRMED),
        claim("b", "Use floats.", day=9),
        claim("c", "Because.", attribute=Clean("why"), day=9),
    )
    assert made.body == f"Use cents. {mark('a')}"


def test_a_merged_page_says_each_thing_once() -> None:
    """Statements of one thing in other words are one line; another statement is another line."""
    made = page(
        claim("a", "Never commit secrets to the repository."),
        claim("b", "Please never commit any secrets to this repository!", day=2),
        claim("c", "Rotate signing keys each March.", day=3),
    )
    assert len(made.body.split("\n")) == 2 and "Rotate signing keys" in made.body


def test_what_was_taken_back_is_struck_through_while_something_stands() -> None:
    """And stands alone, plainly, when nothing else does."""
    gone = claim("a", "Use Redis for the queue.", status=Status.SUPERSEDED)
    assert page(gone).body == f"Use Redis for the queue. {mark('a')}"
    made = page(gone, claim("b", "Postgres keeps all mails.", day=4))
    assert made.body.split("## No longer\n")[1] == f"- ~~Use Redis for the queue.~~ {mark('a')} taken back"


def test_several_subjects_name_themselves() -> None:
    """A page of several subjects says which one each bullet is about."""
    made = page(value("a", "retention", "30 days"), value("b", "retention", "1 day", subject=Clean("log")))
    assert [line.split(":")[0] for line in made.body.split("\n")] == ["- Retention of export", "- Retention of log"]


def test_sources_say_where_it_was_said() -> None:
    """Documents by path, sessions by id, each once, the oldest first."""
    made = page(
        value("a", "retention", "30 days", day=5),
        value("b", "max size", "5 gb", day=5),
        value("c", "public", "true", day=1, role=Role.SYSTEM, session_id=None),
        places={value("c", "x", "y").id: Clean("docs/adr/0007.md")},
    )
    assert list(made.sources) == [
        "2024-10-05, docs/adr/0007.md",
        "2024-10-09, said by the user, session [fw:555555]",
    ]


def test_nothing_makes_no_page() -> None:
    """Neither nothing nor what was all rejected states anything."""
    assert compile_page([], at=NOW) is None
    assert compile_page([claim("a", status=Status.REJECTED)], at=NOW) is None
    assert heading([]) == ""


VALUES = st.lists(
    st.builds(
        lambda n, attribute, told, scope, rank, day, status: value(
            str(n), attribute, told, scope=Clean(scope), rank=rank, day=day, status=status
        ),
        st.integers(0, 10_000), st.sampled_from(["retention", "max size"]), st.sampled_from(["1", "2", "3"]),
        st.sampled_from(["", "plan:pro", "plan:team,region:eu"]), st.integers(0, 4), st.integers(1, 3),
        st.sampled_from([Status.CANDIDATE, Status.CONFIRMED, Status.REJECTED]),
    ),
    max_size=8,
    unique_by=lambda one: one.id,
)  # fmt: skip


@given(VALUES, st.randoms(use_true_random=False))
def test_the_same_claims_give_the_same_bytes(claims: Sequence[Claim], chance: random.Random) -> None:
    """In whatever order they come."""
    mixed = list(claims)
    chance.shuffle(mixed)
    assert compile_page(claims, at=NOW) == compile_page(mixed, at=NOW)


@given(VALUES)
def test_every_line_cites_a_claim_of_its_own(claims: Sequence[Claim]) -> None:
    """No sentence without a source, and no source that is not there; each live value stands on the page."""
    made = compile_page(claims, at=NOW)
    marks = {mark_ for one in claims for mark_ in [f"[fw:{one.id[:6]}]"]}
    for line in made.body.split("\n") if made else ():
        assert line == "## No longer" or any(mark_ in line for mark_ in marks), line
    for one in claims:
        if one.status is Status.CONFIRMED:
            assert made is not None and one.value in made.body


def test_a_wording_rests_on_what_stands_not_on_who_confirmed_it() -> None:
    """Confirming changes no fingerprint; another claim, scope or end does."""
    one = claim("a")
    same = replace(one, status=Status.CONFIRMED)
    others = [
        [],
        [one, claim("b")],
        [replace(one, status=Status.REJECTED)],
        [replace(one, scope=Clean("plan:pro"))],
        [replace(one, valid_until=NOW)],
    ]
    assert fingerprint([one]) == fingerprint([same])
    assert all(fingerprint([one]) != fingerprint(other) for other in others)


@pytest.mark.parametrize(
    ("role", "status", "kept"),
    [
        (Role.ASSISTANT, Status.CANDIDATE, ClaimType.HYPOTHESIS),
        (Role.TOOL, Status.CANDIDATE, ClaimType.HYPOTHESIS),
        (Role.USER, Status.CANDIDATE, ClaimType.FACT),
        (Role.ASSISTANT, Status.CONFIRMED, ClaimType.FACT),
    ],
)
def test_repeating_a_hypothesis_makes_no_fact(role: Role, status: Status, kept: ClaimType) -> None:
    """An assistant that says it as a fact does not change what it is; a person's word does."""
    assert told_type(claim("a", role=role, status=status, type=ClaimType.FACT), ClaimType.HYPOTHESIS) is kept
