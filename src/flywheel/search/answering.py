"""Whether what was found answers a question, or only lies near it: which of its words no hit says."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from flywheel.search import queries
from flywheel.search.meaning import alternatives
from flywheel.search.passage import LENGTH, LOOKED_AT
from flywheel.search.prompts import says_subject
from flywheel.search.propose import Ask, Sources
from flywheel.search.rules import Candidate, Facts, Key
from flywheel.store import Tx

TOLD: Final = 14
"""Hits whose words count: about as many as a prompt's briefing has room for. With 8 DevMemBench's answerable questions
lose 2 points, with 24 nothing changes."""

_MONTHS: Final = (
    "January February March April May June July August September October November December".split()  # noqa: SIM905
)


def unmet(tx: Tx, sources: Sources, ask: Ask, candidates: Sequence[Candidate], facts: Mapping[Key, Facts]) -> float:
    """The part, 0 to 1, of a question's own words that none of the best hits says, by itself or by one akin to it.

    Words that name but a kind of answer are left out, since what answers "which library" need not call itself one; so
    are names of the glossary, which found their entry. A day, month or year is met by a hit of that time: nobody says
    what day it is. 0 where nothing else is asked.
    """
    wanted = [stems for word, stems in alternatives(sources, ask).items() if says_subject(word)]
    if not wanted:
        return 0.0
    full = queries.read_full(tx, [one.key for one in candidates[:TOLD]])
    texts = [f"{one.title}\n{one.text[: LOOKED_AT * LENGTH]}\n{_day(facts[key].at)}" for key, one in full.items()]
    return sum(not _said(stems, texts) for stems in wanted) / len(wanted)


def _day(at: int) -> str:
    """For example "13 October 2023", as questions write it."""
    when = datetime.fromtimestamp(at / 1e6, UTC)
    return f"{when.day} {_MONTHS[when.month - 1]} {when.year}"


def _said(stems: Collection[str], texts: Sequence[str]) -> bool:
    return any(says(text, stem) for text in texts for stem in stems)


def says(text: str, stem: str) -> bool:
    """Whether a word of a text begins with a stem; also one within an identifier (``nextRetry``). Pure.

    A stem that ends in i may stand for a word in y. What is not ASCII is looked for anywhere, words apart or not.
    """
    low = text.lower()
    humps = text if len(low) == len(text) else low
    start = stem[:-1] if len(stem) > 3 and stem.endswith("i") else stem
    at = low.find(start)
    while at >= 0:
        if not start.isascii() or at == 0 or not low[at - 1].isalnum() or humps[at].isupper():
            return True
        at = low.find(start, at + 1)
    return False
