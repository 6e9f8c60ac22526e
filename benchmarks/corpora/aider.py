"""Blocks of aider's chat history: prompts, replies with long code blocks, aider's own lines."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from benchmarks.transcripts import vocabulary

_END: Final = "  \n"
_RUN: Final = 40  # turns of a run


def records(seed: int = 1) -> Iterator[Mapping[str, Any]]:
    """One history that never ends: a block of whole lines each."""
    rng = random.Random(seed)
    words = vocabulary(rng)
    started = datetime(2026, 1, 5, 9, tzinfo=UTC)
    turn = 0
    while True:
        if turn % _RUN == 0:
            started += timedelta(hours=7)
            head = f"\n# aider chat started at {started:%Y-%m-%d %H:%M:%S}\n\n"
            banner = (
                "Aider v0.86.2",
                "Main model: claude-sonnet-4-5 with diff edit format",
                "Git repo: .git with 90 files",
            )
            yield {"text": head + "".join(f"> {line}{_END}" for line in banner)}
        turn += 1
        yield {"text": _turn(rng, words)}


def _turn(rng: random.Random, words: list[str]) -> str:
    """A prompt and what follows it."""
    path = f"src/{rng.choice(words)}/{rng.choice(words)}.py"
    prompt = _sentence(rng, words, rng.randint(6, 40))
    reply = "\n\n".join(_sentence(rng, words, rng.randint(10, 40)) for _ in range(2))
    old, new = (_code(rng, words, rng.randint(15, 55)) for _ in range(2))
    done = (
        f"Tokens: 5.1k sent, {rng.randint(90, 999)} received.",
        f"Applied edit to {path}",
        "Commit 1a2b3c4 feat: more",
    )
    block = f"```python\n<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n```"
    return f"\n#### {prompt}{_END}\n{reply}\n\n{path}\n{block}\n\n" + "".join(f"> {line}{_END}" for line in done)


def _sentence(rng: random.Random, words: list[str], length: int) -> str:
    return " ".join(rng.choices(words, k=length)).capitalize() + "."


def _code(rng: random.Random, words: list[str], lines: int) -> str:
    return "".join(f"    {rng.choice(words)} = {rng.choice(words)}({rng.choice(words)!r}, {n})\n" for n in range(lines))
