"""Which pages a text names, what is spoken of without a page, and what would answer a question. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from flywheel.knowledge.linting.values import Found, Mentioned, Named, Rules, Unanswered
from flywheel.text.words import STOP_WORDS

LONGEST: Final = 5
"""Words of a name that is looked for in texts; a longer title is a sentence."""

SHORTEST: Final = 4
"""Letters of a name that is one word."""

_WORD: Final = re.compile(r"\w+")
_SOURCES: Final = (
    (re.compile(r"\bwhy\b|\bdecid|\bchose\b|\breason\b"), "a decision record (ADR) that says why"),
    (
        re.compile(
            r"\b(?:deploy|release|restore|roll ?back|restart|rotate|migrate|set ?up|install|run)\b|\bhow (?:do|to)\b"
        ),
        "a runbook with the steps",
    ),
    (re.compile(r"\b(?:fail|error|crash|outage|broke|incident|bug|slow)\w*"), "an incident report with cause and fix"),
    (re.compile(r"^who\b|\bowns?\b|\bowner\b|\bmaintain|\bresponsible\b"), "a README or a note that names who it is"),
    (
        re.compile(
            r"\bhow (?:long|many|much|often|big|large)\b|\blimit|\bretention\b|\btimeout\b|\bwhich\b|\bdefault\b"
        ),
        "the design document or configuration that sets the value",
    ),
    (re.compile(r"^when\b|\bdate\b|\bdeadline\b|\bschedule"), "the minutes or the plan that give the date"),
)
_ANY: Final = "a document that says it"


def normal(text: str) -> str:
    """A name as it is compared: lower-case words."""
    return " ".join(_WORD.findall(text.lower()))


class Names:
    """The names of pages. A name that several pages bear leads to none."""

    def __init__(self) -> None:
        self._pages: dict[str, Named | None] = {}
        self._firsts: set[str] = set()

    def add(self, name: str, page: Named, *, subject: bool) -> None:
        """Know a page by a name; ``subject``: the page is about what bears this name, which may be one word then."""
        plain = normal(name)
        words = plain.split()
        least = 1 if subject else 2
        if not least <= len(words) <= LONGEST or STOP_WORDS.issuperset(words):
            return
        if len(words) == 1 and len(plain) < SHORTEST:
            return
        known = self._pages.get(plain, page)
        self._pages[plain] = page if known is not None and known.id == page.id else None
        self._firsts.add(words[0])

    def known(self, name: str) -> bool:
        """Whether any page bears this name."""
        return normal(name) in self._pages

    def find(self, texts: Sequence[str]) -> list[Named]:
        """The pages that the texts name, each once, in the order of their paths; the longest name counts."""
        found: dict[str, Named] = {}
        for text in texts:
            words = _WORD.findall(text.lower())
            at = 0
            while at < len(words):
                at += self._at(words, at, found) or 1
        return sorted(found.values(), key=lambda one: one.path)

    def _at(self, words: Sequence[str], at: int, found: dict[str, Named]) -> int:
        """Words of the longest name that begins here; 0 when none does."""
        if words[at] not in self._firsts:
            return 0
        for size in range(min(LONGEST, len(words) - at), 0, -1):
            name = " ".join(words[at : at + size])
            if name in self._pages:
                page = self._pages[name]
                if page is not None:
                    found[page.id] = page
                return size
        return 0


def without_page(one: Mentioned, rules: Rules) -> Iterator[Found]:
    """A subject that many entries speak of and no page is about."""
    if one.entries >= rules.limits.subject_mentions:
        message = f"{one.entries} entries speak of “{one.name}”, and no page is about it"
        remedy = f'add what is known of it: flywheel note "{one.name} is ...", or a document about it'
        yield Found(kind="subject", id=one.name, place=one.name, message=message, remedy=remedy)


def unanswered(one: Unanswered, rules: Rules) -> Iterator[Found]:
    """A question that came back empty too often, with the source that would help."""
    if one.empty >= rules.limits.empty_answers:
        message = f"“{one.text}” was asked {one.empty} times and never answered"
        remedy = f"add {helping(one.text)}: flywheel add FILE"
        yield Found(kind="question", id=one.id, place="questions", message=message, remedy=remedy)


def helping(question: str) -> str:
    """The sort of source that would answer a question, by its words."""
    plain = question.lower()
    return next((source for pattern, source in _SOURCES if pattern.search(plain)), _ANY)
