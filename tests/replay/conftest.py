"""A house over each store in turn, and one over SQLite for what no SQL of ours decides."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.app.conftest import house
from tests.app.talking import House, open_house

__all__ = ["home", "house"]


@pytest.fixture
def home(tmp_path: Path) -> Iterator[House]:
    """A house over SQLite."""
    made = open_house(tmp_path, "", git=False)
    yield made
    made.app.close()
    made.parts.close()
