"""A house with a model on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.harvest.models.house import ModelHouse
from tests.llm.loopback import serving

from flywheel.store import Db


@pytest.fixture
def models(sqlite_db: Db, data: Path) -> Iterator[ModelHouse]:
    """On SQLite."""
    with serving() as wire:
        house = ModelHouse(sqlite_db, data, wire)
        yield house
        house.llm.close()


@pytest.fixture
def models_on(db: Db, data: Path) -> Iterator[ModelHouse]:
    """On both stores."""
    with serving() as wire:
        house = ModelHouse(db, data, wire)
        yield house
        house.llm.close()
