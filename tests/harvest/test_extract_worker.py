"""The extract job over both stores: candidates with receipts, written once, merged, related, reversed, never undone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.harvest.extract_house import NOW, House, deps_for, in_project, other_project
from tests.harvest.rules_talk import DAY, Turn, talk

from flywheel.harvest import extract
from flywheel.harvest.refused import rejections
from flywheel.harvest.rules import Yield, drafts_of
from flywheel.jobs.worker import Stopped
from flywheel.model import (
    Citation,
    Claim,
    Injection,
    Kind,
    Message,
    Micros,
    Retraction,
    Session,
    SessionId,
    Status,
    digest,
)
from flywheel.store import Db
from flywheel.store.forget import forget
from flywheel.store.mapper import find, get, insert, insert_many, upsert
from flywheel.text.compose import current
from flywheel.text.redact import Redactor

REDIS: Turn = ("user", "We decided to use Redis for the mail queue because it is already running.")
POSTGRES: Turn = ("user", "We are switching from Redis to PostgreSQL for the mail queue because mail was lost.")
BUG: tuple[Turn, ...] = (
    ("user", "The nightly import fails with a timeout since Tuesday."),
    ("assistant", "The root cause is the missing index on parcel_id: each lookup scans two million rows."),
    ("assistant", "Fixed it by adding an index on parcel_id in migrations/0042.sql."),
    ("user", "That fixed it, thanks."),
)


@pytest.fixture
def house(db: Db, data: Path) -> House:
    """A project in a store of each kind."""
    return House(db, data)


def test_a_decision_becomes_a_candidate_with_its_receipt(house: House) -> None:
    """Entry, claim and citation: dated, typed, verbatim, and announced in the change feed."""
    messages = house.say("s1", REDIS, at=DAY)
    head = house.db.head()
    house.extract("s1")
    entry = house.entry("Redis for the mail queue")
    assert (entry.status, entry.category.value, entry.type.value, entry.evidence) == (
        "candidate",
        "decisions",
        "decision",
        1,
    )
    assert (entry.created_at, entry.subject) == (DAY, "mail queue")
    (claim,) = house.claims(entry)
    said = "We decided to use Redis for the mail queue because it is already running."
    assert entry.body == f"{said} [fw:{claim.id[:6]}]"
    assert (claim.said_at, claim.recorded_at, claim.value, claim.rank, claim.role.value) == (
        DAY,
        NOW,
        "redis",
        1,
        "user",
    )
    with house.db.read() as tx:
        (citation,) = find(tx, Citation, "WHERE claim_id = :id", id=claim.id)
        message = get(tx, Message, id=citation.message_id)
    assert message is not None and message.id == messages[0].id
    assert citation.quote == message.text[citation.start : citation.stop]
    assert citation.sha256 == digest(citation.quote)
    changed = [(change.kind, change.id) for change in house.db.changes(head)]
    assert (Kind.ENTRY, entry.id) in changed


def test_running_twice_equals_running_once(house: House) -> None:
    """A second run writes nothing at all, not even to the change feed."""
    house.hear("s1", REDIS, *BUG, at=DAY)
    house.hear("s2", POSTGRES, ("user", "Always run `make check` before you push."), at=2 * DAY)
    before = house.everything()
    for session in ("s1", "s2", "s1"):
        house.extract(session)
    assert house.everything() == before


def test_a_session_that_goes_on_only_adds(house: House) -> None:
    """Extracting half a session and then all of it equals extracting all of it."""
    turns = (REDIS, *BUG, POSTGRES)
    house.hear("s1", *turns[:3])
    house.hear("s1", *turns)
    titles = sorted((str(entry.title), str(entry.body), entry.status.value) for entry in house.entries())
    assert len(titles) == 3
    assert [status for _, _, status in titles if status == "superseded"] == ["superseded"]
    assert any("Seen to work: That fixed it, thanks." in body for _, body, _ in titles)


def test_a_bug_reads_as_symptom_cause_and_fix(house: House) -> None:
    """The page of a bug is rendered from its claims, in the order a reader needs."""
    house.hear("s1", *BUG)
    assert current(house.entry("nightly import").body).split("\n") == [
        "Symptom: The nightly import fails with a timeout since Tuesday.",
        "Cause: The root cause is the missing index on parcel_id: each lookup scans two million rows.",
        "Fix: Fixed it by adding an index on parcel_id in migrations/0042.sql.",
        "Seen to work: That fixed it, thanks.",
    ]


def test_the_same_statement_in_two_sessions_is_one_entry_with_two_receipts(house: House) -> None:
    """Duplicates merge and raise the evidence count, whatever their wording and order."""
    house.hear("s1", ("user", "Never commit secrets to the repository."), at=DAY)
    house.hear("s2", ("user", "Please never commit any secrets to this repository!"), at=2 * DAY)
    house.hear("s3", ("user", "never commit secrets to the repository"), at=3 * DAY)
    (entry,) = house.entries()
    assert (entry.evidence, entry.created_at, entry.updated_at) == (3, DAY, 3 * DAY)
    assert len(house.claims(entry)) == 3


def test_a_subagent_is_no_second_witness(house: House) -> None:
    """A child session counts as its parent."""
    text = "The root cause is the missing index on parcel_id: each lookup scans two million rows."
    house.hear("s1", ("user", "The import is too slow, it fails with a timeout."), ("assistant", text))
    house.say("child", ("user", "Find out why"), ("assistant", text), parent="s1")
    house.extract("child")
    assert {entry.evidence for entry in house.entries()} == {1}


def test_opposite_statements_do_not_merge(house: House) -> None:
    """A prohibition and its opposite stay two entries."""
    house.hear("s1", ("user", "Always squash commits before merging to main."))
    house.hear("s2", ("user", "Never squash commits before merging to main."))
    assert len(house.entries()) == 2


@pytest.mark.parametrize("late", [False, True])
def test_a_reversal_supersedes_the_earlier_candidate_whatever_came_in_first(house: House, late: bool) -> None:
    """Same subject, named replacement: the old one leaves, by a recorded rule, with an edge between both."""
    sessions = [("old", REDIS, DAY), ("new", POSTGRES, 20 * DAY)]
    for session, turn, at in reversed(sessions) if late else sessions:
        house.hear(session, turn, at=at)
    old, new = house.entry("Redis for the mail queue"), house.entry("PostgreSQL for the mail queue")
    assert (old.status, new.status) == (Status.SUPERSEDED, Status.CANDIDATE)
    assert [(edge.source_id, edge.target_id) for edge in house.edges("supersedes")] == [(new.id, old.id)]
    (claim,) = house.claims(old)
    assert claim.status is Status.SUPERSEDED
    assert claim.superseded_by in [other.id for other in house.claims(new) if other.attribute == ""]
    with house.db.read() as tx:
        rows = tx.all("SELECT target_id, new_status, actor FROM review ORDER BY kind DESC")
    assert rows == [(old.id, "superseded", "rules"), (claim.id, "superseded", "rules")]


def test_an_earlier_switch_does_not_undo_a_later_choice(house: House) -> None:
    """What was chosen after the switch stands, and takes the place of what was switched to."""
    house.hear("s1", POSTGRES, at=DAY)
    house.hear("s2", REDIS, at=9 * DAY)
    old, new = house.entry("PostgreSQL for the mail queue"), house.entry("Redis for the mail queue")
    assert (old.status, new.status) == (Status.SUPERSEDED, Status.CANDIDATE)
    assert [(edge.source_id, edge.target_id) for edge in house.edges("supersedes")] == [(new.id, old.id)]


def test_a_reversal_on_another_subject_only_contradicts(house: House) -> None:
    """When it is not clear that both mean the same thing, a person is asked."""
    house.hear("s1", REDIS, ("user", "We decided to use Redis for the session cache."), at=DAY)
    house.hear("s2", ("user", "We are switching from Redis to Valkey for the rate limiter."), at=2 * DAY)
    assert {entry.status for entry in house.entries()} == {Status.CANDIDATE}
    new = house.entry("Valkey")
    assert {edge.source_id for edge in house.edges("contradicts")} == {new.id}
    assert len(house.edges("contradicts")) == 2


def test_an_assistant_does_not_overrule_a_person(house: House) -> None:
    """A person's decision is not superseded by what an assistant says."""
    house.hear("s1", REDIS, at=DAY)
    house.hear(
        "s2",
        ("assistant", "We switched from Redis to PostgreSQL for the mail queue because mail was lost."),
        at=2 * DAY,
    )
    assert house.entry("Redis for the mail queue").status is Status.CANDIDATE


