"""Documents taken in: versions, statements with receipts, what ends, what takes whose place, what is refused."""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.app.talking import NOON, House

from flywheel import app
from flywheel.api import Added
from flywheel.errors import BadInput, NotFound, Refused
from flywheel.harvest.entries import write_drafts
from flywheel.harvest.rules import drafts_of
from flywheel.model import (
    Citation,
    Claim,
    Document,
    DocumentHead,
    Edge,
    Entry,
    Role,
    Session,
    Status,
    digest,
)
from flywheel.readers import session_id
from flywheel.store.mapper import find, get


def add(house: House, **given: Any) -> Added:
    """Add to the house's project."""
    return house.app.add(cwd=str(house.project), **given)


def note(house: House, text: str, day: str, **given: Any) -> Added:
    """A note of a day."""
    return add(house, text=text, date=day, kind="note", **given)


def page(house: House, subject: str) -> Entry:
    """The page about a subject."""
    (found,) = [one for one in house.entries() if one.subject == subject]
    return found


def told(house: House, subject: str) -> Mapping[str, str]:
    """Value and scope of each claim about a subject, with its status."""
    return {f"{c.value} {c.scope}".strip(): c.status.value for c in house.claims() if c.subject == subject}


def edges(house: House, kind: str) -> list[Edge]:
    """Edges of a kind."""
    with house.parts.db.read() as tx:
        return find(tx, Edge, "WHERE kind = :kind ORDER BY source_id, target_id", kind=kind)


def hear(house: House, session: str, text: str, day: int = 0, role: str = "user") -> None:
    """Something is said in a conversation, some days after noon of the house's day, and is extracted."""
    messages = house.say(session, (role, text), at=day * 86_400_000_000)
    with house.parts.db.write() as tx:
        row = get(tx, Session, id=session_id("claude", session))
        assert row is not None
        write_drafts(tx, drafts_of(messages).drafts, row, NOON)


def search(house: House, query: str) -> Sequence[str]:
    """The texts that are found, best first."""
    app.settle_all(house.parts)
    return [hit.text for hit in house.app.search(query=query, cwd=str(house.project)).hits]


def test_a_file_is_kept_once_with_what_it_states(house: House) -> None:
    """One immutable version, today's head, and a claim with a verbatim citation for each statement, by subject."""
    house.write(
        "docs/runbook.md", "# Runbook: exports\n\nDate: 2026-03-02\n\nExports are kept for 30 days.\n- Owner: Maren\n"
    )
    done = add(house, path="docs/runbook.md")
    assert (done.version, done.kind, done.rank, done.dated_by, done.statements) == ("new", "runbook", 2, "heading", 2)
    assert "docs/runbook.md: runbook, rank 2, of 2026-03-02 (heading)" in done.message
    with house.parts.db.read() as tx:
        (document,) = find(tx, Document)
        (head,) = find(tx, DocumentHead)
        cited = find(tx, Citation)
    assert (document.id, document.path, document.rank, head.document_id) == (done.id, "docs/runbook.md", 2, done.id)
    assert document.sha256 == digest(document.text) and head.gone_at is None
    assert {one.quote for one in cited} == {"Exports are kept for 30 days.", "- Owner: Maren"}
    for one in cited:
        assert document.text[one.start : one.stop] == one.quote and one.sha256 == digest(one.quote)
        assert one.document_id == document.id
    entry = page(house, "export")
    assert (entry.title, entry.status, entry.tags) == ("Exports", Status.CANDIDATE, ("runbook",))
    claims = house.claims()
    assert {(c.attribute, c.value, c.rank, c.role, c.entry_id) for c in claims} == {
        ("retention", "30 days", 2, Role.SYSTEM, entry.id),
        ("owner", "maren", 2, Role.SYSTEM, entry.id),
    }
    assert {c.said_at for c in claims} == {done.said_at}
    assert "30 days" in entry.body and "maren" in entry.body.lower()


