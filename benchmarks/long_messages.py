"""Long messages: whether a point that stands among pasted code is found, with and without summaries."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks import devmembench
from benchmarks.conversations import percent, read_lines

PASTED: Final = 5000
"""Characters of code before what an assistant says; 600 come after it."""

_AFTER: Final = 600
_SOURCES: Final = ("store/sqlite.py", "jobs/queue.py", "codemap/sync.py", "search/query.py")


def run(data: Path | None, n: int | None) -> dict[str, Any]:
    """DevMemBench (`benchmarks.devmembench`) with each of the assistant's messages between pieces of code.

    ``results`` with summaries, ``floor`` without: the mean part of a question's gold sessions among the first 1, 3 and
    5, by the product's search and by vectors alone, in percent. ``n``: characters of code before a message. Raises
    ValueError without ``data``.
    """
    if data is None:
        raise ValueError("long_messages needs --data FOLDER with sessions.jsonl and questions.jsonl")
    from flywheel.search import summary

    with tempfile.TemporaryDirectory(prefix="flywheel-long-") as folder:
        buried = Path(folder)
        sessions = _bury(read_lines(data / "sessions.jsonl"), n or PASTED)
        questions = [one for one in read_lines(data / "questions.jsonl") if one["gold_sessions"]]
        _write(buried / "sessions.jsonl", sessions)
        _write(buried / "questions.jsonl", questions)
        found = devmembench.run(buried, None)["results"] | _by_vectors(sessions, questions)
        long, summary.LONG = summary.LONG, 1 << 60  # type: ignore[misc]  # no message is long
        try:
            floor = devmembench.run(buried, None)["results"] | _by_vectors(sessions, questions)
        finally:
            summary.LONG = long  # type: ignore[misc]
    return {"results": found, "floor": floor, "n": len(questions)}


def _bury(sessions: Sequence[dict[str, Any]], size: int) -> list[dict[str, Any]]:
    dice = random.Random(1)
    root = Path(__file__).parents[1] / "src" / "flywheel"
    code = [line for name in _SOURCES for line in (root / name).read_text().splitlines()]
    for session in sessions:
        for message in session["messages"]:
            if message["role"] == "assistant":
                before, after = _block(dice, code, size), _block(dice, code, _AFTER)
                message["content"] = f"Here is what is there now:\n\n{before}\n\n{message['content']}\n\n{after}"
    return list(sessions)


def _block(dice: random.Random, code: Sequence[str], size: int) -> str:
    at = dice.randrange(len(code))
    lines: list[str] = []
    while sum(map(len, lines)) < size:
        lines.append(code[at % len(code)])
        at += 1
    return "\n".join(["```python", *lines, "```"])


def _write(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    path.write_text("\n".join(map(json.dumps, rows)))


def _by_vectors(sessions: Sequence[Mapping[str, Any]], questions: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """The same by the vectors of the assistant's messages alone."""
    import numpy as np

    from flywheel.embed.static import load_static
    from flywheel.model import Clean
    from flywheel.search.embedding_texts import HEAD
    from flywheel.search.summary import summary_of

    embedder = load_static()
    said = [(one["session"], Clean(m["content"])) for one in sessions for m in one["messages"] if m["role"] != "user"]
    vectors = embedder.encode([summary_of(text) or Clean(text[:HEAD]) for _, text in said])
    asked = embedder.encode([Clean(one["question"]) for one in questions])
    parts: dict[int, list[float]] = {depth: [] for depth in devmembench.DEPTHS}
    for one, vector in zip(questions, asked, strict=True):
        order = list(dict.fromkeys(said[int(at)][0] for at in np.argsort(-(vectors @ vector), kind="stable")))
        for depth, values in parts.items():
            values.append(sum(id in order[:depth] for id in one["gold_sessions"]) / len(one["gold_sessions"]))
    return {f"vectors_frac_at_{depth}": percent(values) for depth, values in parts.items()}
