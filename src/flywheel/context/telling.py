"""Whether a line is worth its place: it says something, and nothing that is told already says the same. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from flywheel.text.words import terms

FEWEST: Final = 3
"""Words from which a sentence can be found again in another text."""

_ASSENTS: Final = frozenset(
    """
    ok okay understood noted done good great perfect nice fine thanks thank sure exactly right agreed yes catch
    looks works fixed put back makes sense
    """.split()  # noqa: SIM905 - a list of words is read as words
)
"""A text of these alone, and of words that mean nothing by themselves, is an assent to what is told or is not."""

_DENIALS: Final = frozenset("no not never none nor don doesn didn isn aren wasn won shouldn cannot without".split())  # noqa: SIM905
"""What turns a sentence round."""

_WORD: Final = re.compile(r"\w+")


@lru_cache(2048)
def says(text: str) -> bool:
    """Whether it says anything: "Understood." and "ok, will do" take up room only."""
    return not _ASSENTS.issuperset(terms(text))


class Told:
    """Texts that are told. Another is a repetition when they hold its words in its order, and nothing denies them."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = [f" {' '.join(words)} " for text in texts if (words := _WORD.findall(text.lower()))]

    def __bool__(self) -> bool:
        return bool(self._texts)

    def repeats(self, text: str) -> bool:
        """Whether a text says nothing else. Words that mean nothing by themselves do not count at its ends."""
        core = _core(text)
        return any(self._holds(told, core) for told in self._texts) if core else False

    def _holds(self, told: str, core: str) -> bool:
        at = told.find(core)
        return at >= 0 and _DENIALS.isdisjoint(told[:at].split()[-FEWEST:])


@lru_cache(2048)
def _core(text: str) -> str:
    """The words of a text, without those at its ends that mean nothing; "" for one that is too short."""
    words = _WORD.findall(text.lower())
    means: Sequence[bool] = [word in _DENIALS or bool(terms(word)) for word in words]
    if sum(means) < FEWEST:
        return ""
    first, last = means.index(True), len(means) - means[::-1].index(True)
    return f" {' '.join(words[first:last])} "
