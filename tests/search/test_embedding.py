"""The embedding worker over both stores: what is embedded, of which text, and what happens when things change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from flywheel.embed import Vectors
from flywheel.index.follow import Settles, behind, lag, step
from flywheel.index.vectors import VectorIndex, VectorWriter
from flywheel.index.vectors_open import open_vector_writer, open_vectors
from flywheel.model import (
    Category,
    Change,
    ClaimType,
    Clean,
    Document,
    DocumentId,
    Embedding,
    Entry,
    EntryId,
    Kind,
    Message,
    MessageId,
    MessageKind,
    Micros,
    Op,
    ProjectId,
    Retraction,
    Role,
    Seq,
    SessionId,
    Status,
    Symbol,
    digest,
)
from flywheel.search import embedding, embedding_texts
from flywheel.search.embedding import EmbeddingFollower
from flywheel.store import Db, Tx, mapper
from flywheel.store.feed import new_feed
from flywheel.store.forget import forget

DIM = 32
A, B = ProjectId("a"), ProjectId("b")
NOW = Micros(1_700_000_000_000_000)


class Letters:
    """An embedder that counts letters, and notes what it was asked."""

    dim = DIM

    def __init__(self, db: Db | None = None, model_id: str = "letters-1") -> None:
        self.model_id = model_id
        self.asked: list[str] = []
        self._db = db

    def encode(self, texts: Sequence[Clean]) -> Vectors:
        """Letter frequencies at unit length. With a database it writes meanwhile, which a held lock would not allow."""
        self.asked += texts
        if self._db is not None:
            with self._db.write() as tx:
                tx.run("UPDATE setting SET value = value WHERE name = 'feed_id'")
        rows = np.zeros((len(texts), DIM), dtype=np.float32)
        for number, text in enumerate(texts):
            for letter in text.lower():
                if "a" <= letter <= "z":
                    rows[number, ord(letter) - 97] += 1
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        rows /= np.maximum(lengths, 1e-9)
        return rows


class House:
    """A database with its vectors and one follower."""

    def __init__(self, db: Db, data: Path) -> None:
        self.db = db
        self.data = data
        self.embedder = Letters(db)
        self.reader: VectorIndex = open_vectors(db, data)
        self.open()

    def open(self, model_id: str = "letters-1") -> None:
        """The follower anew, as the next indexer process has it."""
        if hasattr(self, "writer"):
            self.writer.close()
        self.writer: VectorWriter = open_vector_writer(self.db, self.data)
        self.embedder = Letters(self.db, model_id)
        self.follower = EmbeddingFollower(self.db, self.writer, self.embedder)

    def follow(self, limit: int = 4000) -> list[str]:
        """Step until nothing is left; what the embedder was asked meanwhile, sorted."""
        self.embedder.asked.clear()
        while step(self.db, self.follower, limit):
            pass
        return sorted(self.embedder.asked)

    def say(
        self,
        session: str,
        *texts: str,
        kind: MessageKind = MessageKind.REPLY,
        at: int | None = None,
        project: ProjectId = A,
    ) -> list[str]:
        """Messages at the end of a session, or from ordinal ``at`` on; their ids."""
        with self.db.write() as tx:
            row = tx.one("SELECT max(ordinal) FROM message WHERE session_id = :s", s=session)
            start = at if at is not None else (row[0] if row and row[0] is not None else -1) + 1
            made = [message(session, start + n, text, kind, project) for n, text in enumerate(texts)]
            put(tx, Kind.MESSAGE, *made)
        return [item.id for item in made]

    def rows(self, model: str = "letters-1") -> dict[tuple[Kind, str], Embedding]:
        """The table."""
        with self.db.read() as tx:
            found = mapper.find(tx, Embedding, "WHERE model = :model", model=model)
        return {(item.kind, item.id): item for item in found}

    def nearest(self, text: str, *, projects: Sequence[ProjectId] = (), limit: int = 1) -> list[str]:
        """Ids of what is nearest to a text."""
        query = Letters().encode([Clean(text)])[0]
        return [id for _, id, _ in self.reader.search(projects, [], self.embedder.model_id, query, limit)]


@pytest.fixture
def house(db: Db, data: Path) -> Iterator[House]:
    """An empty house over each store in turn."""
    made = House(db, data)
    yield made
    made.writer.close()


def message(session: str, ordinal: int, text: str, kind: MessageKind, project: ProjectId) -> Message:
    """A message whose id tells its session and place."""
    return Message(
        id=MessageId(f"{session}-{ordinal}"),
        project_id=project,
        session_id=SessionId(session),
        ordinal=ordinal,
        role=Role.ASSISTANT,
        kind=kind,
        text=Clean(text),
        created_at=NOW,
        sha256=digest(text),
    )


def entry(id: str, title: str, body: str = "", project: ProjectId = A) -> Entry:
    """An entry."""
    return Entry(
        id=EntryId(id),
        short=id,
        project_id=project,
        category=Category.DECISIONS,
        type=ClaimType.DECISION,
        status=Status.CANDIDATE,
        subject=Clean(title),
        title=Clean(title),
        summary=Clean("in short"),
        body=Clean(body),
        key=id,
        created_at=NOW,
        updated_at=NOW,
    )


def symbol(id: str, qualified: str, doc: str) -> Symbol:
    """A function."""
    return Symbol(
        id=id,
        project_id=A,
        file_id="f",
        path="f.py",
        name=qualified.rsplit(".", 1)[-1],
        qualified=qualified,
        kind="function",
        ordinal=0,
        signature=Clean(f"def {qualified}(raw)"),
        doc=Clean(doc),
        start_line=1,
        stop_line=2,
        hash="h",
    )


def put(tx: Tx, kind: Kind, *items: Message | Entry | Document | Symbol) -> None:
    """Write rows and say so in the feed."""
    for item in items:
        mapper.upsert(tx, item) if isinstance(item, Entry | Symbol) else mapper.insert(tx, item)
        tx.changed(kind, item.id, item.project_id)


def test_it_follows_and_settles(house: House) -> None:
    """The worker is a follower of the change feed that also keeps house; its watermark is the index's."""
    assert isinstance(house.follower, Settles)
    assert house.follower.name == "vectors"
    assert house.follower.watermark() == ("", 0)
    house.say("s", "alpha", "beta")
    assert behind(house.db, house.follower) == 2
    house.follow()
    assert house.follower.watermark() == (house.db.feed_id(), house.db.head())
    assert lag(house.db, house.reader.watermark("letters-1")) == 0
    assert house.nearest("beta") == ["s-1"]


