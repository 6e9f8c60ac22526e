"""How a sentence means what it says: asked, supposed, denied, quoted, planned, or stated."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from flywheel.model import Role


class Refusal(StrEnum):
    """Why a statement is not kept; each is a counter."""

    QUESTION = "question"
    HYPOTHETICAL = "hypothetical"
    NEGATED = "negated"
    QUOTED = "quoted"
    REPORTED = "reported"
    PLAN = "plan"
    SHORT = "too short"
    LONG = "too long"
    UNFINISHED = "unfinished"
    REDACTED = "redacted"
    BELOW = "below floor"
    CITATION = "citation does not match"


_ASKS: Final = re.compile(
    r"""[\s"'(\[`-]*(?:(?:so|and|but|or|ok(?:ay)?|hmm+|also|then|well|hey|wait),?\s+)*(?:
      (?:what|why|how|when|where|who|which|whose)(?:'s|\s+(?:is|are|was|were|do|does|did|can|could|should|shall|would|will|
          about|if|to|else|kind|one|way|come|many|much|long|far|often|the|a|we|i|you|happens?|happened|makes?|caused?)\b)
    | (?:should|shall|could|can|would|will|do|does|did|is|are|was|were|have|has|had|am|may|might|must|isn't|aren't|don't
        |doesn't|didn't|can't|couldn't|won't|wouldn't|shouldn't|haven't|hasn't)
      \s+(?:we|i|you|it|this|that|these|those|there|they|he|she|anyone|someone|anybody|our|my|your)\b
    | (?:any\s+(?:idea|thoughts|chance)|wonder(?:ing)?\s+(?:if|whether|why|how)|i\s+wonder
        |(?:do|did|is|are|was|were|does)\s+the\b)
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_QUESTION_END: Final = re.compile(r"\?[\s\"')\]!?*`]*$")

_SUPPOSED: Final = (
    r"could|might|maybe|perhaps|possibly|probably\s+should|what\s+if|should\s+we|would\s+(?:it|we|you|be)|we\s+would"
    r"|i\s+would"
    r"|we'd|suppose|imagine|hypothetically|in\s+theory|consider(?:ing)?|think(?:ing)?\s+(?:of|about)"
    r"|lean(?:ing)?\s+(?:to|towards?)"
    r"|(?:one|another|an|the\s+other)\s+(?:option|alternative|approach|idea|possibility|way)\s+(?:is|would)"
    r"|alternatively|either|whether"
    r"|not\s+(?:yet\s+)?sure|unsure|wonder(?:ing)?|propos(?:e|ed|es|ing|al)|suggest(?:s|ed|ing|ion)?|recommend(?:s"
    r"|ed|ing|ation)?"
    r"|potentially|it\s+depends|let's\s+say|say\s+we|for\s+instance|unless|would\s+have|could\s+have|should\s+have"
    r"|once\s+we've"
    r"|tempted|toying|options?\s+(?:here\s+)?(?:are|include)|may\s+(?:want|need|be)|if\s+(?:possible|needed"
    r"|you\s+(?:want|like|prefer))"
)
_HYPOTHETICAL: Final = re.compile(
    rf"\b(?:{_SUPPOSED}|if\s+(?:we|i|you|they|it|he|she|the|that|this|our|someone|everyone))\b", re.IGNORECASE
)
_TENTATIVE: Final = re.compile(
    r"\b(?:maybe|perhaps|might|possibly|what\s+if|should\s+we|not\s+sure|unsure|wonder(?:ing)?|could\s+be|may\s+be"
    r"|hypothetically|(?:it\s+)?would\s+be\s+(?:nice|better|good|great|useful|worth|cool|helpful)|consider(?:ing)?|in\s+theory|would\s+it|suppose|imagine|i\s+guess|not\s+certain|don't\s+(?:know|remember))\b",
    re.IGNORECASE,
)
_UNDECIDED: Final = re.compile(
    r"\b(?:not|never|haven't|hasn't|hadn't|no|nobody|neither|nothing|didn't|don't|doesn't|isn't|aren't|wasn't"
    r"|weren't|without|can't|cannot"
    r"|couldn't|wouldn't|yet\s+to|before\s+we|until\s+we|still\s+(?:have|need)\s+to|need(?:s)?\s+to|have\s+to"
    r"|has\s+to|must|should|to\s+be|going\s+to"
    r"|want\s+to|trying\s+to|able\s+to|help\s+(?:me|us)|unless)(?:\s+(?:been|yet|really|actually|ever|a|an|any|the"
    r"|final|we|i|you|they|to|formally"
    r"|officially|quite|fully))*\s+(?:decid|agree|chos|choose|pick|settl|decision|opt|prefer|conclu|commit)",
    re.IGNORECASE,
)
_DOUBTED: Final = re.compile(
    r"\b(?:don't|do\s+not|doesn't|didn't|not)\s+(?:think|believe|remember|recall|sure)\b|\bdoubt\b|\bnot\s+true\b",
    re.IGNORECASE,
)
_REPORTED: Final = re.compile(
    r"\b(?:readme|docs?|documentation|article|blog(?:\s+post)?|post|book|paper|tutorial|comment|ticket|issue|spec"
    r"|e-?mail|changelog|message"
    r"|page|website|video|guide|manual|thread|answer|stack\s?overflow|error|log|output|linter|compiler|warning"
    r"|prompt|template|example)s?"
    r"\s+(?:also\s+|just\s+)?(?:says?|said|states?|stated|claims?|suggests?|recommends?|mentions?|reads|tells?|told"
    r"|shows?|reports?|complains?)\b"
    r"|\baccording\s+to\b|\b(?:people|some|someone|somebody|others)\s+(?:say|said|claim|think|prefer|argue)\b"
    r"|\bthe\s+(?:string|text|phrase|word)s?\b",
    re.IGNORECASE,
)
_SOURCED: Final = re.compile(
    r"\b(?:according\s+to|per)\s+(?:the\s+)?(?:\w+\s+){0,3}(?:docs?|documentation|article|changelog|release\s+notes"
    r"|spec|manual|page|site|website|rfc"
    r"|blog|guide|readme)\b|\b(?:docs|documentation|changelog|release\s+notes|article|web\s?site)\s+(?:say|says"
    r"|state|states|mention|mentions|recommend)\b"
    r"|https?://",
    re.IGNORECASE,
)
_PLANS: Final = re.compile(
    r"""[\s"'(]*(?:(?:ok(?:ay)?|alright|great|perfect|sure|good|now|next|first|then|so|got\s+it|understood|done|excellent|yes|right)[,.!:—-]*\s+)*
    (?:i'll|i\s+will|let\s+me|i'm\s+(?:going|about)\s+to|i\s+am\s+going\s+to|i\s+need\s+to|i\s+should|i\s+want\s+to|i\s+plan\s+to|i'd\s+like\s+to|i\s+can
      |we'll|we\s+will|let's|next\s+(?:step|up)|now\s+(?:i|let|to|we|for)|my\s+plan|the\s+plan\s+is|plan:|time\s+to|going\s+to|i'm\s+\w+ing\b)""",
    re.VERBOSE | re.IGNORECASE,
)
_CLAUSE: Final = re.compile(r"[;:—]|,\s+(?:but|so|and\s+so|then)\b|\s-\s|\.\s")


_UNFINISHED: Final = re.compile(
    r"\b(?:as|the|an?|to|with|of|is|are|was|like|following|has|have|had|for|and|or|in|on|that|by|from|this|these|says?|follows)"
    r"[\s:,`\"'-]*$",
    re.IGNORECASE,
)


def unfinished(plain: str) -> bool:
    """Whether it breaks off, as before a block of code."""
    return _UNFINISHED.search(plain) is not None


def asks(plain: str) -> bool:
    """Whether the sentence is a question, with or without its mark."""
    return _QUESTION_END.search(plain) is not None or _ASKS.match(plain) is not None


def plans(plain: str) -> bool:
    """Whether it announces what the speaker does next: an assistant's plan is not knowledge."""
    return _PLANS.match(plain) is not None


def sourced(plain: str) -> bool:
    """Whether it passes on what a document or a page says."""
    return _SOURCED.search(plain) is not None


def tentative(plain: str) -> bool:
    """Whether doubt is spoken anywhere in it."""
    return _TENTATIVE.search(plain) is not None


def refusal(plain: str, start: int, stop: int, role: Role, *, firm: bool, choice: bool) -> Refusal | None:
    """Why the cue at ``[start:stop]`` does not state what it seems to; None when it does.

    ``firm`` is for what only holds when it is settled (decisions); rules and facts may be conditional, but not
    doubtful. ``choice`` is for cues of deciding, which "not yet" turns around.
    """
    if asks(plain):
        return Refusal.QUESTION
    before = plain[:start]
    if before.count('"') % 2 or before.count("`") % 2:
        return Refusal.QUOTED
    if _REPORTED.search(before[_clause(before) :]) or (firm and _REPORTED.search(before)):
        return Refusal.REPORTED
    if role is Role.ASSISTANT and plans(plain):
        return Refusal.PLAN
    if choice and _UNDECIDED.search(plain[max(_clause(before) - 1, 0) : stop + 12]):
        return Refusal.NEGATED
    if firm and _DOUBTED.search(before, _clause(before)):
        return Refusal.NEGATED
    doubt = _HYPOTHETICAL if firm else _TENTATIVE
    if doubt.search(plain, _clause(before), stop) or (firm and _TENTATIVE.match(plain, stop)):
        return Refusal.HYPOTHETICAL
    return None


def _clause(before: str) -> int:
    """Where the clause begins that the text ends in."""
    start = 0
    for mark in _CLAUSE.finditer(before):
        start = mark.end()
    return start
