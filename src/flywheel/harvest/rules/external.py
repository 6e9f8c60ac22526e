"""What web pages say: never more than an external claim with a low score."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from flywheel.harvest.rules.score import total
from flywheel.harvest.rules.topic import clause, key_of, links_of, subject_of, title_of
from flywheel.harvest.rules.values import Draft, Point, quote
from flywheel.harvest.rules.wording import shorten, stated
from flywheel.knowledge.parts import STATES
from flywheel.model import Category, ClaimType, Message, Role
from flywheel.text import stance
from flywheel.text.prose import HEADING, MAX_SENTENCE, QUOTE, sentences

_WEB: Final = re.compile(
    r"^(?:web_?fetch|web_?search|google_web_search|fetch|browser\w*|mcp__\w*(?:fetch|search|browser|web)\w*)$",
    re.IGNORECASE,
)
_STATES: Final = re.compile(
    r"\b(?:deprecated|removed\s+in|(?:since|as\s+of|starting\s+with|from)\s+version|requires?\s+(?:version|at\s+least|python|node|java|go)|no\s+longer\s+support\w*|breaking\s+change|rate\s+limit|maximum\s+of"
    r"|end[- ]of[- ]life|was\s+renamed|has\s+been\s+replaced|defaults?\s+to|must\s+be|is\s+limited\s+to)\b",
    re.IGNORECASE,
)
_MOST: Final = 5


def is_web(message: Message) -> bool:
    """Whether a tool's result is the text of a web page or a search."""
    return _WEB.match(message.tool) is not None


def claims(message: Message, rejected: Counter[str]) -> Iterator[Draft]:
    """The few sentences of a page that state a version, a limit or an end; at most five."""
    given = 0
    for sentence in sentences(message.text, lambda block: _STATES.search(block) is not None):
        found = _STATES.search(sentence.plain)
        if found is None or sentence.kind in (HEADING, QUOTE) or len(sentence.plain) > MAX_SENTENCE:
            continue
        refused = stance.refusal(sentence.plain, found.start(), found.end(), Role.TOOL, firm=False, choice=False)
        text = stated(message.text, sentence)
        links = links_of(text, text)
        if refused is not None or "[redacted:" in text or len(text.split()) < 5:
            rejected[str(refused or stance.Refusal.SHORT)] += 1
            continue
        signals = {"stated on a page": 0.3}
        if links:
            signals["specific"] = 0.1
        if re.search(r"\d", text):
            signals["dated or counted"] = 0.1
        yield Draft(
            type=ClaimType.EXTERNAL,
            category=Category.KNOWLEDGE,
            title=title_of(text),
            summary=shorten(text),
            subject=subject_of(clause(text)),
            tags=("web",),
            links=links,
            points=(
                Point(
                    attribute=STATES,
                    type=ClaimType.EXTERNAL,
                    text=text,
                    role=Role.TOOL,
                    said_at=message.created_at,
                    quotes=(quote(message, sentence.start, sentence.stop),),
                ),
            ),
            score=total(signals),
            signals=signals,
            key=key_of(Category.KNOWLEDGE, text),
        )
        given += 1
        if given == _MOST:
            return
