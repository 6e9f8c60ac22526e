"""The vector index's seam: what search asks, what the embedding worker writes, and how far it is."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

import numpy as np
import orjson
from numpy.typing import NDArray

from flywheel.model import Embedding, Kind, ProjectId, Seq
from flywheel.store import Db, Tx

Found = tuple[Kind, str, float]
"""Kind, id and cosine similarity (-1 to 1) of one hit."""

START: Final = ("", Seq(0))
"""The watermark of an index that holds nothing."""

FOLDER: Final = Path("index") / "vectors"
"""Where the segments lie below the data folder."""


RETIRE: Final = 250
"""Rows of an old model that go in one transaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """A vector that is to go."""

    kind: Kind
    id: str
    project_id: ProjectId


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What one step of the embedding worker brings to the index, after it is in the `embedding` table."""

    model: str
    put: Sequence[Embedding]  # new or changed
    keep: Sequence[Embedding] = ()  # as the table has them already; added where the index lacks them
    drop: Sequence[Gone] = ()
    erase: bool = False  # what is dropped was forgotten: no byte of it stays in a file
    feed: str
    upto: Seq


class VectorIndex(Protocol):
    """Nearest vectors. Safe to share between threads; always as fresh as the last step of the embedding worker."""

    def search(
        self,
        projects: Sequence[ProjectId],
        kinds: Sequence[Kind],
        model: str,
        vector: NDArray[np.float32],
        limit: int,
    ) -> list[Found]:
        """The ``limit`` nearest, best first; ties by kind and id. No projects means everywhere, no kinds all kinds.

        ``vector`` has unit length, shape (dim,); a zero vector finds nothing.
        """

    def count(self, model: str) -> int:
        """Vectors of the model that can be found."""

    def watermark(self, model: str) -> tuple[str, Seq]:
        """How far the index follows the change feed for a model (feed id, number); ("", 0) when it holds nothing."""

    def release(self) -> None:
        """Let go of mapped files; the next search maps them anew. For a process that falls idle."""


class VectorWriter(Protocol):
    """The one writer of a vector index. Not for sharing between threads."""

    def prepare(self, db: Db, model: str) -> tuple[str, Seq]:
        """Make the model's index whole, from the `embedding` table where it has to be; its watermark."""

    def store(self, tx: Tx, rows: Sequence[Embedding]) -> None:
        """Write rows of the `embedding` table, over those with their keys."""

    def publish(self, db: Db, batch: Batch) -> None:
        """Make the batch findable and move the watermark, both or neither. Idempotent."""

    def reset(self, db: Db, model: str) -> None:
        """Forget the watermark; the index goes back to what the `embedding` table holds."""

    def settle(self, db: Db, model: str, beside: Collection[str] = ()) -> int:
        """One piece of housekeeping when all is up to date; 0 when there is none left.

        The vectors of models that are neither this one nor among those in use ``beside`` it go.
        """

    def close(self) -> None:
        """Let go of files and locks."""


def read_mark(tx: Tx, model: str) -> tuple[str, Seq]:
    """How far the `embedding` table follows the change feed for a model; `START` when it never did."""
    row = tx.one("SELECT value FROM setting WHERE name = :name", name=_mark(model))
    if row is None:
        return START
    feed, seq = orjson.loads(row[0])
    return feed, Seq(seq)


def write_mark(tx: Tx, model: str, feed: str, seq: Seq) -> None:
    """Note how far the `embedding` table follows the change feed; in the transaction of its rows."""
    tx.run(
        "INSERT INTO setting (name, value) VALUES (:name, :value) ON CONFLICT (name) DO UPDATE SET value = :value",
        name=_mark(model),
        value=orjson.dumps([feed, seq]).decode(),
    )


def drop_mark(tx: Tx, model: str) -> None:
    """Forget how far the table is."""
    tx.run("DELETE FROM setting WHERE name = :name", name=_mark(model))


def marked_models(tx: Tx) -> list[str]:
    """The models that have a mark, in order."""
    prefix = _mark("")
    rows = tx.all("SELECT name FROM setting WHERE name LIKE :prefix ORDER BY name", prefix=prefix + "%")
    return [name.removeprefix(prefix) for (name,) in rows]


def retire_others(db: Db, models: Collection[str]) -> int:
    """Delete some rows of one model that is not among these; how many, its mark included. 0 when none is left.

    The mark goes back to the start first: whoever wants that model again finds it unfinished.
    """
    with db.read() as tx:
        others = [name for name in marked_models(tx) if name not in models]
        if not others:
            return 0
        rows = tx.all("SELECT kind, id FROM embedding WHERE model = :model LIMIT :limit", model=others[0], limit=RETIRE)
    with db.write(bulk=True) as tx:
        if not rows:
            drop_mark(tx, others[0])
            return 1
        write_mark(tx, others[0], *START)
        sql = "DELETE FROM embedding WHERE kind = :kind AND id = :id AND model = :model"
        return tx.batch(sql, [(kind, id, others[0]) for kind, id in rows])


def _mark(model: str) -> str:
    return f"vectors:{model}"
