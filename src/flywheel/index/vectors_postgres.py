"""The vector index inside PostgreSQL: pgvector beside the int8 truth, exact where few, HNSW where many.

`embedding.vec` holds the int8 numbers as they are: cosine distance does not see their length. A zero vector has no
`vec`, because nothing is near to it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from flywheel.embed import quantise
from flywheel.index.vectors import Batch, Found, drop_mark, read_mark, retire_others
from flywheel.model import Embedding, Kind, ProjectId, Seq
from flywheel.store import Db, Tx

EXACT: Final = 2_000
"""Rows in question up to which a search compares them all, at 2.4 µs each; with more it asks the HNSW index."""

HNSW_FROM: Final = 20_000
"""Rows of a model from which on it gets an HNSW index, which makes writing four times slower."""

RECOUNT: Final = 5_000
"""New rows after which the model's are counted again."""

BREADTH: Final = 100
"""``hnsw.ef_search`` at least; pgvector's default is 40, its highest 1000."""

_COLUMNS: Final = "kind, id, model, project_id, dim, vector, sha256"


class PostgresVectors:
    """Searches `embedding`. There is nothing to release."""

    def __init__(self, db: Db) -> None:
        self._db = db

    def search(
        self,
        projects: Sequence[ProjectId],
        kinds: Sequence[Kind],
        model: str,
        vector: NDArray[np.float32],
        limit: int,
    ) -> list[Found]:
        """The ``limit`` nearest, best first; see `vectors.VectorIndex.search`."""
        query = quantise(vector)
        if limit <= 0 or not query.any():
            return []
        where = ["model = " + quoted(model), "vec IS NOT NULL"]  # a literal: the planner must see the partial index
        if projects:
            where.append("project_id IN :projects")
        if kinds:
            where.append("kind IN :kinds")
        scope = {"projects": list(projects), "kinds": [kind.value for kind in kinds]}
        with self._db.read() as tx:
            few = self._is_few(tx, " AND ".join(where), scope)
            distance = f"CAST(vec AS vector({len(query)})) <=> CAST(:query AS vector({len(query)}))"
            order = distance
            if few:
                order = f'({distance}) + 0, kind COLLATE "C", id COLLATE "C"'  # no index has that expression
            else:
                _widen(tx, limit)
            rows = tx.all(
                f"SELECT kind, id, 1 - ({distance}) FROM embedding WHERE {' AND '.join(where)}"
                f" ORDER BY {order} LIMIT :limit",
                query=to_text(query),
                limit=limit,
                **scope,
            )
        found = [(Kind(kind), id, float(score)) for kind, id, score in rows]
        return sorted(found, key=lambda hit: (-hit[2], hit[0], hit[1]))

    def count(self, model: str) -> int:
        """Vectors of the model that can be found."""
        with self._db.read() as tx:
            return _count(tx, model)

    def watermark(self, model: str) -> tuple[str, Seq]:
        """How far the table follows the change feed for a model."""
        with self._db.read() as tx:
            return read_mark(tx, model)

    def release(self) -> None:
        """Nothing is held."""

    def _is_few(self, tx: Tx, where: str, scope: Mapping[str, object]) -> bool:
        rows = tx.one(
            f"SELECT count(*) FROM (SELECT 1 FROM embedding WHERE {where} LIMIT :most) AS found",
            most=EXACT + 1,
            **scope,
        )
        return rows is None or rows[0] <= EXACT


