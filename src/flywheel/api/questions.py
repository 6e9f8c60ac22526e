"""The verbs of kept questions, and of filing an answer back."""

from __future__ import annotations

from typing import Protocol


class Questioning(Protocol):
    """The verbs of kept questions, and of filing an answer back; see `Api`."""
