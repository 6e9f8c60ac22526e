"""The embedding worker of symbols: a neural model takes milliseconds a text, so it works off a backlog."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Final, Protocol

import orjson

from flywheel.embed import Embedder
from flywheel.index.vectors import START, Batch, Gone, VectorWriter, write_mark
from flywheel.model import Change, Clean, Embedding, Kind, Seq, Setting, digest
from flywheel.search.embedding import drop_rows, encoded, existing, store
from flywheel.search.embedding_source import LANDMARKS, Definition, read_definitions, texts_of
from flywheel.search.embedding_texts import Wanted
from flywheel.store import Db, Tx, mapper
from flywheel.store.chunks import chunks

PIECE: Final = 0.4
"""Seconds of one piece of the backlog: as long as the other indexes wait for their next step."""

ROUND: Final = 32
"""Texts encoded between two looks at the clock."""

AHEAD: Final = 2000
"""Symbols whose turn is looked up at a time."""

CHUNK: Final = 500


class LazyEmbedder(Embedder, Protocol):
    """An embedder that is loaded when it is used."""

    def unload(self) -> None:
        """Let go of the model until the next use."""


class CodeFollower:
    """Follower "code vectors". Following the feed only notes which vectors are due and drops those that are not right
    any more; `settle` makes them, those of the most used and last touched files first.

    A note in `setting` says that there is a backlog, and which rows were stored last: whoever dies between storing and
    publishing has them published by the next process.
    """

    name = "code vectors"

    def __init__(
        self,
        db: Db,
        writer: VectorWriter,
        embedder: LazyEmbedder,
        clean: Callable[[str], Clean],
        *,
        beside: Collection[str] = (),
    ) -> None:
        """Makes the index whole where it was damaged.

        ``clean`` redacts code; ``beside``: the models in use that embed the rest.
        """
        self._db = db
        self._writer = writer
        self._embedder = embedder
        self._clean = clean
        self._beside = beside
        self._mark = self._kept = writer.prepare(db, embedder.model_id)
        self._next: deque[str] = deque()
        with db.read() as tx:
            last = last_stored(tx, embedder.model_id)
        self._due = last is not None
        if last:
            self._publish(keep=self._rows(last))

    def watermark(self) -> tuple[str, Seq]:
        """How far the feed was followed; the backlog does not count."""
        return self._mark

    def apply(self, db: Db, changes: Sequence[Change], feed: str, upto: Seq) -> None:
        """Drop the vectors that are not right any more, and note that some are due."""
        changes = [change for change in changes if change.kind is Kind.SYMBOL]
        if not changes:
            self._mark = (feed, upto)  # kept when there is time
            return
        model = self._embedder.model_id
        with db.read() as tx:
            there = read_definitions(tx, list(dict.fromkeys(change.id for change in changes)))
            before = existing(tx, _wanted(there, [one.head for one in there]), model)
        texts = {(Kind.SYMBOL, one.symbol.id): (digest(one.mark), one.symbol.project_id) for one in there}
        code = sum(one.symbol.kind not in LANDMARKS for one in there)
        gone = [
            Gone(kind=Kind.SYMBOL, id=id, project_id=project)
            for id, project in {change.id: change.project_id for change in changes}.items()
            if (Kind.SYMBOL, id) not in texts
        ]
        right = [old for key, old in before.items() if (old.sha256, old.project_id) == texts[key]]
        wrong = [
            Gone(kind=old.kind, id=old.id, project_id=old.project_id) for old in before.values() if old not in right
        ]
        drop_rows(db, gone)
        self._due = self._due or len(right) < code
        with db.write(bulk=True) as tx:
            sql = "DELETE FROM embedding WHERE kind = 'symbol' AND id IN :ids AND model = :model"
            for ids in chunks([one.id for one in wrong], CHUNK):
                tx.run(sql, ids=ids, model=model)
            if self._due:
                _note(tx, model, ())
            write_mark(tx, model, feed, upto)
        self._next.clear()
        self._mark = (feed, upto)
        self._publish(keep=right, drop=[*gone, *wrong])

    def reset(self) -> None:
        """Start anew with the next step. What is embedded stays, and is used where its text is still the same."""
        self._writer.reset(self._db, self._embedder.model_id)
        self._mark = self._kept = START

    def settle(self, db: Db) -> int:
        """Keep the watermark, then work off a piece of the backlog, then keep house; 0 when nothing is to do."""
        if self._kept != self._mark:
            with db.write(bulk=True) as tx:
                write_mark(tx, self._embedder.model_id, *self._mark)
            self._publish()
            return 1
        if self._due:
            return self._work(db) or 1
        return self._writer.settle(db, self._embedder.model_id, self._beside)

    def _work(self, db: Db) -> int:
        """Embed for about `PIECE` seconds; how many."""
        enough = time.monotonic() + PIECE
        rows: list[Embedding] = []
        while not rows or time.monotonic() < enough:
            if not self._next:
                if rows:
                    break  # what is done must be stored before it is asked what is missing
                with db.read() as tx:
                    self._next.extend(due(tx, self._embedder.model_id, AHEAD))
                if not self._next:
                    self._finish(db)
                    return 0
            some = [self._next.popleft() for _ in range(min(ROUND, len(self._next)))]
            with db.read() as tx:
                there = read_definitions(tx, some)
                known = shared(tx, there, self._embedder.model_id)
            rows += known.values()
            if new := [one for one in there if one.symbol.id not in known]:
                rows += encoded(self._embedder, _wanted(new, texts_of(new, self._clean)))
        with db.write(bulk=True) as tx:
            _note(tx, self._embedder.model_id, [row.id for row in rows])
        store(db, self._writer, rows)
        self._publish(put=rows)
        return len(rows)

    def _finish(self, db: Db) -> None:
        self._due = False
        self._embedder.unload()
        with db.write(bulk=True) as tx:
            tx.run("DELETE FROM setting WHERE name = :name", name=_name(self._embedder.model_id))

    def _rows(self, ids: Sequence[str]) -> list[Embedding]:
        where = "WHERE kind = 'symbol' AND id IN :ids AND model = :model"
        with self._db.read() as tx:
            return [
                row
                for some in chunks(ids, CHUNK)
                for row in mapper.find(tx, Embedding, where, ids=some, model=self._embedder.model_id)
            ]

    def _publish(
        self, put: Sequence[Embedding] = (), keep: Sequence[Embedding] = (), drop: Sequence[Gone] = ()
    ) -> None:
        feed, upto = self._mark
        model = self._embedder.model_id
        self._writer.publish(self._db, Batch(model=model, put=put, keep=keep, drop=drop, feed=feed, upto=upto))
        self._kept = self._mark


def _wanted(definitions: Sequence[Definition], texts: Sequence[Clean]) -> list[Wanted]:
    return [
        Wanted(kind=Kind.SYMBOL, id=one.symbol.id, project_id=one.symbol.project_id, text=text, mark=one.mark)
        for one, text in zip(definitions, texts, strict=True)
    ]


def shared(tx: Tx, definitions: Sequence[Definition], model: str) -> dict[str, Embedding]:
    """Of each symbol that has its vector in another work tree of the project already: its row, copied from there."""
    found: dict[tuple[str, str], Embedding] = {}
    for project in {one.symbol.project_id for one in definitions}:
        mine = [one.symbol for one in definitions if one.symbol.project_id == project]
        rows = mapper.find(
            tx, Embedding, "WHERE kind = 'symbol' AND model = :model AND id IN"
            " (SELECT s.id FROM source_file f JOIN symbol s ON s.file_id = f.id"
            " WHERE f.project_id = :project AND f.path IN :paths AND s.name IN :names)",
            model=model, project=project, paths=sorted({one.path for one in mine}),
            names=sorted({one.name for one in mine}),
        )  # fmt: skip
        found |= {(project, row.sha256): row for row in rows}
    pairs = [(one.symbol, found.get((one.symbol.project_id, digest(one.mark)))) for one in definitions]
    return {symbol.id: replace(row, id=symbol.id) for symbol, row in pairs if row is not None}


def due(tx: Tx, model: str, limit: int) -> list[str]:
    """Symbols that have no vector, in the order of their turn: what most other files use first, then what is in the
    files that most others import, and of what is left the last touched."""
    rows = tx.all(
        "SELECT s.id FROM symbol s LEFT JOIN source_file f ON f.id = s.file_id LEFT JOIN"
        " (SELECT checkout, target, COUNT(*) AS uses FROM module_edge WHERE external = 0 GROUP BY checkout, target) e"
        " ON e.checkout = f.checkout AND e.target = f.path"
        " LEFT JOIN symbol_use u ON u.checkout = f.checkout AND u.path = s.path AND u.name = s.name"
        " WHERE s.kind NOT IN :landmarks AND NOT EXISTS"
        " (SELECT 1 FROM embedding v WHERE v.kind = 'symbol' AND v.id = s.id AND v.model = :model)"
        " ORDER BY COALESCE(u.share, 0) DESC, COALESCE(e.uses, 0) DESC, COALESCE(f.mtime_ns, 0) DESC,"
        " s.path, s.start_line, s.id LIMIT :limit",
        model=model,
        landmarks=list(LANDMARKS),
        limit=limit,
    )
    return [id for (id,) in rows]


def last_stored(tx: Tx, model: str) -> list[str] | None:
    """The ids that were stored last by a backlog that is not worked off; None when there is none."""
    row = tx.one("SELECT value FROM setting WHERE name = :name", name=_name(model))
    return None if row is None else list(orjson.loads(row[0]))


def _note(tx: Tx, model: str, ids: Sequence[str]) -> None:
    mapper.upsert(tx, Setting(name=_name(model), value=orjson.dumps(ids).decode()))


def _name(model: str) -> str:
    return f"backlog:{model}"
