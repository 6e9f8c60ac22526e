"""What a session leaves open: questions that somebody marks as open, and the user's that the assistant cannot answer.

Whether a later statement answers one is computed where it is filed; here only what the same session settles in so many
words is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from flywheel.harvest.rules.topic import links_of, stems, title_of
from flywheel.harvest.rules.values import Draft, Link, Point, Quote, quote
from flywheel.harvest.rules.wording import shorten, stated
from flywheel.knowledge.compiling import as_question
from flywheel.knowledge.grammar.asking import asked_for
from flywheel.knowledge.keys import page_key
from flywheel.knowledge.leaving_open import MAY, Left, left_open
from flywheel.knowledge.parts import QUESTION
from flywheel.model import Category, ClaimType, Message, Role, evidence_id
from flywheel.text.compose import reworded
from flywheel.text.prose import HEADING, QUOTE, TODO, Sentence, sentences

TAG: Final = "open question"

MOST: Final = 12
"""Open questions of one session."""

PASTED: Final = 4000
"""Characters of a message past which nobody marks what is open in it: it was pasted."""

_SCORE: Final = 0.6
_HEARD: Final = 3
"""Sentences of a reply in which it says that it does not know."""

_OURS: Final = re.compile(
    r"open\s+(?:question|point|decision)|(?<![\w'])(?:we|nobody|the\s+team)(?![\w'])|\bTB[DC]\b|undecided|not\s+(?:yet\s+)?decided",
    re.IGNORECASE,
)
"""What an assistant's sentence has that speaks of the project, and gives no advice."""

_UNKNOWN: Final = re.compile(
    r"(?<![\w'])(?:i\s+(?:don't|do\s+not)\s+know|i\s+(?:couldn't|could\s+not|can't|cannot|didn't|did\s+not)\s+(?:find|tell|determine|see)"
    r"|(?:there(?:'s|\s+is)|i\s+(?:see|found|find))\s+(?:no|nothing|not)(?![\w'])|nothing\s+in\s+the\s+(?:repo|repository|code|codebase|docs)\s+(?:says|tells)"
    r"|(?:isn't|is\s+not|aren't|are\s+not)\s+(?:documented|specified|recorded|written\s+down|stated|defined)"
    r"|(?:hasn't|has\s+not|haven't|have\s+not)\s+been\s+(?:decided|specified|settled))",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Asking:
    """Gathers the open questions of a session's messages, which are heard in order."""

    found: list[tuple[int, Draft, frozenset[str]]] = field(default_factory=list)  # with the place and the words
    asked: tuple[Message, Sentence, Left] | None = None  # the user's last question that a rule understands
    last_prompt: int = -1

    def prompted(self, message: Message, at: int) -> None:
        """What the user leaves open, and what they ask."""
        self.last_prompt, self.asked = at, None
        if len(message.text) > PASTED:
            return
        for one in _spoken(message):
            left = left_open(one.plain)
            if left is not None:
                self._add(message, one, left, at)
            elif one.plain.rstrip("\"'*) ").endswith("?") and (about := asked_for(one.plain)) is not None:
                self.asked = message, one, Left(question=one.plain, asked=about)

    def replied(self, message: Message, at: int) -> None:
        """What the assistant leaves open; and whether it knows no answer to what was asked."""
        text = message.text
        if self.asked is not None and not message.text.lstrip().startswith("```"):
            head = [one.plain for _, one in zip(range(_HEARD), _spoken(message), strict=False)]
            if any(_UNKNOWN.search(one) for one in head):
                self._add(*self.asked, at)
            self.asked = None
        if MAY.search(text) is None:
            return
        for one in _spoken(message):
            left = left_open(one.plain) if _OURS.search(one.plain) else None
            if left is not None:
                self._add(message, one, left, at)

    def _add(self, message: Message, sentence: Sentence, left: Left, at: int) -> None:
        if len(self.found) < MOST:
            words = frozenset(stems(left.question))
            self.found.append((at, _draft(message, sentence, left), words))

    def finish(self, decisions: Sequence[tuple[int, Draft]]) -> Iterator[Draft]:
        """What is open at the session's end.

        What an assistant marks as open counts only if nobody spoke after it; what is decided later, in words that share
        enough with the question, does not.
        """
        seen: set[str] = set()
        for at, draft, words in self.found:
            if draft.role is Role.ASSISTANT and self.last_prompt > at:
                continue
            settled = any(when > at and _settles(one, words) for when, one in decisions)
            if settled or draft.key + draft.statement in seen:
                continue
            seen.add(draft.key + draft.statement)
            yield draft


def asked_of(draft: Draft, questions: list[Draft]) -> Draft:
    """A draft whose own words leave something open, with that question, which then needs no page of its own."""
    mine = next((one for one in questions if not one.value and one.statement == draft.statement), None)
    if mine is None:
        return draft
    questions.remove(mine)
    return replace(draft, points=(*draft.points, *mine.points))


def _settles(decision: Draft, words: frozenset[str]) -> bool:
    """Whether a decision is about what a question asks: its choice is named there, or half of its words are."""
    if decision.type is not ClaimType.DECISION or decision.withdrawn is not None:
        return False
    chosen, told = set(stems(decision.value)), set(stems(decision.statement))
    return (bool(chosen) and chosen <= words) or 2 * len(told & words) >= max(len(words), 2)


def _spoken(message: Message) -> Iterator[Sentence]:
    return (one for one in sentences(message.text) if one.kind not in (HEADING, QUOTE, TODO))


def _draft(message: Message, sentence: Sentence, left: Left) -> Draft:
    """The question as a draft; on the page of what it is about, else on one of its own."""
    words: Quote = quote(message, sentence.start, sentence.stop)
    text, asked = stated(message.text, sentence), left.asked
    subject = reworded(asked.subject, text) if asked is not None else reworded(" ".join(stems(left.question)[:3]), text)
    point = Point(
        attribute=QUESTION,
        type=ClaimType.HYPOTHESIS,
        text=text,
        role=message.role,
        said_at=message.created_at,
        quotes=(words,),
        value=reworded(asked.attribute if asked is not None else "", text),
    )
    title = (
        reworded(asked.subject[:1].upper() + asked.subject[1:], text)
        if asked is not None
        else title_of(reworded(left.question, text))
    )
    return Draft(
        type=ClaimType.FACT if asked is not None else ClaimType.HYPOTHESIS,
        category=Category.KNOWLEDGE,
        title=title,
        summary=shorten(as_question(text)),
        subject=subject,
        tags=(TAG,),
        links=[Link(kind="subject", name=subject)] if asked is not None else links_of(text, text),
        points=(point,),
        score=_SCORE,
        signals={TAG: _SCORE},
        key=page_key(asked.subject) if asked is not None else evidence_id("asked", *sorted(set(stems(left.question)))),
        scope=reworded(asked.scope if asked is not None else "", text),
    )
