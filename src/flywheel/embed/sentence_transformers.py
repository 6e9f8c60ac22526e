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

    def __init__(self, name: str, *, device: str | None = None, batch: int = BATCH) -> None:
        """``name`` is a folder or a name that sentence-transformers resolves; ``device`` None picks the best one.

        Raises ModelMissing when the extra is not installed or the model cannot be loaded.
        """
        self._model = _load(name, device)
        self._batch = batch
        self.dim = int(_dimension(self._model))
        self.model_id = f"st-{re.sub(r'[^A-Za-z0-9._-]', '-', PurePath(name).name)}-{_fingerprint(self._model)}"

    def encode(self, texts: Sequence[Clean]) -> Vectors:
        """One unit row per text, in order; zero for a text of white space. Shape (len(texts), dim)."""
        rows = np.zeros((len(texts), self.dim), dtype=np.float32)
        spoken = [number for number, text in enumerate(texts) if text.strip()]
        if spoken:
            rows[spoken] = self._model.encode(
                [texts[number] for number in spoken],
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


def _fingerprint(model: Any) -> str:
    """Eight hex digits over every weight and the length at which texts are cut."""
    whole = hashlib.sha256(str(model.max_seq_length).encode())
    for name, tensor in sorted(model.state_dict().items()):
        whole.update(name.encode())
        whole.update(tensor.detach().cpu().float().numpy().tobytes())
    return whole.hexdigest()[:8]
