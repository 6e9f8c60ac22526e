"""What a statement says must be there, or be done, first: the rules behind ``prerequisite`` edges. Pure; no model.

"X needs (requires, depends on, relies on, cannot run without) Y", "Y is required for X" (also "is a prerequisite of"),
"before X, do Y", "always do Y before X", "never X before (without) Y", "X only after Y", "first Y, then X". What asks,
supposes, denies or sets a condition says nothing, and "we need to ..." is a wish.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from flywheel.text import stance
from flywheel.text.prose import plain, sentences

LONGEST: Final = 400
"""Characters of a sentence that is looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """``who`` needs ``what`` before it, in the words of the sentence.

    ``order``: the statement says what is done first, so that it is itself what must be known before ``who``; else it
    tells of ``who``.
    """

    who: str
    what: str
    order: bool = False


_ADVERBS: Final = r"(?:(?:also|now|still|always|already|heavily|strictly|strongly|directly|only|currently|all)\s+)*"
_NEEDS: Final = re.compile(
    rf"^(?P<who>[^,;:]{{2,80}}?)\s+{_ADVERBS}"
    r"(?:needs?|requires?|depends?\s+(?:up)?on|relies\s+(?:up)?on|rely\s+(?:up)?on|is\s+built\s+on\s+top\s+of"
    r"|(?:can(?:not|'t)|does\s+not|doesn't|will\s+not|won't)\s+(?:run|work|start|build|boot|function|exist)\s+without)\s+"
    r"(?P<what>(?!to\s|that\s|more\s|some\s+time)[^,;:.!?]{2,120})",
    re.IGNORECASE,
)
_NEEDED: Final = re.compile(
    r"^(?P<what>[^,;:]{2,80}?)\s+(?:is|are)\s+(?:always\s+|all\s+)?"
    r"(?:(?:required|needed|necessary)\s+(?:by|for|before)|(?:a\s+|the\s+)?prerequisites?\s+(?:of|for|to))\s+"
    r"(?P<who>[^,;:.!?]{2,120})",
    re.IGNORECASE,
)
_DUTY: Final = (
    r"(?:always|must|should|has\s+to|have\s+to|needs?\s+to|make\s+sure|please|remember\s+to"
    r"|(?:run|do|build|apply|start|stop|create|make|update|check|set|install|migrate|back|write|read|tag|bump|ask|test"
    r"|deploy|generate|seed|export|import|rotate|drain|pause|freeze|merge|rebase|lint|format|warm|flush|copy|sync"
    r"|enable|disable|register|configure|provision|verify|validate|review|announce|tell|get|take))"
)
_BEFORE: Final = re.compile(
    rf"^before\s+(?:you\s+|we\s+)?(?P<who>[^,;:]{{2,80}}?),\s*(?:you\s+|we\s+)?(?P<what>{_DUTY}\b[^;:.!?]{{2,120}})",
    re.IGNORECASE,
)
_DO: Final = re.compile(
    rf"^(?P<what>(?:[^,;:]{{2,60}}?\s+)?{_DUTY}\b[^,;:]{{1,100}}?),?\s+before\s+(?:you\s+|we\s+)?(?P<who>[^,;:.!?]{{2,120}})",
    re.IGNORECASE,
)
_NEVER: Final = re.compile(
    r"^(?:(?:we|you)\s+)?(?:never|do\s+not|don't|must\s+not|must\s+never)\s+(?P<who>[^,;:]{2,80}?)\s+(?:before|without|until)\s+"
    r"(?P<what>[^,;:.!?]{2,120})",
    re.IGNORECASE,
)
_ONLY_AFTER: Final = re.compile(
    r"^(?P<who>[^,;:]{2,80}?)\s+(?:(?:comes?|runs?|happens?|starts?|goes)\s+)?only\s+(?:after|once)\s+(?P<what>[^,;:.!?]{2,120})",
    re.IGNORECASE,
)
_FIRST: Final = re.compile(
    r"^first,?\s+(?P<what>[^,;:]{2,80}?),?\s+(?:and\s+)?then\s+(?P<who>[^,;:.!?]{2,120})", re.IGNORECASE
)
_RULES: Final = (
    (_NEVER, True), (_BEFORE, True), (_FIRST, True), (_ONLY_AFTER, True), (_NEEDED, False), (_NEEDS, False), (_DO, True)
)  # fmt: skip
_DENIED: Final = re.compile(
    r"(?:\bno\s+longer|\bnot|n't|\bnever|\bnobody|\bnothing|\bno\s+one)\s+(?:\w+\s+){0,2}$", re.IGNORECASE
)
_CONDITION: Final = re.compile(r"^\s*(?:if|unless|whether|when(?:ever)?|suppose|should\s+(?:you|we))\b", re.IGNORECASE)
_LEAD: Final = re.compile(
    r"^(?:(?:[-+•·>]|\d{1,3}[.)])\s+|(?:note|rule|remember|also|and|so|but)[:,]?\s+(?:that\s+)?)+", re.IGNORECASE
)
_ARTICLE: Final = re.compile(r"^(?:the|a|an|our|your|its|that|this|every|each|all|any)\s+", re.IGNORECASE)


def needs(text: str) -> list[Need]:
    """What a text says to be needed, one for each sentence that says so. Never raises."""
    return [need for one in sentences(text) for need in _needs(plain(text[one.start : one.stop]))]


def _needs(sentence: str) -> Iterator[Need]:
    said = _LEAD.sub("", sentence.strip())
    if len(said) > LONGEST or _CONDITION.match(said) or stance.asks(said) or stance.tentative(said):
        return
    for rule, order in _RULES:
        found = rule.match(said)
        if found is None or _DENIED.search(found["who"] if rule is _NEEDS else ""):
            continue
        if rule is _NEEDS and _DENIED.search(said[: found.start("what")].rsplit(" ", 2)[0] + " "):
            continue
        who, what = _bare(found["who"]), _bare(found["what"])
        if who and what:
            yield Need(who=who, what=what, order=order)
            return


def _bare(words: str) -> str:
    return _ARTICLE.sub("", words.strip(" .,;:!?"))
