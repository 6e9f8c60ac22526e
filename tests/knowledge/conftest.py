"""A house over each store in turn."""

from __future__ import annotations

import pytest
from tests.knowledge.claiming import House

from flywheel.store import Db


@pytest.fixture
def house(db: Db) -> House:
    """A project in a store of each kind."""
    made = House(db)
    made.session()
    return made
