"""How many texts a second each bundled embedder turns into vectors, against the runtime below it in the same run."""

from __future__ import annotations

import itertools
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

TEXTS: Final = 2000
"""Texts of the static model; MiniLM gets a tenth of them."""

ROUNDS: Final = 5
"""Times that each is measured, in turn; the median of the ratios counts."""

WORDS: Final = 12_000
"""Different words of the texts: as many as a large history has. How often each comes follows Zipf's law."""

_BATCH: Final = 8
"""Texts of one pass of the runtime alone, which gains a little by it."""


def run(data: Path | None, n: int | None) -> dict[str, Any]:
    """``n`` texts of about 60 words (2,000 unless given) for the static model, a tenth as many for MiniLM.

    ``static_texts_per_second``, ``minilm_texts_per_second`` and their floors: for the static model the tokenizer's own
    batches, then taking and adding up rows of one float32 matrix; for MiniLM the session's own runs over pieces that
    are ready, in the same batches. ``*_ratio`` is the median of the ratios of rounds that took turns. ``data`` is not
    used.
    """
    many = n or TEXTS
    texts = _texts(many)
    static, minilm = _static(texts), _minilm(texts[: max(many // 10, 32)])
    return {
        "results": {
            "static_texts_per_second": static[0],
            "minilm_texts_per_second": minilm[0],
            "static_ratio": static[2],
            "minilm_ratio": minilm[2],
        },
        "floor": {"static_texts_per_second": static[1], "minilm_texts_per_second": minilm[1]},
        "n": many,
    }


def _texts(many: int) -> list[str]:
    """Texts of sixty words, with a number and an identifier each."""
    from flywheel.embed.static import load_tokenizer

    known = sorted(word for word in load_tokenizer().get_vocab() if word.isalpha() and len(word) > 2)[:WORDS]
    draw = random.Random(7)
    draw.shuffle(known)
    weights = list(itertools.accumulate(1 / (rank + 10) for rank in range(len(known))))
    return [
        " ".join([*draw.choices(known, cum_weights=weights, k=57), f"part_{number}", "takes", f"{number % 997} s."])
        for number in range(many)
    ]


def _static(texts: Sequence[str]) -> tuple[float, float, float]:
    from flywheel.embed.static import WEIGHTS, load_static, load_tokenizer
    from flywheel.model import Clean

    embedder = load_static()
    tokenizer = load_tokenizer()
    vectors = np.load(WEIGHTS / "vectors.npy") * np.load(WEIGHTS / "scales.npy")[:, None]
    matrix = np.ascontiguousarray(vectors, dtype=np.float32)
    clean = [Clean(text) for text in texts]

    def raw() -> None:
        for one in tokenizer.encode_batch(list(texts), add_special_tokens=False):
            row = np.add.reduce(matrix.take(one.ids, axis=0), axis=0)
            row /= np.linalg.norm(row)

    return _compared("static", len(texts), lambda: embedder.encode(clean), raw)


def _minilm(texts: Sequence[str]) -> tuple[float, float, float]:
    from flywheel.embed.minilm import MiniLM, _pieces
    from flywheel.model import Clean

    embedder = MiniLM()
    session, tokenizer = embedder.load()
    ids = sorted((_pieces(tokenizer, text) for text in texts), key=len)
    feeds = []
    for at in range(0, len(ids), _BATCH):
        batch = ids[at : at + _BATCH]
        width = max(map(len, batch))
        rows = np.zeros((len(batch), width), dtype=np.int32)
        mask = np.zeros((len(batch), width), dtype=np.int32)
        for number, one in enumerate(batch):
            rows[number, : len(one)], mask[number, : len(one)] = one, 1
        feeds.append({"ids": rows, "positions": np.arange(width, dtype=np.int32), "mask": mask})
    clean = [Clean(text) for text in texts]

    def raw() -> None:
        for feed in feeds:
            session.run(None, feed)

    return _compared("minilm", len(texts), lambda: embedder.encode(clean), raw)


def _compared(
    name: str, many: int, ours: Callable[[], object], raw: Callable[[], object]
) -> tuple[float, float, float]:
    """Texts a second of both, medians of rounds that take turns, and the median of the rounds' ratios."""
    ours()
    raw()
    pairs = [(many / _seconds(ours), many / _seconds(raw)) for _ in range(ROUNDS)]
    ratio = statistics.median(one / other for one, other in pairs)
    speeds = [statistics.median(column) for column in zip(*pairs, strict=True)]
    print(f"{name}: {speeds[0]:,.0f} texts/s, raw {speeds[1]:,.0f}, ratio {ratio:.2f}", file=sys.stderr)
    return round(speeds[0], 1), round(speeds[1], 1), round(ratio, 3)


def _seconds(do: Callable[[], object]) -> float:
    began = time.perf_counter()
    do()
    return time.perf_counter() - began
