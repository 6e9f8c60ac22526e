"""The embedder that questions are asked with: the one whose vectors are complete."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Final

import structlog

from flywheel.embed import Away, Embedder, Vectors
from flywheel.errors import FlywheelError
from flywheel.model import Clean
from flywheel.search.choice import read_choice
from flywheel.store import Tx

LOOK: Final = 1.0
"""Seconds after which it is looked again whether another model serves; far less than `choice.GRACE`."""

log = structlog.get_logger("search")


class ServingEmbedder:
    """Satisfies `Embedder` as the model that serves now. Safe to share between threads."""

    def __init__(
        self,
        name: str,
        embedder: Embedder,
        open_model: Callable[[str], Embedder],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """``name`` and ``embedder`` serve now; ``open_model`` opens another by its name, and raises ModelMissing."""
        self._default = self._name = name
        self._embedder, self._open, self._monotonic = embedder, open_model, monotonic
        self._looked = monotonic()
        self._lock = threading.Lock()

    def at(self, tx: Tx) -> Embedder:
        """The embedder for one search; looks into the store now and then."""
        with self._lock:
            if self._monotonic() - self._looked >= LOOK:
                self._looked = self._monotonic()
                self._follow(tx)
            return self._embedder

    def _follow(self, tx: Tx) -> None:
        choice = read_choice(tx)
        wanted = choice.serving if choice is not None else self._default
        if wanted == self._name:
            return
        try:
            self._embedder, self._name = self._open(wanted), wanted
        except FlywheelError as error:  # the former goes on; its vectors go in the end, and full text is left
            log.warning("model_not_opened", model=wanted, error=error.message)

    @property
    def away(self) -> bool:
        """Whether the model that serves is somebody else's."""
        return isinstance(self._embedder, Away)

    @property
    def down(self) -> bool:
        """Whether the model that serves is somebody else's and does not answer now."""
        return isinstance(self._embedder, Away) and self._embedder.down

    @property
    def model_id(self) -> str:
        """Of the model that serves."""
        return self._embedder.model_id

    @property
    def dim(self) -> int:
        """Of the model that serves."""
        return self._embedder.dim

    def encode(self, texts: Sequence[Clean]) -> Vectors:
        """By the model that serves; who compares the rows with stored ones takes `at` first."""
        return self._embedder.encode(texts)
