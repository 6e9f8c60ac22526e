"""Whether a person's words in a session confirm what the session was shown: they state it, or say yes to it. Pure.

Strict on purpose. A "yes" counts only as the answer to a question about this one thing, words of doubt or limits do not
count, and what a quote leaves out of its sentence is looked at all the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from flywheel.harvest.rules.topic import negative, stems
from flywheel.text import stance
from flywheel.text.words import terms

STATED: Final = 0.6
"""The part of a statement's content words that a person's words must have to state it."""

WINDOW: Final = 600
"""Characters before a question mark among which what is asked about is looked for."""

_YES: Final = re.compile(
    r"""[\s"'>*(-]*(?:(?:ok(?:ay)?|well|oh|ah|hm+|sure)[,.!]?\s+)*
    (?:yes|yep|yup|yeah|ye|aye|correct|right|exactly|indeed|true|confirm(?:ed)?|agreed?|absolutely|definitely|precisely
    |that(?:'s|\s+is)\s+(?:right|correct|true|how\s+it\s+is)|it\s+is|you(?:'re|\s+are)\s+right|please\s+(?:do\s+)?confirm
    |(?:you\s+can|go\s+ahead\s+and|please)\s+confirm|i\s+confirm|sounds\s+right|ja|genau|stimmt|oui|s[iíì]|sim|да|はい|是的?|对)
    (?![\w'-])""",
    re.VERBOSE | re.IGNORECASE,
)
_DOUBT: Final = re.compile(
    r"\b(?:but|except|unless|until|wait|however|although|though|hold\s+on|not|n't|never|no|nope|wrong|incorrect|only\s+(?:if"
    r"|when|for)|mostly|partly|almost|probably|i\s+think|i\s+guess|maybe|perhaps|depends|instead|aber|nein|nicht|mais|non)\b"
    r"|n't\b",
    re.IGNORECASE,
)
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_ID: Final = re.compile(r"fw:([0-9a-z-]{4,40})", re.IGNORECASE)
_ASKING: Final = frozenset(
    """
    right correct confirm confirmed true ok okay agree agreed accurate still hold holds shall valid case remember keep
    save entry say says mean one exact exactly current today sure
    """.split()  # noqa: SIM905 - a list of words is read as words
)
"""Content words of a question that only asks whether what stands before it is so."""
_ASKED: Final = re.compile(r"[?？]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A person's message, where the quote stands in it, and what the assistant had said before it."""

    text: str
    start: int
    stop: int
    reply: str


def missing(heard: Heard, statement: str, short: str) -> str:
    """What is missing for the quote to confirm the statement (of the entry ``short``); "" when it does."""
    sentence = _around(heard.text, heard.start, heard.stop)
    if _states(sentence, heard.text[heard.start : heard.stop], statement):
        return ""
    if not _YES.match(sentence):
        return "the quoted words neither state it nor say yes to it"
    if _DOUBT.search(_after_yes(sentence)) or stance.asks(sentence) or stance.tentative(sentence):
        return "the user's sentence holds a doubt or a limit; ask again, about exactly this"
    if not _asked_about(heard.reply, statement, short):
        return (
            f"a yes counts only as the answer to a question about this one thing: ask the user, naming [fw:{short}] and"
            " what it says, and quote the answer"
        )
    return ""


def _around(text: str, start: int, stop: int) -> str:
    """The whole sentences that hold the span."""
    begin = max((found.end() for found in _SENTENCE.finditer(text, 0, start) if found.end() <= start), default=0)
    after = _SENTENCE.search(text, max(start, stop - 1))
    return text[begin : after.start() if after else len(text)].strip()


def _states(sentence: str, quote: str, statement: str) -> bool:
    """Whether the quote itself says the statement, and its sentence neither asks, doubts nor turns it round."""
    wanted, said = set(stems(statement)), set(stems(quote))
    if len(wanted) < 2 or len(wanted & said) < STATED * len(wanted):
        return False
    if negative(sentence) is not negative(statement):
        return False
    return not (stance.asks(sentence) or stance.tentative(sentence))


def _after_yes(sentence: str) -> str:
    found = _YES.match(sentence)
    return sentence[found.end() :] if found else sentence


def _asked_about(reply: str, statement: str, short: str) -> bool:
    """Whether the last question of the assistant's message is about this one thing, and about no other."""
    marks = list(_ASKED.finditer(reply))
    if not marks:
        return False
    stop = marks[-1].start()
    start = max(marks[-2].end() if len(marks) > 1 else 0, stop - WINDOW)
    window = reply[start:stop]
    question = _SENTENCE.split(window)[-1]
    wanted = set(stems(statement))
    if _names(question, wanted, short):
        return True
    only_asks = not _ID.search(question) and set(terms(question)) <= _ASKING
    return only_asks and _names(window, wanted, short)


def _names(text: str, wanted: set[str], short: str) -> bool:
    """Whether a text names the entry and no other, or says what it states."""
    named = {found.lower() for found in _ID.findall(text)}
    if named:
        return named == {short.lower()}
    return len(wanted) > 1 and len(wanted & set(stems(text))) >= STATED * len(wanted)


def shows(reply: str, short: str) -> bool:
    """Whether the assistant's message names the entry."""
    return short.lower() in {found.lower() for found in _ID.findall(reply)}
