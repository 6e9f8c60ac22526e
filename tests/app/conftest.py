"""A house over each store in turn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.app.talking import House, open_house


@pytest.fixture
def house(store_url: str, tmp_path: Path) -> Iterator[House]:
    """An App in process, with a project on disk."""
    made = open_house(tmp_path, store_url)
    yield made
    made.app.close()
    made.parts.close()
