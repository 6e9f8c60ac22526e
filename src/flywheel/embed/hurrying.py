"""Questions to a model that takes longer than somebody can wait: asked in a thread, answered from what is known."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from flywheel.embed import EmbedderDown, ModelMismatch, ModelMissing
from flywheel.model import Clean

KEPT: Final = 256
"""Questions whose vectors are remembered: a prompt is searched for more than once."""

AT_ONCE: Final = 4
"""Questions that are on their way at most; more are not sent."""

Vector = NDArray[np.float32]


class Hurry:
    """Safe to share between threads."""

    def __init__(self, ask: Callable[[Clean], Vector]) -> None:
        """``ask`` takes as long as it takes; it may raise what an embedder raises."""
        self._ask = ask
        self._lock = threading.Lock()
        self._known: OrderedDict[str, Vector] = OrderedDict()
        self._running: dict[str, threading.Event] = {}

    def soon(self, question: Clean, seconds: float) -> Vector | None:
        """The question's vector; None when it is not there within ``seconds``, and perhaps is the next time."""
        with self._lock:
            if question in self._known:
                self._known.move_to_end(question)
                return self._known[question]
            done = self._running.get(question)
            if done is None:
                if len(self._running) >= AT_ONCE:
                    return None
                done = self._running[question] = threading.Event()
                threading.Thread(target=self._fetch, args=(question, done), name="question", daemon=True).start()
        done.wait(seconds)
        with self._lock:
            return self._known.get(question)

    def _fetch(self, question: Clean, done: threading.Event) -> None:
        vector: Vector | None = None
        try:
            vector = self._ask(question)
        except (EmbedderDown, ModelMissing, ModelMismatch):
            pass  # whoever waits goes on without it; the next one who can wait is told why
        finally:
            with self._lock:
                self._running.pop(question, None)
                if vector is not None:
                    self._known[question] = vector
                    while len(self._known) > KEPT:
                        self._known.popitem(last=False)
            done.set()
