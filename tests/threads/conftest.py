"""A shop over each store in turn, and one over SQLite where no SQL is in question."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.threads.shop import Shop

from flywheel.store import Db


@pytest.fixture
def shop(db: Db, data: Path) -> Shop:
    """Over each store."""
    return Shop(db, data)


@pytest.fixture
def quick(sqlite_db: Db, data: Path) -> Shop:
    """Over SQLite."""
    return Shop(sqlite_db, data)
