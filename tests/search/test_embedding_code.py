"""The embedding worker of code over both stores: what is embedded, in which order, and that nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from flywheel.embed import Vectors
from flywheel.index.follow import step
from flywheel.index.vectors import VectorIndex, VectorWriter
from flywheel.index.vectors_open import open_vector_writer, open_vectors
from flywheel.model import (
    Category,
    ClaimType,
    Clean,
    Embedding,
    Entry,
    EntryId,
    Kind,
    Micros,
    ModuleEdge,
    Op,
    ProjectId,
    Setting,
    SourceFile,
    Status,
    Symbol,
    SymbolUse,
)
from flywheel.search import embedding_code
from flywheel.search.embedding import EmbeddingFollower
from flywheel.search.embedding_code import CodeFollower, due, last_stored
from flywheel.search.embedding_source import unsaid
from flywheel.store import Db, mapper

A = ProjectId("a")
MODEL = "letters-code"


class Letters:
    """An embedder that counts letters, notes what it was asked, and can be let go of."""

    dim = 32

    def __init__(self, model_id: str = MODEL) -> None:
        self.model_id = model_id
        self.asked: list[str] = []
        self.unloaded = 0

    def encode(self, texts: Sequence[Clean]) -> Vectors:
        """Letter frequencies at unit length."""
        self.asked += texts
        rows = np.zeros((len(texts), self.dim), dtype=np.float32)
        for number, text in enumerate(texts):
            for letter in text.lower():
                if "a" <= letter <= "z":
                    rows[number, ord(letter) - 97] += 1
        rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
        return rows

    def unload(self) -> None:
        """Count it."""
        self.unloaded += 1


class House:
    """A database, a checkout of files, and the follower of their definitions."""

    def __init__(self, db: Db, data: Path, checkout: Path) -> None:
        self.db, self.data, self.checkout = db, data, checkout
        checkout.mkdir()
        self.reader: VectorIndex = open_vectors(db, data)
        self.writer: VectorWriter = open_vector_writer(db, data)
        self.open()

    def open(self) -> None:
        """The follower anew, as the next indexer process has it."""
        self.writer.close()
        self.writer = open_vector_writer(self.db, self.data)
        self.embedder = Letters()
        self.follower = CodeFollower(
            self.db, self.writer, self.embedder, lambda text: Clean(text.replace("hunter2", "…"))
        )

    def file(self, path: str, text: str, *names: str, mtime: int = 1, used_by: int = 0, doc: str = "") -> None:
        """A file with functions of these names, each of one line; ``used_by`` others import it."""
        (self.checkout / path).write_text(text)
        root = str(self.checkout)
        with self.db.write() as tx:
            mapper.upsert(tx, SourceFile(
                id=path, project_id=A, checkout=root, path=path, language="python", size=1, mtime_ns=mtime,
                sha256="", state="indexed", lines=1, indexed_at=Micros(0),
            ))  # fmt: skip
            for number, name in enumerate(names, 1):
                put(tx, symbol(path, name, number, hash=text, doc=doc))
            for number in range(used_by):
                mapper.upsert(tx, ModuleEdge(
                    project_id=A, checkout=root, source=f"{number}-{path}", target=path, external=False, line=1
                ))  # fmt: skip

    def follow(self) -> list[str]:
        """Step until nothing is left; what was embedded, in order."""
        self.embedder.asked.clear()
        while step(self.db, self.follower):
            pass
        return list(self.embedder.asked)

    def rows(self) -> dict[str, Embedding]:
        """The table."""
        with self.db.read() as tx:
            return {row.id: row for row in mapper.find(tx, Embedding, "WHERE model = :model", model=MODEL)}

    def found(self, text: str) -> list[str]:
        """Names that are nearest to a text."""
        hits = self.reader.search([A], [Kind.SYMBOL], MODEL, Letters().encode([Clean(text)])[0], 10)
        return [id for _, id, _ in hits]


def put(tx: object, one: Symbol) -> None:
    """Write a symbol and say so in the feed."""
    mapper.upsert(tx, one)  # type: ignore[arg-type]
    tx.changed(Kind.SYMBOL, one.id, one.project_id)  # type: ignore[attr-defined]


def symbol(path: str, name: str, line: int, *, hash: str = "h", doc: str = "") -> Symbol:
    """A function of one line."""
    return Symbol(
        id=name, project_id=A, file_id=path, path=path, name=name, qualified=name, kind="function", ordinal=0,
        signature=Clean(f"def {name}()"), doc=Clean(doc), start_line=line, stop_line=line, hash=hash,
    )  # fmt: skip


@pytest.fixture
def house(db: Db, data: Path, tmp_path: Path) -> Iterator[House]:
    """An empty house over each store in turn."""
    made = House(db, data, tmp_path / "checkout")
    yield made
    made.writer.close()


def test_a_definition_is_embedded_with_its_code(house: House) -> None:
    """The words of its name, what is said about it, then its lines: redacted, and without what was said already."""
    house.file("a.py", 'def getUser(): "Finds one."; key = "hunter2"\n', "getUser", doc="Finds one.")
    assert house.follow() == ['get user\nFinds one.\ndef getUser(): "Finds one."; key = "…"']
    assert house.found("get user finds one") == ["getUser"]


def test_without_its_file_the_signature_stands_for_the_code(house: House) -> None:
    """A file that is gone, a link, or one that has something else at that place by now."""
    house.file("gone.py", "def gone(): pass", "gone")
    house.file("moved.py", "# one more line\ndef moved(): pass", "moved")
    house.file("linked.py", "def linked(): pass", "linked")
    (house.checkout / "gone.py").unlink()
    (house.checkout / "linked.py").rename(house.checkout / "there")
    (house.checkout / "linked.py").symlink_to(house.checkout / "there")
    assert sorted(house.follow()) == [f"{one}\n\ndef {one}()" for one in ("gone", "linked", "moved")]


def test_what_is_used_most_comes_first(house: House) -> None:
    """By how many files use it, then by how many import its file, then by when that was touched last."""
    house.file("old.py", "", "old", mtime=1)
    house.file("new.py", "", "new", mtime=9)
    house.file("used.py", "", "used", mtime=2, used_by=3)
    house.file("far.py", "", "rare", "frequent", mtime=1)
    with house.db.write() as tx:
        for name, files in (("frequent", 9), ("old", 2)):
            path = "far.py" if name == "frequent" else "old.py"
            mapper.upsert(tx, SymbolUse(
                checkout=str(house.checkout), path=path, name=name, project_id=A, files=files, share=files / 2
            ))  # fmt: skip
    with house.db.read() as tx:
        assert due(tx, MODEL, 10) == ["frequent", "old", "used", "new", "rare"]
        assert due(tx, MODEL, 1) == ["frequent"]


def test_a_second_work_tree_costs_no_embedding(house: House) -> None:
    """What is the same there gets the vector that is there already; what differs, and other projects, get their own."""
    house.file("a.py", "def aaa(): pass\ndef bbb(): pass", "aaa", "bbb")
    house.follow()
    with house.db.write() as tx:
        for root, project in (("tree", A), ("strange", ProjectId("b"))):
            mapper.upsert(tx, SourceFile(
                id=root, project_id=project, checkout=f"/{root}", path="a.py", language="python", size=1, mtime_ns=1,
                sha256="", state="indexed", lines=1, indexed_at=Micros(0),
            ))  # fmt: skip
            for name, hash in (("aaa", "def aaa(): pass\ndef bbb(): pass"), ("bbb", f"other in {root}")):
                one = symbol("a.py", name, 1, hash=hash)
                put(tx, replace(one, id=f"{root}-{name}", file_id=root, project_id=project))
    assert sorted(house.follow()) == ["aaa\n\ndef aaa()", "bbb\n\ndef bbb()", "bbb\n\ndef bbb()"]
    rows = house.rows()
    assert len(rows) == 6 and rows["tree-aaa"].vector == rows["aaa"].vector
    assert sorted(house.found("aaa"))[:1] == ["aaa"] and "tree-aaa" in house.found("aaa")


def test_headings_and_keys_are_not_embedded(house: House) -> None:
    """They are no code, and there are as many as lines."""
    house.file("a.py", "", "aaa")
    house.follow()
    with house.db.write() as tx:
        put(tx, replace(symbol("a.py", "title", 1), kind="heading"))
        put(tx, replace(symbol("a.py", "name", 1), kind="key"))
    assert house.follow() == [] and set(house.rows()) == {"aaa"}


def test_following_the_feed_embeds_nothing(house: House) -> None:
    """A step notes what is due; the pieces of the backlog come when no change waits, and then the model is let go."""
    house.file("a.py", "", *(f"f{number}" for number in range(40)))
    assert step(house.db, house.follower) == 40
    assert house.embedder.asked == [] and house.follower.watermark() == (house.db.feed_id(), house.db.head())
    with house.db.read() as tx:
        assert last_stored(tx, MODEL) == []
    assert len(house.follow()) == 40 and house.embedder.unloaded == 1
    with house.db.read() as tx:
        assert last_stored(tx, MODEL) is None


def test_the_backlog_is_worked_off_in_pieces(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each piece is findable before the next one begins."""
    monkeypatch.setattr(embedding_code, "PIECE", 1e-9)
    monkeypatch.setattr(embedding_code, "ROUND", 2)
    house.file("a.py", "", *"abcde")
    step(house.db, house.follower)
    counts = []
    while step(house.db, house.follower):
        counts.append(house.reader.count(MODEL))
    assert counts[:3] == [2, 4, 5]


