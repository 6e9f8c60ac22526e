"""Gemini CLI's session documents, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.corpora.gemini import Session

_TURNS = 3


def records(seed: int = 1) -> Iterator[Mapping[str, Any]]:
    """Whole sessions: of each message what it came to; what tools gave back stands at their calls alone."""
    while True:
        session = Session(seed)
        messages: dict[str, dict[str, Any]] = {}
        head = session.head()
        for _ in range(_TURNS):
            messages.update({record["id"]: record for record in session.turn(answers=False) if "id" in record})
        yield {**head, "lastUpdated": session.made.stamp(), "messages": list(messages.values())}
        seed += 1