def test_adding_again_changes_nothing(house: House) -> None:
    """Not even the change feed."""
    house.write("a.md", "# Exports\n\nExports are kept for 30 days. The owner of exports is Maren.\n")
    first = add(house, path="a.md")
    head = house.parts.db.head()
    rows = house.claims(), house.entries()
    again = add(house, path="a.md")
    assert (first.version, again.version, again.counts["claims"]) == ("new", "unchanged", 0)
    assert (house.claims(), house.entries()) == rows and house.parts.db.head() == head


def test_a_changed_file_is_a_new_version_and_what_it_withdraws_ends(house: House) -> None:
    """What both say keeps its claim and its date; what comes back stands again."""
    house.write("a.md", "Exports are kept for 30 days.\n\nThe owner of exports is Maren.\n")
    add(house, path="a.md")
    kept = [c for c in house.claims() if c.attribute == "owner"]
    house.write("a.md", "The owner of exports is Maren.\n\nExports are stored in S3.\n")
    done = add(house, path="a.md")
    assert (done.version, done.counts["ended"], done.counts["claims"]) == ("changed", 1, 1)
    by = {str(c.attribute): c for c in house.claims()}
    assert by["retention"].valid_until is not None and by["retention"].status is Status.SUPERSEDED
    assert by["owner"] == kept[0] and by["owner"].valid_until is None
    assert house.count("document") == 2 and house.count("document_head") == 1
    with house.parts.db.read() as tx:
        assert len(find(tx, Citation, "WHERE claim_id = :id", id=by["owner"].id)) == 2
    lines = [line for line in page(house, "export").body.splitlines() if line.startswith("- ") and "~~" not in line]
    assert not any("30 days" in line for line in lines) and any("S3" in line for line in lines)
    house.write("a.md", "Exports are kept for 30 days.\n")
    add(house, path="a.md")
    by = {str(c.attribute): c for c in house.claims()}
    assert (by["retention"].status, by["retention"].valid_until) == (Status.CANDIDATE, None)
    assert by["owner"].valid_until is not None


def test_a_later_value_takes_the_place_of_an_earlier_one_whatever_came_in_first(house: House) -> None:
    """By the sources' own days: the old one leaves retrieval and stays in the timeline."""
    days = ["2026-03-01", "2026-03-02", "2026-03-03"]
    texts = [f"Exports are kept for {n} days." for n in (30, 60, 90)]
    for number in (1, 2, 0):
        note(house, texts[number], days[number])
    assert told(house, "export") == {"30 days": "superseded", "60 days": "superseded", "90 days": "candidate"}
    by = {str(c.value): c for c in house.claims()}
    assert {by["30 days"].superseded_by, by["60 days"].superseded_by} == {by["90 days"].id}
    found = search(house, "How long are exports kept?")
    assert found and "90 days" in found[0]
    assert not any(text in found for text in texts[:2])


def test_rank_goes_before_date(house: House) -> None:
    """A later draft does not displace a runbook; the ranks are the settings'."""
    note(house, "Exports are kept for 30 days.", "2026-03-01", rank="runbook")
    add(house, text="Exports are kept for 5 days.", date="2026-05-01", kind="draft")
    assert told(house, "export") == {"30 days": "candidate", "5 days": "superseded"}
    add(house, text="Exports are kept for 60 days.", date="2026-02-01", kind="design")
    assert told(house, "export") == {"30 days": "superseded", "5 days": "superseded", "60 days": "candidate"}


def test_two_of_one_day_are_disputed_until_a_third_decides(house: House) -> None:
    """Equals of one day: both stand, and the page says so."""
    note(house, "Exports are kept for 30 days.", "2026-03-01")
    note(house, "Exports are kept for 60 days.", "2026-03-01")
    assert set(told(house, "export").values()) == {"disputed"}
    assert page(house, "export").status is Status.DISPUTED
    assert "30 days" in page(house, "export").body and "60 days" in page(house, "export").body
    note(house, "Exports are kept for 90 days.", "2026-03-02")
    assert told(house, "export") == {"30 days": "superseded", "60 days": "superseded", "90 days": "candidate"}


