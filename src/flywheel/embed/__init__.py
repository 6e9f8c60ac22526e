"""Embedders: text to unit vectors. One file per provider."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from flywheel.errors import Unavailable
from flywheel.model import Clean

Vectors = NDArray[np.float32]
"""Shape (n, dim), rows of unit length (a text without a known word gives a zero row)."""


class ModelMissing(Unavailable):
    """The embedding model is not installed, damaged or switched off; search goes on with full text only."""

    code, retryable = "model_missing", False


class Embedder(Protocol):
    """A model that turns text into vectors. Deterministic."""

    model_id: str
    """Names weights and treatment; vectors of two ids are never compared."""

    dim: int

    def encode(self, texts: Sequence[Clean]) -> Vectors:
        """One row per text, in order; shape (len(texts), dim)."""


class Asked(Protocol):
    """A model that encodes questions somewhere else, so that whoever asks never has to wait for it."""

    model_id: str

    def encode(self, question: Clean, seconds: float) -> tuple[NDArray[np.float32] | None, str]:
        """The question's unit vector; or None and, for a person, why there is none within ``seconds``."""


def quantise(vectors: Vectors) -> NDArray[np.int8]:
    """Unit float32 rows as int8 with scale 127; shape kept."""
    rounded: NDArray[np.int8] = np.clip(np.rint(vectors * 127.0), -127, 127).astype(np.int8)
    return rounded
