"""DevMemBench: which sessions with a coding assistant answer a developer's question."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from benchmarks.conversations import Floor, Said, Talk, brought_in, percent, read_lines

DEPTHS: Final = (1, 3, 5)
"""How many sessions an answer has."""

Question = Mapping[str, Any]


def run(data: Path | None, n: int | None) -> dict[str, Any]:
    """The first ``n`` questions (all unless given) of ``data/questions.jsonl`` over ``data/sessions.jsonl``.

    In percent: the mean part of a question's gold sessions among the first 1, 3 and 5.

    Questions go over all projects at once, since they name theirs. Those without a gold session are left out. Raises
    ValueError without ``data``.
    """
    if data is None:
        raise ValueError("devmembench needs --data FOLDER with sessions.jsonl and questions.jsonl")
    sessions = read_lines(data / "sessions.jsonl")
    questions = [one for one in read_lines(data / "questions.jsonl") if one["gold_sessions"]][: n or None]
    with brought_in([talk_of(one) for one in sessions]) as brought:

        def find(one: Question) -> list[str]:
            found = brought.searcher.sessions(query=one["question"], limit=max(DEPTHS))
            return [brought.sessions[hit.session_id] for hit in found]

        results = _measure(questions, find)
    plain = Floor([(one["session"], one["project"], _whole(one)) for one in sessions])
    floor = _measure(questions, lambda one: plain.search(one["question"]))
    return {"results": results, "floor": floor, "n": len(questions)}


def talk_of(session: Mapping[str, Any]) -> Talk:
    """A session of the data set."""
    return Talk(
        id=session["session"],
        project=session["project"],
        at=datetime.fromisoformat(session["date"]).replace(hour=9, tzinfo=UTC),
        messages=[
            Said(id=f"{session['session']}/{number}", user=message["role"] == "user", text=message["content"])
            for number, message in enumerate(session["messages"])
        ],
    )


def _whole(session: Mapping[str, Any]) -> str:
    return "\n".join(message["content"] for message in session["messages"])


def _measure(questions: Sequence[Question], find: Callable[[Question], list[str]]) -> dict[str, float]:
    parts: dict[int, list[float]] = {depth: [] for depth in DEPTHS}
    for one in questions:
        found = find(one)
        for depth, values in parts.items():
            values.append(sum(id in found[:depth] for id in one["gold_sessions"]) / len(one["gold_sessions"]))
    return {f"session_frac_at_{depth}": percent(values) for depth, values in parts.items()}
