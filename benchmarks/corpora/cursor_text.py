"""Blocks of Cursor's older text transcripts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from benchmarks.corpora.cursor import arguments, query, scribe

_STEPS: Final = 6


def records(seed: int = 1) -> Iterator[Mapping[str, Any]]:
    """One conversation that never ends, a message a block."""
    made = scribe(seed)
    while True:
        yield {"text": f"user:\n{query(made)}\n\n"}
        for step in range(_STEPS):
            name, given = arguments(made, step)
            told = "\n".join(f"  {key}: {value}" for key, value in given.items())
            said = f"[Thinking] {made.prose(120)}\n{made.prose(500)}"
            yield {"text": f"assistant:\n{said}\n[Tool call] {name}\n{told}\n\n[Tool result] {name}\n\n"}
        yield {"text": f"assistant:\n{made.prose(900)}\n\n"}
