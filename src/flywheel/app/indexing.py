"""The indexer: the followers of the change feed in one process, and its note of how far they are."""

from __future__ import annotations

import time
from collections import deque
from typing import Final

import orjson

from flywheel.app.pace import CURRENT, TEXT
from flywheel.app.parts import Parts
from flywheel.embed import Embedder
from flywheel.embed.minilm import MiniLM
from flywheel.index.follow import LIMIT, Follower, behind, step
from flywheel.index.text import TextFollower
from flywheel.index.vectors import VectorWriter
from flywheel.index.vectors_open import open_vector_writer
from flywheel.model import Kind, Seq
from flywheel.search.embedding import EmbeddingFollower
from flywheel.search.embedding_code import CodeFollower
from flywheel.tree.follow import TreeFollower

THREADS: Final = 1
"""Threads that embed code: a second one hinders more than it helps where the machine is busy."""

PACE: Final = 0.35
"""Seconds between two steps of the running indexer: what is committed is findable well within a second."""


def _embedding(parts: Parts, writer: VectorWriter, embedder: Embedder) -> list[Follower]:
    """The embedding workers: one for all, or one for code and one for the rest."""
    known, code = parts.code_model()
    if not known:
        return [EmbeddingFollower(parts.db, writer, embedder)]
    kinds = frozenset(Kind) - {Kind.SYMBOL}
    return [
        EmbeddingFollower(parts.db, writer, embedder, kinds=kinds, beside=(code,)),
        CodeFollower(parts.db, writer, MiniLM(threads=THREADS), parts.redact.text, beside=(embedder.model_id,)),
    ]


class Indexer:
    """The one writer of the text and vector indexes. Lives in the index lane's process."""

    def __init__(self, parts: Parts, *, pace: float = 0.0) -> None:
        """Opens both writers, which makes damaged indexes anew.

        ``pace``: seconds from one step that had work to the next, unless a full one waits. A commit costs about the
        same for one message as for a thousand, so what comes in a stream is gathered.
        """
        self._db = parts.db
        self._pace = pace
        self._worked = -pace
        self._path = parts.data / CURRENT
        self._heads: deque[tuple[float, Seq]] = deque(maxlen=10_000)
        config = parts.config.index
        self._text = TextFollower(parts.data / TEXT, heap=config.heap_mb << 20, tool_chars=config.tool_chars)
        self._vectors: VectorWriter | None = None
        self.followers: list[Follower] = [self._text, TreeFollower(parts.db)]
        embedder, _ = parts.embedder()
        if embedder is not None:
            self._vectors = open_vector_writer(parts.db, parts.data)
            self.followers += _embedding(parts, self._vectors, embedder)

    def step(self) -> int:
        """One step of each follower; 0 when all are up to date and tidy."""
        self._gather()
        began = time.monotonic()
        self._heads.append((time.time(), self._db.head()))
        done = sum(step(self._db, follower) for follower in self.followers)
        if done:
            self._worked = began
        self._tell(min(follower.watermark()[1] for follower in self.followers))
        return done

    def _gather(self) -> None:
        early = self._worked + self._pace - time.monotonic()
        if early > 0 and behind(self._db, self._text) < LIMIT:
            time.sleep(early)

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