def test_scopes_do_not_displace_each_other(house: House) -> None:
    """A value for a plan stands beside the one for all; a later one for all displaces both."""
    note(house, "Exports are kept for 30 days.", "2026-03-01")
    note(house, "Exports are kept for 365 days on the enterprise plan.", "2026-03-02")
    note(house, "Exports are kept for 90 days.", "2026-03-03", scope="region: EU")
    assert told(house, "export") == {
        "30 days": "candidate",
        "365 days plan:enterprise": "candidate",
        "90 days region:eu": "candidate",
    }
    note(house, "Exports are kept for 60 days for all customers.", "2026-03-04")
    assert told(house, "export") == {
        "30 days": "superseded",
        "365 days plan:enterprise": "superseded",
        "90 days region:eu": "superseded",
        "60 days": "candidate",
    }


def test_what_a_person_confirmed_is_never_touched(house: House) -> None:
    """A later statement is a challenger: a question on the page, no change of what holds."""
    note(house, "Exports are kept for 30 days.", "2026-03-01")
    with house.parts.db.write() as tx:
        tx.run("UPDATE claim SET status = 'confirmed'")
        tx.run("UPDATE entry SET status = 'confirmed'")
    note(house, "Exports are kept for 60 days.", "2026-03-02")
    assert told(house, "export") == {"30 days": "confirmed", "60 days": "candidate"}
    assert page(house, "export").status is Status.CONFIRMED


def test_a_file_that_no_longer_says_what_was_confirmed(house: House) -> None:
    """Stays as it is, and the answer says that somebody should look."""
    house.write("a.md", "Exports are kept for 30 days.\n")
    add(house, path="a.md")
    with house.parts.db.write() as tx:
        tx.run("UPDATE claim SET status = 'confirmed'")
    house.write("a.md", "Exports are stored in S3.\n")
    done = add(house, path="a.md")
    assert (done.counts["kept"], done.counts["ended"]) == (1, 0) and "flywheel review" in done.message
    assert told(house, "export")["30 days"] == "confirmed"


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_talk_and_documents_are_weighed_together(house: House, order: Sequence[int]) -> None:
    """A fact said in conversation and two notes, in any order: the last day holds, its rivals leave retrieval."""
    for number in order:
        if number == 1:  # a day in May
            hear(house, "s", "For the record: exports are kept for 45 days.", day=1)
        else:
            days, when = (30, "2026-03-01") if number == 0 else (90, "2026-06-20")
            note(house, f"Exports are kept for {days} days.", when)
    claims = [c for c in house.claims() if c.subject == "export"]
    assert {c.value for c in claims if c.status is Status.CANDIDATE} == {"90 days"}
    assert {c.value for c in claims if c.status is Status.SUPERSEDED} == {"30 days", "45 days"}
    (said,) = [one for one in house.entries() if one.subject != "export" or "record" in one.title.lower()]
    assert said.status is Status.SUPERSEDED
    assert [(one.source_id, one.target_id) for one in edges(house, "supersedes")] == [
        (page(house, "export").id, said.id)
    ]


def test_what_was_said_last_wins_over_an_older_note(house: House) -> None:
    """And stands on the page with its receipt in the conversation."""
    note(house, "Exports are kept for 30 days.", "2026-03-01")
    hear(house, "s", "For the record: exports are kept for 45 days.", day=1)
    assert "45 days" in page(house, "export").body
    assert {c.value for c in house.claims() if c.status is Status.SUPERSEDED} == {"30 days"}
    with house.parts.db.read() as tx:
        copies = find(tx, Claim, "WHERE entry_id = :id AND value = '45 days'", id=page(house, "export").id)
        cited = find(tx, Citation, "WHERE claim_id IN :ids", ids=[c.id for c in copies])
    assert [c.session_id for c in copies] == [session_id("claude", "s")]
    assert [one.message_id is not None for one in cited] == [True]


