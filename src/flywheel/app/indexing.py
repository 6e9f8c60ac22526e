"""The indexer: both followers in one process, how far they are for everybody else, and what readers open."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import orjson

from flywheel.app.parts import Parts
from flywheel.index.follow import Follower, lag, step
from flywheel.index.text import TextFollower
from flywheel.index.text_read import TextReader
from flywheel.index.vectors import VectorIndex, VectorWriter, open_vector_writer, open_vectors
from flywheel.model import Seq
from flywheel.search.embedding import EmbeddingFollower
from flywheel.search.query import Searcher
from flywheel.store import Db

TEXT: Final = Path("index") / "text"
"""Where the text index lies below the data folder."""

CURRENT: Final = Path("index") / "current.json"
"""What the indexer said last: the time until which everything that was committed is indexed."""


class Indexer:
    """The one writer of the text and vector indexes. Lives in the index lane's process."""

    def __init__(self, parts: Parts) -> None:
        """Opens both writers, which makes damaged indexes anew."""
        self._db = parts.db
        self._path = parts.data / CURRENT
        self._heads: deque[tuple[float, Seq]] = deque(maxlen=10_000)
        config = parts.config.index
        self._text = TextFollower(parts.data / TEXT, heap=config.heap_mb << 20, tool_chars=config.tool_chars)
        self._vectors: VectorWriter | None = None
        self.followers: list[Follower] = [self._text]
        embedder, _ = parts.embedder()
        if embedder is not None:
            self._vectors = open_vector_writer(parts.db, parts.data)
            self.followers.append(EmbeddingFollower(parts.db, self._vectors, embedder))

    def step(self) -> int:
        """One step of each follower; 0 when all are up to date and tidy."""
        self._heads.append((time.time(), self._db.head()))
        done = sum(step(self._db, follower) for follower in self.followers)
        self._tell(min(follower.watermark()[1] for follower in self.followers))
        return done

    def _tell(self, mark: Seq) -> None:
        """Leave a note for the importers: the last time of which everything that was committed then is indexed."""
        until = 0.0
        while self._heads and self._heads[0][1] <= mark:
            until, _ = self._heads.popleft()
        if until:
            scratch = self._path.with_suffix(".tmp")
            scratch.write_bytes(orjson.dumps({"until": until}))
            scratch.replace(self._path)

    def close(self) -> None:
        """Let go of the writers."""
        self._text.close()
        if self._vectors is not None:
            self._vectors.close()


def seconds_behind(parts: Parts) -> Callable[[], float]:
    """How long ago everything committed was indexed, for an importer that should slow down; cheap to ask.

    Counts from the importer's own start at the earliest: an index that nobody runs holds nothing up for ever.
    """
    path = parts.data / CURRENT
    begun = time.time()
    seen = looked = 0.0

    def behind() -> float:
        nonlocal seen, looked
        now = time.time()
        if now - looked > 0.1:
            looked = now
            try:
                seen = float(orjson.loads(path.read_bytes())["until"])
            except (OSError, ValueError, KeyError, TypeError):
                seen = 0.0
        return now - max(seen, begun)

    return behind


@dataclass(slots=True, kw_only=True)
class Readers:
    """What a process searches with."""

    db: Db
    text: TextReader
    vectors: VectorIndex | None
    searcher: Searcher
    model: str
    notes: tuple[str, ...] = field(default=())

    def behind(self) -> Mapping[str, int]:
        """Changes that each index has not seen."""
        found = {"text": lag(self.db, self.text.watermark())}
        if self.vectors is not None:
            found["vectors"] = lag(self.db, self._vector_mark())
        return found

    def _vector_mark(self) -> tuple[str, Seq]:
        assert self.vectors is not None
        return self.vectors.watermark(self.model)


def open_readers(parts: Parts) -> Readers:
    """The search side of the indexes, for any process."""
    embedder, note = parts.embedder()
    text = TextReader(parts.data / TEXT)
    vectors = open_vectors(parts.db, parts.data) if embedder is not None else None
    searcher = Searcher(parts.db, text, vectors, embedder, parts.config)
    return Readers(
        db=parts.db,
        text=text,
        vectors=vectors,
        searcher=searcher,
        model=embedder.model_id if embedder is not None else "",
        notes=() if embedder is not None else (f"no embedding model: {note}",),
    )
