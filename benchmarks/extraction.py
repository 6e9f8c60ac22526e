"""Memories found in short notes, with and without their sort: the product's rules against plain cue words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from flywheel.harvest.rules import Draft, drafts_of
from flywheel.harvest.rules.topic import stems
from flywheel.model import (
    Category,
    ClaimType,
    Message,
    MessageId,
    MessageKind,
    Micros,
    ProjectId,
    Role,
    SessionId,
    digest,
)
from flywheel.text.redact import Redactor

MATCH: Final = 0.5
"""F1 of stemmed content words from which a found memory counts as the expected one; each counts once."""

SORTS: Final = ("decision", "preference", "commitment", "opinion", "fact")

Memory = tuple[str, str]
"""Sort and text."""

OWN: Final[Sequence[tuple[str, Sequence[Memory]]]] = (
    ("We talked it over and decided to keep the nightly export in CSV. Two partners cannot read Parquet yet.",
     [("decision", "Keep the nightly export in CSV because two partners cannot read Parquet yet.")]),
    ("Maren prefers a phone call over a ticket when the pager goes off at night.",
     [("preference", "Maren prefers a phone call over a ticket when the pager goes off at night.")]),
    ("Promised the data team a first schema by Thursday. The weather is nice.",
     [("commitment", "Will give the data team a first schema by Thursday.")]),
    ("Honestly, I think the retry library is overrated. It hides more failures than it cures.",
     [("opinion", "The retry library is overrated; it hides more failures than it cures.")]),
    ("For the record: the sandbox gateway accepts at most 50 requests a minute.",
     [("fact", "The sandbox gateway accepts at most 50 requests a minute.")]),
    ("Should we decide on a queue today? Maybe we could use the database.", []),
)  # fmt: skip
"""A handful of notes of our own, for a run without a data folder."""


def run(data: Path | None, n: int | None) -> dict[str, Any]:
    """Precision, recall and F1 in percent over ``data/memories.jsonl`` (id, text, memories of type and content).

    Without ``data`` a few notes of our own stand in. A note is heard as a person's prompt.
    """
    notes = _load(data)[: n or None]
    results = _measure(notes, lambda text: [(sort_of(draft), spoken(draft)) for draft in _drafts(text)])
    return {"benchmark": "extraction", "results": results, "floor": _measure(notes, by_cue_words), "n": len(notes)}


def _load(data: Path | None) -> list[tuple[str, list[Memory]]]:
    if data is None:
        return [(text, list(memories)) for text, memories in OWN]
    rows = [json.loads(line) for line in (data / "memories.jsonl").read_text("utf-8").splitlines() if line.strip()]
    return [(row["text"], [(memory["type"], memory["content"]) for memory in row["memories"]]) for row in rows]


def _drafts(text: str) -> Sequence[Draft]:
    clean = Redactor().text(text)
    message = Message(
        id=MessageId("note"),
        project_id=ProjectId("bench"),
        session_id=SessionId("bench"),
        ordinal=0,
        role=Role.USER,
        kind=MessageKind.PROMPT,
        text=clean,
        created_at=Micros(0),
        sha256=digest(clean),
    )
    return drafts_of([message]).drafts


def sort_of(draft: Draft) -> str:
    """The benchmark's word for a draft's category and type."""
    if draft.category is Category.PREFERENCES:
        return "preference"
    if draft.category is Category.TASKS:
        return "commitment"
    if draft.type is ClaimType.DECISION:
        return "decision"
    return "opinion" if draft.type in (ClaimType.JUDGMENT, ClaimType.HYPOTHESIS) else "fact"


def spoken(draft: Draft) -> str:
    """Everything that a draft says: its statement and what explains it."""
    return " ".join(dict.fromkeys(str(point.text) for point in draft.points))


_CUES: Final = (
    ("decision", re.compile(r"\b(?:decided|decision|agreed|chose|going with|switch(?:ed|ing)?)\b", re.IGNORECASE)),
    ("preference", re.compile(r"\b(?:prefers?|rather|likes?|favou?rite)\b", re.IGNORECASE)),
    (
        "commitment",
        re.compile(
            r"\b(?:promised|commit(?:ted|ting)?|will|todo|by (?:mon|tues|wednes|thurs|fri)day)\b", re.IGNORECASE
        ),
    ),
    ("opinion", re.compile(r"\b(?:i think|honestly|opinion|my take|believe|feel)\b", re.IGNORECASE)),
    ("fact", re.compile(r"\b(?:facts?|confirmed|note that|fyi)\b|\b\d+\b", re.IGNORECASE)),
)


def by_cue_words(text: str) -> list[Memory]:
    """The floor: every sentence with a cue word is a memory of the first cue's sort."""
    found: list[Memory] = []
    for sentence in re.split(r"(?<=[.!?])\s+", text):
        sort = next((name for name, pattern in _CUES if pattern.search(sentence)), None)
        if sort is not None:
            found.append((sort, sentence))
    return found


def _measure(notes: Sequence[tuple[str, list[Memory]]], extract: Callable[[str], list[Memory]]) -> dict[str, float]:
    counts = {False: [0, 0, 0], True: [0, 0, 0]}  # hits, found, expected
    for text, expected in notes:
        given = extract(text)
        for typed, count in counts.items():
            count[0] += _hits(given, expected, typed=typed)
            count[1] += len(given)
            count[2] += len(expected)
    return {**_rates(counts[False], ""), **_rates(counts[True], "_typed")}


def _rates(count: Sequence[int], suffix: str) -> Mapping[str, float]:
    hits, found, expected = count
    precision, recall = hits / found if found else 0.0, hits / expected if expected else 0.0
    f1 = 2 * precision * recall / (precision + recall) if hits else 0.0
    return {
        f"precision{suffix}": round(100 * precision, 1),
        f"recall{suffix}": round(100 * recall, 1),
        f"f1{suffix}": round(100 * f1, 1),
    }


def _hits(given: Sequence[Memory], expected: Sequence[Memory], *, typed: bool) -> int:
    """Pairs of found and expected memories, best first, each used once."""
    pairs = sorted(
        ((overlap(one[1], two[1]), i, j) for i, one in enumerate(given) for j, two in enumerate(expected)
         if not typed or one[0] == two[0]),
        key=lambda pair: (-pair[0], pair[1], pair[2]),
    )  # fmt: skip
    used_given: set[int] = set()
    used_expected: set[int] = set()
    for score, i, j in pairs:
        if score >= MATCH and i not in used_given and j not in used_expected:
            used_given.add(i)
            used_expected.add(j)
    return len(used_given)


def overlap(one: str, two: str) -> float:
    """F1 of the stemmed content words of two texts, as sets; 0 to 1."""
    left, right = set(stems(one)), set(stems(two))
    shared = len(left & right)
    return 2 * shared / (len(left) + len(right)) if shared else 0.0
