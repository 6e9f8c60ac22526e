"""The vector index's contract, over the segments beside SQLite and pgvector inside PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from flywheel.embed import quantise
from flywheel.index.vectors import Batch, Gone, VectorIndex, VectorWriter, write_mark
from flywheel.index.vectors_open import open_vector_writer, open_vectors
from flywheel.model import GLOBAL, Embedding, Kind, ProjectId, Seq
from flywheel.store import Db, mapper

DIM = 16
A, B = ProjectId("a"), ProjectId("b")


class Index:
    """Both ends of one vector index, and a plain record of what ought to be in it."""

    def __init__(self, db: Db, data: Path) -> None:
        self.db = db
        self.data = data
        self.writer: VectorWriter = open_vector_writer(db, data)
        self.reader: VectorIndex = open_vectors(db, data)
        self.seq = 0

    def put(
        self, *rows: Embedding, drop: Sequence[Gone] = (), keep: Sequence[Embedding] = (), erase: bool = False
    ) -> None:
        """One step of an embedding worker."""
        self.seq += 1
        model = (*rows, *keep)[0].model if rows or keep else "m"
        with self.db.write() as tx:
            for gone in drop:
                tx.run("DELETE FROM embedding WHERE kind = :kind AND id = :id", kind=gone.kind, id=gone.id)
            self.writer.store(tx, rows)
            write_mark(tx, model, "feed", Seq(self.seq))
        batch = Batch(model=model, put=rows, keep=keep, drop=drop, erase=erase, feed="feed", upto=Seq(self.seq))
        self.writer.publish(self.db, batch)

    def find(
        self,
        like: NDArray[np.float32],
        *,
        projects: Sequence[ProjectId] = (),
        kinds: Sequence[Kind] = (),
        model: str = "m",
        limit: int = 10,
    ) -> list[str]:
        """Ids, best first."""
        return [id for _, id, _ in self.reader.search(projects, kinds, model, like, limit)]

    def reopen(self) -> None:
        """Both ends anew, as other processes would have them."""
        self.writer.close()
        self.writer = open_vector_writer(self.db, self.data)
        self.reader = open_vectors(self.db, self.data)


@pytest.fixture
def index(db: Db, data: Path) -> Iterator[Index]:
    """An empty index of each store in turn."""
    made = Index(db, data)
    made.writer.prepare(db, "m")
    yield made
    made.writer.close()


def unit(seed: int) -> NDArray[np.float32]:
    """A direction that depends on the seed only."""
    vector = np.random.default_rng(seed).standard_normal(DIM).astype(np.float32)
    result: NDArray[np.float32] = vector / np.linalg.norm(vector)
    return result


def row(
    id: str,
    vector: NDArray[np.float32] | None = None,
    *,
    project: ProjectId = A,
    kind: Kind = Kind.ENTRY,
    model: str = "m",
) -> Embedding:
    """A row of the table; without a vector, a direction of its own."""
    vector = unit(sum(map(ord, id))) if vector is None else vector
    return Embedding(
        kind=kind, id=id, model=model, project_id=project, dim=DIM, vector=quantise(vector).tobytes(), sha256=""
    )


def test_an_empty_index_finds_nothing(index: Index) -> None:
    """Before the first step there is nothing, and nobody stumbles over it."""
    assert index.find(unit(1)) == []
    assert index.reader.count("m") == 0
    assert index.reader.watermark("m") == ("", 0)


def test_the_nearest_come_first_with_their_cosine(index: Index) -> None:
    """Hits are ordered by cosine similarity, which is 1 for the vector itself and -1 for its opposite."""
    one = unit(1)
    index.put(row("same", one), row("opposite", -one), row("other", unit(2)))
    found = index.reader.search([], [], "m", one, 10)
    assert [id for _, id, _ in found] == ["same", "other", "opposite"]
    assert found[0][0] is Kind.ENTRY
    assert found[0][2] == pytest.approx(1, abs=0.02)
    assert found[1][2] == pytest.approx(float(one @ unit(2)), abs=0.02)
    assert found[2][2] == pytest.approx(-1, abs=0.02)


def test_filters_are_hard(index: Index) -> None:
    """Only the named projects and kinds, only the model in question; none named means all."""
    one = unit(1)
    index.put(
        row("1", one),
        row("2", one, project=B),
        row("3", one, project=GLOBAL),
        row("4", one, kind=Kind.MESSAGE),
        row("5", one, kind=Kind.SYMBOL, project=B),
    )
    index.put(row("6", one, model="other"))
    assert index.find(one, projects=[A]) == ["1", "4"]
    assert index.find(one, projects=[A, GLOBAL]) == ["1", "3", "4"]
    assert index.find(one, projects=[B, B], kinds=[Kind.SYMBOL, Kind.DOCUMENT]) == ["5"]
    assert index.find(one, kinds=[Kind.ENTRY]) == ["1", "2", "3"]
    assert index.find(one) == ["1", "2", "3", "4", "5"]
    assert index.find(one, projects=[ProjectId("nobody")]) == []
    assert index.find(one, model="other") == ["6"]
    assert index.find(one, model="unheard of") == []


def test_the_limit_keeps_the_best_and_ties_go_by_kind_and_id(index: Index) -> None:
    """Equal scores are cut in a fixed order, so that the same question has the same answer."""
    one = unit(1)
    index.put(*(row(f"t{number}", one) for number in range(9)), row("m", one, kind=Kind.MESSAGE), row("n", unit(2)))
    assert index.find(one, limit=3) == ["t0", "t1", "t2"]
    assert index.find(one, limit=10)[-1] == "m"
    assert index.find(one, limit=0) == []


def test_zero_vectors_are_near_to_nothing(index: Index) -> None:
    """A text without a known word is stored, and neither found nor able to find."""
    zero = np.zeros(DIM, dtype=np.float32)
    index.put(row("zero", zero), row("one"))
    assert index.find(unit(5)) == ["one"]
    assert index.find(zero) == []
    assert index.reader.count("m") == 1


def test_a_new_vector_replaces_the_old_one(index: Index) -> None:
    """Put again, a thing is found where it is now and not where it was; a zero vector takes it out."""
    index.put(row("x", unit(1)), row("y", unit(2)))
    index.put(row("x", unit(3)))
    assert index.reader.count("m") == 2
    assert index.reader.search([], [], "m", unit(3), 1)[0][1] == "x"
    assert index.reader.search([], [], "m", unit(1), 1)[0][2] < 0.9
    index.put(row("x", np.zeros(DIM, dtype=np.float32)))
    assert index.find(unit(3)) == ["y"]


def test_what_is_dropped_is_gone(index: Index) -> None:
    """Dropped once, or once more, or never there: it is not found, and its neighbours are."""
    index.put(row("x"), row("y"), row("x", project=B, kind=Kind.MESSAGE))
    gone = Gone(kind=Kind.ENTRY, id="x", project_id=A)
    index.put(drop=[gone])
    index.put(drop=[gone, Gone(kind=Kind.ENTRY, id="never", project_id=B)])
    assert {(kind, id) for kind, id, _ in index.reader.search([], [], "m", unit(1), 9)} == {
        (Kind.ENTRY, "y"),
        (Kind.MESSAGE, "x"),
    }


def test_a_step_twice_is_a_step_once(index: Index) -> None:
    """Replaying a step, as put or as kept, neither doubles nor loses anything."""
    rows = [row("x"), row("y", project=B)]
    index.put(*rows)
    index.put(*rows)
    index.put(keep=rows)
    assert index.reader.count("m") == 2
    assert sorted(index.find(unit(1))) == ["x", "y"]


def test_a_thing_may_move_to_another_project(index: Index) -> None:
    """Put under its new project and dropped under the old one, it is found in the new one only."""
    index.put(row("x"))
    index.put(row("x", project=B))
    if index.db.dialect == "sqlite":
        index.seq += 1
        gone = Gone(kind=Kind.ENTRY, id="x", project_id=A)
        index.writer.publish(index.db, Batch(model="m", put=[], drop=[gone], feed="feed", upto=Seq(index.seq)))
    assert index.find(unit(1), projects=[A]) == []
    assert index.find(unit(1), projects=[B]) == ["x"]


def test_the_watermark_comes_with_the_rows(index: Index) -> None:
    """Reader and writer tell the last step's feed and number, also after opening anew."""
    index.put(row("x"))
    index.put(drop=[Gone(kind=Kind.ENTRY, id="x", project_id=A)])
    assert index.reader.watermark("m") == ("feed", 2)
    index.reopen()
    assert index.reader.watermark("m") == ("feed", 2)
    assert index.writer.prepare(index.db, "m") == ("feed", 2)


