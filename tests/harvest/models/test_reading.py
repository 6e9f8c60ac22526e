"""A session through both models: applied exactly, nothing twice, nothing lost, no decision of a person changed."""

from __future__ import annotations

import pytest
from tests.harvest.models.house import Died, ModelHouse, answers, cite, confirmed, dying, sent, tool_of, with_pages
from tests.harvest.rules_talk import Turn
from tests.llm.loopback import fails, says

from flywheel.errors import FlywheelError
from flywheel.harvest.models import worker
from flywheel.jobs.worker import Outcome
from flywheel.model import Category, Citation, ClaimType, EdgeKind, Micros, Status
from flywheel.store.forget import forget
from flywheel.store.mapper import find
from flywheel.text.compose import fixed

TALK: tuple[Turn, ...] = (
    ("user", "We decided to use Postgres for the job queue because Redis lost messages."),
    ("assistant", "Noted. The worker pool reads from Postgres and retries five times."),
    ("user", "The nightly export must never run on the primary database."),
    ("web", "The v1 API is deprecated and was removed in version 9."),
    ("assistant", "Shall I raise the limit? Nobody has said who owns the nightly export."),
    ("user", "The job queue moves to Kafka in May, Postgres is too slow."),
)


def begun(house: ModelHouse) -> tuple[str, str]:
    """The talk, read by the rules; the short ids of the queue's page and the export's."""
    house.house.say("s", *TALK)
    house.rules("s")
    queue, export = house.house.entry("job queue"), house.house.entry("nightly export")
    return queue.short, export.short


def asked_for(queue: str, export: str) -> list[dict[str, object]]:
    """One operation of each sort, and two that do not hold."""
    return [
        {"op": "create", "type": "fact", "statement": "The worker pool retries five times",
         "cites": [cite(2, "The worker pool reads from Postgres and retries five times")]},
        {"op": "create", "type": "decision", "statement": "The v1 API was removed in version 9",
         "cites": [cite(4, "was removed in version 9")]},
        {"op": "question", "page": export, "statement": "Nobody has said who owns the nightly export",
         "cites": [cite(5, "Nobody has said who owns the nightly export")]},
        {"op": "link", "page": "op:1", "other": queue, "kind": "prerequisite",
         "cites": [cite(2, "reads from Postgres and retries")]},
        {"op": "supersede", "page": queue, "statement": "The job queue moves to Kafka in May",
         "cites": [cite(6, "The job queue moves to Kafka in May")]},
        {"op": "create", "statement": "The queue is MySQL", "cites": [cite(1, "decided to use Postgres")]},
        {"op": "update", "page": "ffffff", "statement": "The queue is Postgres",
         "cites": [cite(1, "decided to use Postgres")]},
    ]  # fmt: skip


def test_each_operation_is_applied_as_code_sees_it(models_on: ModelHouse) -> None:
    """Candidates with the speaker's type, citations, an edge, a question; what does not hold is counted."""
    house = models_on
    queue, export = begun(house)
    before = {entry.id: entry for entry in house.entries()}
    asked = house.read("s", answers(None, asked_for(queue, export)))
    assert [tool_of(body) for body in asked] == ["route", "edit"]
    assert [body["model"] for body in asked] == ["claude-haiku-5-5", "claude-sonnet-5-5"]
    assert set(with_pages(sent(asked[1]))) == {queue, export}
    (row,) = house.reads()
    assert (row.stage, row.value, row.version) == ("done", {}, "1")
    assert row.kept == {"create": 2, "link": 1, "question": 1, "supersede": 1}
    assert row.dropped == {"not borne out by what is cited": 1, "names no page that was shown": 1}
    fresh = {str(entry.title): entry for entry in house.entries() if entry.id not in before}
    assert {title: entry.type for title, entry in fresh.items()} == {
        "The worker pool retries five times": ClaimType.HYPOTHESIS,
        "The v1 API was removed in version 9": ClaimType.EXTERNAL,
        "The job queue moves to Kafka in May": ClaimType.DECISION,
    }
    assert {entry.status for entry in house.entries()} == {Status.CANDIDATE}
    assert "who owns the nightly export [fw:" in house.house.entry("must never run").questions
    (link,) = house.house.edges(EdgeKind.PREREQUISITE.value)
    assert link.source_id == fresh["The worker pool retries five times"].id and link.reason.startswith("said: ")
    (against,) = house.house.edges(EdgeKind.CONTRADICTS.value)
    assert against.source_id == fresh["The job queue moves to Kafka in May"].id
    with house.db.read() as tx:
        for one in find(tx, Citation, ""):
            (text,) = tx.one("SELECT text FROM message WHERE id = :id", id=one.message_id) or ("",)
            assert text[one.start : one.stop] == one.quote


