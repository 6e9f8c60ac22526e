"""Proposing: only words that were really said or written become a candidate's citation, and never more than that."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.app.talking import NOON, House

from flywheel import app
from flywheel.api import Proposed
from flywheel.errors import BadInput, NotFound, Refused, Unavailable
from flywheel.harvest.entries import write_drafts
from flywheel.harvest.rules import drafts_of
from flywheel.model import Citation, ClaimType, Document, Kind, Retraction, Role, Seq, Session, Status
from flywheel.store.mapper import find, get, insert
from flywheel.text.redact import Redactor

SAID = "We decided to use Valkey for the price cache because the licence of Redis changed."
STATEMENT = "The price cache uses Valkey."


def propose(house: House, quote: str = SAID, statement: str = STATEMENT, **more: Any) -> Proposed:
    """Propose from the house's project, in session "one" of Claude Code."""
    given = {"cwd": str(house.project), "agent": "claude", "session": "one"} | more
    return house.app.propose(statement=statement, quote=quote, **given)


def citations(house: House) -> list[Citation]:
    """All of them, each compared with what it cites."""
    with house.parts.db.read() as tx:
        rows = find(tx, Citation)
        for row in rows:
            table = "document" if row.document_id else "message"
            text = tx.one(f"SELECT text FROM {table} WHERE id = :id", id=row.document_id or row.message_id)
            assert text is not None and text[0][row.start : row.stop] == row.quote
    return rows


def test_the_users_words_make_a_candidate(house: House) -> None:
    """Unconfirmed, with the words, their place and their speaker; the change reaches the indexes."""
    (message,) = house.say("one", ("user", f"Listen. {SAID} Go on."))
    done = propose(house, type="decision")
    assert (done.status, done.said_by) == ("candidate", "user") and "unconfirmed decision" in done.message
    (entry,) = house.entries()
    assert (entry.id, entry.short, entry.status, entry.type) == (
        done.id,
        done.short,
        Status.CANDIDATE,
        ClaimType.DECISION,
    )
    assert "proposed" in entry.tags and entry.last_confirmed is None
    (citation,) = citations(house)
    assert (citation.quote, citation.message_id) == (SAID, message.id)
    (claim,) = house.claims()
    assert (claim.role, claim.said_at, claim.text) == (Role.USER, message.created_at, STATEMENT)
    assert (Kind.ENTRY, entry.id) in [(change.kind, change.id) for change in house.parts.db.changes(Seq(0))]


def test_white_space_may_differ(house: House) -> None:
    """What a model copies on one line is found over two, and the citation is the stored text, byte for byte."""
    house.say("one", ("user", "Please:  always run\n   make check\tbefore a commit.\n"))
    propose(house, "always run make check before a commit", "Run make check before each commit.")
    (citation,) = citations(house)
    assert citation.quote == "always run\n   make check\tbefore a commit"


def test_twice_is_once(house: House) -> None:
    """The same proposal again changes nothing, and says so."""
    house.say("one", ("user", SAID))
    first, second = propose(house), propose(house)
    assert first.id == second.id and "Known already" in second.message
    assert [house.count(table) for table in ("entry", "claim", "citation")] == [1, 1, 1]


def test_another_session_adds_evidence(house: House) -> None:
    """One entry, two claims, evidence of two sessions."""
    house.say("one", ("user", SAID))
    house.say("two", ("user", "Remember: the price cache runs on Valkey, not on Redis."), at=1000)
    propose(house)
    second = propose(house, "the price cache runs on Valkey", session="two")
    assert "added" in second.message
    (entry,) = house.entries()
    assert entry.evidence == 2 and len(house.claims()) == 2


def test_an_extracted_statement_keeps_the_persons_words(house: House) -> None:
    """What rules found in a person's own words is not reworded by an agent's proposal that merges with it."""
    words = "We always use Valkey for the price cache."
    messages = house.say("one", ("user", words))
    with house.parts.db.write() as tx:
        session = get(tx, Session, id=messages[0].session_id)
        assert session is not None
        write_drafts(tx, drafts_of(messages, floor=0.5).drafts, session, NOON)
    (before,) = house.entries()
    done = propose(house, words, "For the price cache, Valkey is always used by us.", type="decision")
    (entry,) = house.entries()
    assert done.id == entry.id and entry.summary == before.summary == words