def test_a_message_goes_with_the_end_of_the_one_before(house: House) -> None:
    """Prompts, replies and summaries are embedded with the last characters of the previous one of their session."""
    long = "x" * 500 + "the end"
    house.say("s", long, kind=MessageKind.PROMPT)
    house.say("s", "yes")
    house.say("other", "alone", kind=MessageKind.SUMMARY)
    tail = long[-embedding_texts.BEFORE :]
    assert house.follow() == sorted([long, f"{tail}\nyes", "alone"])


def test_what_is_not_prose_has_no_vector(house: House) -> None:
    """Thinking, notices, tool calls and their results are passed over, and prose looks past them."""
    house.say("s", "question", kind=MessageKind.PROMPT)
    for kind in (MessageKind.THINKING, MessageKind.TOOL_CALL, MessageKind.TOOL_RESULT, MessageKind.NOTICE):
        house.say("s", f"a {kind}", kind=kind)
    house.say("s", "answer")
    assert house.follow() == ["question", "question\nanswer"]
    assert set(house.rows()) == {(Kind.MESSAGE, "s-0"), (Kind.MESSAGE, "s-5")}


def test_only_the_head_of_a_text_counts(house: House) -> None:
    """A pasted log of megabytes is read and embedded up to a limit."""
    house.say("s", "word " * 100_000)
    assert [len(text) for text in house.follow()] == [embedding_texts.HEAD]


