"""Forgetting: what goes, what stays, and that it does not come back."""

from __future__ import annotations

import pytest
from tests.store.samples import NOW, PROJECT, citation, claim, document, entry, message, session

from flywheel.errors import BadInput, NotFound
from flywheel.jobs import queue
from flywheel.model import (
    BriefingRecord,
    Change,
    Claim,
    Clean,
    Document,
    Edge,
    EdgeKind,
    Embedding,
    Entry,
    EntryId,
    EntryLink,
    EntryVersion,
    Injection,
    Kind,
    Message,
    Micros,
    Observation,
    Retraction,
    Retrospective,
    Review,
    Seq,
    Session,
    SessionId,
    TranscriptFile,
)
from flywheel.store import Db, Tx, mapper
from flywheel.store.forget import entry_mark, forget, is_forgotten, scrub
from flywheel.store.forget_door import MARK

WHY = Clean("asked to")
QUEUE = "We keep one queue, said Petra."


def door(db: Db, kind: str, id: str) -> dict[str, int]:
    """Forget one thing in a transaction of its own."""
    with db.write() as tx:
        return forget(tx, kind, id, WHY, Micros(NOW + 9))


def count(db: Db, table: str) -> int:
    """Rows of a table."""
    with db.read() as tx:
        row = tx.one(f"SELECT count(*) FROM {table}")
    return int(row[0]) if row else 0


def since(db: Db, seq: Seq) -> list[tuple[str, str, str]]:
    """Changes past ``seq`` as (kind, id, op)."""
    changes: list[Change] = list(db.changes(seq))
    return [(change.kind.value, change.id, change.op.value) for change in changes]


def traces(tx: Tx, kind: Kind, id: str, briefing: str, native: str = "native-s0") -> None:
    """A vector, and a briefing with its ledger row, of one item."""
    mapper.insert(tx, Embedding(kind=kind, id=id, model="m", project_id=PROJECT, dim=1, vector=b"x", sha256=""))
    mapper.upsert(
        tx,
        BriefingRecord(
            id=briefing,
            project_id=PROJECT,
            native_session=native,
            agent="claude",
            event="SessionStart",
            tokens=1,
            budget=1,
            micros=1,
            record={"text": QUEUE},
            created_at=NOW,
        ),
    )
    mapper.insert(
        tx,
        Injection(
            briefing_id=briefing,
            project_id=PROJECT,
            session_id=None,
            native_session=native,
            agent="claude",
            event="SessionStart",
            source="entries",
            item_kind=kind.value,
            item_id=id,
            tokens=1,
            created_at=NOW,
        ),
    )


def full_entry(tx: Tx, id: str = "e1", body: str = QUEUE) -> None:
    """An entry with everything that can hang on it."""
    mapper.insert(tx, entry(id, body=body))
    mapper.insert(
        tx,
        EntryVersion(
            id=f"v-{id}",
            project_id=PROJECT,
            entry_id=EntryId(id),
            title=Clean("t"),
            summary=Clean("s"),
            body=Clean(body),
            created_at=NOW,
        ),
    )
    mapper.insert(tx, EntryLink(project_id=PROJECT, entry_id=EntryId(id), kind="file", name=Clean("a.py")))
    mapper.insert(
        tx,
        Edge(
            project_id=PROJECT,
            source_id=EntryId("other"),
            target_id=EntryId(id),
            kind=EdgeKind.RELATES_TO,
            created_at=NOW,
        ),
    )
    mapper.insert(
        tx,
        Review(
            id=f"r-{id}",
            project_id=PROJECT,
            kind="entry",
            target_id=id,
            old_status="candidate",
            new_status="confirmed",
            actor=Clean("someone"),
            reason=Clean(body),
            created_at=NOW,
        ),
    )
    traces(tx, Kind.ENTRY, id, f"b-{id}")


def test_a_message_takes_what_rests_on_it_alone(db: Db) -> None:
    """Its citation, the claim without another one, the entry without another claim, vectors, ledger, retraction go."""
    with db.write() as tx:
        said = message(1, QUEUE)
        mapper.insert_many(tx, [said, message(2)])
        mapper.insert(tx, session("s1", title="We keep one queue"))
        full_entry(tx)
        mapper.insert(tx, claim("k1", text=QUEUE))
        mapper.insert(tx, citation("c1", "k1", said))
        mapper.insert(tx, Retraction(message_id=said.id, project_id=PROJECT, reason=WHY, created_at=NOW))
        mapper.insert(tx, _look_back("s1"))
        traces(tx, Kind.MESSAGE, said.id, "b1")
        traces(tx, Kind.MESSAGE, message(2).id, "b2")
    head = db.head()
    counts = door(db, "message", said.id)
    assert counts == {
        "citation": 1,
        "claim": 1,
        "entry": 1,
        "entry_version": 1,
        "entry_link": 1,
        "edge": 1,
        "review": 1,
        "embedding": 2,
        "briefing": 2,
        "injection": 2,
        "retraction": 1,
        "message": 1,
        "retrospective": 1,
    }
    assert since(db, head) == [("entry", "e1", "del"), ("message", said.id, "del")]
    with db.read() as tx:
        assert [m.ordinal for m in mapper.find(tx, Message)] == [2]
        assert [s.title for s in mapper.find(tx, Session)] == [""]
        assert is_forgotten(tx, "message", [said.id, message(2).id]) == {said.id}
        assert is_forgotten(tx, "citation", ["c1"]) == {"c1"}
    assert count(db, "embedding") == count(db, "briefing") == count(db, "injection") == 1
    with db.write() as tx:
        assert mapper.insert_many(tx, [said]) == 0
    assert door(db, "message", said.id) == {}