def test_reading_again_asks_nobody_and_changes_nothing(models: ModelHouse) -> None:
    """A second run, and one after the checkpoint was lost, come to the same rows."""
    act = answers(None, asked_for(*begun(models)))
    models.read("s", act)
    first = models.everything()
    assert models.read("s") == [] and models.everything() == first
    with models.db.write() as tx:
        tx.run("DELETE FROM model_read")
    assert len(models.read("s", act)) == 2
    again = models.everything()
    assert {name: rows for name, rows in again.items() if name != "feed"} == {
        name: rows for name, rows in first.items() if name != "feed"
    }


@pytest.mark.parametrize("at", [1, 2, 3, 5, 6, 8, 10, 13])
def test_dying_anywhere_comes_to_the_same(at: int, models: ModelHouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed before any write of the store, the next run ends where one that lived ends."""
    models.wire.does(answers(None, asked_for(*begun(models))))
    models.wire.heard.clear()
    real, writes = models.db.write, iter(range(1, 1000))

    def write(*, bulk: bool = False) -> object:
        if next(writes) == at:
            raise Died
        return real(bulk=bulk)

    with monkeypatch.context() as patch, pytest.raises(Died):
        patch.setattr(models.db, "write", write)
        worker.run(models.job("s"), models.deps())
    worker.run(models.job("s"), models.deps())
    assert len(models.wire.heard) <= 3  # an answer that was not even on the bill yet is asked for again
    (row,) = models.reads()
    assert row.kept == {"create": 2, "link": 1, "question": 1, "supersede": 1}
    assert len(models.entries()) == len({entry.title for entry in models.entries()}) == 5
    texts = [claim.text for entry in models.entries() for claim in models.house.claims(entry)]
    assert len(texts) == len(set(texts)) == 6


def test_a_session_that_grew_sends_only_what_is_new(models: ModelHouse) -> None:
    """The new records, with the two before them; what was read is not sent again."""
    models.house.say("s", *TALK)
    models.read("s", answers(None, []))
    models.house.say("s", *TALK, ("user", "Deployments happen on Tuesdays only."), ("result", "ok"))
    asked = models.read("s", answers(None, []))
    lines = [line for line in sent(asked[0]).split("\n") if line.startswith("#")]
    assert len(lines) == 3 and "Tuesdays" in lines[2] and "Redis" not in sent(asked[0])
    models.house.say("s", *TALK, ("user", "Deployments happen on Tuesdays only."), ("result", "ok"), ("result", "ok"))
    assert models.read("s") == [] and [row.stage for row in models.reads()] == ["done"] * 3


def test_what_a_person_confirmed_stays_byte_for_byte(models: ModelHouse) -> None:
    """An update of a confirmed page is a claim that waits for review; how it reads and its state are as before."""
    _, export = begun(models)
    page = confirmed(models.db, models.house.entry("must never run"))
    spoken = models.house.say("s", *TALK, ("user", "The nightly export must never run on Sundays either."))
    statement = "The nightly export must never run on the primary database or on Sundays"
    act = answers(
        None,
        [
            {"op": "update", "page": export, "statement": statement, "cites": [cite(7, "must never run on Sundays")]},
            {"op": "question", "page": export, "statement": "Should the nightly export run on Sundays?",
             "cites": [cite(7, "must never run on Sundays")]},
        ],
    )  # fmt: skip
    models.read("s", act)
    assert models.reads()[0].kept == {"question": 1, "update": 1} and spoken
    after = models.house.entry("must never run")
    kept = ("title", "summary", "body", "questions", "status", "type", "tags", "version")
    assert [getattr(after, name) for name in kept[:7]] == [getattr(page, name) for name in kept[:7]]
    waiting = [claim for claim in models.house.claims(after) if claim.status is Status.CANDIDATE]
    assert {claim.attribute for claim in waiting} == {"detail", "question"}


def test_a_candidate_page_reads_as_it_was_rewritten(models: ModelHouse) -> None:
    """The whole understanding, citing the claims that it rests on; the wording before is kept with its number."""
    _, export = begun(models)
    statement = "The nightly export never runs on the primary database, and nobody owns it"
    cites = [cite(3, "nightly export must never run on the primary database"), cite(5, "Nobody has said who owns the")]
    models.read("s", answers(None, [{"op": "update", "page": export, "statement": statement, "cites": cites}]))
    page = models.house.entry("must never run")
    assert page.body.startswith(statement) and page.body.count("[fw:") == 2 and page.version == 3
    assert page.category is Category.POLICIES and page.status is Status.CANDIDATE


def test_what_cannot_be_used_is_dead_and_the_rules_results_stay(models: ModelHouse) -> None:
    """An answer of another form, three times: the job fails for good and nothing else is touched."""
    begun(models)
    before = models.everything()
    models.wire.does(says({"spans": "all of them"}))
    assert models.tried("s") is Outcome.FAILED
    after = models.everything()
    assert {name: after[name] for name in after if name != "feed"} == {n: before[n] for n in before if n != "feed"}


@pytest.mark.parametrize("how", ["cap", "busy"])
def test_at_a_cap_it_waits_and_goes_on_where_it_was(how: str, models: ModelHouse) -> None:
    """The router's answer is kept: after the cap was raised only the editor is asked."""
    act = answers(None, asked_for(*begun(models)))
    models.wire.does(act, fails(429, retry_after="900"), act)
    if how == "cap":
        models.open(day_usd=0)
        assert models.tried("s") is Outcome.WAITING and [row.stage for row in models.reads()] == ["begun"]
        models.open()
        models.wire.does(act)
    else:
        assert models.tried("s") is Outcome.WAITING and [row.stage for row in models.reads()] == ["routed"]
    models.wire.heard.clear()
    assert models.tried("s") is Outcome.DONE
    assert [tool_of(heard.body) for heard in models.wire.heard] == ["route", "edit"][how == "busy" :]


def test_nothing_is_asked_where_nothing_was_said(models: ModelHouse) -> None:
    """Output alone costs no call, few words only where the rules find something; an empty pick costs no second one."""
    models.house.say("quiet", ("result", "ok"), ("error", "ValueError: no"))
    assert models.read("quiet", answers(None, [])) == []
    models.open(least=120)
    models.house.say("few", ("user", "Why is the export slow?"), ("assistant", "Let me look."))
    assert models.read("few") == []
    models.house.say("s", *TALK)
    assert [tool_of(body) for body in models.read("s", answers([], []))] == ["route"]
    assert {row.stage for row in models.reads()} == {"done"}


def test_a_lost_connection_is_tried_again(models: ModelHouse) -> None:
    """As every call of the seam."""
    act = answers(None, asked_for(*begun(models)))
    models.wire.does(dying(act, 1))
    try:
        models.read("s")
    except FlywheelError as error:
        pytest.fail(str(error))
    assert models.reads()[0].stage == "done"


def test_forgetting_takes_what_was_planned(models: ModelHouse) -> None:
    """Words of a session that is forgotten stay in no plan, and what comes of an answer afterwards is not kept."""
    begun(models)
    models.wire.does(answers(None, []), fails(429, retry_after="900"))
    models.tried("s")
    with models.db.write() as tx:
        forget(tx, "session", "s", fixed("asked to"), Micros(1))
    assert models.reads() == [] and models.entries() == []
    assert models.tried("s") is Outcome.DONE and models.reads() == []
