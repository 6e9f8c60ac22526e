"""The glossary on and off: LoCoMo or DevMemBench with the terms that the rules propose from their own conversations.

And what a term is worth: in each question the rarest word that its conversations have is called by a made-up name,
which only a glossary leads back.
"""

from __future__ import annotations

import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks import devmembench, locomo
from benchmarks.conversations import Brought, Talk, brought_in, read_lines

_WORD: Final = re.compile(r"[a-z]{4,}")

Question = dict[str, Any]
Measure = Callable[[Sequence[Question]], dict[str, float]]


def run(data: Path | None, n: int | None) -> dict[str, Any]:
    """The first ``n`` questions (all unless given) of a folder with LoCoMo's or DevMemBench's files.

    ``rules``: with every term that the rules propose confirmed; ``renamed``: the questions with a word renamed, with
    a term for each, and without (the floor, beside that of the plain questions). Milliseconds are of one question.
    Raises ValueError without ``data``.
    """
    if data is None:
        raise ValueError("glossary needs --data FOLDER, of locomo or devmembench")
    talks, questions, measured = _locomo(data) if (data / "turns.jsonl").exists() else _devmembench(data)
    questions = questions[: n or None]
    with brought_in(talks) as brought:
        measure = measured(brought)
        off = _timed(measure, questions)
        proposed = _propose(brought)
        print(f"{proposed} terms proposed by the rules, and confirmed", file=sys.stderr)
        rules = _timed(measure, questions)
        _drop(brought)
        renamed, terms = _rename(questions, talks)
        floor = _timed(measure, renamed)
        _word(brought, terms)
        on = _timed(measure, renamed)
    results = {"terms": float(proposed), **_named("rules", rules), **_named("renamed", on)}
    return {"results": results, "floor": {**_named("off", off), **_named("renamed", floor)}, "n": len(questions)}


def _locomo(data: Path) -> tuple[list[Talk], list[Question], Callable[[Brought], Measure]]:
    questions = [one for one in read_lines(data / "queries.jsonl") if one["evidence"]]

    def measured(brought: Brought) -> Measure:
        return lambda some: locomo._measure(some, lambda one: locomo._found(brought, one))

    return locomo.talks_of(read_lines(data / "turns.jsonl")), questions, measured


def _devmembench(data: Path) -> tuple[list[Talk], list[Question], Callable[[Brought], Measure]]:
    questions = [one for one in read_lines(data / "questions.jsonl") if one["gold_sessions"]]

    def measured(brought: Brought) -> Measure:
        def find(one: Mapping[str, Any]) -> list[str]:
            found = brought.searcher.sessions(query=one["question"], limit=max(devmembench.DEPTHS))
            return [brought.sessions[hit.session_id] for hit in found]

        return lambda some: devmembench._measure(some, find)

    return [devmembench.talk_of(one) for one in read_lines(data / "sessions.jsonl")], questions, measured


def _timed(measure: Measure, questions: Sequence[Question]) -> dict[str, float]:
    began = time.perf_counter()
    found = dict(measure(questions))
    return found | {"ms": round(1000 * (time.perf_counter() - began) / max(len(questions), 1), 2)}


def _named(name: str, values: Mapping[str, float]) -> dict[str, float]:
    return {f"{name}_{key}": value for key, value in values.items()}


def _propose(brought: Brought) -> int:
    """What extraction would propose of each message; a person confirms all of it."""
    from flywheel.app import wall_clock
    from flywheel.knowledge.glossary import noticing
    from flywheel.model import Message
    from flywheel.store.mapper import find

    with brought.parts.db.read() as tx:
        messages = find(tx, Message, "ORDER BY created_at, id")
    with brought.parts.db.write() as tx:
        for message in messages:
            noticing.propose(tx, message.project_id, noticing.in_message(message), wall_clock())
    return sum(_each(brought, "confirm"))


def _drop(brought: Brought) -> None:
    list(_each(brought, "remove"))


def _each(brought: Brought, act: str) -> Iterator[bool]:
    """Do this to every term of every project."""
    from flywheel.app import wall_clock
    from flywheel.knowledge.deciding import Act
    from flywheel.knowledge.glossary import keeping
    from flywheel.text.compose import fixed

    with brought.parts.db.write() as tx:
        for family in brought.projects.values():
            for term in keeping.terms_of(tx, family):
                yield getattr(keeping, act)(tx, term, Act(actor=fixed("user:benchmark via terminal"), now=wall_clock()))


def _rename(questions: Sequence[Question], talks: Sequence[Talk]) -> tuple[list[Question], dict[str, str]]:
    """The questions with their rarest known word under another name, and word → name."""
    from flywheel.search.question import FRAMING
    from flywheel.text.words import STOP_WORDS

    known = Counter(word for talk in talks for said in talk.messages for word in set(_WORD.findall(said.text.lower())))
    projects = {word for talk in talks for word in _WORD.findall(talk.project.lower())}
    names: dict[str, str] = {}
    renamed: list[Question] = []
    for one in questions:
        words = [word for word in _WORD.findall(one["question"].lower()) if known[word] and word not in projects]
        words = [word for word in words if word not in STOP_WORDS and word not in FRAMING]
        if not words:
            renamed.append(one)
            continue
        word = min(words, key=lambda word: (known[word], word))
        name = names.setdefault(word, f"zq{len(names)}vk")
        text = re.sub(rf"\b{word}\b", name, one["question"], flags=re.IGNORECASE)
        renamed.append({**one, "question": text})
    return renamed, names


def _word(brought: Brought, names: Mapping[str, str]) -> None:
    """A term for each renamed word, in every project."""
    from flywheel.app import wall_clock
    from flywheel.knowledge.deciding import Act
    from flywheel.knowledge.glossary import keeping
    from flywheel.text.compose import fixed
    from flywheel.text.redact import Redactor

    clean = Redactor().text
    for family in brought.projects.values():
        with brought.parts.db.write() as tx:
            for word, name in names.items():
                act = Act(actor=fixed("user:benchmark via terminal"), now=wall_clock())
                keeping.set_term(tx, family, clean(word), {"synonyms": (clean(name),)}, act)
