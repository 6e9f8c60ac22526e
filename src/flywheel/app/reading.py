"""The search side of the indexes, for any process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from flywheel.app.pace import TEXT
from flywheel.app.parts import Parts, wall_clock
from flywheel.context.liking import Liking
from flywheel.embed.asking import QueryEncoder
from flywheel.embed.rerank import Reranker, open_reranker
from flywheel.index.follow import lag
from flywheel.index.text_read import TextReader
from flywheel.index.vectors import VectorIndex
from flywheel.index.vectors_open import open_vectors
from flywheel.model import Seq
from flywheel.search.choice import read_choice
from flywheel.search.embedding_code import last_stored
from flywheel.search.query import Searcher
from flywheel.search.serving import ServingEmbedder
from flywheel.store import Db


@dataclass(slots=True, kw_only=True)
class Readers:
    """What a process searches with."""

    db: Db
    text: TextReader
    vectors: VectorIndex | None
    searcher: Searcher
    serving: ServingEmbedder | None
    notes: tuple[str, ...] = field(default=())
    code: QueryEncoder | None = None
    reranker: Reranker | None = None

    def behind(self) -> Mapping[str, int]:
        """Changes that each index has not seen."""
        found = {"text": lag(self.db, self.text.watermark())}
        if self.vectors is not None:
            found["vectors"] = lag(self.db, self._vector_mark())
        return found

    def unfinished(self) -> bool:
        """Whether definitions wait for their vectors, or all things for those of a model that was chosen."""
        if self.serving is not None:
            with self.db.read() as tx:
                choice = read_choice(tx)
            if choice is not None and choice.switching:
                return True
        if self.code is None or self.vectors is None:
            return False
        with self.db.read() as tx:
            backlog = last_stored(tx, self.code.model_id)
        return backlog is not None or lag(self.db, self.vectors.watermark(self.code.model_id)) > 0

    def close(self) -> None:
        """End the processes that encode questions about code and weigh hits."""
        if self.code is not None:
            self.code.close()
        if self.reranker is not None:
            self.reranker.close()

    def _vector_mark(self) -> tuple[str, Seq]:
        assert self.vectors is not None and self.serving is not None
        return self.vectors.watermark(self.serving.model_id)


def open_readers(parts: Parts) -> Readers:
    """The search side of the indexes, for any process."""
    found, name = parts.serving()
    embedder = ServingEmbedder(name, found, parts.open_model) if found is not None else None
    text = TextReader(parts.data / TEXT)
    vectors = open_vectors(parts.db, parts.data) if embedder is not None else None
    code = QueryEncoder() if embedder is not None and parts.code_model()[0] else None
    liking = Liking(parts.config.behaviour, wall_clock)
    reranker, lacking = open_reranker(
        parts.config.search,
        env=parts.env,
        redact=parts.redact.text,
        offline=parts.config.offline,
        meter=parts.meter_of_reranker,
    )
    searcher = Searcher(parts.db, text, vectors, embedder, parts.config, code=code, liking=liking.of, reranker=reranker)
    return Readers(
        db=parts.db,
        text=text,
        vectors=vectors,
        searcher=searcher,
        serving=embedder,
        notes=(*(() if embedder is not None else (f"no embedding model: {name}",)), *((lacking,) if lacking else ())),
        code=code,
        reranker=reranker,
    )
