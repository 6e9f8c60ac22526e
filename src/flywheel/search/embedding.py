"""The embedding worker: follows the change feed, gives every text its vector, and tells the vector index."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import orjson

from flywheel.embed import Embedder, ModelMismatch, quantise
from flywheel.index.vectors import RETIRE, START, Batch, Gone, VectorWriter, write_mark
from flywheel.model import Change, Embedding, Kind, Op, Seq, Setting, digest
from flywheel.search.embedding_texts import Wanted, read_texts
from flywheel.store import Db, Tx, mapper
from flywheel.store.chunks import chunks

ENCODE: Final = 256
"""Texts encoded at a time."""

SLICE: Final = 64
"""Rows written between two looks at the clock."""

LOCKED: Final = 0.012
"""Seconds after which a write transaction takes no further slice; the commit comes on top."""

CHUNK: Final = 500


@dataclass(slots=True)
class _Plan:
    """What one step comes to."""

    fresh: list[Wanted]  # to be encoded
    keep: list[Embedding]  # encoded before, from the same text
    gone: Sequence[Gone]  # has no vector any more
    moved: list[Gone]  # has its vector elsewhere now


class EmbeddingFollower:
    """Follower "vectors" for one model. Texts are encoded while no lock is held.

    What was embedded from the same text by the same model is not embedded again, so a step that died half-way, or a
    feed replayed from its beginning, costs reading and little else. The rows of another model stay until this one has
    caught up, and then go; searches use this model's meanwhile, as far as they are.
    """

    name = "vectors"

    def __init__(
        self,
        db: Db,
        writer: VectorWriter,
        embedder: Embedder,
        *,
        kinds: Collection[Kind] = frozenset(Kind),
        beside: Collection[str] = (),
    ) -> None:
        """Makes the index whole where it was damaged, which reads the `embedding` table.

        ``kinds``: what this model embeds; ``beside``: the models in use that embed the rest.
        """
        self._db = db
        self._writer = writer
        self._embedder = embedder
        self._kinds = frozenset(kinds)
        self._beside = beside
        self._mark = writer.prepare(db, embedder.model_id)
        self._width = _stored_width(db, embedder.model_id)
        self._others = frozenset(Kind) - self._kinds  # whose rows, from when this model embedded them, are to go
        if self._lacks():
            self.reset()

    def watermark(self) -> tuple[str, Seq]:
        """The feed and its last change that is in the table and in the index; ("", 0) when nothing is."""
        return self._mark

    def apply(self, db: Db, changes: Sequence[Change], feed: str, upto: Seq) -> None:
        """Embed what the changes name, drop what is no more, then move the watermark."""
        plan = self._read(db, changes)
        model = self._embedder.model_id
        if self._mark == START:
            self._note(db, feed, Seq(0))  # whoever finds rows of this model finds its mark
        drop_rows(db, plan.gone)
        put: list[Embedding] = []
        for start in range(0, len(plan.fresh), ENCODE):
            rows = encoded(self._embedder, plan.fresh[start : start + ENCODE])
            self._refuse_another_width()
            store(db, self._writer, rows)
            put += rows
        self._note(db, feed, upto)
        drop = [*plan.gone, *plan.moved]
        erase = any(change.op is Op.DEL and change.kind is not Kind.SYMBOL for change in changes)
        batch = Batch(model=model, put=put, keep=plan.keep, drop=drop, erase=erase, feed=feed, upto=upto)
        self._writer.publish(db, batch)
        self._mark = (feed, upto)

    def reset(self) -> None:
        """Start anew with the next step. What is embedded stays, and is used where its text is still the same."""
        self._writer.reset(self._db, self._embedder.model_id)
        self._mark = START

    def settle(self, db: Db) -> int:
        """One piece of housekeeping: rows of other models and kinds go, a few at a time. 0 when nothing is to do."""
        return self._retire(db) or self._writer.settle(db, self._embedder.model_id, self._beside)

    def _lacks(self) -> bool:
        """Whether this model has embedded fewer kinds until now; notes those of today."""
        name, now = f"kinds:{self._embedder.model_id}", sorted(self._kinds)
        with self._db.read() as tx:
            row = tx.one("SELECT value FROM setting WHERE name = :name", name=name)
        before = set(Kind) if row is None else {Kind(kind) for kind in orjson.loads(row[0])}
        if row is None or before != self._kinds:
            with self._db.write() as tx:
                mapper.upsert(tx, Setting(name=name, value=orjson.dumps(now).decode()))
        return self._mark != START and not self._kinds <= before

    def _retire(self, db: Db) -> int:
        """Drop some rows of kinds that another model embeds now."""
        if not self._others:
            return 0
        model = self._embedder.model_id
        sql = "SELECT kind, id, project_id FROM embedding WHERE model = :model AND kind IN :kinds LIMIT :limit"
        with db.read() as tx:
            rows = tx.all(sql, model=model, kinds=[kind.value for kind in self._others], limit=RETIRE)
        gone = [Gone(kind=Kind(kind), id=id, project_id=project) for kind, id, project in rows]
        if not gone:
            self._others = frozenset()
            return 0
        feed, upto = self._mark
        self._writer.publish(db, Batch(model=model, put=(), drop=gone, feed=feed, upto=upto))
        with db.write(bulk=True) as tx:
            sql = "DELETE FROM embedding WHERE kind = :kind AND id = :id AND model = :model"
            return tx.batch(sql, [(one.kind.value, one.id, model) for one in gone])

    def _read(self, db: Db, changes: Sequence[Change]) -> _Plan:
        with db.read() as tx:
            wanted, gone = read_texts(tx, changes, self._kinds)
            before = existing(tx, wanted, self._embedder.model_id)
        plan = _Plan(fresh=[], keep=[], gone=gone, moved=[])
        for item in {(item.kind, item.id): item for item in wanted}.values():
            old = before.get((item.kind, item.id))
            if old and old.sha256 == digest(item.text) and old.project_id == item.project_id:
                plan.keep.append(old)
                continue
            plan.fresh.append(item)
            if old and old.project_id != item.project_id:
                plan.moved.append(Gone(kind=old.kind, id=old.id, project_id=old.project_id))
        return plan

    def _refuse_another_width(self) -> None:
        """Raises ModelMismatch where the store has vectors of another width under this model's name."""
        name, width = self._embedder.model_id, self._embedder.dim
        if self._width and self._width != width:
            raise ModelMismatch(
                f"the store has vectors of {self._width} numbers by {name}, which gives {width} now: it is another "
                "model under the same name; nothing is mixed. Choose another one, see: flywheel models"
            )
        self._width = width

    def _note(self, db: Db, feed: str, upto: Seq) -> None:
        with db.write(bulk=True) as tx:
            write_mark(tx, self._embedder.model_id, feed, upto)