def test_an_assistant_displaces_nobody(house: House) -> None:
    """Its later words contradict a person's, for somebody to look at; both stand."""
    hear(house, "s1", "We decided to use Valkey for the price cache.", day=1)
    hear(house, "s2", "We decided to use Redis for the price cache.", day=9, role="assistant")
    assert {one.status for one in house.entries()} == {Status.CANDIDATE}
    assert len(edges(house, "contradicts")) == 1 and not edges(house, "supersedes")


def test_a_restatement_that_no_rule_parses(house: House) -> None:
    """Nearly the same words with another end, in notes: the later takes the earlier's place, over an edge."""
    note(house, "The harbour crane lifts about 40 tonnes.", "2026-03-01")
    note(house, "The harbour crane lifts about 55 tonnes.", "2026-03-02")
    note(house, "The harbour tug pulls about 55 tonnes.", "2026-03-03")
    old, new, other = house.entries()
    assert [one.status.value for one in (old, new, other)] == ["superseded", "candidate", "candidate"]
    assert [(one.source_id, one.target_id) for one in edges(house, "supersedes")] == [(new.id, old.id)]


def test_a_file_that_is_gone_is_marked(house: House) -> None:
    """Nothing is deleted; when it is back, it is a source again."""
    house.write("a.md", "Exports are kept for 30 days.\n")
    add(house, path="a.md")
    (house.project / "a.md").unlink()
    done = add(house, path="a.md")
    assert (done.version, done.counts) == ("gone", {"claims": 1}) and "Nothing was deleted" in done.message
    with house.parts.db.read() as tx:
        (head,) = find(tx, DocumentHead)
    assert head.gone_at is not None
    assert told(house, "export") == {"30 days": "stale"} and "a.md is gone" in page(house, "export").stale_reason
    house.write("a.md", "Exports are kept for 30 days.\n")
    add(house, path="a.md")
    assert told(house, "export") == {"30 days": "candidate"} and not page(house, "export").stale_reason
    with house.parts.db.read() as tx:
        (head,) = find(tx, DocumentHead)
    assert head.gone_at is None
    with pytest.raises(NotFound):
        add(house, path="never.md")


def test_an_older_version_is_not_found_any_more(house: House) -> None:
    """Search gives what the source has today, and of that what still holds."""
    house.write("a.md", "The crane in Lind is painted yellow.\n")
    add(house, path="a.md")
    house.write("a.md", "The crane in Lind is painted green.\n")
    add(house, path="a.md")
    found = search(house, "How is the crane in Lind painted?")
    assert found and not any("yellow" in text for text in found)


def test_words_of_a_document_that_no_longer_hold_are_not_shown(house: House) -> None:
    """The rest of it is."""
    note(house, "The owner of exports is Maren. Exports are kept for 30 days.", "2026-03-01")
    note(house, "Exports are kept for 60 days.", "2026-03-02")
    app.settle_all(house.parts)
    hits = house.app.search(query="owner of exports kept days", cwd=str(house.project), kinds=["document"]).hits
    assert any("The owner of exports is Maren. [no longer holds]" in hit.text for hit in hits)


def test_a_long_document_is_read_by_a_worker(house: House) -> None:
    """It is kept at once; its statements follow, in short transactions."""
    lines = [f"The owner of crate {n} is Maren.\n" for n in range(700)]
    house.write("crates.md", "\n".join(lines))
    done = add(house, path="crates.md")
    assert done.pending and done.statements == 0 and "being read" in done.message
    assert house.count("claim") == 0
    app.settle_all(house.parts)
    assert house.count("claim") == 700
    assert add(house, path="crates.md").version == "unchanged"
    app.settle_all(house.parts)
    assert house.count("claim") == 700


@pytest.mark.parametrize(
    ("path", "text", "message"),
    [
        (".env", "A=b", "looks like it holds secrets"),
        ("deploy.pem", "x", "looks like it holds secrets"),
        ("a.md", "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\n", "holds a private key"),
        ("a.txt", "\n".join(f"password{n} = hunter2-{n}-Zk93jf0{n}x" for n in range(9)), "holds 9 secrets"),
    ],
)
def test_secrets_are_refused(house: House, path: str, text: str, message: str) -> None:
    """By name and by content, with a reason; nothing is kept."""
    house.write(path, text)
    with pytest.raises(Refused, match=message):
        add(house, path=path)
    assert house.count("document") == 0


