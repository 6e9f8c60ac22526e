"""Fixtures of the tree's tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.tree.growing import Grove

from flywheel.store import Db


@pytest.fixture
def grove(sqlite_db: Db, data: Path) -> Grove:
    """A tree over SQLite."""
    return Grove(sqlite_db, data)


@pytest.fixture
def any_grove(db: Db, data: Path) -> Grove:
    """A tree over each store."""
    return Grove(db, data)
