"""pgvector: exact where few, the HNSW index where many, and the index made and dropped when it is time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from flywheel.embed import quantise
from flywheel.index import vectors_postgres as module
from flywheel.index.vectors import Batch, write_mark
from flywheel.index.vectors_postgres import PostgresVectors, PostgresVectorWriter, build_index, index_name
from flywheel.model import Embedding, Kind, ProjectId, Seq
from flywheel.store import Db, Tx
from flywheel.store.connect import connect

DIM = 24
MODEL = "it's-a-model"  # a quote must not break out of the literal


@pytest.fixture
def postgres(postgres_url: str, tmp_path: Path) -> Iterator[Db]:
    """A fresh PostgreSQL database."""
    db = connect(postgres_url, tmp_path)
    yield db
    db.close()


def directions(count: int, seed: int = 0) -> NDArray[np.float32]:
    """Unit rows."""
    rows = np.random.default_rng(seed).standard_normal((count, DIM)).astype(np.float32)
    unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def fill(db: Db, writer: PostgresVectorWriter, rows: NDArray[np.float32], model: str = MODEL) -> None:
    """Rows of ten projects and two kinds."""
    kinds = (Kind.MESSAGE, Kind.ENTRY)
    made = [
        Embedding(
            kind=kinds[number % 2],
            id=f"{number:05d}",
            model=model,
            project_id=ProjectId(f"p{number % 10}"),
            dim=DIM,
            vector=vector.tobytes(),
            sha256="",
        )
        for number, vector in enumerate(quantise(rows))
    ]
    with db.write() as tx:
        writer.store(tx, made)
        write_mark(tx, model, "feed", Seq(1))
    writer.publish(db, Batch(model=model, put=made, feed="feed", upto=Seq(1)))


def indexes(db: Db) -> list[str]:
    """The HNSW indexes."""
    with db.read() as tx:
        rows = tx.all("SELECT indexname FROM pg_indexes WHERE indexdef LIKE '%hnsw%' ORDER BY indexname")
    return [name for (name,) in rows]


def test_the_vector_beside_the_truth_is_the_truth(postgres: Db) -> None:
    """`vec` holds the int8 numbers, whatever the row was before; a zero vector has none."""
    writer = PostgresVectorWriter()
    fill(postgres, writer, directions(3))
    rows = directions(3, seed=1)
    rows[2] = 0
    fill(postgres, writer, rows)
    with postgres.read() as tx:
        found = tx.all("SELECT vector, CAST(vec AS text) FROM embedding ORDER BY id")
    for (truth, text), vector in zip(found, quantise(rows), strict=True):
        assert bytes(truth) == vector.tobytes()
        assert text == ("[" + ",".join(map(str, vector.tolist())) + "]" if vector.any() else None)
    assert PostgresVectors(postgres).count(MODEL) == 2


def test_the_index_comes_when_the_model_has_grown_and_is_used(postgres: Db, monkeypatch: pytest.MonkeyPatch) -> None:
    """Below the threshold no index; above it one is made, and a search over many rows goes through it."""
    monkeypatch.setattr(module, "HNSW_FROM", 400)
    monkeypatch.setattr(module, "RECOUNT", 100)
    writer = PostgresVectorWriter()
    fill(postgres, writer, directions(300))
    assert writer.settle(postgres, MODEL) == 1
    assert writer.settle(postgres, MODEL) == 0
    assert indexes(postgres) == []
    fill(postgres, writer, directions(1000))
    while writer.settle(postgres, MODEL):
        pass
    assert indexes(postgres) == [index_name(MODEL)]
    with postgres.write() as tx:
        tx.run("ANALYZE embedding")
    with postgres.read() as tx:
        tx.one("SELECT set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true)")
        plan = tx.all(
            f"EXPLAIN SELECT id FROM embedding WHERE model = {module.quoted(MODEL)} AND vec IS NOT NULL"
            f" ORDER BY CAST(vec AS vector({DIM})) <=> CAST(:query AS vector({DIM})) LIMIT 5",
            query=module.to_text(quantise(directions(1))[0]),
        )
    assert index_name(MODEL) in str(plan)


def test_filters_keep_their_recall_through_the_index(postgres: Db, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the index in use, a search within one project and kind still finds as many as asked, nearly all the best."""
    writer = PostgresVectorWriter()
    rows = directions(2000)
    fill(postgres, writer, rows)
    index = PostgresVectors(postgres)
    scopes: list[tuple[list[ProjectId], list[Kind]]] = [([], []), ([ProjectId("p3")], [Kind.ENTRY])]
    queries = directions(20, seed=7)
    exact = [[{id for _, id, _ in index.search(p, k, MODEL, query, 10)} for query in queries] for p, k in scopes]
    build_index(postgres, MODEL)
    monkeypatch.setattr(module, "EXACT", 0)
    widen = module._widen

    def only_by_index(tx: Tx, limit: int) -> None:
        widen(tx, limit)
        tx.one("SELECT set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true)")

    monkeypatch.setattr(module, "_widen", only_by_index)
    for (projects, kinds), best in zip(scopes, exact, strict=True):
        found = [{id for _, id, _ in index.search(projects, kinds, MODEL, query, 10)} for query in queries]
        assert all(len(hits) == 10 for hits in found)
        assert np.mean([len(hits & right) / 10 for hits, right in zip(found, best, strict=True)]) > 0.95


def test_stale_indexes_go(postgres: Db) -> None:
    """After a change of model the old rows and their index are dropped, the new model's stay."""
    writer = PostgresVectorWriter()
    fill(postgres, writer, directions(20), "old")
    build_index(postgres, "old")
    fill(postgres, writer, directions(20))
    build_index(postgres, MODEL)
    while writer.settle(postgres, MODEL):
        pass
    assert indexes(postgres) == [index_name(MODEL)]
    assert PostgresVectors(postgres).count("old") == 0
    assert PostgresVectors(postgres).count(MODEL) == 20


def test_no_index_of_nothing(postgres: Db) -> None:
    """A model without rows has no dimension and gets no index."""
    build_index(postgres, "nobody")
    assert indexes(postgres) == []