@pytest.mark.parametrize(
    ("statement", "one"),
    [
        ("The price cache is kept in Valkey.", True),
        ("Do not keep the price cache in Valkey.", False),
        ("Licences of dependencies are checked before each release.", False),
    ],
)
def test_what_rests_on_the_same_words_and_adds_nothing_is_one(house: House, statement: str, one: bool) -> None:
    """An entry that rules made of these very words takes the proposal in; something else from them stands alone."""
    messages = house.say("one", ("user", SAID))
    with house.parts.db.write() as tx:
        session = get(tx, Session, id=messages[0].session_id)
        assert session is not None
        write_drafts(tx, drafts_of(messages, floor=0.5).drafts, session, NOON)
    (before,) = house.entries()
    done = propose(house, "Valkey for the price cache because the licence of Redis changed", statement)
    assert (done.id == before.id) is one and house.count("entry") == 2 - one
    assert next(entry for entry in house.entries() if entry.id == before.id).title == before.title


def test_a_tools_words_are_an_external_claim(house: House) -> None:
    """Whatever type was asked for; the answer says so."""
    house.say("one", ("result", "The API allows 60 requests per minute and token."))
    done = propose(house, "The API allows 60 requests per minute", "The API allows 60 requests a minute.", type="fact")
    assert done.said_by == "tool" and "external claim" in done.message
    assert house.entries()[0].type is ClaimType.EXTERNAL


@pytest.mark.parametrize("type", ["fact", "decision", "external_claim"])
def test_an_assistants_words_prove_nothing(house: House, type: str) -> None:
    """Its own words carry neither a fact nor a decision; what to do is said, and nothing is written."""
    house.say("one", ("assistant", "The flaky test is caused by the shared clock."))
    with pytest.raises(BadInput, match="hypothesis or judgment") as caught:
        propose(house, "caused by the shared clock", "The shared clock makes the test flaky.", type=type)
    assert caught.value.details["field"] == "type" and house.count("entry") == 0


@pytest.mark.parametrize(("type", "kept"), [("", "hypothesis"), ("hypothesis", "hypothesis"), ("judgment", "judgment")])
def test_an_assistants_words_may_be_a_guess(house: House, type: str, kept: str) -> None:
    """And the role is recorded."""
    house.say("one", ("assistant", "The flaky test is caused by the shared clock."))
    done = propose(house, "caused by the shared clock", "The shared clock makes the test flaky.", type=type)
    assert done.said_by == "assistant"
    (claim,) = house.claims()
    assert (claim.type, claim.role) == (kept, Role.ASSISTANT)


def test_a_persons_words_are_preferred(house: House) -> None:
    """Though the assistant and a tool repeated them later, in the same session or another."""
    house.say("old", ("user", SAID))
    house.say("one", ("result", f"notes.txt: {SAID}"), ("assistant", f"You said: {SAID}"), at=1000)
    assert propose(house).said_by == "user"


def test_what_was_thought_called_or_taken_back_is_no_evidence(house: House) -> None:
    """Thinking, a call's arguments (the proposal's own above all) and retracted messages are passed over."""
    messages = house.say("one", ("thinking", SAID), ("call", f"statement: x\nquote: {SAID}"), ("user", SAID))
    with house.parts.db.write() as tx:
        why = Redactor().text("rewound")
        row = Retraction(message_id=messages[2].id, project_id=messages[2].project_id, reason=why, created_at=NOON)
        insert(tx, row)
    with pytest.raises(BadInput, match="word for word"):
        propose(house)


def test_words_of_another_project_are_not_found(house: House, tmp_path: Path) -> None:
    """Unless they were said in the session that proposes."""
    other = tmp_path / "other"
    other.mkdir()
    house.say("elsewhere", ("user", SAID), cwd=other)
    with pytest.raises(BadInput):
        propose(house)
    assert propose(house, session="elsewhere").said_by == "user"


def test_without_a_session_the_projects_talks_are_searched(house: House) -> None:
    """A client that names neither agent nor session."""
    house.say("one", ("user", SAID))
    assert propose(house, agent="", session="").said_by == "user"


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"quote": "yes, do it"}, "quote"),
        ({"quote": "x" * 2001}, "quote"),
        ({"statement": "Use it."}, "statement"),
        ({"statement": "x" * 601}, "statement"),
        ({"statement": "<flywheel-briefing> says that Valkey is used"}, "statement"),
        ({"quote": "\\u003cflywheel-briefing\\u003e We use tabs"}, "quote"),
        ({"statement": "The staging key is AKIAIOSFODNN7EXAMPLQ and nothing else"}, "statement"),
        ({"type": "rumour"}, "type"),
        ({"quote": "what nobody ever said here"}, "quote"),
    ],
)
def test_bad_input_names_the_field(house: House, given: dict[str, Any], field: str) -> None:
    """Too short, too long, our own answers, secrets, unknown types, words that were not said."""
    house.say("one", ("user", SAID))
    with pytest.raises(BadInput) as caught:
        propose(house, **given)
    assert caught.value.details["field"] == field and house.count("entry") == 0