def test_saying_it_again_later_revives_what_rules_superseded(house: House) -> None:
    """Back to Redis: the entry is a candidate again, and the switch away from it contradicts it."""
    house.hear("s1", REDIS, at=DAY)
    house.hear("s2", POSTGRES, at=2 * DAY)
    house.hear("s3", REDIS, at=3 * DAY)
    assert house.entry("Redis for the mail queue").status is Status.CANDIDATE


def test_taking_it_back_in_the_session_supersedes_it(house: House) -> None:
    """A withdrawn decision is kept, not served, and says with which words it was taken back."""
    house.hear("s1", REDIS, ("assistant", "All right."), ("user", "Scrap that, I want to think about it."))
    entry = house.entry("Redis for the mail queue")
    assert entry.status is Status.SUPERSEDED
    assert "Taken back: Scrap that, I want to think about it." in entry.body


@pytest.mark.parametrize("status", ["confirmed", "rejected"])
def test_what_a_person_decided_stays(house: House, status: str) -> None:
    """Neither repetition nor reversal changes a confirmed or a rejected entry; a rejected one gets no new claim."""
    house.hear("s1", REDIS, at=DAY)
    entry = house.entry("Redis")
    house.decide(entry, status)
    house.hear("s2", REDIS, at=2 * DAY)
    house.hear("s3", POSTGRES, at=3 * DAY)
    after = house.entry("Redis for the mail queue")
    assert (after.status.value, after.title, after.summary, after.body) == (
        status,
        entry.title,
        entry.summary,
        entry.body,
    )
    assert len(house.claims(after)) == (2 if status == "confirmed" else 1)
    assert len(house.edges("contradicts")) == (1 if status == "confirmed" else 0)
    assert not house.edges("supersedes")


