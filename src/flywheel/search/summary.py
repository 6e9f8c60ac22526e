"""What a long message comes to: its most telling sentences, without what is pasted into it. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Final

from flywheel.model import Clean
from flywheel.text.compose import join, span
from flywheel.text.prose import QUOTE, Sentence, sentences
from flywheel.text.words import terms

LONG: Final = 1500
"""Characters from which a message is long."""

SENTENCES: Final = 10
"""Sentences of a summary, besides the first."""

LEAST: Final = 5
"""Sentences below which a message is not shortened: there is nothing to choose."""

LINE: Final = 400
"""Characters of one sentence."""

LOOKED_AT: Final = 400
"""Sentences among which they are chosen: the first and the last half of so many."""


def summary_of(text: Clean) -> Clean | None:
    """The first sentence and the most telling ones, in their order; None where the text is not long, or no prose.

    A sentence is telling by the words that the text says often (their logarithms, over the root of its length), as the
    nearest to the text's centroid are. Code and quotations have none.
    """
    if len(text) <= LONG:
        return None
    found = [one for one in sentences(text) if one.kind != QUOTE]
    if len(found) < LEAST:
        return None
    if len(found) > LOOKED_AT:
        found = found[: LOOKED_AT // 2] + found[-LOOKED_AT // 2 :]
    kept = sorted({0, *_telling(found)})
    return join([span(text, found[at].start, min(found[at].stop, found[at].start + LINE)) for at in kept], "\n")


def _telling(found: Sequence[Sentence]) -> list[int]:
    words = [set(terms(one.plain)) for one in found]
    often = Counter(word for some in words for word in some)
    weights = [sum(math.log1p(often[word]) for word in sorted(some)) / math.sqrt(max(4, len(some))) for some in words]
    return sorted(range(len(found)), key=lambda at: (-round(weights[at], 9), at))[:SENTENCES]
