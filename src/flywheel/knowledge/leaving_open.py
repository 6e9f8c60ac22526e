"""What a text leaves open: questions that somebody marks as open, or says are still to be decided. Pure.

Only what is put so: "Open question: ...", "TBD", "we still have to decide whether ...", "... is not decided yet", and
the items below a heading such as *Open questions*. A mere question mark is none: most questions are answered in the
next breath.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from flywheel.knowledge import verbs
from flywheel.knowledge.grammar.asking import asked_for
from flywheel.knowledge.grammar.said import finite
from flywheel.knowledge.normal import singular
from flywheel.knowledge.statements import Statement
from flywheel.knowledge.wordlists import ATTRIBUTES, NOUNS
from flywheel.text.prose import plain

LONGEST: Final = 300
"""Characters of a sentence that is looked at."""

MAY: Final = re.compile(
    r"open\s+(?:question|point|decision)|unresolved|unanswered|undecided|\bTB[DC]\b|to\s+be\s+(?:decided|determined"
    r"|agreed|clarified)"
    r"|decide|decided|decision|agree|settle|figure\s+out|work\s+out|clarify|still\s+open|an\s+open|up\s+in\s+the\s+air",
    re.IGNORECASE,
)
"""What stands in every text that leaves something open; cheap, for passing over the others."""

_ITEM: Final = r"\s*(?:(?:[-+•*>]|\d{1,3}[.)])\s+|\[ \]\s+)*"
_WH: Final = (
    r"(?:whether|if|which|how|what|who|when|where|between"
    r"|on\s+(?:whether|which|how|what|who|when|where|the|a|an|our))"
)
_MARKED: Final = re.compile(
    rf"{_ITEM}(?:(?:one|another|two|an?|the|still|remaining|last|biggest|main|also|and|my|only)[,:]?\s+)*"
    r"(?:(?:open|unresolved|outstanding|unanswered)\s+(?:question|point"
    r"|decision)s?(?:\s+\d{1,2})?(?:\s+\([^)]{1,40}\))?"
    r"|still\s+(?:open|undecided|unresolved|to\s+decide)|(?:still\s+|yet\s+)?to\s+be\s+(?:decided|determined|agreed"
    r"|clarified)"
    r"|undecided|not\s+(?:yet\s+)?decided(?:\s+yet)?|(?-i:TB[DC]))\s*(?:[:—–]|\s-)\s*(?P<q>\S.*)",
    re.IGNORECASE,
)
_VALUE: Final = re.compile(
    rf"{_ITEM}(?P<q>\S.{{2,120}}?)\s*(?:[:=]\s*|\s(?:is|are|remains?|stays?)\s+)(?:(?:still|yet|currently"
    rf"|as\s+yet)\s+)?"
    r"(?:(?-i:TB[DC])|to\s+be\s+(?:decided|determined|agreed|clarified)|undecided|not\s+(?:yet\s+)?(?:decided"
    r"|settled|agreed)(?:\s+(?:on|yet))*"
    r"|an?\s+open\s+(?:question|point|decision)|unresolved|up\s+in\s+the\s+air)(?:\s+(?:yet|for\s+now"
    r"|at\s+the\s+moment|so\s+far))?"
    r"(?:\s*\([^)]*\)|\s*[,;—-]\s.*)?[\s.!]*",
    re.IGNORECASE,
)
_STILL: Final = re.compile(
    r"(?<![\w'])(?:we|the\s+team|somebody|someone|nobody|they)(?:'ve|\s+have|\s+has)?\s+(?:(?:still|yet|also|now"
    r"|really)\s+)*"
    r"(?:(?:have|has|need|needs|must|got|yet)\s+(?:to\s+)?(?:still\s+)?|haven't\s+(?:yet\s+|really\s+)?"
    r"|hasn't\s+(?:yet\s+)?|not\s+(?:yet\s+)?|didn't\s+)?"
    r"(?P<verb>decide[d]?|agree[d]?|settle[d]?|clarify|clarified|figured?\s+out|worked?\s+out|chosen?|choose"
    r"|pick(?:ed)?)"
    rf"(?:\s+(?:yet|together|internally|first|finally))?(?:\s+on)?\s+(?P<q>{_WH}\s+\S.*)",
    re.IGNORECASE,
)
_PENDING: Final = re.compile(
    r"\bstill\b|\byet\b|haven't|hasn't|have\s+not|has\s+not|not\s+yet|nobody",
    re.IGNORECASE,
)
_OPEN_IS: Final = re.compile(
    rf"(?<![\w'])it(?:'s|\s+is|\s+remains)\s+(?:(?:still|yet|as\s+yet)\s+)*(?:open|undecided|unresolved"
    rf"|not\s+(?:yet\s+)?(?:decided|settled|agreed)"
    rf"(?:\s+yet)?|to\s+be\s+(?:decided|agreed|clarified)|an\s+open\s+question"
    rf"|up\s+in\s+the\s+air)\s+(?P<q>{_WH}\s+\S.*)",
    re.IGNORECASE,
)
_IS_OPEN: Final = re.compile(
    rf"{_ITEM}(?:[A-Z][\w ]{{0,20}}:\s+)?(?P<q>(?:whether|which|how|who|when|where)\s+\S.{{5,160}}?)\s+(?:is"
    rf"|are|remains?|stays?)\s+"
    r"(?:(?:still|yet|as\s+yet|currently)\s+)?(?:open|undecided|unresolved|unclear|to\s+be\s+(?:decided|agreed"
    r"|determined|clarified)"
    r"|not\s+(?:yet\s+)?(?:decided|settled|agreed|clear)(?:\s+yet)?|an\s+open\s+(?:question|point)|up\s+in\s+the\s+air)"
    r"(?:\s*[,;—(-]\s*.*)?[\s.!]*",
    re.IGNORECASE,
)
_SUPPOSED: Final = re.compile(
    r"(?<![\w'-])(?:if|unless|once|until|till|before|after|when|whenever|in\s+case|no\s+longer|would|could|might"
    r"|may|'d|had|was|were"
    r"|of\s+course|don't|doesn't|never|so\s+that|instead\s+of|says?|said|example|e\.g\.?)(?![\w'-])",
    re.IGNORECASE,
)
_ANSWERED: Final = re.compile(
    r"~~|\[x\]|(?:→|->|=>|✅|✔)|(?<![\w-])(?<!be\s)(?<!not\s)(?<!yet\s)(?<!open\s)(?:resolved|answered|decided"
    r"|closed|done|agreed|answer|decision|a)\s*[:(]"
    r"|(?<![\w-])(?:none|nothing|n/a)(?![\w-])[\s.]*$|\((?:resolved|answered|closed|decided|done)\b",
    re.IGNORECASE,
)
_HEADING: Final = re.compile(
    r"(?:\d[\d.]*[.)]?\s+)?(?:(?:still|remaining|our|other)\s+)*(?:(?:open|unresolved|outstanding|unanswered"
    r"|undecided)\s+"
    r"(?:questions?|points?|decisions?)|questions?\s+(?:that\s+are\s+)?(?:still\s+)?open|to\s+be\s+(?:decided"
    r"|determined)|tbd|still\s+open|undecided)"
    r"(?:\s+(?:and|&)\s+\w+|\s*\(.*\)|\s+for\s+.*)?[\s:.]*",
    re.IGNORECASE,
)
_NOTHING: Final = re.compile(r"\W*(?:none|nothing|n/?a)\b\W", re.IGNORECASE)
_EMPTY: Final = re.compile(
    r"\W*(?:none|nothing|n/?a|no(?:ne)?\s+(?:open\s+)?questions?|tbd|todo)?\b[\s\w]{0,12}\W*", re.IGNORECASE
)


_BLANK: Final = re.compile(
    r"^[^\n:|]{2,60}:\**[ \t]*(?:TB[DC]|to\s+be\s+determined)[.*_ \t]*$", re.IGNORECASE | re.MULTILINE
)
_BLANKS: Final = 3
"""Keys without a value that make a form."""
_KEYED: Final = re.compile(r"[:=]\s*(?:TB[DC]|to\s+be|undecided|not\s)", re.IGNORECASE)
_COURSE: Final = re.compile(r"(?:the\s+)?(?:outcome|result|state|winner|verdict|match)s?$", re.IGNORECASE)
"""What is undecided until things have run their course, whoever decides."""
_LISTS: Final = re.compile(r"TB[DC]|questions|points|decisions")
"""Marks after which often no question stands but a list, or what is still to be written."""
_PRONOUN: Final = re.compile(r"^(?:this|it|these|those|and|but)\b|\b(?:that|which|what|only)\b", re.IGNORECASE)
_ASKS: Final = re.compile(
    r".*\?$|(?:\W*)(?:whether|which|how|what|who|when|where|why|should|do|does|is|are|can|could|will)\b"
    r"|.*[:,]\s+(?:whether|which|how|if)\b",
    re.IGNORECASE,
)
"""What puts a question, with or without its mark."""
_DOUBTED: Final = re.compile(
    r"\b(?:is|are|remains?)\s+(?:still\s+|yet\s+)?(?:unclear|unconfirmed|unknown|undecided|untested|open|not\s+(?:fully\s+|yet\s+)?(?:clear"
    r"|known|understood|decided))\b",
    re.IGNORECASE,
)
_ORDERS: Final = re.compile(
    r"\W*(?:confirm|verify|check|test|measure|add|write|fix|ask|find|track|see|resolve"
    r"|define|decide)\b|.*[{}<>]",
    re.IGNORECASE,
)
_REPLIES: Final = re.compile(
    r"\W*(?:no|none|yes|neither|both|answer|resolved|decided|decision|agreed|done|closed)\b(?:\s+of\s+\w+)?\s*[.,:;—-]",
    re.IGNORECASE,
)
"""How a sentence begins that answers the one before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What a sentence leaves open; ``asked`` is what an answer would state, where a rule understands it."""

    question: str  # its own words, without what marks it as open
    asked: Statement | None


def is_form(text: str) -> bool:
    """Whether a text is a form that nobody has filled in yet: several keys, each "TBD"."""
    return sum(1 for _, found in zip(range(_BLANKS), _BLANK.finditer(text), strict=False)) == _BLANKS


def is_blank(sentence: str) -> bool:
    """Whether a sentence is no more than a key and "TBD", as in a form."""
    return _BLANK.fullmatch(sentence.strip()) is not None


def opens_questions(heading: str) -> bool:
    """Whether what stands below a heading is open: "Open questions", "To be decided"."""
    return _HEADING.fullmatch(heading.replace("*", "").replace("`", "").strip()) is not None


def left_open(sentence: str, about: str = "") -> Left | None:
    """What a sentence leaves open; None for one that does not. ``about`` is what stands above it."""
    if len(sentence) > LONGEST or MAY.search(sentence) is None or "[redacted:" in sentence:
        return None
    text = plain(sentence)
    if _ANSWERED.search(text) is not None:
        return None
    found = _MARKED.fullmatch(text.strip()) or _said(text) or _IS_OPEN.fullmatch(text.strip())
    found = found or _VALUE.fullmatch(text.strip())
    if found is None:
        return None
    left = _left(found["q"], about)
    if left is None or found.re not in (_VALUE, _MARKED):
        return left
    if found.re is _MARKED:
        lists = _LISTS.search(text[: text.index(found["q"])]) is not None
        return None if lists and not _ASKS.match(left.question) and not _names_value(left, keyed=True) else left
    return left if _names_value(left, keyed=_KEYED.search(text) is not None) else None


def _names_value(left: Left, *, keyed: bool) -> bool:
    """Whether "X: TBD" names an attribute that things have, or "X is still TBD" a thing: "Passed: TBD" is a form."""
    if left.asked is not None and not _PRONOUN.search(left.question):
        last = singular(left.asked.attribute.rpartition(" ")[2])
        subject = singular(left.asked.subject.rpartition(" ")[2]) if left.asked.attribute == "value" else ""
        known = left.asked.attribute in ATTRIBUTES.values() or left.asked.attribute == "use"
        if known or last in NOUNS or subject in NOUNS:
            return True
    if verbs.BEING.search(left.question) is not None:
        return False
    bare = left.question.rpartition(":")[2].strip(" *_")
    return (
        not keyed and len(bare.split()) >= 3 and _COURSE.match(bare) is None and _PRONOUN.search(left.question) is None
    )


def _said(text: str) -> re.Match[str] | None:
    """ "We still have to decide whether ...", "it is open whether ...": said so, not supposed, told or quoted."""
    for pattern in (_STILL, _OPEN_IS):
        found = pattern.search(text)
        if found is None:
            continue
        before = text[: found.start()]
        if before.count('"') % 2 or _SUPPOSED.search(before) is not None:
            return None
        told = text[found.start() : found.start("q")]
        if pattern is _STILL and (_PENDING.search(told) is None or _SUPPOSED.search(told) is not None):
            continue
        return found
    return None


def is_answered(item: str) -> bool:
    """Whether an item says of itself that it is settled: struck through, ticked, "→ 30 days", "(resolved)"."""
    return _ANSWERED.search(plain(item)) is not None or "~~" in item or re.search(r"\[[xX]\]", item) is not None


def item_left_open(item: str, about: str = "") -> Left | None:
    """What an item below a heading of open questions asks; None for one that says that it is answered, or nothing."""
    text = re.sub(rf"^{_ITEM}", "", plain(item)).strip()
    if len(text) > LONGEST or "[redacted:" in text or is_answered(item) or _EMPTY.fullmatch(text) or text.endswith(":"):
        return None
    found = left_open(item, about)
    if found is not None or _ASKS.match(text) is not None:
        return found or _left(text, about)
    states = finite(text, 0) or verbs.BEING.search(text) is not None or text.endswith(".")
    if _ORDERS.match(text) is not None or (states and _DOUBTED.search(text) is None):
        return None
    return _left(text, about)


def is_reply(sentence: str) -> bool:
    """Whether a sentence answers the question before it: "No.", "Decided: ..."."""
    return _REPLIES.match(plain(sentence)) is not None


def _left(words: str, about: str) -> Left | None:
    """With what it asks for; what has fewer than three words says too little, unless it names an attribute."""
    question = words.strip(" \"'`*.")
    if not any(c.isalpha() for c in question) or _NOTHING.match(question) is not None:
        return None
    asked = asked_for(question, about)
    if asked is None and len(question.split()) < 3:
        return None
    return Left(question=question, asked=asked)