def _stored_width(db: Db, model: str) -> int:
    """Numbers of the vectors that the store has by this model; 0 when it has none."""
    with db.read() as tx:
        row = tx.one("SELECT dim FROM embedding WHERE model = :model LIMIT 1", model=model)
    return int(row[0]) if row is not None else 0


def existing(tx: Tx, wanted: Sequence[Wanted], model: str) -> dict[tuple[Kind, str], Embedding]:
    """What the table has of these by this model."""
    found: dict[tuple[Kind, str], Embedding] = {}
    for kind in Kind:
        for ids in chunks([item.id for item in wanted if item.kind is kind], CHUNK):
            for row in mapper.find(
                tx,
                Embedding,
                "WHERE kind = :kind AND id IN :ids AND model = :model",
                kind=kind.value,
                ids=ids,
                model=model,
            ):
                found[row.kind, row.id] = row
    return found


def encoded(embedder: Embedder, wanted: Sequence[Wanted]) -> list[Embedding]:
    """Rows of the `embedding` table for these texts."""
    vectors = quantise(embedder.encode([item.text for item in wanted]))
    return [
        Embedding(
            kind=item.kind,
            id=item.id,
            model=embedder.model_id,
            project_id=item.project_id,
            dim=embedder.dim,
            vector=vector.tobytes(),
            sha256=digest(item.mark or item.text),
        )
        for item, vector in zip(wanted, np.ascontiguousarray(vectors), strict=True)
    ]


def store(db: Db, writer: VectorWriter, rows: Sequence[Embedding]) -> None:
    """Write rows in transactions of at most 20 ms."""
    at = 0
    while at < len(rows):
        with db.write(bulk=True) as tx:
            enough = time.monotonic() + LOCKED
            while at < len(rows) and time.monotonic() < enough:
                writer.store(tx, rows[at : at + SLICE])
                at += SLICE


def drop_rows(db: Db, gone: Sequence[Gone]) -> None:
    """Delete every model's vectors of what is no more."""
    for kind in Kind:
        for ids in chunks([item.id for item in gone if item.kind is kind], CHUNK):
            with db.write(bulk=True) as tx:
                tx.run("DELETE FROM embedding WHERE kind = :kind AND id IN :ids", kind=kind.value, ids=ids)