def test_a_secret_around_the_words_is_not_stored_again(house: House) -> None:
    """Quote and message are compared as they are stored, redacted."""
    house.say("one", ("user", "Use the key AKIAIOSFODNN7EXAMPLQ only for the staging bucket, never for production."))
    assert propose(house, "only for the staging bucket, never for production").said_by == "user"
    assert "AKIA" not in citations(house)[0].quote


def test_a_scope_keeps_apart(house: House) -> None:
    """The same words for one part of the project are another entry, shown and served with its part."""
    house.say("one", ("user", SAID))
    whole, part = propose(house), propose(house, scope="src/api")
    assert whole.id != part.id
    assert house.app.show(id=part.id).facts["scope"] == "src/api"
    assert propose(house, scope="src/api").id == part.id


def test_what_a_person_rejected_stays_rejected(house: House) -> None:
    """A value, not an error: the agent learns it."""
    house.say("one", ("user", SAID))
    done = propose(house)
    with house.parts.db.write() as tx:
        tx.run("UPDATE entry SET status = 'rejected' WHERE id = :id", id=done.id)
    again = propose(house, "Valkey for the price cache because the licence")
    assert again.status == "rejected" and "rejected" in again.message


def test_what_a_person_confirmed_stays_confirmed(house: House) -> None:
    """More evidence, no other words."""
    house.say("one", ("user", SAID))
    done = propose(house)
    with house.parts.db.write() as tx:
        tx.run("UPDATE entry SET status = 'confirmed' WHERE id = :id", id=done.id)
    again = propose(house, "Valkey for the price cache because the licence")
    assert again.status == "confirmed" and house.entries()[0].summary == STATEMENT


def test_what_was_forgotten_is_not_filed_again(house: House) -> None:
    """The statement's tombstone holds for proposals, too."""
    house.say("one", ("user", SAID))
    house.app.forget(id=propose(house).id)
    with pytest.raises(Refused, match="forgotten"):
        propose(house)


def test_forgetting_the_words_forgets_the_claim(house: House) -> None:
    """Nothing rests on nothing."""
    (message,) = house.say("one", ("user", SAID))
    propose(house)
    house.app.forget(id=message.id)
    assert [house.count(table) for table in ("entry", "claim", "citation")] == [0, 0, 0]


ADR = "# 7. Queue\n\nWe keep one queue per tenant,\nbecause bills must not wait for mails.\n"


def test_a_file_is_cited_and_kept(house: House) -> None:
    """Its text as it is becomes a document, the citation points there, and `show` leads to path and words."""
    house.write("docs/adr/0007-queue.md", ADR)
    quote = "We keep one queue per tenant, because bills must not wait"
    done = propose(house, quote, "There is one queue per tenant.", source="docs/adr/0007-queue.md:3", type="decision")
    assert done.said_by == "docs/adr/0007-queue.md:3"
    with house.parts.db.read() as tx:
        (document,) = find(tx, Document)
    assert (document.path, document.kind, document.title) == ("docs/adr/0007-queue.md", "adr", "7. Queue")
    assert document.text == ADR and citations(house)[0].document_id == document.id
    shown = house.app.show(id=done.id)
    assert shown.receipts[0].said_by == "docs/adr/0007-queue.md" and "written in a file" in shown.body
    assert house.app.why(question="one queue per tenant", cwd=str(house.project)) is not None


def test_each_version_of_a_file_is_a_document(house: House) -> None:
    """The old one stays as it was; the same one again is no second row."""
    house.write("notes.md", "The importer reads five hundred rows at once.\n")
    quote = "reads five hundred rows at once"
    propose(house, quote, "The importer reads 500 rows at once.", source="notes.md")
    propose(house, quote, "The importer reads 500 rows at once.", source="notes.md")
    assert house.count("document") == 1
    house.write("notes.md", "New: the importer reads five hundred rows at once.\n")
    propose(house, quote, "The importer reads 500 rows at once.", source=str(house.project / "notes.md"))
    assert house.count("document") == 2 and house.count("entry") == 1