def test_reset_forgets_the_watermark_and_keeps_the_vectors(index: Index) -> None:
    """After a reset everything is followed anew while searches go on with what the table holds."""
    index.put(row("x"), row("y"))
    index.writer.reset(index.db, "m")
    assert index.writer.prepare(index.db, "m") == ("", 0)
    assert sorted(index.find(unit(1))) == ["x", "y"]
    index.reopen()
    assert index.writer.prepare(index.db, "m") == ("", 0)


def test_old_models_go_when_all_is_settled(index: Index) -> None:
    """Housekeeping deletes other models' vectors, rows and marks, piece by piece, and leaves this one's alone."""
    index.put(*(row(f"o{number}", model="old") for number in range(300)))
    index.put(*(row(f"n{number}") for number in range(5)))
    assert len(index.find(unit(1), model="old", limit=500)) == 300
    pieces = 0
    while index.writer.settle(index.db, "m"):
        pieces += 1
    assert 2 < pieces < 10
    assert index.find(unit(1), model="old") == []
    assert len(index.find(unit(1))) == 5
    with index.db.read() as tx:
        assert {item.model for item in mapper.find(tx, Embedding)} == {"m"}
        assert tx.all("SELECT name FROM setting WHERE name LIKE 'vectors:%'") == [("vectors:m",)]


