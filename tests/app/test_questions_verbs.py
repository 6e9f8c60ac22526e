"""Kept questions over both stores: asked again, with the cause of a change; empty ones counted; answers filed back."""

from __future__ import annotations

from typing import Any

import pytest
from tests.app.talking import House
from tests.app.test_why_values import page
from tests.knowledge.claiming import value

from flywheel import app
from flywheel.api import Asked
from flywheel.errors import BadInput, NotFound, Refused
from flywheel.knowledge.questions import keeping
from flywheel.knowledge.superseding import settle
from flywheel.model import Citation, Clean, Edge, Entry, Kind, Question, Review, Status, digest, evidence_id
from flywheel.store.mapper import find, get

MARA: dict[str, Any] = {"who": "mara", "door": "terminal"}
ASK = "How long are exports kept?"


def add(house: House, text: str, name: str, date: str, **more: Any) -> None:
    """A document comes in and everything follows it."""
    house.app.add(cwd=str(house.project), text=text, name=name, kind="runbook", date=date, **more)
    app.settle_all(house.parts, trees=True)


def kept(house: House) -> list[Asked]:
    """The kept questions as they were last answered."""
    return list(house.app.questions(cwd=str(house.project)).questions)


def keep(house: House, **more: Any) -> Asked:
    """Keep the question."""
    return house.app.question_add(text=ASK, cwd=str(house.project), **more)


def test_a_question_is_asked_again_after_a_change_and_says_why(house: House) -> None:
    """By the job that follows the change set: a later document, then a person's decision, each named as the cause."""
    add(house, "Exports are kept for 30 days.", "first.md", "2026-03-02")
    assert (keep(house, expect="thirty days").answer, kept(house)[0].holds) == ("30 days", True)
    add(house, "Exports are kept for 60 days.", "second.md", "2026-04-02")
    (one,) = kept(house)
    assert (one.answer, one.was, one.holds) == ("60 days", "30 days", False)
    assert "said on 2026-04-02 in second.md “Exports are kept for 60 days.”" in one.cause
    claims = {str(claim.text): claim.id for claim in house.claims()}
    house.app.invalidate(ids=[claims["Exports are kept for 60 days."]], reason="it was a plan only", **MARA)
    app.settle_all(house.parts, trees=True)
    (one,) = kept(house)
    assert (one.answer, one.was, one.holds) == ("30 days", "60 days", True)
    assert "superseded by user:mara via terminal" in one.cause and "because it was a plan only" in one.cause


def test_a_run_tells_what_it_changed(house: House) -> None:
    """Only what changed since the last time; what is not as expected is counted."""
    add(house, "Exports are kept for 30 days.", "first.md", "2026-03-02")
    keep(house, expect="90 days")
    run = house.app.questions_run(cwd=str(house.project))
    assert (run.changed, run.wrong, run.questions[0].changed) == (0, 1, False)
    text, cwd = "Exports are kept for 90 days.", str(house.project)
    house.app.add(cwd=cwd, text=text, name="b.md", kind="runbook", date="2026-05-02")
    app.settle_all(house.parts)
    run = house.app.questions_run(cwd=str(house.project))
    assert (run.changed, run.wrong, run.questions[0].changed) == (1, 0, True)
    assert not house.app.questions_run(cwd=str(house.project)).questions[0].changed


def test_adding_again_expects_otherwise_and_removing_ends_it(house: House) -> None:
    """One question in one scope is one; it goes by id or by its words."""
    first, again = keep(house, expect="1 day"), keep(house, expect="2 days")
    other = keep(house, scope="enterprise")
    assert (first.id, first.holds, again.expected) == (again.id, False, "2 days") and other.id != first.id
    assert other.scope == "plan:enterprise" and len(kept(house)) == 2
    done = house.app.question_remove(ids=["how long are exports kept"], cwd=str(house.project))
    assert done.counts == {"questions": 2} and kept(house) == []
    with pytest.raises(NotFound):
        house.app.question_remove(ids=[first.id], cwd=str(house.project))


@pytest.mark.parametrize("text", ["", " ?! ", "what is the password=hunter2hunter2 for?", "x" * 301])
def test_what_is_no_question_is_refused(house: House, text: str) -> None:
    """Nothing, marks alone, a secret, or a page of text."""
    with pytest.raises(BadInput):
        house.app.question_add(text=text, cwd=str(house.project))