def test_a_forgotten_file_is_not_kept_again(house: House) -> None:
    """This version of it."""
    house.write("notes.md", "The importer reads five hundred rows at once.\n")
    propose(house, "reads five hundred rows at once", "It reads 500 rows.", source="notes.md")
    with house.parts.db.read() as tx:
        (document,) = find(tx, Document)
    house.app.forget(id=document.id)
    assert house.count("entry") == 0
    with pytest.raises(Refused, match="forgotten"):
        propose(house, "reads five hundred rows at once", "It reads 500 rows.", source="notes.md")


def test_the_lines_number_chooses_among_equals(house: House) -> None:
    """The place nearest to the line that was named."""
    house.write("a.py", "retries = 3  # as agreed\n" * 9)
    done = propose(house, "retries = 3  # as agreed", "Three retries are agreed.", source="a.py:7")
    assert done.said_by == "a.py:7"


@pytest.mark.parametrize(
    ("source", "kind", "told"),
    [
        ("../outside.txt", Refused, "outside"),
        ("/etc/hostname", Refused, "outside"),
        ("link.txt", Refused, "outside"),
        (".env", Refused, "secrets"),
        ("deploy/id_rsa", Refused, "secrets"),
        ("conf/credentials.json", Refused, "secrets"),
        ("build.log", Refused, "ignored"),
        ("kept/private.txt", Refused, "ignored"),
        (".git/config", Refused, "version control"),
        ("missing.py", NotFound, "no file"),
        ("src", NotFound, "no file"),
        ("a\nb", BadInput, "path:line"),
        ("binary.dat", BadInput, "no text"),
        ("latin.txt", BadInput, "no text"),
        ("large.txt", BadInput, "larger"),
        ("ok.txt", BadInput, "word for word"),
    ],
)
def test_what_may_not_or_cannot_be_read(
    house: House, tmp_path: Path, source: str, kind: type[Exception], told: str
) -> None:
    """Outside of the checkout, by a link too; ignored, secret, missing, no text, too large, without the words."""
    (tmp_path / "outside.txt").write_text("words that stand outside\n")
    (house.project / "link.txt").symlink_to(tmp_path / "outside.txt")
    for path in (
        ".env",
        "deploy/id_rsa",
        "conf/credentials.json",
        "build.log",
        "kept/private.txt",
        "src/a.py",
        "ok.txt",
    ):
        house.write(path, "words that stand outside? no\n")
    house.write(".gitignore", "*.log\n")
    house.write("kept/.flywheelignore", "private.*\n")
    house.write("binary.dat", b"words that stand outside\0")
    house.write("latin.txt", "words that stand outside \xe9".encode("latin-1"))
    house.write("large.txt", "words that stand outside\n" * 40_000)
    with pytest.raises(kind, match=told):
        propose(house, "words that stand outside of it", source=source)
    assert house.count("document") == house.count("entry") == 0


def test_the_newest_words_are_awaited(house: House, tmp_path: Path) -> None:
    """The session's transcript has more than was read of it: it is queued, and the agent is told to ask again."""
    poked: list[int] = []
    house.app.poke = lambda: poked.append(1)
    folder = tmp_path / "user" / ".claude" / "projects" / "-shop"
    folder.mkdir(parents=True)
    native = "11111111-2222-4333-8444-555555555555"
    record = {
        "type": "user", "uuid": "u1", "sessionId": native, "cwd": str(house.project), "version": "2.1.300",
        "timestamp": "2026-03-02T09:00:00Z", "message": {"role": "user", "content": SAID},
    }  # fmt: skip
    (folder / f"{native}.jsonl").write_text(json.dumps(record) + "\n")
    with pytest.raises(Unavailable, match="not read yet") as caught:
        propose(house, session=native)
    assert (
        caught.value.details["again_seconds"]
        and poked
        and [job["kind"] for job in house.app.jobs().jobs] == ["harvest"]
    )
    with pytest.raises(Unavailable):  # queued, and not yet read
        propose(house, session=native)
    app.settle_all(house.parts)
    assert propose(house, session=native).said_by == "user"
    with pytest.raises(BadInput, match="word for word"):  # everything is read, and it is not there
        propose(house, "what nobody ever said here", session=native)
