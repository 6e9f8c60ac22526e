"""Which thread a stretch of talk belongs to, and which threads are one: the measure and its thresholds. Pure."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from flywheel.threads.generic import GENERIC
from flywheel.threads.topics import SCALE, Topic

VERSION: Final = 1
"""Raised when topics or the measure change, so that threads are built anew."""

MEANING: Final = 0.4
SAYING: Final = 0.6
TOUCHING: Final = 0.15
"""Weights of vectors, words and marks. They and the thresholds were set on the odd families of
benchmarks/corpora/threads.txt and tried on the even ones (docs/threads.md)."""

JOIN: Final = 0.27
"""Likeness from which a segment joins a thread."""

JOIN_WORDS: Final = 0.24
"""The same where no embedder is: of words and marks alone."""

STAY: Final = 0.05
"""How much less is enough to stay in a thread."""

MERGE: Final = 0.08
"""How much more it takes for two threads to be one."""

FEW: Final = 4
MANY: Final = 8192
"""Between so many segments a project's threads are put together anew whenever it has twice as many as the last time:
what is common to its sessions is known better then."""

THREAD_WORDS: Final = 90
"""Words and marks of a thread that are kept, the heaviest."""

PRIOR: Final = 40.0
"""Segments that are taken to have been seen before the first one, so that words have weights from the beginning."""

UNSURE: Final = 4
"""Segments that the mean expected before the first one counts for."""

COMMON: Final = 10.0
RARE: Final = 0.4
"""In how many of those a word of `GENERIC`, and any other, is taken to have been."""


def model_name(embedder: str | None) -> str:
    """What sums are marked with: the embedder's id (which names weights and treatment), and the rules' version."""
    return f"{embedder or 'words'}/{VERSION}"


@dataclass(slots=True)
class Rarity:
    """What the segments of a project have in common, and so does not tell one topic from another.

    A word weighs ln(1 + segments / segments that have it), with the prior; of vectors the mean is taken away.
    """

    ordinary: NDArray[np.float32] | None = None  # the mean that is expected before any was seen; see `ordinary_of`
    segments: float = PRIOR
    seen: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    _vectors: int = 0
    _sum: NDArray[np.float32] | None = None
    _known: dict[str, float] = field(default_factory=dict)

    def learn(self, topic: Topic, segments: int = 1) -> None:
        """Count in a topic that is the sum of so many segments."""
        self.segments += segments
        self._known.clear()
        for word, weight in topic.words.items():
            self.seen[word] += min(segments, weight)
        if topic.vector is not None:
            added = topic.vector.astype(np.float32) / np.float32(SCALE)
            self._sum = added if self._sum is None else self._sum + added
            self._vectors += segments

    def unit(self, topic: Topic) -> NDArray[np.float32]:
        """A topic's vector without what is common, at unit length."""
        assert topic.vector is not None
        found = _scaled(topic.vector.astype(np.float32))
        common = np.zeros_like(found) if self._sum is None else self._sum
        if self.ordinary is not None:
            common = common + np.float32(UNSURE) * self.ordinary
        return _scaled(found - common / np.float32(self._vectors + UNSURE))

    def of(self, word: str) -> float:
        """The weight of a word or mark."""
        found = self._known.get(word)
        if found is None:
            before = COMMON if word in GENERIC else RARE
            found = math.log(1.0 + self.segments / (self.seen.get(word, 0.0) + before))
            self._known[word] = found
        return found