def test_a_job_without_kept_questions_is_never_enqueued(house: House) -> None:
    """Who keeps none pays nothing."""
    add(house, "Exports are kept for 30 days.", "first.md", "2026-03-02")
    project = house.app.family(str(house.project), "")[0]
    with house.parts.db.write() as tx:
        assert not keeping.ask_again(tx, project, [project], house.parts.db.clock())
        assert tx.all("SELECT 1 FROM job WHERE kind = 'questions'") == []


def test_questions_that_came_back_empty_are_counted(house: House) -> None:
    """However they are typed, by search and why; redacted; not when something narrower was asked."""
    cwd = str(house.project)
    house.app.search(query="Zeppelin colour?", cwd=cwd)
    house.app.why(question="zeppelin  colour", cwd=cwd)
    house.app.search(query="zeppelin colour", cwd=cwd, statuses=["rejected"])
    house.app.search(query="zeppelin colour", cwd=cwd, kinds=["symbol"])
    house.app.search(query="why is password=hunter2hunter2 wrong", cwd=cwd)
    house.app.unanswered.flush()
    found = house.app.questions(cwd=cwd, unanswered=True).questions
    assert (found[0].text, found[0].empty, found[0].kept) == ("zeppelin colour", 2, False)
    assert len(found) == 2 and "hunter2" not in found[1].text and kept(house) == []


