"""How strongly a statement looks like knowledge: named contributions that sum to a score between 0 and 1."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from flywheel.harvest.rules.cues import Found, words_of
from flywheel.harvest.rules.values import Link
from flywheel.model import Category, ClaimType, Role

_REASON: Final = re.compile(
    r"\b(?:because|since|so\s+that|due\s+to|the\s+reason|in\s+order\s+to|otherwise|that\s+way|which\s+means|as\s+it)\b",
    re.IGNORECASE,
)
_GENERAL: Final = re.compile(
    r"\b(?:always|never|every|each|all|any|everything|everywhere|everyone|whenever|wherever|across|globally|must)\b",
    re.IGNORECASE,
)
_CONTRAST: Final = re.compile(r",\s+(?:and\s+)?(?:not|never)\s+\w|\b(?:instead\s+of|rather\s+than)\b", re.IGNORECASE)
_PASSING: Final = re.compile(
    r"\b(?:for\s+now|just\s+(?:this\s+once|for\s+this)|this\s+time|right\s+now|at\s+the\s+moment|in\s+this\s+(?:pr|commit|branch|session|turn|reply|file|function)"
    r"|temporar(?:y|ily)|for\s+the\s+moment|yet|first\s+of\s+all|line\s+\d+|the\s+(?:above|following|attached)|below|here's|on\s+my\s+machine|today)\b",
    re.IGNORECASE,
)
_VAGUE: Final = re.compile(
    r"(?:it|this|that|they|these|those|there|he|she|both|which|and|or|but|so|then)\b", re.IGNORECASE
)
_NUMBER: Final = re.compile(r"(?<![\w.])\d")
DATE: Final = re.compile(
    r"\b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?\s+\d{1,4}\b"
    r"|\b\d{4}-\d\d(?:-\d\d)?\b|\bq[1-4]\s*(?:\d{4})?\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:in|since|by)\s+(?:19|20)\d\d\b",
    re.IGNORECASE,
)
_MAY_DATE: Final = frozenset(
    {f"{day}day{s}" for day in ("mon", "tues", "wednes", "thurs", "fri", "satur", "sun") for s in ("", "s")}
)
_REPORT: Final = re.compile(
    r"\s*(?:(?:done|great|perfect|ok)[.!,:]*\s+)?(?:i(?:'ve|\s+have)?\s+(?:now\s+|also\s+|just\s+)?"
    r"(?:add|updat|creat|implement|chang|refactor|renam|remov|mov|writ|wrote|made|mad|set\s+up|ran|run|check|read|look|clean|extract|replac|switch|fix|put|install|commit)\w*|all\s+\d*\s*tests?)\b",
    re.IGNORECASE,
)


def signals_of(
    found: Sequence[Found],
    plain: str,
    links: Sequence[Link],
    role: Role,
    *,
    words: int,
    lowered: bool,
    pasted: bool,
    echoing: bool,
) -> Mapping[str, float]:
    """What speaks for and against a statement with these cues, strongest first; by name.

    ``words`` is its length, ``lowered`` marks a subagent's session, ``pasted`` a text too long to have been typed,
    ``echoing`` a reply that repeats what it was told.
    """
    best = found[0].cue
    signals = {f"cue:{best.name}": best.weight}
    others = [one.cue.weight for one in found[1:] if one.cue.name != best.name]
    if others:
        signals["more cues"] = 0.05 if max(others) <= best.weight else 0.15
    signals |= voice(role, lowered=lowered, pasted=pasted)
    if _REASON.search(plain):
        signals["reason"] = 0.1
    if links or "`" in plain or _NUMBER.search(plain) or DATE.search(plain):
        signals["specific"] = 0.1
    if best.type is ClaimType.DECISION and _CONTRAST.search(plain):
        signals["contrast"] = 0.1
    if best.type is ClaimType.DECISION and _GENERAL.search(plain):
        signals["general"] = 0.05
    chosen = best.pattern.groupindex.get("new") and found[0].match.group("new")
    signals |= flaws(plain, words, vague=not links)
    if best.category is Category.TASKS:
        signals.pop("passing", None)
    if chosen and "short" in signals:
        signals["short"] = -0.1
    elif best.category in (Category.KNOWLEDGE, Category.ARCHITECTURE) and 4 <= words < 6:
        signals["brief"] = -0.1
    if echoing:
        signals["echo"] = -0.25
    if role is Role.ASSISTANT and _REPORT.match(plain):
        signals["report of work"] = -0.25
    return signals


def voice(role: Role, *, lowered: bool = False, pasted: bool = False) -> dict[str, float]:
    """What it counts who speaks: a person's words outweigh an assistant's, and a subagent's count least."""
    signals: dict[str, float] = {}
    if role is Role.USER:
        signals["said by user"] = 0.2
    if lowered:
        signals["subagent"] = -0.15
    if pasted:
        signals["pasted"] = -0.2
    return signals


def flaws(plain: str, words: int, *, vague: bool) -> dict[str, float]:
    """What speaks against a sentence as such."""
    signals: dict[str, float] = {}
    if words < 4:
        signals["short"] = -0.25
    elif words > 60:
        signals["long"] = -0.1
    if vague and _VAGUE.match(plain):
        signals["vague"] = -0.15
    if _PASSING.search(plain):
        signals["passing"] = -0.2
    return signals


def dated(plain: str) -> float:
    """What dates, numbers and names give a plain sentence that no cue marks."""
    if _MAY_DATE.isdisjoint(words_of(plain)) and _NUMBER.search(plain) is None:
        return 0.0
    return (0.1 if DATE.search(plain) else 0.0) + (0.05 if _NUMBER.search(plain) else 0.0)


def total(signals: Mapping[str, float]) -> float:
    """The score: the sum, cut to 0..1, to three digits."""
    return round(min(max(sum(signals.values()), 0.0), 1.0), 3)
