"""The verb of the cockpit."""

from __future__ import annotations

from typing import Protocol


class Overseeing(Protocol):
    """The verb of the cockpit; see `Api`."""