def test_what_rests_on_more_stays_without_the_words(db: Db) -> None:
    """An entry said in two sessions goes on: counted anew, without the words that only the forgotten one brought."""
    mine, other = message(1, "Petra decided: use one queue"), message(1, "use one queue, as agreed", session="s2")
    with db.write() as tx:
        mapper.insert_many(tx, [mine, other])
        full_entry(tx, body="Petra decided: use one queue. It is so: use one queue")
        mapper.insert(tx, claim("k1", text="Petra decided: use one queue"))
        mapper.insert(tx, claim("k2", text="use one queue", session_id="s2"))
        mapper.insert(tx, citation("c1", "k1", mine))
        mapper.insert(tx, citation("c2", "k2", other, "use one queue"))
        tx.run("UPDATE claim SET superseded_by = 'k1' WHERE id = 'k2'")
        tx.run("UPDATE entry SET evidence = 2")
    head = db.head()
    assert door(db, "message", mine.id) == {"citation": 1, "claim": 1, "entry_version": 1, "message": 1}
    with db.read() as tx:
        (kept,) = mapper.find(tx, Entry)
        (left,) = mapper.find(tx, Claim)
    assert kept.body == f"{MARK}. It is so: use one queue"
    assert (kept.evidence, kept.updated_at) == (1, NOW + 9)
    assert (left.id, left.superseded_by) == ("k2", None)
    assert since(db, head) == [("entry", "e1", "put"), ("message", mine.id, "del")]


def test_a_claim_with_another_citation_stays(db: Db) -> None:
    """One of two citations goes; claim and entry keep standing on the other."""
    first, second = message(1, QUEUE), message(2, QUEUE)
    with db.write() as tx:
        mapper.insert_many(tx, [first, second])
        full_entry(tx)
        mapper.insert(tx, claim("k1", text=QUEUE))
        mapper.insert_many(tx, [citation("c1", "k1", first), citation("c2", "k1", second)])
    assert door(db, "message", first.id) == {"citation": 1, "message": 1}
    with db.read() as tx:
        assert [e.body for e in mapper.find(tx, Entry)] == [QUEUE]
        assert [v.body for v in mapper.find(tx, EntryVersion)] == [QUEUE]


def test_a_session_goes_with_its_subagents(db: Db) -> None:
    """Messages of the whole tree, retrospectives, ledger, observations and waiting jobs go; other sessions stay."""
    tree, natives = ["s1", "s2", "s3"], ["native-s1", "native-s2", "native-s3"]
    with db.write() as tx:
        for id, parent in (("s1", None), ("s2", "s1"), ("s3", "s2"), ("s4", None)):
            mapper.insert(tx, session(id, parent=parent))
            mapper.insert_many(tx, [message(number, session=id) for number in range(3)])
            mapper.insert(tx, _look_back(id))
            queue.enqueue(tx, kind="extract", key=id, project_id=PROJECT, now=NOW)
            mapper.insert(
                tx,
                Observation(
                    id=f"o-{id}",
                    project_id=PROJECT,
                    native_session=f"native-{id}",
                    identity="me",
                    kind="tool_failure",
                    subject=Clean("Bash"),
                    created_at=NOW,
                ),
            )
            mapper.insert(
                tx,
                TranscriptFile(
                    path=f"/t/{id}",
                    agent="claude",
                    reader="claude",
                    session_id=SessionId(id),
                    carry={"last": QUEUE},
                    offset=10,
                    updated_at=NOW,
                ),
            )
            traces(tx, Kind.MESSAGE, message(0, session=id).id, f"b-{id}", f"native-{id}")
        full_entry(tx)
        mapper.insert(tx, claim("k1", text=QUEUE, session_id="s3"))
        mapper.insert(tx, citation("c1", "k1", message(0, session="s3")))
    head = db.head()
    counts = door(db, "session", "s1")
    assert (counts["session"], counts["message"], counts["retrospective"], counts["job"]) == (3, 9, 3, 3)
    assert (counts["observation"], counts["entry"], counts["claim"], counts["citation"]) == (3, 1, 1, 1)
    changes = since(db, head)
    assert sorted(id for kind, id, op in changes if (kind, op) == ("session", "del")) == tree
    assert len([1 for kind, _, op in changes if (kind, op) == ("message", "del")]) == 9
    with db.read() as tx:
        assert [s.id for s in mapper.find(tx, Session)] == ["s4"]
        assert {m.session_id for m in mapper.find(tx, Message)} == {"s4"}
        assert is_forgotten(tx, "session", [*tree, "s4"]) == set(tree)
        files = {file.path: file.carry for file in mapper.find(tx, TranscriptFile)}
        assert files["/t/s1"] == {} and files["/t/s4"] == {"last": QUEUE}
        assert tx.all("SELECT item_id FROM injection WHERE native_session IN :n", n=natives) == []
        assert [job.key for job in queue.listing(tx)] == ["s4"]
    with db.write() as tx:
        late = message(99, "a line that the agent appended later", session="s2")
        assert mapper.insert_many(tx, [late, message(0, session="s1")]) == 0
        mapper.upsert(tx, session("s2", parent="s1"))
    assert count(db, "session") == 1
    assert door(db, "session", "s2") == {}


