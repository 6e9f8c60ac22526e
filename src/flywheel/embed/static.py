"""The default embedder: a text is the sum of its word pieces' vectors, which ship with the package."""

from __future__ import annotations

import contextlib
import hashlib
import math
import mmap
import re
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson
from numpy.typing import NDArray
from tokenizers import Tokenizer

from flywheel.embed import ModelMissing, Vectors
from flywheel.model import Clean

WEIGHTS: Final = Path(__file__).with_name("weights")
"""Where the package keeps its weights (made by scripts/make_weights.py)."""

MAX_CHARS: Final = 32_768
"""What lies behind this character of a text does not count."""

KNOWN: Final = 50_000
"""Words, and runs between white space, whose pieces are remembered (about 8 MB each); then that memory starts over."""

LONG: Final = 40
"""Runs of more characters (paths, hashes, data) seldom come again and are not remembered."""

_TOKENIZER: Final = "tokenizer.json"

_WORDS: Final = re.compile(r"[^!-/:-@\[-`{-~]+|[!-/:-@\[-`{-~]")
"""Runs between ASCII punctuation, and each punctuation mark: BERT's rules never look across these."""


class _Words(dict[str, tuple[int, ...]]):
    """The rows of a word's pieces, from the tokenizer at the first meeting."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        super().__init__()
        self._tokenizer = tokenizer

    def __missing__(self, word: str) -> tuple[int, ...]:
        if len(self) >= KNOWN:
            self.clear()
        rows = tuple(self._tokenizer.encode(word, add_special_tokens=False).ids)
        if len(word) <= LONG:
            self[word] = rows
        return rows


class _Runs(dict[str, tuple[int, ...]]):
    """The rows of what stands between white space: a word with the punctuation around it, mostly."""

    def __init__(self, words: _Words) -> None:
        super().__init__()
        self._words = words

    def __missing__(self, run: str) -> tuple[int, ...]:
        if len(self) >= KNOWN:
            self.clear()
        rows = tuple(chain.from_iterable(map(self._words.__getitem__, _WORDS.findall(run))))
        if len(run) <= LONG:
            self[run] = rows
        return rows


class StaticEmbedder:
    """WordPiece rows summed and scaled to unit length. Safe to share between threads.

    Rows are kept as int8 with one scale each and turned to float32 at the first use, so that memory grows with the
    vocabulary that was met: 1 kB a piece, 30 MB at most.
    """

    def __init__(
        self, *, model_id: str, vectors: NDArray[np.int8], scales: NDArray[np.float32], tokenizer: Tokenizer
    ) -> None:
        """``vectors`` has shape (pieces, dim), ``scales`` (pieces,); row numbers are the tokenizer's."""
        self.model_id = model_id
        self.dim = int(vectors.shape[1])
        self._vectors = vectors
        self._scales = scales
        self._floats = _untouched(vectors.shape)
        self._ready = np.zeros(len(vectors), dtype=np.bool_)
        self._runs = _Runs(_Words(tokenizer))

    def encode(self, texts: Sequence[Clean]) -> Vectors:
        """One unit row per text, in order; zero where no word is known. Shape (len(texts), dim)."""
        sums = np.zeros((len(texts), self.dim), dtype=np.float32)
        for number, text in enumerate(texts):
            rows = self._rows(text)
            if rows.size:
                np.add.reduce(self._floats.take(rows, axis=0), axis=0, out=sums[number])
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        lengths[lengths == 0] = 1
        sums /= lengths
        return sums

    def _rows(self, text: str) -> NDArray[np.intp]:
        text = text[:MAX_CHARS]
        if text.isascii():  # elsewhere the tokenizer lowers case, by rules of its own
            text = text.lower()
        rows = np.array(list(chain.from_iterable(map(self._runs.__getitem__, text.split()))), dtype=np.intp)
        known = self._ready[rows]
        if not known.all():
            new = np.unique(rows[~known])
            self._floats[new] = self._vectors[new] * self._scales[new, None]
            self._ready[new] = True
        return rows


def _untouched(shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Float32 zeros that take memory page by page as they are written; huge pages would take all at once."""
    pages = mmap.mmap(-1, 4 * math.prod(shape), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_NOHUGEPAGE"):
        with contextlib.suppress(OSError):  # a kernel without huge pages does not know the word
            pages.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(pages, dtype=np.float32).reshape(shape)


def load_static(folder: Path = WEIGHTS) -> StaticEmbedder:
    """The embedder whose weights are in the folder; about 0.05 s. Raises ModelMissing when a file is not as listed."""
    listed = _read_list(folder)
    for name, facts in listed["files"].items():
        _check(folder / name, facts)
    try:
        return StaticEmbedder(
            model_id=listed["id"],
            vectors=np.asarray(np.load(folder / "vectors.npy", mmap_mode="r")),
            scales=np.load(folder / "scales.npy"),
            tokenizer=_open_tokenizer(folder),
        )
    except (OSError, ValueError) as error:
        raise _missing(folder, str(error)) from error


def load_tokenizer(folder: Path = WEIGHTS) -> Tokenizer:
    """The tokenizer alone, with the same vocabulary as BERT's. Raises ModelMissing when the file is not as listed."""
    _check(folder / _TOKENIZER, _read_list(folder)["files"][_TOKENIZER])
    return _open_tokenizer(folder)


def _open_tokenizer(folder: Path) -> Tokenizer:
    return Tokenizer.from_file(str(folder / _TOKENIZER))


def _read_list(folder: Path) -> Mapping[str, Any]:
    try:
        listed: Mapping[str, Any] = orjson.loads((folder / "weights.json").read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise _missing(folder, f"weights.json: {error}") from error
    if not isinstance(listed, dict) or not isinstance(listed.get("id"), str) or "files" not in listed:
        raise _missing(folder, "weights.json: not a list of weights")
    return listed


def _check(path: Path, facts: Mapping[str, Any]) -> None:
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise _missing(path.parent, f"{path.name}: {error.strerror}") from error
    if found != facts["sha256"]:
        raise _missing(
            path.parent, f"{path.name}: damaged ({path.stat().st_size:,} bytes, {facts['bytes']:,} expected)"
        )


def _missing(folder: Path, what: str) -> ModelMissing:
    return ModelMissing(
        f"the embedding model in {folder} cannot be used ({what}); "
        "reinstall flywheel-memory, or make the weights with scripts/make_weights.py"
    )
