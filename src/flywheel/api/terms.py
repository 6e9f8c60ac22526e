"""The verbs of the glossary."""

from __future__ import annotations

from typing import Protocol


class Naming(Protocol):
    """The verbs of the glossary; see `Api`."""
