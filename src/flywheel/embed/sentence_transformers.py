"""Any sentence-transformers model as an embedder; an optional extra, loaded at the first use."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any, Final

import numpy as np

from flywheel.embed import ModelMissing, Vectors
from flywheel.model import Clean

BATCH: Final = 8
"""Texts per forward pass; more gains little on a CPU and keeps more memory."""


class SentenceTransformersEmbedder:
    """A neural model on torch. Rows agree between batches to about 1e-6, not to the bit."""

    def __init__(
        self, name: str, *, device: str | None = None, batch: int = BATCH, query: str = "", passage: str = ""
    ) -> None:
        """``name`` is a folder or a name that sentence-transformers resolves; ``device`` None picks the best one.

        ``query`` and ``passage`` stand before a text of each side; where both are "", the model's own prompts do.

        Raises ModelMissing when the extra is not installed or the model cannot be loaded.
        """
        self._model = _load(name, device)
        self._batch = batch
        self.dim = int(_dimension(self._model))
        self._query, self._passage = (query, passage) if query or passage else _own_prompts(self._model)
        safe = re.sub(r"[^A-Za-z0-9._-]", "-", PurePath(name).name)
        self.model_id = f"st-{safe}-{_fingerprint(self._model, self._query, self._passage)}"

    def encode(self, texts: Sequence[Clean]) -> Vectors:
        """Passages: one unit row per text, in order; zero for a text of white space. Shape (len(texts), dim)."""
        return self._encoded(texts, self._passage)

    def encode_queries(self, texts: Sequence[Clean]) -> Vectors:
        """Questions, likewise."""
        return self._encoded(texts, self._query)

    def _encoded(self, texts: Sequence[Clean], prompt: str) -> Vectors:
        rows = np.zeros((len(texts), self.dim), dtype=np.float32)
        spoken = [number for number, text in enumerate(texts) if text.strip()]
        if spoken:
            rows[spoken] = self._model.encode(
                [prompt + texts[number] for number in spoken],
                batch_size=self._batch,
                normalize_embeddings=True,
                convert_to_numpy=True,
                show_progress_bar=False,
            )
        return rows


def _load(name: str, device: str | None) -> Any:
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise ModelMissing(
            f"the embedding model {name!r} needs sentence-transformers: "
            "pip install 'flywheel-memory[sentence-transformers]'"
        ) from error
    try:
        return SentenceTransformer(name, device=device)
    except (OSError, ValueError, RuntimeError) as error:  # not there, not a model, no such device
        raise ModelMissing(
            f"the embedding model {name!r} cannot be loaded ({error}); name a folder that holds a "
            "sentence-transformers model, or use the built-in one"
        ) from error


def _dimension(model: Any) -> int:
    """The width of a vector; the method was renamed in sentence-transformers 5.3."""
    measure = getattr(model, "get_embedding_dimension", None) or model.get_sentence_embedding_dimension
    return int(measure())


def _own_prompts(model: Any) -> tuple[str, str]:
    """What the model was trained with before a question and before a passage; "" for one that has none."""
    given = getattr(model, "prompts", None) or {}
    passage = next((given[name] for name in ("passage", "document", "corpus") if given.get(name)), "")
    return str(given.get("query") or ""), str(passage)


def _fingerprint(model: Any, query: str, passage: str) -> str:
    """Eight hex digits over every weight, the length at which texts are cut, and the prompts where there are some."""
    whole = hashlib.sha256(str(model.max_seq_length).encode())
    if query or passage:
        whole.update(f"\n{query}\n{passage}\n".encode())
    for name, tensor in sorted(model.state_dict().items()):
        whole.update(name.encode())
        whole.update(tensor.detach().cpu().float().numpy().tobytes())
    return whole.hexdigest()[:8]
