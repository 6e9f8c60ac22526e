"""A growing list of facts that contradicts itself: is the current answer found first, is it known what replaced what?

Each fact is a note of its own, of its own day, taken in by the product's own verb ``add`` in the order of the list:
that is what a person's or an agent's notes are. Then every single-hop question is asked through the product's own
search, with its usual settings, and the first hit is read.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from benchmarks.conversations import Floor, percent, read_lines
from flywheel.text.words import terms

START: Final = datetime(2015, 1, 1, tzinfo=UTC)
"""The day of the first fact."""

Fact = Mapping[str, Any]
Pair = tuple[int, int]
"""Serials of the old and of the new fact."""

OWN: Final[Mapping[str, Sequence[tuple[str, str, str]]]] = {
    "own": (
        ("The owner of the parcel service is Maren.", "owner", "parcel service"),
        ("Labels are printed in Gdansk.", "place", "labels"),
        ("The retention of label images is 30 days.", "retention", "label images"),
        ("The parcel service listens on port 7400.", "port", "parcel service"),
        ("Label images are kept for 90 days.", "retention", "label images"),
        ("The owner of the parcel service is Tomasz.", "owner", "parcel service"),
        ("The carrier of returns is Kestrel Post.", "carrier", "returns"),
        ("The parcel service listens on port 7411.", "port", "parcel service"),
    )
}
"""A handful of facts of our own, for a run without a data folder: text, what is said, of what."""

OWN_QUESTIONS: Final = (
    ("Who is the owner of the parcel service?", "Tomasz"),
    ("How long are label images kept?", "90 days"),
    ("Which port does the parcel service listen on?", "7411"),
    ("Who is the carrier of returns?", "Kestrel Post"),
)


def run(data: Path | None, n: int | None) -> dict[str, Any]:
    """The first ``n`` questions of each size (all unless given) of ``data/questions.jsonl``, over ``data/facts.jsonl``.

    In percent, for each size: ``current_answer``: the first hit's text states the current answer; ``current_line``: the
    line of it that shares most words with the question does; ``supersession_f1`` of the pairs of old and new facts
    (``data/supersession_pairs.jsonl``) that the store has recorded. ``floor``: the same notes with the rules of
    supersession off: full text (BM25) over all of them, and pairs by likeness alone. Both are also given for all sizes
    together, without a suffix.
    """
    sizes = _sizes(data, n)
    results: dict[str, float] = {}
    floor: dict[str, float] = {}
    asked = 0
    for size, facts, pairs, questions in sizes:
        print(f"{size}: {len(facts)} facts, {len(questions)} questions", file=sys.stderr)
        asked += len(questions)
        with _noted(facts) as (find, recorded):
            _measure(results, size, questions, find)
            _rate(results, size, recorded, pairs)
        _measure(floor, size, questions, _by_words(facts))
        _rate(floor, size, _by_likeness(facts), pairs)
    for found in (results, floor):
        for key in ("current_answer", "current_line", "supersession_f1"):
            found[key] = min(value for name, value in found.items() if name.startswith(f"{key}_"))
    return {"results": results, "floor": floor, "n": asked}


Size = tuple[str, Sequence[Fact], set[Pair], Sequence[tuple[str, Sequence[str]]]]


def _sizes(data: Path | None, n: int | None) -> list[Size]:
    if data is None:
        return [_own()]
    facts, pairs, questions = (
        read_lines(data / f"{name}.jsonl") for name in ("facts", "supersession_pairs", "questions")
    )
    return [
        (
            size,
            sorted((one for one in facts if one["size"] == size), key=lambda one: int(one["serial"])),
            {(one["old"], one["new"]) for one in pairs if one["size"] == size},
            [(one["question"], one["answers"]) for one in questions if one["size"] == size and one["hop"] == "sh"][
                : n or None
            ],
        )
        for size in dict.fromkeys(one["size"] for one in facts)
    ]


def _own() -> Size:
    rows = [{"serial": number, "text": text} for number, (text, _, _) in enumerate(OWN["own"])]
    last: dict[tuple[str, str], int] = {}
    pairs: set[Pair] = set()
    for number, (_, *about) in enumerate(OWN["own"]):
        key = (about[0], about[1])
        if key in last:
            pairs.add((last[key], number))
        last[key] = number
    return "own", rows, pairs, [(question, [answer]) for question, answer in OWN_QUESTIONS]


Find = Callable[[str], str]
"""The text of the first hit for a question; "" for none."""


@contextlib.contextmanager
def _noted(facts: Sequence[Fact]) -> Iterator[tuple[Find, set[Pair]]]:
    """Note the facts one after the other, a day each; how to ask, and what the store says replaced what."""
    from flywheel import app
    from flywheel.config import Config, locate

    with tempfile.TemporaryDirectory(prefix="flywheel-facts-") as folder:
        home = Path(folder) / "home"
        project = Path(folder) / "world"
        project.mkdir()
        parts = app.open_parts(Config(), locate({"FLYWHEEL_HOME": str(home)}, home), {}, home)
        inside = app.App(parts)
        documents: dict[str, int] = {}
        for number, fact in enumerate(facts):
            day = (START + timedelta(days=number)).date().isoformat()
            added = inside.add(text=fact["text"], cwd=str(project), kind="note", date=day)
            documents[added.id] = fact["serial"]
            if number % 500 == 499:
                print(f"{number + 1} facts noted", file=sys.stderr)
        app.settle_all(parts)

        def find(question: str) -> str:
            hits = inside.search(query=question, cwd=str(project), limit=10).hits
            return hits[0].text if hits else ""

        yield find, _recorded(parts, documents)
        inside.close()
        parts.close()


_REPLACED: Final = """
SELECT o.document_id, n.document_id FROM claim k JOIN citation o ON o.claim_id = k.id
JOIN citation n ON n.claim_id = k.superseded_by WHERE k.status = 'superseded'
"""
_EDGES: Final = """
SELECT o.document_id, n.document_id FROM edge e JOIN claim a ON a.entry_id = e.target_id
JOIN citation o ON o.claim_id = a.id JOIN claim b ON b.entry_id = e.source_id JOIN citation n ON n.claim_id = b.id
WHERE e.kind = 'supersedes' AND a.superseded_by = b.id
"""


def _recorded(parts: Any, documents: Mapping[str, int]) -> set[Pair]:
    """Old and new by what each superseded claim names as its successor: on its own page, or over an edge to another.

    Where a value was replaced twice, each but the last names the one that holds; the pairs are of neighbours in time.
    """
    with parts.db.read() as tx:
        rows = [*tx.all(_REPLACED), *tx.all(_EDGES)]
    chains: dict[int, set[int]] = defaultdict(set)
    for old, new in rows:
        if old in documents and new in documents:
            chains[documents[new]] |= {documents[old], documents[new]}
    found: set[Pair] = set()
    for members in chains.values():
        ordered = sorted(members)
        found |= set(pairwise(ordered))
    return found


def _measure(results: dict[str, float], size: str, questions: Sequence[tuple[str, Sequence[str]]], find: Find) -> None:
    told = [(find(question), question, answers) for question, answers in questions]
    results[f"current_answer_{size}"] = percent([_states(text, answers) for text, _, answers in told])
    results[f"current_line_{size}"] = percent([_states(_line(text, asked), answers) for text, asked, answers in told])


def _states(text: str, answers: Sequence[str]) -> bool:
    return any(_flat(answer) in _flat(text) for answer in answers)


def _flat(text: str) -> str:
    return " ".join(text.lower().replace(".", " ").replace(",", " ").split())


def _line(text: str, question: str) -> str:
    """The line that shares most words with a question, the first of equals."""
    wanted = set(terms(question))
    lines = [line for line in text.splitlines() if line.strip()]
    return max(lines, key=lambda line: len(wanted & set(terms(line))), default="")


def _rate(results: dict[str, float], size: str, found: set[Pair], pairs: set[Pair]) -> None:
    hits = len(found & pairs)
    precision, recall = hits / len(found) if found else 0.0, hits / len(pairs) if pairs else 0.0
    f1 = 2 * precision * recall / (precision + recall) if hits else 0.0
    results[f"supersession_precision_{size}"] = round(100 * precision, 1)
    results[f"supersession_recall_{size}"] = round(100 * recall, 1)
    results[f"supersession_f1_{size}"] = round(100 * f1, 1)


def _by_words(facts: Sequence[Fact]) -> Find:
    plain = Floor([(str(fact["serial"]), "", fact["text"]) for fact in facts])
    texts = {str(fact["serial"]): fact["text"] for fact in facts}
    return lambda question: next((texts[id] for id in plain.search(question)[:1]), "")


LIKE: Final = 0.6
"""Jaccard index of words from which the floor holds a fact for a new version of the one before that is most like it."""


def _by_likeness(facts: Sequence[Fact]) -> set[Pair]:
    found: set[Pair] = set()
    seen: list[tuple[int, frozenset[str]]] = []
    for fact in facts:
        mine = frozenset(terms(fact["text"], stop=False))
        best = max(((len(mine & other) / len(mine | other), serial) for serial, other in seen), default=(0.0, -1))
        if best[0] >= LIKE:
            found.add((best[1], fact["serial"]))
        seen.append((fact["serial"], mine))
    return found
