"""What verbs that change something give, and what several groups of verbs speak of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A verb that changes something says what it changed."""

    ok: bool
    message: str
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """An entry that a transcript brought forth or bears out."""

    id: str
    short: str
    title: str
    status: str
