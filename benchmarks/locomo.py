"""LoCoMo: which turns of long dated conversations answer a question."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from benchmarks.conversations import Brought, Floor, Said, Talk, brought_in, percent, read_lines

TURNS: Final = 10
"""Turns of an answer."""

SESSIONS: Final = 5
"""Sessions of an answer."""

ADVERSARIAL: Final = 5
"""The category of questions that the conversation does not really answer."""

Question = Mapping[str, Any]


def run(data: Path | None, n: int | None) -> dict[str, Any]:
    """The first ``n`` questions (all unless given) of ``data/queries.jsonl`` over ``data/turns.jsonl``.

    In percent: the mean part of a question's evidence turns among the first ten hits (over all questions, and without
    the adversarial ones), how often all of them are there, and how often an evidence session is among the first five
    sessions. Questions without evidence are left out. Raises ValueError without ``data``.
    """
    if data is None:
        raise ValueError("locomo needs --data FOLDER with turns.jsonl and queries.jsonl")
    turns = read_lines(data / "turns.jsonl")
    questions = [one for one in read_lines(data / "queries.jsonl") if one["evidence"]][: n or None]
    with brought_in(talks_of(turns)) as brought:
        results = _measure(questions, lambda one: _found(brought, one))
    plain = Floor([(turn_id(turn), turn["conv"], text_of(turn)) for turn in turns])
    floor = _measure(questions, lambda one: _floor(plain, turns, one))
    return {"results": results, "floor": floor, "n": len(questions)}


def talks_of(turns: Sequence[Mapping[str, Any]]) -> list[Talk]:
    """One project a conversation, one session a session; who speaks first is the user."""
    first: dict[str, str] = {}
    sessions: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
    for turn in turns:
        first.setdefault(turn["conv"], turn["speaker"])
        sessions.setdefault((turn["conv"], turn["session"]), []).append(turn)
    return [
        Talk(
            id=f"{conversation}/{number}",
            project=conversation,
            at=datetime.strptime(said[0]["date"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC),
            messages=[
                Said(id=turn_id(turn), user=turn["speaker"] == first[conversation], text=text_of(turn)) for turn in said
            ],
        )
        for (conversation, number), said in sessions.items()
    ]


def turn_id(turn: Mapping[str, Any]) -> str:
    """What a turn is called among all conversations."""
    return f"{turn['conv']}/{turn['id']}"


def text_of(turn: Mapping[str, Any]) -> str:
    """What a turn says, with the caption of its picture."""
    caption = f" [{turn['caption']}]" if turn["caption"] else ""
    return f"{turn['speaker']}: {turn['text']}{caption}"


def _found(brought: Brought, question: Question) -> tuple[list[str], list[str]]:
    """The turns and the sessions that the product finds."""
    asked = {"query": question["question"], "projects": brought.projects[question["conv"]]}
    hits = brought.searcher.search(kinds=("message",), limit=TURNS, **asked).hits
    sessions = brought.searcher.sessions(limit=SESSIONS, **asked)
    return [brought.messages[hit.id] for hit in hits], [brought.sessions[one.session_id] for one in sessions]


def _floor(plain: Floor, turns: Sequence[Mapping[str, Any]], question: Question) -> tuple[list[str], list[str]]:
    """The same by plain full text; a session ranks by its best turn."""
    found = plain.search(question["question"], question["conv"])
    session = {turn_id(turn): f"{turn['conv']}/{turn['session']}" for turn in turns}
    return found[:TURNS], list(dict.fromkeys(session[id] for id in found))[:SESSIONS]


def _measure(
    questions: Sequence[Question], find: Callable[[Question], tuple[list[str], list[str]]]
) -> dict[str, float]:
    fractions: list[tuple[int, float]] = []
    sessions: list[float] = []
    for one in questions:
        turns, talks = find(one)
        hits = [f"{one['conv']}/{id}" in turns for id in one["evidence"]]
        fractions.append((one["category"], sum(hits) / len(hits)))
        sessions.append(float(any(f"{one['conv']}/{number}" in talks for number in one["evidence_sessions"])))
    return {
        "turn_recall_at_10": percent([part for _, part in fractions]),
        "turn_recall_at_10_no_adversarial": percent([part for kind, part in fractions if kind != ADVERSARIAL]),
        "turn_all_at_10": percent([float(part == 1) for _, part in fractions]),
        "session_any_at_5": percent(sessions),
    }
