"""Values for people: as their claim's own words have them, not in the normal form by which they are compared. Pure."""

from __future__ import annotations

from flywheel.knowledge.normal import normal_value
from flywheel.knowledge.statements import read
from flywheel.model import Claim, Clean
from flywheel.text.compose import span, squeeze

_MARKS = " `\"'*.,;:"


def as_written(claim: Claim) -> Clean:
    """The value of a claim as it stands in its text; its normal form where the text does not show it."""
    if claim.value in ("", "true", "false"):
        return claim.value
    for one in read(claim.text):
        if one.value != claim.value:
            continue
        start, stop = one.told
        while start < stop and claim.text[start] in _MARKS:
            start += 1
        while stop > start and claim.text[stop - 1] in _MARKS:
            stop -= 1
        words = squeeze(span(claim.text, start, stop))
        if words and normal_value(words) == claim.value:
            return words
    return claim.value