def test_only_the_most_asked_are_remembered(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Past the limit those asked least and longest ago go; kept ones never."""
    monkeypatch.setattr(keeping, "MOST", 3)
    keep(house)
    project = house.app.family(str(house.project), "")[0]
    for number in range(5):
        with house.parts.db.write() as tx:
            counts = {Clean(f"question {number}"): 9 if number == 0 else 1}
            keeping.count_empty(tx, project, counts, house.parts.db.clock())
    found = house.app.questions(cwd=str(house.project), unanswered=True).questions
    assert [one.text for one in found] == ["question 0", "question 4", "question 3"] and len(kept(house)) == 1


def test_forgetting_empties_answers(house: House) -> None:
    """An answer may hold what was forgotten: it is answered anew, without being told as a change."""
    add(house, "Exports are kept for 30 days.", "first.md", "2026-03-02")
    keep(house)
    with house.parts.db.read() as tx:
        (document,) = tx.all("SELECT id FROM document")
    house.app.forget(id=document[0])
    assert (kept(house)[0].answer, kept(house)[0].ran_at) == ("", None)
    app.settle_all(house.parts)
    run = house.app.questions_run(cwd=str(house.project))
    assert (run.questions[0].answer, run.changed) == ("", 0)


def filed(house: House, question: str = ASK, **more: Any) -> Any:
    """File the answer back."""
    return house.app.file_back(question=question, cwd=str(house.project), **(MARA | more))


def test_an_answer_is_filed_as_a_candidate_that_cites_the_same_words(house: House) -> None:
    """Once: same spans of the same sources, tied to the page it comes from, with who filed it through which door."""
    add(house, "Exports are kept for 30 days. Exports are in the CSV format.", "first.md", "2026-03-02")
    found, again = filed(house, title="Keeping exports"), filed(house)
    assert (found.new, found.status, found.title, found.claims) == (True, "candidate", "Keeping exports", 2)
    assert (again.id, again.new, again.claims) == (found.id, False, 0)
    with house.parts.db.read() as tx:
        citations = find(tx, Citation, "WHERE claim_id IN (SELECT id FROM claim WHERE entry_id = :id)", id=found.id)
        text = str(tx.all("SELECT text FROM document")[0][0])
        edges = find(tx, Edge, "WHERE source_id = :id", id=found.id)
        reviews = find(tx, Review, "WHERE target_id = :id AND kind = 'entry'", id=found.id)
    assert [text[one.start : one.stop] for one in citations] == [one.quote for one in citations]
    assert all(one.sha256 == digest(one.quote) for one in citations) and len(citations) == 2
    assert [edge.kind for edge in edges] == ["relates_to"] and list(found.sources) == [edges[0].target_id[-6:]]
    assert [(one.new_status, one.actor) for one in reviews] == [("candidate", "user:mara via terminal")]
    assert reviews[0].reason == f"the answer to {ASK}"


def test_what_somebody_said_is_filed_in_their_words(house: House) -> None:
    """Where no page has it: an assistant's reason is a hypothesis, and an agent that files it is named as one."""
    house.say("s1", ("user", "Why tide tables?"), ("assistant", "We chose tide tables because the harbour is shallow."))
    with house.parts.db.write() as tx:
        for id, project in tx.all("SELECT id, project_id FROM message"):
            tx.changed(Kind.MESSAGE, id, project)
    app.settle_all(house.parts)
    found = filed(house, "why did we choose tide tables?", who="claude", door="mcp")
    (claim,) = [one for one in house.claims() if one.entry_id == found.id]
    assert (claim.type.value, claim.text) == ("hypothesis", "We chose tide tables because the harbour is shallow.")
    with house.parts.db.read() as tx:
        (review,) = find(tx, Review, "WHERE target_id = :id", id=found.id)
    assert review.actor == "agent:claude via mcp"


def test_a_filed_page_is_stale_when_its_source_reads_otherwise(house: House) -> None:
    """It stands behind its source in answers, and filing again adds what is new."""
    add(house, "Exports are kept for 30 days.", "first.md", "2026-03-02")
    found = filed(house)
    app.settle_all(house.parts, trees=True)
    reasons = house.app.why(question=ASK, cwd=str(house.project)).reasons
    assert [one.id == found.id for one in reasons] == [False, True]
    add(house, "Exports are kept for 60 days.", "second.md", "2026-04-02")
    with house.parts.db.read() as tx:
        entry = get(tx, Entry, id=found.id)
    assert entry is not None and entry.status is Status.STALE
    assert "what it was filed back from reads otherwise" in entry.stale_reason
    assert filed(house).claims == 1 and keep(house).answer == "60 days"


def test_values_of_two_things_do_not_meet_on_a_filed_page(house: House) -> None:
    """An answer about exports holds what is said of exports, though another page answers nearly as well."""
    add(house, "Exports are kept for 30 days.", "first.md", "2026-03-02")
    add(house, "Export receipts are kept for 10 years.", "second.md", "2026-04-02")
    found = filed(house)
    shown = house.app.show(id=found.id).body
    assert "30 days" in shown and "10 years" not in shown and "No longer" not in shown


def test_a_filed_page_takes_part_in_no_conflict(house: House) -> None:
    """Its copies supersede nothing, and nothing that is said since supersedes them."""
    add(house, "Exports are kept for 30 days.", "first.md", "2026-03-02")
    found = filed(house)
    add(house, "Exports are kept for 60 days.", "second.md", "2026-04-02")
    with house.parts.db.write() as tx:
        settle(tx, house.claims(), house.parts.db.clock())
    told = {(one.entry_id == found.id, str(one.text)): (one.status, one.superseded_by) for one in house.claims()}
    later = next(one.id for one in house.claims() if one.text == "Exports are kept for 60 days.")
    assert told[False, "Exports are kept for 30 days."] == (Status.SUPERSEDED, later)
    assert told[True, "Exports are kept for 30 days."] == (Status.CANDIDATE, None)


def test_words_that_cannot_be_cited_are_not_filed(house: House) -> None:
    """Claims without a citation that reads in its source are no evidence."""
    page(house, value("run", "retention", "30 days"))
    with pytest.raises(NotFound):
        filed(house)


def test_nothing_is_filed_of_nothing_or_of_what_was_forgotten(house: House) -> None:
    """An answer without words to cite, and a page that a person had forgotten."""
    with pytest.raises(NotFound, match="nothing answers this"):
        filed(house)
    add(house, "Exports are kept for 30 days.", "first.md", "2026-03-02")
    house.app.forget(id=filed(house).id)
    with pytest.raises(Refused, match="forgotten"):
        filed(house)


def test_a_rejected_page_stays_rejected(house: House) -> None:
    """Filing it again adds nothing and says so."""
    add(house, "Exports are kept for 30 days.", "first.md", "2026-03-02")
    house.app.reject(ids=[filed(house).id], **MARA)
    assert "stays rejected" in filed(house).message


def test_a_question_has_one_row(house: House) -> None:
    """A question that came back empty and is kept then is one row, counted on."""
    house.app.search(query=ASK, cwd=str(house.project))
    house.app.unanswered.flush()
    one = keep(house)
    with house.parts.db.read() as tx:
        rows = find(tx, Question)
    assert [(row.id, row.empty, row.kept) for row in rows] == [(one.id, 1, True)]
    assert one.id == evidence_id("question", rows[0].project_id, "how long are exports kept", "")
