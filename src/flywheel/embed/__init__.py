"""Embedders: text to unit vectors. One file per provider."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from flywheel.errors import Conflict, Unavailable
from flywheel.model import Clean

Vectors = NDArray[np.float32]
"""Shape (n, dim), rows of unit length (a text without a known word gives a zero row)."""


class ModelMissing(Unavailable):
    """The embedding model is not installed, damaged or switched off; search goes on with full text only."""

    code, retryable = "model_missing", False


class ModelMismatch(Conflict):
    """Vectors of another model or width stand where these would go; the message names both. Nothing is mixed."""

    code = "model_mismatch"


class EmbedderDown(Unavailable):
    """An embedding server does not answer now, or not with vectors; ``after`` is seconds until another try.

    ``charged``: whether it may have counted the request all the same, since no answer of its own says that it did not.
    ``sent``: whether there was a connection at all.
    """

    code = "embedder_down"

    def __init__(
        self, message: str, *, after: float = 2.0, charged: bool = False, sent: bool = True, **details: object
    ) -> None:
        super().__init__(message, **details)
        self.after = after
        self.charged = charged
        self.sent = sent


class Embedder(Protocol):
    """A model that turns text into vectors. Deterministic."""

    @property
    def model_id(self) -> str:
        """Names weights and treatment; vectors of two ids are never compared."""

    @property
    def dim(self) -> int:
        """Numbers of a vector."""

    def encode(self, texts: Sequence[Clean]) -> Vectors:
        """Passages, what is looked for: one row per text, in order; shape (len(texts), dim)."""


@runtime_checkable
class Sided(Protocol):
    """An embedder that treats what is asked otherwise than what is looked for."""

    def encode_queries(self, texts: Sequence[Clean]) -> Vectors:
        """Questions: one row per text, in order; shape (len(texts), dim). Compared with the rows of `encode`."""


@runtime_checkable
class Away(Protocol):
    """An embedder that somebody else runs."""

    @property
    def down(self) -> bool:
        """Whether a question was in vain a moment ago, so that none is sent for now."""

    def encode_soon(self, question: Clean, seconds: float) -> NDArray[np.float32] | None:
        """The question's vector, shape (dim,); None when it is not there within ``seconds``. Never raises."""


def encode_queries(embedder: Embedder, texts: Sequence[Clean]) -> Vectors:
    """Questions, by an embedder that keeps the sides apart or one that does not."""
    return embedder.encode_queries(texts) if isinstance(embedder, Sided) else embedder.encode(texts)


class Asked(Protocol):
    """A model that encodes questions somewhere else, so that whoever asks never has to wait for it."""

    model_id: str

    def encode(self, question: Clean, seconds: float) -> tuple[NDArray[np.float32] | None, str]:
        """The question's unit vector; or None and, for a person, why there is none within ``seconds``."""


def quantise(vectors: Vectors) -> NDArray[np.int8]:
    """Unit float32 rows as int8 with scale 127; shape kept."""
    rounded: NDArray[np.int8] = np.clip(np.rint(vectors * 127.0), -127, 127).astype(np.int8)
    return rounded
