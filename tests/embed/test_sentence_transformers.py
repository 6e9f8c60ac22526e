"""The adapter for sentence-transformers, over a stand-in: what it asks of the library, what it says without it."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from types import ModuleType

import numpy as np
import pytest

from flywheel.embed import ModelMissing
from flywheel.embed.select import open_embedder
from flywheel.model import Clean


class FakeTensor:
    """As much of a tensor as the adapter reads."""

    def __init__(self, values: Sequence[float]) -> None:
        self._values = np.array(values, dtype=np.float32)

    def detach(self) -> FakeTensor:
        """Itself."""
        return self

    def cpu(self) -> FakeTensor:
        """Itself."""
        return self

    def float(self) -> FakeTensor:
        """Itself."""
        return self

    def numpy(self) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
        """Its values."""
        return self._values


class FakeModel:
    """A model of three dimensions: the length of a text, its vowels, and one."""

    weights: Sequence[float] = (1.0, 2.0)
    max_seq_length = 128

    def __init__(self, name: str, *, device: str | None) -> None:
        if name == "nowhere":
            raise OSError("no such model")
        self.calls: list[list[str]] = []

    def get_sentence_embedding_dimension(self) -> int:
        """The width."""
        return 3

    def state_dict(self) -> Mapping[str, FakeTensor]:
        """The weights."""
        return {"layer": FakeTensor(self.weights)}

    def encode(
        self,
        texts: list[str],
        *,
        batch_size: int,
        normalize_embeddings: bool,
        convert_to_numpy: bool,
        show_progress_bar: bool,
    ) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
        """Rows of unit length."""
        assert normalize_embeddings
        assert convert_to_numpy
        assert not show_progress_bar
        rows = np.array([[len(text), sum(text.count(v) for v in "aeiou"), 1] for text in texts], dtype=np.float32)
        unit: np.ndarray[tuple[int, int], np.dtype[np.float32]] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> type[FakeModel]:
    """sentence-transformers, played by a small class."""
    library = ModuleType("sentence_transformers")
    library.SentenceTransformer = FakeModel  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", library)
    return FakeModel


def test_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra: ModelMissing with the command that installs it."""
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ModelMissing, match=r"pip install 'flywheel-memory\[sentence-transformers\]'"):
        open_embedder("sentence-transformers:any")


@pytest.mark.usefixtures("fake")
def test_model_not_there() -> None:
    """A model that cannot be loaded is named, with what to do."""
    with pytest.raises(ModelMissing, match=r"'nowhere' cannot be loaded \(no such model\).*name a folder"):
        open_embedder("sentence-transformers:nowhere")


@pytest.mark.usefixtures("fake")
def test_blank_texts_are_not_sent() -> None:
    """Blank texts are zero rows in their places; the others keep theirs."""
    embedder = open_embedder("sentence-transformers:some/model")
    rows = embedder.encode([Clean("  "), Clean("aeiou"), Clean(""), Clean("x")])
    assert rows.any(axis=1).tolist() == [False, True, False, True]
    assert np.allclose(rows[1], embedder.encode([Clean("aeiou")])[0])


def test_the_id_follows_the_weights(fake: type[FakeModel], monkeypatch: pytest.MonkeyPatch) -> None:
    """Other weights, or another length at which texts are cut, are another model."""
    first = open_embedder("sentence-transformers:/models/my model")
    assert first.model_id.startswith("st-my-model-")
    assert first.dim == 3
    assert open_embedder("sentence-transformers:/models/my model").model_id == first.model_id
    monkeypatch.setattr(fake, "max_seq_length", 64)
    shorter = open_embedder("sentence-transformers:/models/my model").model_id
    monkeypatch.setattr(fake, "weights", (1.0, 3.0))
    assert len({first.model_id, shorter, open_embedder("sentence-transformers:/models/my model").model_id}) == 3


@pytest.mark.parametrize("setting", ["none", "dynamic", ""])
def test_settings_that_name_no_model(setting: str) -> None:
    """Switched off or misspelt: ModelMissing, quoting the setting."""
    with pytest.raises(ModelMissing, match=r"embed\.model = "):
        open_embedder(setting)