def test_one_secret_among_much_is_taken_out(house: House) -> None:
    """And a sentence that held it states nothing."""
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    house.write("a.md", f"The owner of exports is Maren.\n\nThe token of exports is {key}.\n")
    add(house, path="a.md")
    with house.parts.db.read() as tx:
        (document,) = find(tx, Document)
    assert key not in document.text and "[redacted:" in document.text
    assert [c.attribute for c in house.claims()] == ["owner"]


def test_what_is_no_document_is_refused(house: House) -> None:
    """Binary files, folders, pipes, other formats, nothing at all, both at once: each with its message."""
    house.write("a.md", b"\0\1\2")
    (house.project / "folder").mkdir()
    os.mkfifo(house.project / "pipe.md")
    (house.project / "b.zip").write_bytes(b"PK")
    for given, message in (
        ({"path": "a.md"}, "no text in UTF-8"),
        ({"path": "folder"}, "is no file"),
        ({"path": "pipe.md"}, "is no file"),
        ({"path": "b.zip"}, "no document that is read"),
        ({}, "one of them"),
        ({"path": "a.md", "text": "x"}, "one of them"),
        ({"text": "x y z", "date": "soon"}, "'date' must be a day"),
        ({"text": "x y z", "rank": "king"}, "'rank' must be"),
        ({"text": "x y z", "kind": "poem"}, "'kind' must be"),
        ({"text": "<flywheel-briefing>\nThe owner of exports is Maren.\n</flywheel-briefing>"}, "Flywheel's own"),
    ):
        with pytest.raises(BadInput, match=message):
            add(house, **given)
    assert house.count("document") == 0


def test_what_is_given_goes_before_what_a_document_says_of_itself(house: House) -> None:
    """Kind, rank, date and scope; the same file given otherwise is another version, whose claims take the place."""
    house.write("a.md", "---\ndate: 2026-03-02\nkind: draft\n---\nExports are kept for 30 days.\n")
    first = add(house, path="a.md")
    assert (first.kind, first.rank, first.dated_by) == ("draft", 0, "front matter")
    again = add(house, path="a.md", kind="runbook", rank="design", date="2026-04-01", scope="on the pro plan")
    assert (again.kind, again.rank, again.dated_by, again.version) == ("runbook", 3, "given", "changed")
    assert told(house, "export") == {"30 days": "superseded", "30 days plan:pro": "candidate"}


def test_a_note_is_of_today(house: House) -> None:
    """It has a name of its own, and its statements are candidates."""
    done = house.app.note(text="The owner of exports is Maren.", cwd=str(house.project))
    assert (done.kind, done.dated_by, done.version) == ("note", "today", "new")
    assert done.path.startswith("notes/") and done.path.endswith(".md")
    assert told(house, "export") == {"maren": "candidate"}
    assert house.app.note(text="The owner of exports is Maren.", cwd=str(house.project)).version == "unchanged"


def test_a_file_from_elsewhere_keeps_its_whole_path(house: House, tmp_path: Path) -> None:
    """Within the checkout the path is relative."""
    other = tmp_path / "elsewhere" / "a.md"
    other.parent.mkdir()
    other.write_text("The owner of exports is Maren.\n")
    assert add(house, path=str(other)).path == str(other)


def test_what_was_forgotten_is_not_taken_in_again(house: House) -> None:
    """Neither a version nor a page."""
    done = note(house, "The owner of exports is Maren.", "2026-03-01")
    house.app.forget(id=done.id)
    assert house.claims() == [] and house.entries() == [] and house.count("document_head") == 0
    with pytest.raises(Refused, match="forgotten"):
        note(house, "The owner of exports is Maren.", "2026-03-01")
    note(house, "The owner of imports is Maren.", "2026-03-01")
    house.app.forget(id=page(house, "import").id)
    note(house, "The owner of imports is Ines.", "2026-03-02")
    assert house.entries() == []
