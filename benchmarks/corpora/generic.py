"""Whole conversations of plain JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from benchmarks.corpora import generic_lines


def records(seed: int = 1) -> Iterator[Mapping[str, Any]]:
    """Conversations with an id, a title and a folder, four messages each."""
    messages = generic_lines.records(seed)
    number = 0
    while True:
        number += 1
        about = {"id": f"talk-{seed}-{number}", "cwd": "/home/dev/app"}
        yield {"title": f"Talk {number}", "metadata": about, "messages": list(islice(messages, 4))}