def test_entries_documents_and_symbols(house: House) -> None:
    """An entry by title, summary and body; a document by title and head; a symbol by name, doc and signature."""
    with house.db.write() as tx:
        put(tx, Kind.ENTRY, entry("e", "Use queues", "because of load"))
        put(
            tx,
            Kind.DOCUMENT,
            Document(
                id=DocumentId("d"), project_id=A, path=Clean("README.md"), title=Clean("Read me"), kind="readme",
                text=Clean("How to begin"), created_at=NOW, sha256="",
            ),
        )  # fmt: skip
        put(tx, Kind.SYMBOL, symbol("y", "HttpParser.read_reply", "Reads it."), symbol("z", "silent", ""))
    asked = house.follow()
    assert "Use queues\nin short\nbecause of load" in asked
    assert "Read me\nHow to begin" in asked
    assert "http parser read reply\nReads it.\ndef HttpParser.read_reply(raw)" in asked
    assert "silent\n\ndef silent(raw)" in asked
    assert {(kind, id) for kind, id in house.rows()} == {
        (Kind.ENTRY, "e"),
        (Kind.DOCUMENT, "d"),
        (Kind.SYMBOL, "y"),
        (Kind.SYMBOL, "z"),
    }


def test_the_same_text_is_not_embedded_twice(house: House) -> None:
    """A change that leaves the text as it is costs no encoding; one that changes it replaces the vector."""
    with house.db.write() as tx:
        put(tx, Kind.ENTRY, entry("e", "aaaa"), entry("f", "zzzz"))
    assert len(house.follow()) == 2
    with house.db.write() as tx:
        put(tx, Kind.ENTRY, entry("e", "aaaa"), entry("f", "kkkk"))
    assert house.follow() == ["kkkk\nin short\n"]
    assert house.nearest("kkkk") == ["f"]
    assert house.reader.count("letters-1") == 2


def test_a_message_that_comes_in_between_changes_the_next_one(house: House) -> None:
    """When an earlier part of a session arrives late, what follows it is embedded anew, and nothing else."""
    house.say("s", "one", at=0)
    house.say("s", "three", "four", at=10)
    house.follow()
    house.say("s", "two", at=5)
    assert house.follow() == ["one\ntwo", "two\nthree"]


def test_a_retracted_message_goes_and_the_next_one_forgets_it(house: House) -> None:
    """A message that was taken back has no vector any more, and its words are not in its successor's either."""
    house.say("s", "one", "secret", "three", "four")
    house.follow()
    with house.db.write() as tx:
        mapper.insert(
            tx, Retraction(message_id=MessageId("s-1"), project_id=A, reason=Clean("rewound"), created_at=NOW)
        )
        tx.changed(Kind.MESSAGE, "s-1", A)
    assert house.follow() == ["one\nthree"]
    assert (Kind.MESSAGE, "s-1") not in house.rows()
    assert "s-1" not in house.nearest("secret", limit=9)
    assert house.reader.count("letters-1") == 3


def test_what_is_forgotten_is_gone_everywhere(house: House) -> None:
    """Forgetting a message and an entry takes their vectors from the table, the index and the index's files."""
    house.say("s", "one", "two")
    with house.db.write() as tx:
        put(tx, Kind.ENTRY, entry("gone-entry", "secret"))
    house.follow()
    with house.db.write() as tx:
        forget(tx, "message", "s-1", Clean("asked"), NOW)
        forget(tx, "entry", "gone-entry", Clean("asked"), NOW)
    house.follow()
    assert set(house.rows()) == {(Kind.MESSAGE, "s-0")}
    assert house.nearest("secret", limit=9) == ["s-0"]
    files = [path for path in house.data.rglob("*.seg") if path.is_file()]
    assert not [path.name for path in files if b"gone-entry" in path.read_bytes()]


