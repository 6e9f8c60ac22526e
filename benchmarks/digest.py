"""Digests in tight briefings: how many of a project's sessions are told of, and how much of what was said in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from benchmarks import devmembench, locomo
from benchmarks.conversations import Brought, Talk, brought_in, percent, read_lines

BUDGETS: Final = (500, 1000, 2000)
"""Tokens of a briefing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Set:
    """A data set: its sessions, and for each question its project, its gold sessions and the words of its answer."""

    talks: Sequence[Talk]
    questions: Sequence[tuple[str, frozenset[str]]]


def run(data: Path | None, n: int | None) -> dict[str, Any]:
    """``data`` is a folder that holds LoCoMo's ``turns.jsonl`` or DevMemBench's ``sessions.jsonl``, with its questions.

    For each budget, of a session's start in each project, in percent: ``sessions``, the part of the project's sessions
    that the briefing tells of; ``answers``, the mean part of an answer's words that it holds, over the first ``n``
    questions of the projects. Floor: the same store without any digest. Raises ValueError without ``data``.
    """
    if data is None:
        raise ValueError("digest needs --data FOLDER with turns.jsonl or sessions.jsonl")
    given = _locomo(data) if (data / "turns.jsonl").exists() else _devmembench(data)
    questions = given.questions[: n or None]
    with brought_in(given.talks) as brought:
        _settle(brought)
        results = _measure(brought, given.talks, questions)
        with brought.parts.db.write() as tx:
            tx.run("DELETE FROM digest")
        floor = _measure(brought, given.talks, questions)
    return {"results": results, "floor": floor, "n": len(questions)}


def _locomo(data: Path) -> Set:
    questions = [one for one in read_lines(data / "queries.jsonl") if one["evidence"] and one["answer"] is not None]
    return Set(
        talks=locomo.talks_of(read_lines(data / "turns.jsonl")),
        questions=[
            (one["conv"], _words(str(one["answer"]))) for one in questions if one["category"] != locomo.ADVERSARIAL
        ],
    )


def _devmembench(data: Path) -> Set:
    """Sessions over both projects are left out, and so are their questions."""
    talks = [devmembench.talk_of(one) for one in read_lines(data / "sessions.jsonl")]
    project = {talk.id: talk.project for talk in talks}
    found = [
        ({project[id] for id in one["gold_sessions"]}, _words(one["answer"]))
        for one in read_lines(data / "questions.jsonl")
        if one["gold_sessions"]
    ]
    return Set(talks=talks, questions=[(min(of), words) for of, words in found if len(of) == 1])


def _words(text: str) -> frozenset[str]:
    from flywheel.text.words import terms

    return frozenset(terms(text))


def _settle(brought: Brought) -> None:
    """Look back at every session and sum it up, as if each had been over for long."""
    from flywheel.app.work import settle_all

    for _ in range(3):
        with brought.parts.db.write() as tx:
            tx.run("UPDATE job SET run_after = 0 WHERE state = 'queued'")
        settle_all(brought.parts)


def _measure(
    brought: Brought, talks: Sequence[Talk], questions: Sequence[tuple[str, frozenset[str]]]
) -> Mapping[str, float]:
    from flywheel.config import Config
    from flywheel.context.ask import DAY
    from flywheel.context.assemble import Assembler
    from flywheel.model import Micros

    results: dict[str, float] = {}
    config = replace(Config(), context=replace(Config().context, deadline_ms=10_000))
    after = Micros(max(int(talk.at.timestamp()) for talk in talks) * 1_000_000 + DAY)
    assembler = Assembler(brought.parts.db, brought.searcher, config, lambda: after)
    try:
        for budget in BUDGETS:
            told = {
                project: assembler.assemble(cwd=folder, budget=budget, agent="benchmark")
                for project, folder in brought.folders.items()
            }
            results[f"sessions_at_{budget}"] = percent([_told_of(brought, told[talk.project], talk) for talk in talks])
            words = {project: _words(briefing.text) for project, briefing in told.items()}
            found = [len(answer & words[project]) / len(answer) for project, answer in questions if answer]
            results[f"answers_at_{budget}"] = percent(found)
            results[f"tokens_at_{budget}"] = round(sum(one.tokens for one in told.values()) / len(told), 1)
    finally:
        assembler.close()
    return results


def _told_of(brought: Brought, briefing: Any, talk: Talk) -> float:
    """Whether the briefing tells of the session: as an item, or by its task within the item of many."""
    items = [item for part in briefing.slices if part.source == "history" for item in part.items]
    if any(brought.sessions.get(item.id) == talk.id for item in items):
        return 1.0
    id = next(id for id, name in brought.sessions.items() if name == talk.id)
    with brought.parts.db.read() as tx:
        row = tx.one("SELECT task FROM retrospective WHERE session_id = :id", id=id)
    task = " ".join(str(row[0]).split()[:4]) if row is not None else ""
    return float(bool(task) and any(item.kind == "digest" and task in item.text for item in items))
