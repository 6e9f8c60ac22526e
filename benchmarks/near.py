"""Near misses: how often a question is told something when it is about what memory speaks of, but not what it holds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

from benchmarks.budget import interval
from benchmarks.conversations import Talk, brought_in, percent, read_lines
from benchmarks.desk import Desk
from benchmarks.devmembench import talk_of
from benchmarks.locomo import talks_of
from flywheel.search.prompts import says_subject
from flywheel.text.words import terms

QUESTIONS: Final = Path(__file__).with_name("near_questions.txt")
"""Questions of our own with a place for a name, by sort."""

NAMES: Final = 4
"""Names that each question of things is asked with, of the ten that most messages of a project have."""

ADVERSARIAL: Final = 5
"""LoCoMo's category of questions that name the wrong person."""

_NAME: Final = re.compile(r"(?<=[a-z,] )[A-Z][A-Za-z0-9.]*[A-Za-z0-9]")
"""A word with a capital letter that begins no sentence."""


def run(data: Path | None, n: int | None) -> dict[str, Any]:
    """The first ``n`` questions that can be answered (all unless given) of DevMemBench's or LoCoMo's folder, and every
    question of `QUESTIONS` that cannot.

    A question of things is asked with names that messages of the project have, one of people with the speakers; only
    where some word of what is asked stands in no message of the project, so that the question has no answer there.
    They are put as prompts, as `abstain` does. In percent: ``told_tuning`` and ``told_held``, near questions of each
    half that get anything; ``answerable``, answerable ones that do; of DevMemBench also ``withheld``, answerable ones
    that do in a store without the sessions that answer them. Floor: the same when whatever is found is told. Raises
    ValueError without ``data``.
    """
    if data is None:
        raise ValueError(
            "near needs --data FOLDER with sessions.jsonl and questions.jsonl, or turns.jsonl and queries.jsonl"
        )
    given = _read(data)
    asked = given.answerable[: n or None]
    halves = [list(_near(given, half)) for half in (0, 1)]
    with brought_in(given.talks) as brought:
        desk = Desk(brought)
        told, floods = (
            [
                [bool(desk.items(text, project, unlimited=unlimited)) for project, text in questions]
                for questions in (*halves, asked)
            ]
            for unlimited in (False, True)
        )
        desk.close()
    withheld = [told for gold, some in given.withheld for told in _without(given.talks, gold, some)] if not n else []
    names = ("told_tuning", "told_held", "answerable")
    results: dict[str, Any] = {name: percent(values) for name, values in zip(names, told, strict=True)}
    results["told_held_interval"] = interval(told[1])
    results |= {f"n_{name}": len(values) for name, values in zip(names, told, strict=True)}
    results |= {"withheld": percent(withheld), "n_withheld": len(withheld)} if withheld else {}
    floor = {name: percent(values) for name, values in zip(names, floods, strict=True)}
    return {"results": results, "floor": floor, "n": sum(map(len, told)) + len(withheld)}


def _without(talks: Sequence[Talk], gold: Sequence[str], questions: Sequence[tuple[str, str]]) -> list[bool]:
    """Whether each question gets anything in a store without these talks; none of a project that has no other."""
    left = [talk for talk in talks if talk.id not in gold]
    with brought_in(left) as brought:
        desk = Desk(brought)
        told = [bool(desk.items(text, project)) for project, text in questions if project in brought.folders]
        desk.close()
    return told


@dataclass(frozen=True, slots=True, kw_only=True)
class _Given:
    """A data set: its talks, questions that they answer as project and text, and what they speak of."""

    talks: Sequence[Talk]
    answerable: Sequence[tuple[str, str]]
    sort: str
    names: Mapping[str, Sequence[str]]  # project → names
    withheld: Sequence[tuple[Sequence[str], Sequence[tuple[str, str]]]] = ()  # talks, and the questions they answer


def _read(data: Path) -> _Given:
    if (data / "turns.jsonl").exists():
        turns = read_lines(data / "turns.jsonl")
        speakers: dict[str, dict[str, None]] = {}
        for turn in turns:
            speakers.setdefault(turn["conv"], {})[turn["speaker"]] = None
        queries = [one for one in read_lines(data / "queries.jsonl") if one["evidence"]]
        answerable = [(one["conv"], one["question"]) for one in queries if one["category"] != ADVERSARIAL]
        names = {conversation: list(found) for conversation, found in speakers.items()}
        return _Given(talks=talks_of(turns), answerable=answerable, sort="people", names=names)
    talks = [talk_of(one) for one in read_lines(data / "sessions.jsonl")]
    homes = {talk.id: talk.project for talk in talks}
    gold = [one for one in read_lines(data / "questions.jsonl") if one["gold_sessions"]]
    answerable = [(homes[one["gold_sessions"][0]], one["question"]) for one in gold]
    groups: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for one, asked in zip(gold, answerable, strict=True):
        groups.setdefault(tuple(sorted(one["gold_sessions"])), []).append(asked)
    return _Given(talks=talks, answerable=answerable, sort="things", names=_named(talks), withheld=list(groups.items()))


def _named(talks: Sequence[Talk]) -> dict[str, list[str]]:
    """The ten names that most messages of each project have."""
    counts: dict[str, Counter[str]] = {talk.project: Counter() for talk in talks}
    for talk in talks:
        for said in talk.messages:
            counts[talk.project].update(sorted(set(_NAME.findall(said.text))))
    return {project: [name for name, _ in count.most_common(10)] for project, count in counts.items()}


def _near(given: _Given, half: int) -> Iterator[tuple[str, str]]:
    """Project and text of each question of a half (0 for tuning, 1 held out) that the project cannot answer."""
    held = {project: set[str]() for project in given.names}
    for talk in given.talks:
        held[talk.project].update(*(terms(said.text) for said in talk.messages))
    for number, line in enumerate(islice(_lines(given.sort), half, None, 2)):
        asked = {word for word in terms(line.replace("{name}", "")) if says_subject(word)}
        for project, names in given.names.items():
            if asked <= held[project]:
                continue
            many = len(names) if given.sort == "people" else min(NAMES, len(names))
            for step in range(many):
                yield project, line.replace("{name}", names[(number + step) % len(names)])


def _lines(sort: str) -> Iterator[str]:
    name = ""
    for line in QUESTIONS.read_text("utf-8").splitlines():
        if line.startswith("["):
            name = line.strip("[]")
        elif line and not line.startswith("#") and name == sort:
            yield line
