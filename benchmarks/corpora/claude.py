"""Records of Claude Code's transcripts, session after session."""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from benchmarks.transcripts import Writer, vocabulary


def records(seed: int = 1) -> Iterator[Mapping[str, Any]]:
    """One session that never ends: turns with their steps and all that the client writes beside them."""
    rng = random.Random(seed)
    words = vocabulary(rng)
    session = str(uuid.UUID(int=rng.getrandbits(128), version=4))
    files = [f"src/{rng.choice(words)}/{rng.choice(words)}.py" for _ in range(40)]
    writer = Writer(rng, words, session, "/home/dev/app", files)
    while True:
        writer.turn()
        yield from map(orjson.loads, writer.lines)
        writer.lines.clear()