def test_deleted_symbols_go(house: House) -> None:
    """A symbol that the code no longer has is not found any more."""
    with house.db.write() as tx:
        put(tx, Kind.SYMBOL, symbol("y", "one", "a"), symbol("z", "two", "b"))
    house.follow()
    with house.db.write() as tx:
        tx.run("DELETE FROM symbol WHERE id = 'y'")
        tx.changed(Kind.SYMBOL, "y", A, Op.DEL)
    house.follow()
    assert house.nearest("one", limit=9) == ["z"]


def test_texts_without_a_known_word_are_not_tried_again(house: House) -> None:
    """A zero vector is remembered like any other: the next change of the same text costs nothing."""
    with house.db.write() as tx:
        put(tx, Kind.ENTRY, entry("e", "12345"))
    house.say("s", "67890")
    assert len(house.follow()) == 2
    assert house.nearest("in short", limit=9) == ["e"]
    with house.db.write() as tx:
        tx.changed(Kind.MESSAGE, "s-0", A)
    assert house.follow() == []


def test_a_move_to_another_project(house: House) -> None:
    """When a thing's project changes it is found under the new one only."""
    with house.db.write() as tx:
        put(tx, Kind.ENTRY, entry("e", "aaaa"))
    house.follow()
    with house.db.write() as tx:
        put(tx, Kind.ENTRY, entry("e", "aaaa", project=B))
    house.follow()
    assert house.nearest("aaaa", projects=[A]) == []
    assert house.nearest("aaaa", projects=[B]) == ["e"]


