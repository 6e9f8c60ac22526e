"""Where a text says why: the sentences that hold a reason and speak of what was asked. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Final

from flywheel.search.passage import sentences

LENGTH: Final = 600
"""Characters of a quote."""

CUES: Final = re.compile(
    r"\b(?:because|since|so that|in order to|due to|the reason|reasons?|rationale|trade-?offs?|therefore|thus"
    r"|decid(?:ed?|ing|es)|decision|choos(?:e|ing)|chose|chosen|pick(?:ed|ing)?|go(?:ing)? with|went with"
    r"|let's (?:use|go)|instead of|rather than|prefer(?:red|s)?|switch(?:ed|ing)?|replac(?:ed?|ing)|avoid(?:s|ed|ing)?"
    r"|too (?:slow|big|heavy|complex|fragile|expensive)|otherwise|that way|this way|which means"
    r"|the problem (?:is|was|with))\b"
    r"|因为|由于|所以|决定|选择|而不是|为了",
    re.IGNORECASE,
)
"""Words with which people give reasons."""

_STRONG: Final = re.compile(
    r"\b(?:because|so that|due to|the reason|rationale|trade-?offs?|instead of|rather than|decided)\b|因为|由于|而不是",
    re.IGNORECASE,
)


def find_reason(
    text: str, wanted: Collection[str], words: Callable[[str], Collection[str]]
) -> tuple[int, int, float] | None:
    """(start, stop, weight) of the sentences that give a reason for what ``wanted`` names, or None.

    The sentence with the most of the wanted words and a cue; with the next one where the cue stands only there, which
    counts a little less.
    ``text[start:stop]`` is verbatim. The weight grows with the words found and with how plainly a reason is given.
    """
    spans = sentences(text)
    asked = set(wanted)
    best: tuple[int, int, float] | None = None
    for number, (start, stop) in enumerate(spans):
        hits = len(set(words(text[start:stop])) & asked)
        if not hits:
            continue
        end, less = stop, 0.0
        if not CUES.search(text, start, stop):
            if number + 1 == len(spans) or not CUES.search(text, *spans[number + 1]):
                continue
            end, less = spans[number + 1][1], 0.25
        less += 0.5 if "?" in text[start:end] else 0.0
        weight = hits + (1.0 if _STRONG.search(text, start, end) else 0.0) - less
        if best is None or weight > best[2]:
            best = (start, min(end, start + LENGTH), weight)
    return best
