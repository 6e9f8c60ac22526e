"""Injecting nothing: how often a prompt that needs nothing gets something, and what that costs those that do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

from benchmarks.budget import interval
from benchmarks.conversations import brought_in, percent, read_lines
from benchmarks.desk import Desk
from benchmarks.devmembench import talk_of

PROMPTS: Final = Path(__file__).with_name("prompts_for_nothing.txt")
"""Prompts of our own that need nothing, by sort; the lines of a sort are for tuning and held out in turn."""

Question = Mapping[str, Any]

_T = TypeVar("_T")


def run(data: Path | None, n: int | None) -> dict[str, Any]:
    """All questions of ``data/questions.jsonl`` (the first ``n`` if given) and all prompts of `PROMPTS`.

    Each is put as a prompt to the project that it is about (the others to the project with most sessions), in a budget
    of `hooks.prompt_budget`, as the hook does, in a checkout with instruction files of other agents (`desk`). In
    percent: ``irrelevant``, prompts that need nothing and got an item, over the held-out prompts and the set's
    abstention questions together; ``irrelevant_*``, of each sort, tuning and held-out lines apart;
    ``answerable_recall``, the part of an answerable question's gold sessions that some item of its briefing comes from,
    against ``unlimited_recall``, the same when whatever is found is injected (the floor), and ``kept``, the first by
    the second. Raises ValueError without ``data``.
    """
    if data is None:
        raise ValueError("abstain needs --data FOLDER with sessions.jsonl and questions.jsonl")
    sessions = read_lines(data / "sessions.jsonl")
    questions = read_lines(data / "questions.jsonl")[: n or None]
    with brought_in([talk_of(one) for one in sessions]) as brought:
        desk = _Desk(brought, sessions)
        answerable = [one for one in questions if one["gold_sessions"]]
        recalls, silent = _recalls(desk, answerable)
        every, _ = _recalls(desk, answerable, unlimited=True)
        sorts = {**read_prompts(), "abstention": _abstention(questions)}
        told = {name: [desk.speaks(prompt) for prompt in prompts] for name, prompts in sorts.items()}
        floods = [desk.speaks(prompt, unlimited=True) for prompt in _counted(sorts)]
        desk.close()
    counted = _counted(told)
    results: dict[str, Any] = {
        "irrelevant": percent(counted),
        "irrelevant_interval": interval(counted),
        **{f"irrelevant_{name}": percent(values) for name, values in told.items()},
        "answerable_recall": percent(recalls),
        "unlimited_recall": percent(every),
        "kept": round(100 * sum(recalls) / max(sum(every), 1e-9), 1),
        "answerable_silent": percent(silent),
    }
    floor = {"irrelevant": percent(floods), "answerable_recall": percent(every)}
    return {"results": results, "floor": floor, "n": len(counted) + len(answerable)}


def read_prompts() -> dict[str, list[str]]:
    """The prompts that need nothing: sort and half → lines."""
    sorts: dict[str, list[str]] = {}
    name = ""
    for line in PROMPTS.read_text("utf-8").splitlines():
        if line.startswith("["):
            name = line.strip("[]")
            sorts |= {f"{name}_tuning": [], f"{name}_held": []}
        elif line and not line.startswith("#"):
            held = len(sorts[f"{name}_tuning"]) > len(sorts[f"{name}_held"])
            sorts[f"{name}_{'held' if held else 'tuning'}"].append(line)
    return sorts


def _counted(sorts: Mapping[str, Sequence[_T]]) -> list[_T]:
    """What the first figure is of: the held-out lines, and the abstention questions, which the floors were set with."""
    return [one for name, values in sorts.items() if not name.endswith("_tuning") for one in values]


def _abstention(questions: Sequence[Question]) -> list[str]:
    return [one["question"] for one in questions if not one["gold_sessions"]]


class _Desk:
    """Asks for the project of a question, and of prompts for the one with most sessions."""

    def __init__(self, brought: Any, sessions: Sequence[Question]) -> None:
        self._brought, self._desk = brought, Desk(brought)
        self._projects = {one["session"]: one["project"] for one in sessions}
        names = list(self._projects.values())
        self._usual = max(dict.fromkeys(names), key=names.count)

    def speaks(self, prompt: str, *, unlimited: bool = False) -> bool:
        """Whether a prompt gets anything."""
        return bool(self._desk.items(prompt, self._usual, unlimited=unlimited))

    def recall(self, question: Question, *, unlimited: bool = False) -> tuple[float, bool]:
        """The part of a question's gold sessions that its briefing draws on, and whether it got nothing at all."""
        gold = question["gold_sessions"]
        items = self._desk.items(question["question"], self._projects[gold[0]], unlimited=unlimited)
        found = self._drawn_on(items)
        return sum(one in found for one in gold) / len(gold), not items

    def close(self) -> None:
        """Let go of threads."""
        self._desk.close()

    def _drawn_on(self, items: Sequence[tuple[str, str]]) -> set[str]:
        """The data set's sessions that items come from: messages theirs, entries those of their claims."""
        messages = [id for kind, id in items if kind == "message"]
        entries = [id for kind, id in items if kind == "entry"]
        with self._brought.parts.db.read() as tx:
            rows = tx.all("SELECT session_id FROM message WHERE id IN :ids", ids=messages) if messages else []
            if entries:
                rows += tx.all("SELECT session_id FROM claim WHERE entry_id IN :ids", ids=entries)
        return {self._brought.sessions.get(id, "") for (id,) in rows}


def _recalls(desk: _Desk, questions: Sequence[Question], *, unlimited: bool = False) -> tuple[list[float], list[bool]]:
    found = [desk.recall(one, unlimited=unlimited) for one in questions]
    return [part for part, _ in found], [silent for _, silent in found]
