"""Feedback: kept once, shown, heeded by briefings, ranking and search, and gone with what it was about."""

from __future__ import annotations

import pytest
from tests.app.talking import House, served

from flywheel import app
from flywheel.errors import BadInput, NotFound, Refused
from flywheel.model import Feedback, Kind, Micros, Review
from flywheel.search.queries import HELPED, called_wrong, usefulness
from flywheel.search.usefulness import HARM
from flywheel.store.mapper import find, insert
from flywheel.text.redact import Redactor

SAID = "We decided to use Valkey for the price cache because the licence of Redis changed."


@pytest.fixture
def entry(house: House) -> str:
    """The id of a candidate of the project."""
    house.say("one", ("user", SAID))
    given = {"statement": "The price cache uses Valkey.", "quote": SAID, "cwd": str(house.project)}
    return house.app.propose(**given, agent="claude", session="one").id


def kept(house: House) -> list[Feedback]:
    """All of it."""
    with house.parts.db.read() as tx:
        return find(tx, Feedback, "ORDER BY created_at, id")


def look(house: House, id: str, at: int = 0) -> None:
    """A person decides about an entry; code decides something, too."""
    text = Redactor().text
    with house.parts.db.write() as tx:
        for actor in ("rules", "somebody") if at else ("rules",):
            row = Review(
                id=f"{actor}-{at}", project_id=house.entries()[0].project_id, kind="entry", target_id=id,
                old_status="candidate", new_status="candidate", actor=text(actor), reason=text(""),
                created_at=Micros(at or 2**60),
            )  # fmt: skip
            insert(tx, row)
        tx.changed(Kind.ENTRY, house.entries()[0].id, house.entries()[0].project_id)


def test_a_verdict_is_kept_once(house: House, entry: str) -> None:
    """Per session, thing and verdict; the note is redacted, and `show` has it all."""
    give = {"id": f"[fw:{house.entries()[0].short}]", "agent": "claude", "session": "two"}
    first = house.app.feedback(verdict="wrong", note="it is Redis, key AKIAIOSFODNN7EXAMPLQ", **give)
    again = house.app.feedback(verdict="wrong", note="as I said", **give)
    assert first.counts == {"feedback": 1} and again.counts == {"feedback": 0} and "before" in again.message
    house.app.feedback(verdict="stale", **give)
    house.app.feedback(verdict="wrong", **(give | {"session": "three"}))
    rows = kept(house)
    assert len(rows) == 3 and {row.target_id for row in rows} == {entry} and {row.kind for row in rows} == {"entry"}
    assert "AKIA" not in "".join(row.note for row in rows)
    shown = house.app.show(id=entry).facts["feedback"]
    assert shown.count("wrong (claude, ") == 2 and "it is Redis" in shown and "stale" in shown


@pytest.mark.parametrize("kind", ["message", "session", "document"])
def test_other_things_take_it_too(house: House, kind: str) -> None:
    """A message, a session, a document; nothing but the row comes of it."""
    (message,) = house.say("one", ("user", SAID))
    house.write("a.md", "The importer reads five hundred rows.\n")
    given = {"statement": "The importer reads 500 rows.", "quote": "reads five hundred rows", "source": "a.md"}
    house.app.propose(cwd=str(house.project), **given)
    with house.parts.db.read() as tx:
        row = tx.one("SELECT id FROM document")
    assert row is not None
    id = {"message": message.id, "session": message.session_id, "document": row[0]}[kind]
    house.app.feedback(id=id, verdict="helped")
    assert [(row.kind, row.target_id) for row in kept(house)] == [(kind, id)]
    assert "helped" in house.app.show(id=id).facts["feedback"]


def test_bad_feedback(house: House, entry: str) -> None:
    """An unknown verdict, an unknown id, a project."""
    with pytest.raises(BadInput, match="helped, wrong, stale"):
        house.app.feedback(id=entry, verdict="great")
    with pytest.raises(NotFound):
        house.app.feedback(id="000000", verdict="wrong")
    with pytest.raises(Refused):
        house.app.feedback(id=house.entries()[0].project_id, verdict="wrong")
    assert kept(house) == []