def test_only_what_changed_is_embedded_again(house: House) -> None:
    """And is not found by what it was; what is the same costs nothing, even when the feed is read anew."""
    house.file("a.py", "def aaa(): pass\ndef bbb(): pass", "aaa", "bbb")
    house.follow()
    with house.db.write() as tx:
        put(tx, symbol("a.py", "aaa", 1, hash="other"))
        put(tx, symbol("a.py", "bbb", 2, hash="def aaa(): pass\ndef bbb(): pass"))
    step(house.db, house.follower)
    assert house.found("aaa") == ["bbb"]
    assert house.follow() == ["aaa\n\ndef aaa(): pass"]
    house.follower.reset()
    assert house.follow() == []
    assert set(house.found("aaa")) == {"aaa", "bbb"}


def test_what_is_gone_is_not_found(house: House) -> None:
    """A deleted definition has no vector in the table or in the index."""
    house.file("a.py", "", "aaa", "bbb")
    house.follow()
    with house.db.write() as tx:
        tx.run("DELETE FROM symbol WHERE id = 'aaa'")
        tx.changed(Kind.SYMBOL, "aaa", A, Op.DEL)
    house.follow()
    assert house.found("aaa") == ["bbb"] and set(house.rows()) == {"bbb"}


def test_who_dies_between_storing_and_publishing_loses_nothing(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next process publishes what the last one had stored."""
    house.file("a.py", "", "aaa", "bbb")
    step(house.db, house.follower)
    monkeypatch.setattr(house.writer, "publish", lambda db, batch: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        house.follow()
    assert set(house.rows()) == {"aaa", "bbb"}
    house.open()
    assert house.follow() == []
    assert set(house.found("aaa")) == {"aaa", "bbb"}


def test_changes_of_other_things_only_move_the_watermark(house: House) -> None:
    """Once, when there is time; so an import does not write it over and over."""
    house.file("a.py", "", "aaa")
    house.follow()
    with house.db.write() as tx:
        tx.changed(Kind.MESSAGE, "m", A)
    step(house.db, house.follower)
    assert house.reader.watermark(MODEL)[1] < house.db.head()
    house.follow()
    assert house.reader.watermark(MODEL) == (house.db.feed_id(), house.db.head())


def entry() -> Entry:
    """A page."""
    return Entry(
        id=EntryId("e"), short="e", project_id=A, category=Category.DECISIONS, type=ClaimType.DECISION,
        status=Status.CANDIDATE, subject=Clean("x"), title=Clean("x"), summary=Clean(""), body=Clean(""), key="e",
        created_at=Micros(1), updated_at=Micros(1),
    )  # fmt: skip


def test_two_models_live_beside_each_other(house: House) -> None:
    """The model of the rest gives up the definitions that it had, takes them back without the other one, and neither
    removes what is the other's."""
    house.file("a.py", "", "aaa")
    with house.db.write() as tx:
        mapper.upsert(tx, entry())
        tx.changed(Kind.ENTRY, "e", A)
    house.follow()

    def rest(kinds: frozenset[Kind], beside: Sequence[str] = (MODEL,)) -> set[str]:
        other = EmbeddingFollower(house.db, house.writer, Letters("rest"), kinds=kinds, beside=beside)
        while step(house.db, other):
            pass
        with house.db.read() as tx:
            kept = {row[0] for row in tx.all("SELECT id FROM embedding WHERE model = 'rest'")}
        query = Letters().encode([Clean("ax")])[0]
        assert {id for _, id, _ in house.reader.search([A], [], "rest", query, 10)} == kept
        return kept

    every = frozenset(Kind)
    assert rest(every) == {"aaa", "e"}
    assert rest(every - {Kind.SYMBOL}) == {"e"}
    assert set(house.rows()) == {"aaa"} and house.found("aaa") == ["aaa"]
    assert rest(every, beside=()) == {"aaa", "e"}
    assert not house.rows()
    with house.db.read() as tx:
        assert mapper.get(tx, Setting, name="kinds:rest") is not None


def test_lines_that_were_said_already_are_left_out() -> None:
    """Of comments and docstrings what the documentation has; code stays, without its indentation."""
    code = ["def f(x):", '    """Adds one', '    to x."""', "", "    # more", "    return x + 1"]
    assert unsaid(code, "Adds one to x.") == ["def f(x):", "# more", "return x + 1"]
