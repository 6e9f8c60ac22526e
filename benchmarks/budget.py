"""LoCoMo by the budget: how much of what answers a question stands in the briefing that is made for it."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from benchmarks.conversations import Floor, brought_in, percent, read_lines
from benchmarks.locomo import talks_of, text_of, turn_id
from flywheel.text.compose import neutralise
from flywheel.text.redact import Redactor
from flywheel.text.tokens import count

BUDGETS: Final = (2000, 4000)
"""Tokens of a briefing."""

AGENT: Final = "opencode"
"""Whose hook takes a text of any length: the budget alone decides."""

DRAWS: Final = 2000
"""Samples of the bootstrap."""

SEED: Final = 7

Question = Mapping[str, Any]


def run(data: Path | None, n: int | None) -> dict[str, Any]:
    """The first ``n`` questions with evidence (all unless given) of ``data/queries.jsonl`` over ``data/turns.jsonl``.

    The product's way to the end: transcripts are imported and indexed, knowledge is extracted, and the assembler makes
    the briefing for the question as a prompt. ``recall_N``: the mean part, in percent, of a question's evidence turns
    whose whole text stands in the briefing of N tokens; a turn that was cut does not count. ``tokens_N``: what these
    briefings cost. ``ahead_N``: how far that is above the floor, with the 95 % interval of a paired bootstrap.
    Floor: SQLite FTS5 alone, turns packed whole in the order of their rank into the same number of tokens by the same
    counter, without anything around them. Raises ValueError without ``data``.
    """
    if data is None:
        raise ValueError("budget needs --data FOLDER with turns.jsonl and queries.jsonl")
    turns = read_lines(data / "turns.jsonl")
    questions = [one for one in read_lines(data / "queries.jsonl") if one["evidence"]][: n or None]
    texts = {turn_id(turn): text_of(turn) for turn in turns}
    plain = Floor([(turn_id(turn), turn["conv"], texts[turn_id(turn)]) for turn in turns])
    results: dict[str, Any] = {}
    floor: dict[str, Any] = {}
    with brought_in(talks_of(turns)) as brought:
        told = _Told(brought, texts)
        for budget in BUDGETS:
            ours = _recalls(questions, partial(told.found, budget=budget))
            theirs = _recalls(questions, partial(_packed, plain, texts, budget=budget))
            results[f"recall_{budget}"], floor[f"recall_{budget}"] = percent(ours), percent(theirs)
            results[f"recall_{budget}_interval"] = interval(ours)
            results[f"ahead_{budget}"] = round(percent(ours) - percent(theirs), 1)
            results[f"ahead_{budget}_interval"] = interval([a - b for a, b in zip(ours, theirs, strict=True)])
            results[f"tokens_{budget}"] = told.mean_tokens()
        told.close()
    return {"results": results, "floor": floor, "n": len(questions)}


def interval(values: Sequence[float]) -> list[float]:
    """The 95 % interval of the mean, in percent, by a bootstrap with a fixed seed."""
    rng = random.Random(SEED)
    means = sorted(sum(rng.choices(values, k=len(values))) / len(values) for _ in range(DRAWS))
    return [round(100 * means[int(DRAWS * part)], 1) for part in (0.025, 0.975)]


class _Told:
    """What the product's briefings tell."""

    def __init__(self, brought: Any, texts: Mapping[str, str]) -> None:
        from flywheel.app.parts import wall_clock
        from flywheel.app.work import settle_all
        from flywheel.context.assemble import Assembler

        print(f"{settle_all(brought.parts)} jobs of extraction and after it", file=sys.stderr)
        self._folders = brought.folders
        self._assembler = Assembler(brought.parts.db, brought.searcher, brought.parts.config, wall_clock)
        redact = Redactor().text
        self._shown = {id: _flat(neutralise(redact(text))) for id, text in texts.items()}
        self._spent: list[int] = []

    def found(self, question: Question, budget: int) -> set[str]:
        """The evidence turns whose whole text stands in the question's briefing."""
        briefing = self._assembler.assemble(
            cwd=self._folders[question["conv"]], query=question["question"], agent=AGENT, budget=budget
        )
        if briefing.tokens > budget:
            raise RuntimeError(f"a briefing of {briefing.tokens} tokens, where {budget} are allowed")
        self._spent.append(briefing.tokens)
        text = _flat(briefing.text)
        return {id for id in _evidence(question) if self._shown[id] in text}

    def mean_tokens(self) -> int:
        """Of a briefing since the last time."""
        spent, self._spent = self._spent, []
        return round(sum(spent) / max(len(spent), 1))

    def close(self) -> None:
        """Let go of threads."""
        self._assembler.close()


def _flat(text: str) -> str:
    return " ".join(text.split())


def _evidence(question: Question) -> list[str]:
    return [f"{question['conv']}/{id}" for id in question["evidence"]]


def _recalls(questions: Sequence[Question], find: Callable[[Question], set[str]]) -> list[float]:
    """Of each question the part of its evidence that is found."""
    parts: list[float] = []
    for one in questions:
        wanted, found = _evidence(one), find(one)
        parts.append(sum(id in found for id in wanted) / len(wanted))
    return parts


def _packed(plain: Floor, texts: Mapping[str, str], question: Question, *, budget: int) -> set[str]:
    """The turns that plain full text fits into the budget."""
    room, packed = budget, set[str]()
    for id in plain.search(question["question"], question["conv"]):
        cost = count(texts[id] + "\n")
        if cost <= room:
            room -= cost
            packed.add(id)
    return packed