def test_a_forgotten_entry_does_not_come_back(house: House) -> None:
    """What a person had forgotten is not proposed anew from the same words."""
    house.hear("s1", REDIS)
    with house.db.write() as tx:
        forget(tx, "entry", house.entry("Redis").id, Redactor().text("wrong"), NOW)
    house.extract("s1")
    assert house.entries() == []


def test_entries_that_share_files_symbols_or_names_are_related(house: House) -> None:
    """An edge says what both speak of; unrelated entries have none."""
    house.hear("s1", ("user", "Always lock rows in src/mail/outbox.py with SKIP LOCKED."))
    house.hear("s2", ("user", "Never call the provider inside src/mail/outbox.py because it blocks."))
    house.hear("s3", ("user", "I prefer small pull requests over big ones."))
    (edge,) = house.edges("relates_to")
    assert edge.reason == "both speak of src/mail/outbox.py"


def test_relations_are_bounded(house: House) -> None:
    """A name that everybody uses ties an entry to eight others at most."""
    for number in range(14):
        house.hear(
            f"s{number}", ("user", f"Never write column_{number} of table_{number}x from src/mail/outbox.py again.")
        )
    out: dict[str, int] = {}
    for edge in house.edges("relates_to"):
        out[edge.source_id] = out.get(edge.source_id, 0) + 1
    assert max(out.values()) == 8


def test_retracted_messages_are_not_heard_and_what_rests_on_them_goes(house: House) -> None:
    """A rewind takes the decision out of the candidates; its timeline stays."""
    messages = house.say("s1", REDIS, ("user", "Always run `make check` before you push."))
    house.extract("s1")
    with house.db.write() as tx:
        why = Redactor().text("rewind")
        row = Retraction(message_id=messages[0].id, project_id=messages[0].project_id, reason=why, created_at=Micros(5))
        insert(tx, row)
    house.extract("s1")
    assert house.entry("Redis").status is Status.SUPERSEDED
    assert house.entry("make check").status is Status.CANDIDATE
    before = house.everything()
    house.extract("s1")
    assert house.everything() == before


def test_refusals_are_counted_per_session_and_not_twice(house: House) -> None:
    """The counts of a session are replaced when it is heard again."""
    house.hear("s1", ("user", "Maybe let's go with SQLite for local development."), REDIS)
    house.extract("s1")
    house.hear("s2", ("user", "So we decided to use PostgreSQL for invoices?"))
    with house.db.read() as tx:
        assert rejections(tx) == {"hypothetical": 1, "question": 1, "drafts": 1}


