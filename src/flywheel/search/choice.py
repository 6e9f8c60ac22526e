"""Which embedding model was chosen for the store, and which one serves until that one's vectors are complete."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import orjson

from flywheel.model import Micros, Setting
from flywheel.store import Tx, mapper

NAME: Final = "embedder"
"""Of the row in `setting`."""

GRACE: Final = 30_000_000
"""Microseconds that the former model's vectors stay after the switch: searches look at the choice now and then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """``wanted`` and ``serving`` are names as `embed.select.open_embedder` takes them."""

    wanted: str
    serving: str
    since: Micros  # when it was chosen
    began: int = 0  # vectors that the model had then
    switched: Micros | None = None  # when it began to serve
    rate: float = 0.0  # vectors a second, lately
    problem: str = ""  # why it does not go on

    @property
    def switching(self) -> bool:
        """Whether vectors are still being made."""
        return self.wanted != self.serving


def read_choice(tx: Tx) -> Choice | None:
    """What a person chose; None when nobody did, and the configuration counts."""
    row = tx.one("SELECT value FROM setting WHERE name = :name", name=NAME)
    if row is None:
        return None
    given: dict[str, Any] = orjson.loads(row[0])
    return Choice(**given)


def write_choice(tx: Tx, choice: Choice) -> None:
    """Keep it."""
    value = {name: getattr(choice, name) for name in Choice.__dataclass_fields__}
    mapper.upsert(tx, Setting(name=NAME, value=orjson.dumps(value).decode()))


def drop_choice(tx: Tx) -> None:
    """Let the configuration count again."""
    tx.run("DELETE FROM setting WHERE name = :name", name=NAME)