class PostgresVectorWriter:
    """Writes `vec` with its row; the mark in `setting` is the watermark."""

    def __init__(self) -> None:
        self._unseen: dict[str, int] = {}  # rows put since the model's were last counted; RECOUNT when never

    def prepare(self, db: Db, model: str) -> tuple[str, Seq]:
        """The model's watermark."""
        with db.read() as tx:
            return read_mark(tx, model)

    def store(self, tx: Tx, rows: Sequence[Embedding]) -> None:
        """Write rows of the `embedding` table, with what pgvector searches."""
        tx.batch(
            f"INSERT INTO embedding ({_COLUMNS}, vec) VALUES"
            " (:kind, :id, :model, :project_id, :dim, :vector, :sha256, CAST(:vec AS vector))"
            " ON CONFLICT (kind, id, model) DO UPDATE SET project_id = excluded.project_id, dim = excluded.dim,"
            " vector = excluded.vector, sha256 = excluded.sha256, vec = excluded.vec",
            [
                (row.kind.value, row.id, row.model, row.project_id, row.dim, row.vector, row.sha256, _vec(row.vector))
                for row in rows
            ],
        )

    def publish(self, db: Db, batch: Batch) -> None:
        """Rows and mark are there already."""
        self._unseen[batch.model] = self._unseen.get(batch.model, RECOUNT) + len(batch.put)

    def reset(self, db: Db, model: str) -> None:
        """Forget the watermark; the table's vectors stay findable."""
        with db.write() as tx:
            drop_mark(tx, model)

    def settle(self, db: Db, model: str, beside: Collection[str] = ()) -> int:
        """Drop other models' rows, a few at a time, and their HNSW indexes; make this model's when it has grown."""
        kept = {model, *beside}
        retired = retire_others(db, kept)
        if retired:
            return retired
        if self._unseen.get(model, RECOUNT) < RECOUNT:
            return 0
        self._unseen[model] = 0
        with db.read() as tx:
            grown = _count(tx, model) >= HNSW_FROM
            found = tx.all("SELECT indexname FROM pg_indexes WHERE indexname LIKE 'embedding#_hnsw#_%' ESCAPE '#'")
        have = {name for (name,) in found}
        for stale in sorted(have - {index_name(one) for one in kept}):
            with db.write() as tx:
                tx.run(f"DROP INDEX IF EXISTS {stale}")
        if grown and index_name(model) not in have:
            build_index(db, model)
        return 1

    def close(self) -> None:
        """Nothing is held."""


def build_index(db: Db, model: str) -> None:
    """Make the model's HNSW index. Readers go on; only other writers of `embedding` wait."""
    with db.write() as tx:
        row = tx.one("SELECT dim FROM embedding WHERE model = :model LIMIT 1", model=model)
        if row is None:
            return
        tx.one("SELECT set_config('maintenance_work_mem', '512MB', true)")
        tx.one("SELECT set_config('max_parallel_maintenance_workers', '0', true)")  # /dev/shm of a container is small
        tx.run(
            f"CREATE INDEX IF NOT EXISTS {index_name(model)} ON embedding"
            f" USING hnsw ((CAST(vec AS vector({int(row[0])}))) vector_cosine_ops) WHERE model = {quoted(model)}"
        )


def index_name(model: str) -> str:
    """The name of a model's HNSW index."""
    return f"embedding_hnsw_{hashlib.sha256(model.encode()).hexdigest()[:12]}"


def quoted(model: str) -> str:
    """The model id as an SQL literal."""
    return "'" + model.replace("'", "''") + "'"


def to_text(vector: NDArray[np.int8]) -> str:
    """A vector as pgvector reads it."""
    return f"[{','.join(map(str, vector.tolist()))}]"


def _vec(vector: bytes) -> str | None:
    return to_text(np.frombuffer(vector, dtype=np.int8)) if any(vector) else None


def _count(tx: Tx, model: str) -> int:
    row = tx.one("SELECT count(*) FROM embedding WHERE model = :model AND vec IS NOT NULL", model=model)
    return int(row[0]) if row else 0


def _widen(tx: Tx, limit: int) -> None:
    """A broader HNSW search for this transaction, and one that goes on until the filters let enough rows through."""
    tx.one("SELECT set_config('hnsw.ef_search', :breadth, true)", breadth=str(min(max(BREADTH, limit), 1000)))
    row = tx.one("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
    if row and tuple(map(int, row[0].split(".")[:2])) >= (0, 8):
        tx.one("SELECT set_config('hnsw.iterative_scan', 'strict_order', true)")
