"""The script that makes the weights agrees with the weights that are there."""

from __future__ import annotations

import importlib.util
import json
import math
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from flywheel.embed.static import WEIGHTS, load_static

SCRIPT = Path(__file__).parents[2] / "scripts" / "make_weights.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("make_weights", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_id_is_made_from_the_content(script: ModuleType, tmp_path: Path) -> None:
    """Writing the same files gives the same id; one other byte gives another."""
    files = {name: (WEIGHTS / name).read_bytes() for name in ("vectors.npy", "scales.npy", "tokenizer.json")}
    script.write(tmp_path, files)
    assert (tmp_path / "weights.json").read_bytes() == (WEIGHTS / "weights.json").read_bytes()
    script.write(tmp_path, {**files, "tokenizer.json": files["tokenizer.json"] + b" "})
    assert load_static(tmp_path).model_id != load_static().model_id


def test_the_tokenizer_is_the_scripts(script: ModuleType) -> None:
    """The shipped tokenizer is what the script writes for its vocabulary."""
    vocabulary = json.loads((WEIGHTS / "tokenizer.json").read_bytes())["model"]["vocab"]
    assert script.small_tokenizer(list(vocabulary)) == (WEIGHTS / "tokenizer.json").read_bytes()


def test_finished_weights_agree_with_themselves(script: ModuleType) -> None:
    """The comparison finds equal weights equal even when their axes are turned, and others not."""
    vectors, scales = np.load(WEIGHTS / "vectors.npy"), np.load(WEIGHTS / "scales.npy")
    flipped = np.ascontiguousarray(vectors[:, ::-1])
    assert script.agreement(WEIGHTS, flipped, scales) > 0.999
    assert script.agreement(WEIGHTS, vectors[::-1], scales) < 0.9


def test_frequent_words_weigh_little(script: ModuleType) -> None:
    """Weights rise along the vocabulary's order from "the" on, and punctuation weighs as little as frequent words."""
    pieces = ["[PAD]", "!", "the", "of", *(f"w{number}" for number in range(5000))]
    weight = script.smooth_inverse_frequency(pieces)[:, 0]
    assert weight[2] < weight[3] < weight[10] < weight[-1] <= 1
    assert weight[1] < 0.1


def test_the_error_function(script: ModuleType) -> None:
    """The approximation holds to 2e-7."""
    x = np.linspace(-4, 4, 101)
    assert np.abs(script.erf(x) - [math.erf(value) for value in x]).max() < 2e-7


def test_a_source_must_be_the_one_that_is_known(script: ModuleType, tmp_path: Path) -> None:
    """Without a wheel that holds the right file the run ends and says where to look."""
    with pytest.raises(SystemExit, match="see the top of this script"):
        script.find_member(tmp_path, script.POTION, "model.safetensors")
