"""Whether somebody says that what memory told is wrong or outdated, and of what. Pure.

Three ways: a sentence (or the one beside it) that cites the id; "memory says X, but ..." with the item's words; and a
user's "that's outdated" right after a reply that rests on one item.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from flywheel.text.stance import asks, tentative

WRONG: Final = "wrong"
STALE: Final = "stale"

CITED: Final = re.compile(r"fw:([0-9a-f]{6,64})(?![0-9a-f])", re.IGNORECASE)
"""A short or full id as items wear it."""

CONTRAST: Final = 0.5
"""Share of an item's words in a sentence that says what memory says, from which it is meant."""

_STALE: Final = (
    r"out(?:\s+of\s+|-of-)date|outdated|obsolete|stale|superseded"
    r"|no\s+longer\s+(?:true|right|correct|accurate|valid|holds?|applies|applicable|the\s+case|so)"
    r"|(?:not|\w+n't)\s+(?:true|right|correct|accurate|valid|the\s+case|so)\s+any\s?(?:more|longer)"
    r"|(?:does\s+not|doesn't)\s+(?:hold|apply)(?:\s+any\s?(?:more|longer))?"
)
_WRONG: Final = r"wrong|incorrect|mistaken|untrue|inaccurate|false|(?:not|\w+n't)\s+(?:true|right|correct|accurate)"
_CUE: Final = re.compile(rf"(?<!\w)(?:(?P<stale>{_STALE})|(?P<wrong>{_WRONG}))\b", re.IGNORECASE)
_DENIED: Final = re.compile(
    r"(?:\bnot|n't|\bnever|\bnothing\b.{0,30}|\bno|\bhardly|\b(?:doubt|deny|unlikely)\b.{0,40}"
    r"|n't\s+(?:think|believe|say)\b.{0,40}|\bnot\s+(?:think|believe|say)\b.{0,40})\s+(?:\w+ly\s+)?$",
    re.IGNORECASE,
)
_SUPPOSED: Final = re.compile(r"\b(?:if|whether|unless|in\s+case|when|once|should)\b", re.IGNORECASE)
_LEANS: Final = re.compile(
    r"\b(?:as|per|according\s+to|because\s+of|due\s+to|following|follows|with|like|what|see)\s*[\[(]?\s*$",
    re.IGNORECASE,
)
_BACK: Final = re.compile(
    r"(?:\s*(?:(?:the\s+)?user(?:\s+says?)?|no|nope|hm+|well|actually|sorry|wait|but|so|and)\b[\s,:;.!-]*)*"
    r"(?:that|this|it)(?:'s|\s+(?:is|was|isn't|has|does|doesn't|no\s+longer|statement|note|memory|item|information|info))\b",
    re.IGNORECASE,
)
_MEMORY: Final = re.compile(
    r"\b(?:memory|flywheel|(?:the|that|your|this)\s+(?:briefing|notes?|recorded\s+\w+|memory)|you\s+told\s+me)\b",
    re.IGNORECASE,
)
_BUT: Final = re.compile(r"\b(?:but|however|yet|although|whereas|in\s+fact|actually|in\s+reality)\b", re.IGNORECASE)
_CLAUSE: Final = re.compile(r"[;—]|:\s|,\s+(?:but|however|yet|and|so)\s|\s-\s", re.IGNORECASE)


_BRACKETS: Final = ("[", "([", "(", ":", ": [")


def may_object(text: str) -> bool:
    """Whether a text is worth reading sentence by sentence."""
    return _CUE.search(text) is not None or (_MEMORY.search(text) is not None and _BUT.search(text) is not None)


def verdict(plain: str) -> str:
    """`WRONG` or `STALE` when a sentence says so of something; "" when it asks, supposes or denies it."""
    cue = _cue(plain)
    return _sort(cue) if cue is not None else ""


def of_cited(plain: str, before: str, after: str) -> list[tuple[str, str]]:
    """(short id, verdict) of what a sentence says it of; ``before`` and ``after`` are the sentences beside it."""
    cue = _cue(plain)
    if cue is None:
        return []
    own = list(CITED.finditer(plain))
    said = _sort(cue)
    if own:
        return [(one[1].lower(), said) for one in own if _meant(plain, one, cue)]
    if not _BACK.match(plain):
        return []
    beside = list(CITED.finditer(before)) or list(CITED.finditer(after))
    return [(beside[0][1].lower(), said)] if len(beside) == 1 else []


def contrasts(plain: str) -> str:
    """The verdict of a sentence that tells what memory says and contradicts it; which item is for its words to say."""
    told = _MEMORY.search(plain)
    if told is None or asks(plain) or tentative(plain):
        return ""
    return verdict(plain) or (WRONG if _BUT.search(plain, told.end()) else "")


def of_last(plain: str) -> str:
    """The verdict when a user's sentence says no more than that what was just said is wrong or outdated."""
    return verdict(plain) if _BACK.match(plain) and len(plain.split()) <= 12 else ""


def _cue(plain: str) -> re.Match[str] | None:
    if asks(plain):
        return None
    for found in _CUE.finditer(plain):
        before = plain[: found.start()]
        clause = before[_clause(before) :]
        if not (_DENIED.search(before) or _SUPPOSED.search(clause) or tentative(clause)):
            return found
    return None


def _sort(cue: re.Match[str]) -> str:
    return STALE if cue["stale"] else WRONG


def _meant(plain: str, id: re.Match[str], cue: re.Match[str]) -> bool:
    """Whether the cue is said of the id: of "that" or "this", of a note, in brackets behind it, or in its clause."""
    if _LEANS.search(plain[: id.start()]):
        return False
    before = plain[: cue.start()]
    clause = before[_clause(before) :]
    if _BACK.search(clause + " ") or _MEMORY.search(clause):
        return True
    if id.start() > cue.start():
        return plain[cue.end() : id.start()].strip() in _BRACKETS
    return not _CLAUSE.search(plain[id.end() : cue.start()].lstrip("]) :"))


def _clause(before: str) -> int:
    """Where the clause begins that the text ends in."""
    return max((found.end() for found in _CLAUSE.finditer(before)), default=0)


def beside(plains: Sequence[str], at: int) -> tuple[str, str]:
    """The sentences before and after one; "" where there is none."""
    return plains[at - 1] if at else "", plains[at + 1] if at + 1 < len(plains) else ""
