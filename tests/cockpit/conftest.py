"""A house over each store in turn, and a tree whose renderer draws the cockpit."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.knowledge.claiming import House
from tests.tree.growing import Grove

from flywheel.store import Db


@pytest.fixture
def house(db: Db) -> House:
    """A project in a store of each kind."""
    made = House(db)
    made.session()
    return made


@pytest.fixture
def grove(db: Db, data: Path) -> Grove:
    """A tree over each store."""
    return Grove(db, data)