@dataclass(slots=True)
class Shelf:
    """Topics that others are compared with, by their place. `put` takes a new one, or one that has changed."""

    rarity: Rarity
    dim: int
    topics: list[Topic | None] = field(default_factory=list)
    _places: dict[str, dict[int, float]] = field(default_factory=lambda: defaultdict(dict))
    _lengths: list[float] = field(default_factory=list)
    _marked: list[float] = field(default_factory=list)
    _vectors: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0), dtype=np.float32))

    def put(self, topic: Topic, at: int | None = None) -> int:
        """Take a topic in, at its place or the next; its place."""
        if at is None:
            at = len(self.topics)
            self.topics.append(None)
            self._lengths.append(0.0)
            self._marked.append(0.0)
            if at >= len(self._vectors):
                grown = np.zeros((max(64, 2 * at), self.dim), dtype=np.float32)
                if len(self._vectors):
                    grown[: len(self._vectors)] = self._vectors
                self._vectors = grown
        self.drop(at)
        self.topics[at] = topic
        weighted, self._lengths[at], self._marked[at] = self._weighed(topic)
        for word, weight in weighted.items():
            self._places[word][at] = weight
        if topic.vector is not None:
            self._vectors[at] = self.rarity.unit(topic)
        return at

    def drop(self, at: int) -> None:
        """Take the topic at this place out; the place stays."""
        topic = self.topics[at]
        for word in topic.words if topic is not None else ():
            self._places[word].pop(at, None)
        self.topics[at] = None
        self._vectors[at] = 0.0

    def likenesses(self, topic: Topic) -> NDArray[np.float32]:
        """How alike this topic is to each; shape (places,), 0 where none is."""
        count = len(self.topics)
        said, touched = [0.0] * count, [0.0] * count
        weighted, length, marked = self._weighed(topic)
        for word, weight in weighted.items():
            if ":" in word:
                for at in self._places.get(word, ()):
                    touched[at] += self.rarity.of(word)
            else:
                for at, other in self._places.get(word, {}).items():
                    said[at] += weight * other
        words = np.array(said, dtype=np.float32) / (np.array(self._lengths, dtype=np.float32) * length + 1e-9)
        marks = np.array(touched, dtype=np.float32) / (np.minimum(np.array(self._marked), marked) + 1e-9)
        found: NDArray[np.float32] = TOUCHING * marks.astype(np.float32)
        if topic.vector is None:
            found += words
        else:
            found += SAYING * words + MEANING * np.maximum(self._vectors[:count] @ self.rarity.unit(topic), 0.0)
        found[[at for at, one in enumerate(self.topics) if one is None]] = 0.0
        return found

    def _weighed(self, topic: Topic) -> tuple[Mapping[str, float], float, float]:
        """Each word and mark by its rarity; the length of the words alone, and the sum of the marks."""
        weighted: dict[str, float] = {}
        squares = marked = 0.0
        for word, raw in topic.words.items():
            weight = weighted[word] = raw * self.rarity.of(word)
            if ":" in word:  # `topics.FILE`, `topics.NAME`; no word has one
                marked += weight
            else:
                squares += weight * weight
        return weighted, math.sqrt(squares), marked


def alike(one: Topic, other: Topic, rarity: Rarity) -> float:
    """How alike two topics are; 0 to about 1.15."""
    shelf = Shelf(rarity, len(other.vector) if other.vector is not None else 0)
    shelf.put(other)
    return float(shelf.likenesses(one)[0])


def anew(before: int, after: int) -> bool:
    """Whether a project that grows from so many segments to so many has its threads put together anew."""
    return any(before < FEW << step <= after for step in range((MANY // FEW).bit_length()))


def enough(topic: Topic) -> float:
    """The likeness from which this topic joins a thread."""
    return JOIN_WORDS if topic.vector is None else JOIN


def place_for(topic: Topic, shelf: Shelf, before: int | None = None) -> int | None:
    """The place of the thread that a segment joins; None when it opens one. ``before``: where it was until now."""
    if not shelf.topics:
        return None
    found = shelf.likenesses(topic)
    if before is not None and found[before] >= enough(topic) - STAY:
        return before
    best = int(np.argmax(found))
    return best if found[best] >= enough(topic) else None


def same_thread(topic: Topic, shelf: Shelf) -> Sequence[int]:
    """The places of threads that are one with the thread of this topic, the most alike first."""
    found = shelf.likenesses(topic)
    return [int(at) for at in np.argsort(-found, kind="stable") if found[at] >= enough(topic) + MERGE]


def _scaled(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    length = float(np.linalg.norm(vector))
    return vector / np.float32(length) if length else vector
