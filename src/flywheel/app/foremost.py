"""What of a page a question is about: its values stand first. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from flywheel.knowledge.grammar.asking import asked_for
from flywheel.knowledge.judging import Judged
from flywheel.knowledge.normal import is_duration, normal_attribute, normal_value, singular
from flywheel.knowledge.scopes import limits
from flywheel.model import Claim
from flywheel.text.words import terms

_HINTS: Final = (
    (
        re.compile(r"\bwho(?:m|se)?\b", re.IGNORECASE),
        re.compile(r"owner|maintainer|lead|manager|author|reviewer|contact|head"),
    ),
    (
        re.compile(r"\bwhere\b", re.IGNORECASE),
        re.compile(r"storage|hosting|location|headquarters|region|address|.* in"),
    ),
    (re.compile(r"\b(?:when|how\s+often)\b", re.IGNORECASE), re.compile(r"schedule|.*date|.* on")),
    (
        re.compile(r"\b(?:decide\w*\s+on|choose|chose|use|using)\b", re.IGNORECASE),
        re.compile(r"use|database"),
    ),
)
"""Words of a question, and the attributes that they usually ask for."""
_LASTING: Final = re.compile(r"\bhow\s+(?:long|many\s+(?:days|weeks|months|hours|years))\b", re.IGNORECASE)


def asked_first(judged: Sequence[Judged], claims: Sequence[Claim], question: str) -> Sequence[Judged]:
    """What the question is about before the rest, and of it the scope that is asked for; else in order of names.

    Foremost is the attribute that an answer would have or that the question names, then one that such a question
    usually asks for, then the one whose words it shares.
    """
    asked, texts = asked_for(question), {str(claim.id): claim.text for claim in claims}
    wanted = {one.scope for one in limits(question)}
    words = {singular(word) for word in terms(question)}
    named = {normal_attribute(word) for word in words} | ({asked.attribute} if asked is not None else set())

    def far(one: Judged) -> tuple[int, int]:
        said = {singular(word) for id in one.verdict.holds for word in terms(f"{one.attribute} {texts[id]}")}
        step = 0 if one.attribute in named else 1 if _fits(one, question) else 2
        return step, -len(words & said)

    best: dict[str, tuple[int, int]] = {}
    for one in judged:
        best[one.attribute] = min(best.get(one.attribute, (2, 0)), far(one))
    return sorted(judged, key=lambda one: (best[one.attribute], one.scope not in wanted))


def _fits(one: Judged, question: str) -> bool:
    """Whether such a question usually asks for such an attribute."""
    if _LASTING.search(question) is not None:
        return any(is_duration(normal_value(value)) for value in one.values)
    return any(word.search(question) and attribute.fullmatch(one.attribute) for word, attribute in _HINTS)
