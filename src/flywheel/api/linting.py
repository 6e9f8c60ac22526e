"""The verbs of the lint."""

from __future__ import annotations

from typing import Protocol


class Linting(Protocol):
    """The verbs of the lint; see `Api`."""