def test_many_at_once(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """More messages than fit in one statement, one batch or one transaction, over several sessions and steps."""
    monkeypatch.setattr(embedding_texts, "CHUNK", 7)
    monkeypatch.setattr(embedding, "CHUNK", 5)
    monkeypatch.setattr(embedding, "ENCODE", 11)
    monkeypatch.setattr(embedding, "SLICE", 3)
    monkeypatch.setattr(embedding_texts, "STRETCH", 4)
    for session in "stu":
        house.say(session, *(f"{session} word{'abcdefghij'[n % 10]} {n}" for n in range(40)))
        house.say(session, "far away", at=90)
    asked = house.follow(limit=50)
    expected = {
        f"{f's word{chr(97 + (n - 1) % 10)} {n - 1}' + chr(10) if n else ''}s word{chr(97 + n % 10)} {n}"
        for n in range(40)
    }
    assert expected <= set(asked)
    assert "s wordj 39\nfar away" in asked
    assert len(house.rows()) == 3 * 41
    assert house.reader.count("letters-1") == 3 * 41


def test_a_crash_between_table_and_index_is_made_good(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed after the table was written: the next step brings the index up without encoding again."""
    house.say("s", "alpha", "beta")

    class Killed(BaseException):
        """The process would have ended here."""

    def die(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(house.writer, "publish", die)
        with pytest.raises(Killed):
            house.follow()
    house.open()
    assert house.follow() == []
    assert sorted(house.nearest("alpha", limit=9)) == ["s-0", "s-1"]
    assert house.reader.watermark("letters-1") == (house.db.feed_id(), house.db.head())


def test_a_crash_half_way_through_the_table(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was stored before the crash is not encoded again; the rest is."""
    monkeypatch.setattr(embedding, "ENCODE", 1)
    with house.db.write() as tx:
        put(tx, Kind.ENTRY, *(entry(f"e{n}", "abcdef"[n] * 4) for n in range(6)))
    stores: list[int] = []
    real = house.writer.store

    def some(tx: Tx, rows: Sequence[Embedding]) -> None:
        stores.append(len(rows))
        if len(stores) == 4:
            raise KeyboardInterrupt
        real(tx, rows)

    with monkeypatch.context() as patched:
        patched.setattr(house.writer, "store", some)
        with pytest.raises(KeyboardInterrupt):
            house.follow()
    house.open()
    assert [text[0] for text in house.follow()] == ["d", "e", "f"]
    assert house.reader.count("letters-1") == 6


def test_a_lost_index_is_made_anew_from_the_table(house: House) -> None:
    """Without its files the index comes back, watermark and all, and nothing is encoded."""
    house.say("s", "alpha", "beta")
    house.follow()
    for path in house.data.rglob("index/vectors/*"):
        if path.name != "writer.lock":
            path.unlink()
    house.open()
    assert house.nearest("beta") == ["s-1"]
    assert house.follow() == []


def test_a_restored_database_is_followed_anew(house: House, open_db: Callable[[], Db]) -> None:
    """Another feed id: everything is read again, only what changed is encoded, and what is no more goes."""
    house.say("s", "alpha", "beta", "gamma")
    house.follow()
    with house.db.write() as tx:
        new_feed(tx)
        tx.run("UPDATE embedding SET sha256 = 'another text' WHERE id = 's-2'")
    house.db = open_db()
    house.open()
    assert house.follower.watermark()[0] not in ("", house.db.feed_id())
    assert house.follow() == ["beta\ngamma"]
    assert house.follower.watermark() == (house.db.feed_id(), house.db.head())
    assert house.reader.count("letters-1") == 3


def test_a_new_model_embeds_everything_and_the_old_one_goes_last(house: House) -> None:
    """Behind by everything, the new model starts over; the old rows stay until it has caught up."""
    house.say("s", *(f"text {'abcdef'[n]}" for n in range(6)))
    house.follow()
    house.open("letters-2")
    assert house.follower.watermark() == ("", 0)
    assert behind(house.db, house.follower) == 6
    assert step(house.db, house.follower, 3) == 3
    assert len(house.nearest("text", limit=9)) == 4  # the three, and the one that follows them
    assert len(house.rows("letters-1")) == 6
    assert len(house.reader.search([], [], "letters-1", Letters().encode([Clean("text")])[0], 9)) == 6
    house.follow()
    assert len(house.nearest("text", limit=9)) == 6
    assert house.rows("letters-1") == {}
    assert house.reader.count("letters-1") == 0
    assert len(house.rows("letters-2")) == 6


def test_going_back_to_a_model_whose_rows_are_going(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half-way through dropping, the old model is wanted again: what is left counts, the rest is embedded anew."""
    monkeypatch.setattr("flywheel.index.vectors.RETIRE", 2)
    house.say("s", *(f"text {'abcdef'[n]}" for n in range(6)))
    house.follow()
    before = house.rows("letters-1").keys()
    house.open("letters-2")
    while not house.rows("letters-1").keys() < before:
        assert step(house.db, house.follower)
    house.open("letters-1")
    assert len(house.follow()) == 2
    assert len(house.nearest("text", limit=9)) == 6
    assert house.rows("letters-1").keys() == before
    assert house.rows("letters-2") == {}


def test_changes_that_say_nothing_move_the_watermark(house: House) -> None:
    """Sessions and tool output are passed over, and the worker is up to date afterwards."""
    house.say("s", "output", kind=MessageKind.TOOL_RESULT)
    with house.db.write() as tx:
        tx.changed(Kind.SESSION, "s", A)
    house.follow()
    assert behind(house.db, house.follower) == 0
    assert house.rows() == {}


def test_applying_the_same_changes_again_changes_nothing(house: House) -> None:
    """A follower may see a change twice."""
    house.say("s", "alpha", "beta")
    house.follow()
    before = house.rows()
    changes: Sequence[Change] = house.db.changes(Seq(0))
    house.follower.apply(house.db, changes, house.db.feed_id(), house.db.head())
    assert house.rows() == before
    assert house.reader.count("letters-1") == 2
