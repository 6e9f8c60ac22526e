"""What a stretch of talk is about, as a value: a vector, and words and marks with their weights. Pure."""

from __future__ import annotations

import base64
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from flywheel.embed import Embedder, quantise
from flywheel.harvest.rules.topic import stem
from flywheel.model import Clean
from flywheel.text.code_names import symbols
from flywheel.text.compose import fixed, join, span
from flywheel.text.words import terms
from flywheel.threads.generic import ORDINARY

PROMPT: Final = 1500
"""Characters of a prompt that count: its head, where it says what is wanted."""

REPLY: Final = 240
"""Characters of a reply that count."""

TURNS: Final = 80
"""Turns of a segment that count, the first."""

WORDS: Final = 60
"""Words and marks of a segment that are kept, the heaviest."""

ECHO: Final = 0.5
"""Weight of a word of a reply, or of a path, against one of a prompt."""

SCALE: Final = 127
"""Length of a segment's vector, whose parts are whole numbers."""

FILE: Final = "file:"
NAME: Final = "name:"

Ints = NDArray[np.int32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What a person asked for, how it was answered, and what was edited until the next prompt."""

    start: int  # ordinal of the prompt
    stop: int  # of the last message before the next prompt
    first_at: int  # µs
    last_at: int
    id: str  # of the prompt
    prompt: Clean
    reply: Clean = fixed("")
    files: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A vector (sum of unit vectors at int8 scale; None without an embedder), and words and marks → weight."""

    vector: Ints | None
    words: Mapping[str, float] = field(default_factory=dict)


def topic_of(turns: Sequence[Turn], embedder: Embedder | None) -> Topic:
    """The topic of these turns together."""
    turns = turns[:TURNS]
    return Topic(vector=_vector(turns, embedder), words=heaviest(_words(turns), WORDS))


def _vector(turns: Sequence[Turn], embedder: Embedder | None) -> Ints | None:
    if embedder is None:
        return None
    said = [span(turn.prompt, 0, PROMPT) for turn in turns] + [span(turn.reply, 0, REPLY) for turn in turns]
    whole: Ints = quantise(embedder.encode([join(said, "\n")]))[0].astype(np.int32)
    return whole


def ordinary_of(embedder: Embedder | None) -> NDArray[np.float32] | None:
    """The mean vector of what people ask of agents everywhere; None without an embedder."""
    if embedder is None:
        return None
    mean: NDArray[np.float32] = embedder.encode(ORDINARY).mean(axis=0)
    return mean


def _words(turns: Sequence[Turn]) -> Mapping[str, float]:
    counted: Counter[str] = Counter()
    weight: dict[str, float] = {}
    for turn in turns:
        prompt = turn.prompt[:PROMPT]
        counted.update(stem(word) for word in terms(prompt))
        marks = {NAME + prompt[start:stop].lower() for start, stop in symbols(prompt)}
        marks |= {FILE + path for path in turn.files}
        echoes = [stem(word) for word in terms(turn.reply[:REPLY])]
        echoes += [stem(word) for path in turn.files for word in terms(path.rpartition(".")[0] or path)]
        for word in echoes:
            weight[word] = max(weight.get(word, 0.0), ECHO)
        for mark in marks:
            weight[mark] = 1.0
    return weight | {word: 1.0 + math.log(count) for word, count in counted.items()}


def heaviest(words: Mapping[str, float], most: int) -> Mapping[str, float]:
    """The heaviest of these, ties by name, rounded so that both stores keep the same."""
    chosen = sorted(words.items(), key=lambda pair: (-pair[1], pair[0]))[:most]
    return {word: round(weight, 3) for word, weight in sorted(chosen)}


def total(topics: Iterable[Topic], most: int) -> Topic:
    """The topic of a thread: the sums of its segments'."""
    vector: Ints | None = None
    words: dict[str, float] = {}
    for topic in topics:
        if topic.vector is not None:
            vector = topic.vector.copy() if vector is None else vector + topic.vector
        for word, weight in topic.words.items():
            words[word] = words.get(word, 0.0) + weight
    return Topic(vector=vector, words=heaviest(words, most))


def packed(vector: Ints | None) -> str:
    """A vector as text; "" for none."""
    return "" if vector is None else base64.b64encode(vector.astype("<i4").tobytes()).decode()


def unpacked(text: str) -> Ints | None:
    """What `packed` made."""
    return np.frombuffer(base64.b64decode(text), dtype="<i4").astype(np.int32) if text else None
