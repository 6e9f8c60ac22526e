"""`why` over both stores: the value in each scope, the step that decided, what lost, the timeline, and as of a day."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.app.talking import House
from tests.knowledge.claiming import START, value

from flywheel import app
from flywheel.api import Reason
from flywheel.knowledge import changing
from flywheel.knowledge.conflict import DAY
from flywheel.model import (
    Category,
    Claim,
    ClaimType,
    Clean,
    Entry,
    EntryId,
    Micros,
    Role,
    Status,
    evidence_id,
    short_id,
)
from flywheel.projects import queries as projects
from flywheel.store.mapper import insert, insert_many

NONE, RUNBOOK, DESIGN = Clean(""), 2, 3


def page(house: House, *claims: Claim) -> EntryId:
    """A page about exports with these claims."""
    id = EntryId(evidence_id("entry", "exports"))
    project = projects.resolve(house.parts.db, str(house.project), START).id
    row = Entry(
        id=id, short=short_id(id), project_id=project, category=Category.KNOWLEDGE, type=ClaimType.FACT,
        status=Status.CANDIDATE, subject=Clean("export"), title=Clean("Exports"), summary=NONE, body=NONE,
        key="exports", created_at=START, updated_at=START,
    )  # fmt: skip
    with house.parts.db.write() as tx:
        insert(tx, row)
        insert_many(tx, [replace(one, entry_id=id, project_id=project) for one in claims])
        changing.changed(tx, id, now=Micros(START + 500 * DAY), reason=NONE, actor=Clean("rules"))
    app.settle_all(house.parts)
    return id


def asked(house: House, **more: Any) -> Reason:
    """The first reason why exports are retained so."""
    answer = house.app.why(question="retention of exports", cwd=str(house.project), **more)
    return answer.reasons[0]


@pytest.fixture
def exports(house: House) -> EntryId:
    """A runbook, a later talk, and a design for one plan."""
    return page(
        house,
        value("run", "retention", "30 days", rank=RUNBOOK, day=10, role=Role.SYSTEM, session_id=None),
        value("talk", "retention", "14 days", day=20),
        value("plan", "retention", "90 days", rank=DESIGN, day=30, scope=Clean("plan:enterprise")),
    )


def test_each_scope_has_its_value_with_the_step_and_what_lost(house: House, exports: EntryId) -> None:
    """From one page: for all and for the plan; the losers with who said it and when."""
    reason = asked(house)
    assert reason.id == exports and reason.statement == "Retention: 30 days; Retention (plan enterprise): 90 days"
    everybody, plan = reason.values
    assert (everybody.scope, list(everybody.values), everybody.step, everybody.confirmed) == (
        "",
        ["30 days"],
        "rank",
        False,
    )
    assert (plan.scope, list(plan.values), plan.step) == ("plan:enterprise", ["90 days"], "rank")
    (lost,) = everybody.lost
    assert (lost.value, lost.step, lost.to) == ("14 days", "rank", everybody.claims[0])
    assert lost.where.startswith("said by the user, session [fw:") and lost.at == START + 20 * DAY
    assert [line[:10] for line in reason.timeline] == ["2024-10-14", "2024-10-24", "2024-11-03"]


def test_as_of_a_day_answers_from_what_had_been_said(house: House, exports: EntryId) -> None:
    """Before the design there was one value; before anything there is no answer."""
    then = asked(house, as_of=Micros(START + 25 * DAY))
    assert then.statement == "Retention: 30 days" and len(then.values) == 1
    answer = house.app.why(question="retention of exports", cwd=str(house.project), as_of=Micros(START + DAY))
    assert [one for one in answer.reasons if one.kind == "entry"] == []


def test_what_ended_since_held_then(house: House, exports: EntryId) -> None:
    """Invalidated today; as of a day before, it is the answer."""
    who: dict[str, Any] = {"who": "mara", "door": "terminal"}
    house.app.invalidate(ids=[evidence_id("claim", "run")], reason="the runbook is gone", **who)
    app.settle_all(house.parts)
    assert asked(house).statement.startswith("Retention: 14 days")
    assert asked(house, as_of=Micros(START + 25 * DAY)).statement == "Retention: 30 days"


def test_a_dispute_gives_both_values(house: House) -> None:
    """In the statement and in the value, each with its claim."""
    page(house, value("a", "retention", "30 days", rank=RUNBOOK), value("b", "retention", "90 days", rank=RUNBOOK))
    reason = asked(house)
    assert "30 days or 90 days" in reason.statement and reason.status == "disputed"
    (one,) = reason.values
    assert (one.step, list(one.values), len(one.claims)) == ("disputed", ["30 days", "90 days"], 2)


def test_what_waits_for_a_person_says_so(house: House, exports: EntryId) -> None:
    """A later unconfirmed value beside a confirmed one."""
    house.app.confirm(ids=[evidence_id("claim", "talk")], who="mara", door="terminal")
    app.settle_all(house.parts)
    first = asked(house).values[0]
    assert (list(first.values), first.confirmed) == (["14 days"], True)
    assert list(first.unconfirmed) == [f"30 days [fw:{evidence_id('claim', 'run')[:6]}]"]