def test_a_stopped_job_can_be_run_again(house: House) -> None:
    """Ending between two transactions leaves a part; the next run makes it whole."""
    turns: list[Turn] = [("user", f"Never write to table_{n}x from the worker of region {n}.") for n in range(20)]
    house.say("s1", *turns)
    left = iter([False, False, True])
    with pytest.raises(Stopped):
        extract.run(house.job("s1"), deps_for(house.db, house.data, lambda: next(left)))
    assert 0 < len(house.entries()) < 20
    house.extract("s1")
    assert len(house.entries()) == 20


def test_an_unknown_session_is_no_error(house: House) -> None:
    """A job for a session that was forgotten does nothing."""
    house.extract("nobody")
    assert house.entries() == []


def test_a_citation_that_does_not_read_as_quoted_is_not_written(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Code checks every span against the store; a draft that misquotes is dropped and counted."""
    house.say("s1", REDIS)

    def misquoting(messages: Iterable[Message], *, floor: float, subagent: bool) -> Yield:
        (draft,) = drafts_of(messages, floor=floor, subagent=subagent).drafts
        point = draft.points[0]
        bad = replace(point, quotes=[replace(point.quotes[0], start=1)])
        return Yield(drafts=[replace(draft, points=(bad, *draft.points[1:]))])

    monkeypatch.setattr(extract, "drafts_of", misquoting)
    house.extract("s1")
    assert house.entries() == []
    with house.db.read() as tx:
        assert rejections(tx)["citation does not match"] == 1
        assert find(tx, Claim) == []


def test_other_projects_are_another_world(house: House) -> None:
    """The same words in two projects are two entries that do not know each other."""
    house.hear("s1", REDIS, at=DAY)
    other = other_project(house.db, "q")
    messages = in_project(talk(POSTGRES, session="s9", at=2 * DAY), other)
    with house.db.write() as tx:
        row = Session(
            id=SessionId("s9"),
            project_id=other,
            agent="claude",
            native_id="s9",
            started_at=Micros(0),
            last_at=Micros(0),
        )
        upsert(tx, row)
        insert_many(tx, messages)
    house.extract("s9")
    assert {entry.status for entry in house.entries()} == {Status.CANDIDATE}
    assert house.edges() == []


def test_what_an_assistant_was_told_is_no_evidence_when_it_says_it_again(house: House) -> None:
    """A session whose briefing held the entry: the assistant's echo is refused, the user's own words count."""
    house.say("s1", ("assistant", REDIS[1]))
    house.extract("s1")
    entry = house.entry("Redis for the mail queue")
    (session,) = [one for one in _sessions(house) if one.id == "s1"]
    for name in ("s2", "s3"):
        house.say(name, ("user", "Which queue?") if name == "s2" else REDIS, ("assistant", REDIS[1]), at=DAY)
    told = [
        Injection(
            briefing_id=one.id,
            project_id=one.project_id,
            session_id=one.id,
            native_session=one.native_id,
            agent=one.agent,
            event="SessionStart",
            source="entries",
            item_kind="entry",
            item_id=entry.id,
            tokens=9,
            created_at=NOW,
        )
        for one in _sessions(house)
        if one.id != session.id
    ]
    with house.db.write() as tx:
        insert_many(tx, told)
    house.extract("s2")
    assert house.entry("Redis for the mail queue").evidence == 1
    house.extract("s3")
    assert house.entry("Redis for the mail queue").evidence == 2


def _sessions(house: House) -> list[Session]:
    with house.db.read() as tx:
        found: list[Session] = find(tx, Session)
    return found


def test_a_guess_that_is_repeated_is_counted_and_stays_a_guess(house: House) -> None:
    """However many sessions' assistants say it: a hypothesis, a candidate, with the number of sessions."""
    text = "The root cause is the missing index on parcel_id: each lookup scans two million rows."
    for number in range(5):
        house.hear(f"s{number}", ("user", "The import fails with a timeout."), ("assistant", text), at=number * DAY)
    (entry,) = [one for one in house.entries() if "parcel_id" in one.body]
    assert (entry.type.value, entry.status, entry.evidence) == ("hypothesis", Status.CANDIDATE, 5)
