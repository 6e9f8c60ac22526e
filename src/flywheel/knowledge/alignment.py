"""Restatements that no rule parses: nearly the same words with another end, such as "the shop opens at 9" and "at 10".

Pure. Two sentences are lined up word by word: what they share at the beginning must hold the subject and a verb, what
they share at the end must hold no verb, and between them each has something of its own. So "the owner of A is X" and
"the owner of B is X" are no restatement of each other: what differs there stands before the verb.
"""

from __future__ import annotations

import re
from typing import Final

from flywheel.knowledge import verbs
from flywheel.knowledge.normal import normal_value, plain
from flywheel.knowledge.wordlists import PRONOUNS

SHARED: Final = 0.6
"""The part of the longer sentence's words that both must share.

Measured on 2,765 facts of 36 sorts (tuning half of FactConsolidation, 455 and 2,310 of them) with no sentence parsed:
precision / recall of the pairs of old and new. 0.4: 95.8 / 98.8 and 95.1 / 97.6; 0.5: 97.5 / 98.8 and 98.0 / 97.8; 0.6:
98.7 / 95.0 and 99.7 / 93.9; 0.7: 100 / 82.0 and 100 / 77.5. A wrong one hides what holds, a missed one is only seen
twice: hence 0.6.
"""

FEWEST: Final = 3
"""Words that both must begin with."""

LONGEST: Final = 10
"""Words of what may differ."""

KEY: Final = 2
"""Words at the beginning by which restatements are looked for."""

_WORD: Final = re.compile(r"[^\s]+")
_VERBS: Final = frozenset(
    {"is", "are", "was", "were", "has", "have", "had", "will", "must", "does", "do", "can", "shall"}
)
_DENIES: Final = re.compile(r"(?<!\S)(?:not|never|no|cannot|without)(?!\S)|n't(?!\w)")
_ARTICLES: Final = frozenset({"the", "a", "an", "our", "its"})
_SAYS_NOTHING: Final = PRONOUNS | _ARTICLES | {"always", "never", "please", "also", "and", "but", "then", "now", "only"}


def words_of(text: str) -> tuple[str, ...]:
    """The words of a sentence, in lower case, without marks around them."""
    found = (word.strip(".,;:!?()'") for word in _WORD.findall(plain(text)))
    return tuple(word for word in found if word)


def key_of(text: str) -> str:
    """What a sentence and its restatements begin with."""
    words = [word for word in words_of(text) if word not in _ARTICLES]
    return " ".join(words[:KEY])


def differing(one: str, two: str) -> tuple[str, str] | None:
    """(value of the first, value of the second) where the second restates the first with another value; else None."""
    left, right = words_of(one), words_of(two)
    shorter = min(len(left), len(right))
    head = next((n for n in range(shorter) if left[n] != right[n]), shorter)
    tail = next((n for n in range(shorter - head) if left[-1 - n] != right[-1 - n]), shorter - head)
    mine, other = left[head : len(left) - tail], right[head : len(right) - tail]
    if not mine or not other or max(len(mine), len(other)) > LONGEST or head < FEWEST:
        return None
    if (head + tail) < SHARED * max(len(left), len(right)):
        return None
    front, back = left[:head], left[len(left) - tail :] if tail else ()
    at = next((n for n, word in enumerate(front) if n and _is_verb(word)), 0)
    at = at or next((n for n, word in enumerate(front) if n > 1 and _looks_finite(word)), 0)
    if not at or _SAYS_NOTHING.issuperset(front[:at]) or any(_is_verb(word) for word in back):
        return None
    if (_DENIES.search(plain(one)) is None) is not (_DENIES.search(plain(two)) is None):
        return None
    values = normal_value(" ".join(mine)), normal_value(" ".join(other))
    return values if values[0] != values[1] else None


def _looks_finite(word: str) -> bool:
    """Whether a word may be a verb of the third person; plurals look the same."""
    return len(word) > 3 and word.isalpha() and word.endswith("s") and not word.endswith(("ss", "us", "is"))


def _is_verb(word: str) -> bool:
    """Whether a word is likely the verb of its clause."""
    return word in _VERBS or bool(verbs.lemma_of(word)) or (len(word) > 4 and word.endswith("ed") and word.isalpha())
