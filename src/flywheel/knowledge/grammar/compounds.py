"""Nouns that name a thing and what is said of it in one: "export retention". Pure."""

from __future__ import annotations

import re

from flywheel.knowledge.normal import singular
from flywheel.knowledge.wordlists import NOUNS, QUALIFIERS


def compound(phrase: str) -> tuple[str, str, tuple[int, int]]:
    """(subject, attribute, where the subject stands) of "export retention"; empty where there are not both."""
    places = [found.span() for found in re.finditer(r"\S+", phrase)]
    words = [phrase[slice(*place)] for place in places]
    first, last = 0, len(words) - 1
    if last < 1 or singular(words[last].lower()) not in NOUNS:
        return "", "", (0, 0)
    while first < last and words[first].lower() in QUALIFIERS:
        first += 1
    while last - 1 > first and words[last - 1].lower() in QUALIFIERS:
        last -= 1
    if first >= last:
        return "", "", (0, 0)
    place = places[first][0], places[last - 1][1]
    return phrase[slice(*place)], " ".join((*words[:first], *words[last:])), place
