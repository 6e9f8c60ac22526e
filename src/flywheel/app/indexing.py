"""The indexer: the followers of the change feed in one process, and its note of how far they are."""

from __future__ import annotations

import time
from collections import deque
from typing import Final

import orjson

from flywheel.app.embedding import Embedding
from flywheel.app.pace import CURRENT, TEXT
from flywheel.app.parts import Parts
from flywheel.index.follow import Follower, step
from flywheel.index.pacing import Pace
from flywheel.index.text import TextFollower
from flywheel.index.vectors import VectorWriter
from flywheel.index.vectors_open import open_vector_writer
from flywheel.model import Seq
from flywheel.tree.follow import TreeFollower

PACE: Final = 0.35
"""Seconds between two steps of the running indexer: what is committed is findable well within a second."""


class Indexer:
    """The one writer of the text and vector indexes. Lives in the index lane's process."""

    def __init__(self, parts: Parts, *, pace: float = 0.0) -> None:
        """Opens both writers, which makes damaged indexes anew.

        ``pace``: seconds from one step that had work to the next, unless a full one waits (`Pace`).
        """
        self._db = parts.db
        self._path = parts.data / CURRENT
        self._heads: deque[tuple[float, Seq]] = deque(maxlen=10_000)
        config = parts.config.index
        self._text = TextFollower(parts.data / TEXT, heap=config.heap_mb << 20, tool_chars=config.tool_chars)
        self._pace = Pace(parts.db, self._text, pace)
        self._vectors: VectorWriter | None = None
        self._plain: list[Follower] = [self._text, TreeFollower(parts.db)]
        self._embedding: Embedding | None = None
        if parts.serving()[0] is not None:
            self._vectors = open_vector_writer(parts.db, parts.data)
            self._embedding = Embedding(parts, self._vectors)

    def step(self) -> int:
        """One step of each follower; 0 when all are up to date and tidy."""
        self._gather()
        began = time.monotonic()
        self._heads.append((time.time(), self._db.head()))
        done = sum(step(self._db, follower) for follower in self._plain)
        done += self._embedding.step() if self._embedding is not None else 0
        if done:
            self._pace.worked(began)
        self._tell(min(follower.watermark()[1] for follower in self.followers))
        return done

    @property
    def followers(self) -> list[Follower]:
        """All that follow the feed, but for a model that is only to take over."""
        return [*self._plain, *(self._embedding.serving if self._embedding is not None else ())]

    def _gather(self) -> None:
        while (left := self._pace.left(time.monotonic())) > 0:
            time.sleep(left)

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
