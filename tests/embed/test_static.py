"""The built-in embedder: its files, its words, and what it says when they are missing."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from flywheel.embed import ModelMissing
from flywheel.embed import static as module
from flywheel.embed.static import WEIGHTS, load_static
from flywheel.model import Clean

EMBEDDER = load_static()
TOKENIZER = Tokenizer.from_file(str(WEIGHTS / "tokenizer.json"))
VECTORS = np.load(WEIGHTS / "vectors.npy").astype(np.float64) * np.load(WEIGHTS / "scales.npy")[:, None]


def plainly(text: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The vector as the definition has it: the tokenizer's pieces of each run, summed, at unit length."""
    rows = [row for run in text.split() for row in TOKENIZER.encode(run, add_special_tokens=False).ids]
    total = VECTORS[rows].sum(0)
    length = float(np.linalg.norm(total))
    result: np.ndarray[tuple[int], np.dtype[np.float64]] = total / length if length else total
    return result


@given(st.text(max_size=80) | st.text(st.sampled_from("aAzZéÉßΣσς İı.-_/'09 \t\n中あ한\u0301"), max_size=40))
def test_the_short_cuts_change_nothing(text: str) -> None:
    """Remembered words and the split at punctuation give what the tokenizer alone gives."""
    assert np.allclose(EMBEDDER.encode([Clean(text)])[0], plainly(text), atol=1e-5)


def test_memory_of_words_may_be_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """When the memory of words starts over, the vectors stay the same."""
    texts = [Clean(f"word{number} other{number % 7}, thing/{number}") for number in range(60)]
    before = EMBEDDER.encode(texts)
    monkeypatch.setattr(module, "KNOWN", 5)
    assert np.array_equal(load_static().encode(texts), before)


def test_only_the_head_of_a_huge_text_counts() -> None:
    """A text of megabytes costs no more than its first characters."""
    head = Clean("alpha beta gamma " * 4000)
    assert np.array_equal(EMBEDDER.encode([head]), EMBEDDER.encode([Clean(head + "delta " * 100_000)]))


def test_weights_are_small_and_say_where_they_come_from() -> None:
    """The folder stays below 9 MB, and a notice with the licences lies in it."""
    assert sum(path.stat().st_size for path in WEIGHTS.iterdir()) < 9_000_000
    notice = (WEIGHTS / "NOTICE.md").read_text()
    assert "MIT License" in notice
    assert "Apache License" in notice


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the weights."""
    return Path(shutil.copytree(WEIGHTS, tmp_path / "weights"))


@pytest.mark.parametrize("name", ["weights.json", "vectors.npy", "scales.npy", "tokenizer.json"])
@pytest.mark.parametrize("harm", ["missing", "empty", "changed", "cut"])
def test_a_damaged_file_is_told_with_a_remedy(folder: Path, name: str, harm: str) -> None:
    """Whatever happened to a file: ModelMissing, naming the folder, the file and what to do."""
    path = folder / name
    data = path.read_bytes()
    if harm == "missing":
        path.unlink()
    else:
        path.write_bytes({"empty": b"", "changed": b"\0" + data[1:], "cut": data[: len(data) // 2]}[harm])
    with pytest.raises(ModelMissing, match=rf"(?s){folder}.*{name}.*reinstall flywheel-memory"):
        load_static(folder)


def test_no_folder(tmp_path: Path) -> None:
    """An installation without weights says so, and nothing else breaks."""
    with pytest.raises(ModelMissing, match="make the weights"):
        load_static(tmp_path / "nowhere")


def test_the_list_must_be_a_list_of_weights(folder: Path) -> None:
    """JSON of another kind is damage, not a crash."""
    (folder / "weights.json").write_text("[]")
    with pytest.raises(ModelMissing, match="not a list of weights"):
        load_static(folder)