def test_release_and_go_on(index: Index) -> None:
    """A reader that let go of its files finds everything again."""
    index.put(row("x"))
    assert index.find(unit(1)) == ["x"]
    index.reader.release()
    assert index.find(unit(1)) == ["x"]


steps = st.lists(
    st.lists(
        st.tuples(
            st.booleans(),
            st.sampled_from([Kind.ENTRY, Kind.MESSAGE]),
            st.sampled_from("uvwxyz"),
            st.sampled_from([A, B]),
            st.integers(0, 6),
        ),
        max_size=5,
    ),
    max_size=8,
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(plan=steps)
def test_any_history_ends_like_a_plain_table(
    index: Index, plan: list[list[tuple[bool, Kind, str, ProjectId, int]]]
) -> None:
    """Whatever is put and dropped in whatever order, a search finds what comparing everything finds."""
    with index.db.write() as tx:
        tx.run("DELETE FROM embedding")
    index.writer.reset(index.db, "m")
    truth: dict[tuple[Kind, str, ProjectId], Embedding] = {}
    for step in plan:
        puts: dict[tuple[Kind, str, ProjectId], Embedding] = {}
        drops: list[Gone] = []
        for is_put, kind, id, project, seed in step:
            name = f"{id}-{project}"
            key = kind, name, project
            if is_put and not any((gone.kind, gone.id) == (kind, name) for gone in drops):
                puts[key] = truth[key] = row(name, unit(seed), project=project, kind=kind)
            elif key not in puts:
                drops.append(Gone(kind=kind, id=name, project_id=project))
                truth.pop(key, None)
        index.put(*puts.values(), drop=drops)
    query = quantise(unit(3)).astype(np.int32)
    for projects in ([], [A], [A, B]):
        expected = sorted(
            (-int(query @ np.frombuffer(item.vector, dtype=np.int8)), item.kind, item.id)
            for item in truth.values()
            if not projects or item.project_id in projects
        )
        found = index.reader.search(projects, [], "m", unit(3), 100)
        assert {(kind, id) for kind, id, _ in found} == {(kind, id) for _, kind, id in expected}
        if index.db.dialect == "sqlite":
            assert [(kind, id) for kind, id, _ in found] == [(kind, id) for _, kind, id in expected]
