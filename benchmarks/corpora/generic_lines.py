"""Messages of plain JSON, one a line."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from benchmarks.transcripts import vocabulary


def records(seed: int = 1) -> Iterator[Mapping[str, Any]]:
    """One conversation that never ends: prompts, replies, tool calls and their long results."""
    rng = random.Random(seed)
    words = vocabulary(rng)
    at, call = 1_770_000_000.0, 0
    while True:
        at += rng.randint(20, 200)
        yield {"role": "user", "content": _sentence(rng, words, 25), "timestamp": at}
        for _ in range(rng.randint(1, 4)):
            call += 1
            at += rng.randint(1, 20)
            given = orjson.dumps({"command": f"grep -rn {rng.choice(words)} src"}).decode()
            use = {"id": f"call_{call}", "type": "function", "function": {"name": "run", "arguments": given}}
            yield {"role": "assistant", "content": _sentence(rng, words, 30), "timestamp": at, "tool_calls": [use]}
            yield {
                "role": "tool",
                "tool_call_id": f"call_{call}",
                "content": _output(rng, words),
                "timestamp": at + 0.5,
            }
        yield {
            "role": "assistant",
            "content": [{"type": "text", "text": _sentence(rng, words, 90)}],
            "timestamp": at + 2,
        }


def _output(rng: random.Random, words: list[str]) -> str:
    return "\n".join(
        f"{rng.choice(words)}.py:{n}: {' '.join(rng.choices(words, k=9))}" for n in range(rng.randint(60, 180))
    )


def _sentence(rng: random.Random, words: list[str], length: int) -> str:
    return " ".join(rng.choices(words, k=length)).capitalize() + "."
