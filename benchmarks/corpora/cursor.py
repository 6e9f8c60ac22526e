"""Lines of Cursor's agent transcripts: what is said, and calls whose arguments carry whole files."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any, Final

from benchmarks.transcripts import Writer, vocabulary

_STEPS: Final = 6

Record = dict[str, Any]


def scribe(seed: int) -> Writer:
    """What makes up words, files and outputs."""
    rng = random.Random(seed)
    words = vocabulary(rng)
    files = [f"/home/dev/app/src/{rng.choice(words)}/{rng.choice(words)}.py" for _ in range(40)]
    return Writer(rng, words, "", "/home/dev/app", files)


def arguments(made: Writer, step: int) -> tuple[str, Record]:
    """A tool and what it is called with."""
    file = made.rng.choice(made.files)
    if step % 3 == 0:
        return "Shell", {"command": f"pytest -q {file}", "description": made.prose(40)}
    if step % 3 == 1:
        return "Write", {"path": file, "contents": made.output() + made.output()}
    return "StrReplace", {"path": file, "old_string": made.output(), "new_string": made.output()}


def query(made: Writer) -> str:
    """A person's words as the client wraps them."""
    when = "<timestamp>Saturday, Jul 25, 2026, 5:20 PM (UTC+2)</timestamp>"
    return f"{when}\n<user_query>\n{made.prose(made.rng.randrange(40, 600))}\n</user_query>"


def records(seed: int = 1) -> Iterator[Mapping[str, Any]]:
    """One conversation that never ends."""
    made = scribe(seed)
    while True:
        yield _message("user", {"type": "text", "text": query(made)})
        for step in range(_STEPS):
            name, given = arguments(made, step)
            said = f"{made.prose(1000)}\n\n[REDACTED]" if step % 3 == 0 else "[REDACTED]"
            text = {"type": "text", "text": said}
            yield _message("assistant", text, {"type": "tool_use", "name": name, "input": given})
        yield _message("assistant", {"type": "text", "text": made.prose(900)})
        yield {"type": "turn_ended", "status": "success"}


def _message(role: str, *content: Record) -> Record:
    return {"role": role, "message": {"content": list(content)}}
