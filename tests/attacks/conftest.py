"""The siege that most tests look at: built once, because importing the corpus is the long part."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.attacks.cases import CASES
from tests.attacks.siege import Siege, open_siege

STRANGERS = [case for case in CASES if case.door != "prompt"]
"""Words that no person of the project said."""


@pytest.fixture(scope="module")
def siege(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Siege]:
    """SQLite, after everything that strangers said has come in by every door."""
    folder = tmp_path_factory.mktemp("siege")
    (folder / "data").mkdir(mode=0o700)
    made = open_siege(folder, f"sqlite://{folder / 'data' / 'flywheel.db'}")
    made.arrive(STRANGERS)
    yield made
    made.house.app.close()
    made.house.parts.close()