def test_a_long_session_goes_whole(db: Db) -> None:
    """More messages than fit one statement's list."""
    with db.write() as tx:
        mapper.insert(tx, session("s1"))
        mapper.insert_many(tx, [message(number) for number in range(1300)])
    assert door(db, "session", "s1") == {"message": 1300, "session": 1}
    assert count(db, "message") == 0 and count(db, "tombstone") == 1301


def test_an_entry_goes_with_claims_and_stays_away(db: Db) -> None:
    """The evidence that it cited stays; a mark keeps extraction from finding the same entry anew."""
    said = message(1, QUEUE)
    with db.write() as tx:
        mapper.insert(tx, said)
        full_entry(tx)
        full_entry(tx, "e2")
        for number in (1, 2):
            mapper.insert(tx, claim(f"k{number}", f"e{number}", QUEUE))
            mapper.insert(tx, citation(f"c{number}", f"k{number}", said))
    head = db.head()
    counts = door(db, "entry", "e1")
    assert (counts["entry"], counts["claim"], counts["citation"], counts["edge"]) == (1, 1, 1, 1)
    assert since(db, head) == [("entry", "e1", "del")]
    assert count(db, "message") == count(db, "entry") == count(db, "claim") == count(db, "citation") == 1
    with db.read() as tx:
        mark = entry_mark(PROJECT, entry("e1").key)
        assert is_forgotten(tx, "entry_mark", [mark, entry_mark(PROJECT, entry("e2").key)]) == {mark}


def test_a_document_goes_with_its_claims(db: Db) -> None:
    """As a message does."""
    with db.write() as tx:
        mapper.insert_many(tx, [document("d1"), document("d2")])
        full_entry(tx)
        mapper.insert(tx, claim("k1"))
        mapper.insert(tx, citation("c1", "k1", document("d1")))
        traces(tx, Kind.DOCUMENT, "d1", "b1")
    head = db.head()
    counts = door(db, "document", "d1")
    assert (counts["document"], counts["entry"], counts["claim"], counts["embedding"]) == (1, 1, 1, 2)
    assert ("document", "d1", "del") in since(db, head)
    with db.write() as tx:
        assert mapper.insert_many(tx, [document("d1")]) == 0
        assert [d.id for d in mapper.find(tx, Document)] == ["d2"]


def test_a_rollback_forgets_nothing(db: Db) -> None:
    """Forgetting is part of its transaction."""
    with db.write() as tx:
        mapper.insert(tx, message(1))
    with pytest.raises(ZeroDivisionError), db.write() as tx:
        forget(tx, "message", message(1).id, WHY, NOW)
        raise ZeroDivisionError
    assert count(db, "message") == 1 and count(db, "tombstone") == 0


def test_what_never_was_is_said(db: Db) -> None:
    """An unknown id is NotFound, an unknown kind BadInput."""
    with pytest.raises(NotFound):
        door(db, "message", "nothing")
    with pytest.raises(BadInput):
        door(db, "project", "global")
    with db.read() as tx:
        assert is_forgotten(tx, "message", []) == set()


def test_scrub_runs_on_both(postgres_db: Db, sqlite_db: Db) -> None:
    """SQLite has nothing left to do by hand; PostgreSQL says what its administrator has to know."""
    assert list(scrub(sqlite_db)) == []
    assert len(scrub(postgres_db)) == 1


def _look_back(session_id: str) -> Retrospective:
    return Retrospective(
        session_id=SessionId(session_id),
        project_id=PROJECT,
        task=Clean(QUEUE),
        outcome="done",
        turns=1,
        tool_calls=0,
        tool_errors=0,
        created_at=NOW,
        updated_at=NOW,
    )