def test_a_candidate_called_wrong_is_not_served_until_a_person_looked(house: House, entry: str) -> None:
    """At a start and for a prompt; what code notes is no look, and an older look does not count."""
    assert served(house, "s1") == [entry]
    look(house, entry, at=1)
    house.app.feedback(id=entry, verdict="wrong", agent="claude", session="s1")
    assert served(house, "s2") == []
    app.settle_all(house.parts)
    briefing = house.app.context(cwd=str(house.project), query="Valkey for the price cache?", session="s3")
    assert entry not in [item.id for part in briefing.slices for item in part.items]
    look(house, entry, at=2**61)
    assert served(house, "s4") == [entry]


@pytest.mark.parametrize(("status", "verdict"), [("confirmed", "wrong"), ("disputed", "wrong"), ("candidate", "stale")])
def test_nothing_else_is_withheld(house: House, entry: str, status: str, verdict: str) -> None:
    """What a person confirmed, or must decide, is served whatever an agent says; so is what may be stale."""
    with house.parts.db.write() as tx:
        tx.run("UPDATE entry SET status = :status WHERE id = :id", status=status, id=entry)
    house.app.feedback(id=entry, verdict=verdict)
    assert served(house) == [entry]


def test_search_marks_it(house: House, entry: str) -> None:
    """It is found, and whoever finds it is told; "wrong" before "stale"; not after a person looked."""
    app.settle_all(house.parts)

    def mark() -> str:
        hits = house.app.search(query="price cache Valkey", cwd=str(house.project), kinds=["entry"]).hits
        return next(hit.feedback for hit in hits if hit.id == entry)

    assert mark() == ""
    house.app.feedback(id=entry, verdict="helped", session="s0")
    assert mark() == ""
    house.app.feedback(id=entry, verdict="wrong", session="s1")
    house.app.feedback(id=entry, verdict="stale", session="s2")
    assert mark().startswith("called wrong on 2")
    look(house, entry, at=2**61)
    assert mark() == ""


def test_what_helped_counts_as_use_up_to_a_bound(house: House, entry: str) -> None:
    """Once a session, at most `HELPED` of them; nothing is invented where nobody said anything."""
    with house.parts.db.read() as tx:
        assert usefulness(tx, [entry]) == {} and called_wrong(tx, [entry]) == set()
    for number in range(HELPED + 2):
        house.app.feedback(id=entry, verdict="helped", agent="claude", session=f"s{number}")
        with house.parts.db.read() as tx:
            uses = min(number + 1, HELPED)
            assert usefulness(tx, [entry, "other"]) == {entry: (uses, uses)}
    house.app.feedback(id=entry, verdict="wrong", agent="claude", session="s0")
    with house.parts.db.read() as tx:
        assert usefulness(tx, [entry]) == {entry: (HELPED, HELPED + HARM)} and called_wrong(tx, [entry]) == {entry}
    look(house, entry, at=2**61)
    with house.parts.db.read() as tx:
        assert usefulness(tx, [entry]) == {entry: (HELPED, HELPED)} and called_wrong(tx, [entry]) == set()


def test_help_lifts_one_of_two_equals(house: House, entry: str) -> None:
    """Of two entries that answer alike, the one that helped comes first; the lift is small."""
    words = "We decided to use Valkey for the stock cache because the licence of Redis changed."
    house.say("two", ("user", words), at=1)
    given = {"statement": "The stock cache uses Valkey.", "quote": words, "cwd": str(house.project)}
    other = house.app.propose(**given, agent="claude", session="two").id
    app.settle_all(house.parts)

    def scores() -> dict[str, float]:
        hits = house.app.search(query="cache uses Valkey", cwd=str(house.project), kinds=["entry"]).hits
        return {hit.id: hit.score for hit in hits}

    before = scores()
    for number in range(9):
        house.app.feedback(id=other, verdict="helped", session=f"s{number}")
    after = scores()
    assert after[entry] == before[entry] and 1 < after[other] / before[other] < 1.08
    assert next(iter(after)) == other


def test_forgetting_takes_it_along(house: House, entry: str) -> None:
    """Of the thing, and of the session that it was given in."""
    (message,) = house.say("two", ("user", "Something else entirely was said here."))
    house.app.feedback(id=entry, verdict="helped", agent="claude", session="two", note="words of that session")
    house.app.feedback(id=message.id, verdict="wrong", agent="claude", session="one")
    house.app.forget(id=message.session_id)
    assert kept(house) == []
    house.app.feedback(id=entry, verdict="stale", agent="claude", session="three")
    house.app.forget(id=entry)
    assert kept(house) == []
