"""What the rules give: drafts of knowledge, each with verbatim spans, and a count of what they refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from flywheel.knowledge.parts import REPLACES
from flywheel.model import Category, ClaimType, Clean, DocumentId, Message, MessageId, Micros, Role
from flywheel.text.compose import span

FLOOR: Final = 0.5
"""The default of ``extract.floor``: drafts that score less are counted and forgotten."""

CONVERSATION: Final = 1
"""The rank of what was said in a conversation."""

_NO_MESSAGE: Final = MessageId("")


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A verbatim span: ``quote == text[start:stop]`` of a message, or of a document where one is named."""

    message_id: MessageId = _NO_MESSAGE
    document_id: DocumentId | None = None
    start: int
    stop: int
    quote: Clean


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One dated statement with the spans it rests on; becomes a claim."""

    attribute: str
    type: ClaimType
    text: Clean
    role: Role
    said_at: Micros
    quotes: Sequence[Quote]
    value: Clean = Clean("")  # what was chosen, or what is replaced; lower case


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A file, symbol or subject that a draft speaks of."""

    kind: str
    name: Clean


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A candidate entry. ``points[0]`` states it; ``score`` is the sum of ``signals``, cut to 0..1."""

    type: ClaimType
    category: Category
    title: Clean
    summary: Clean
    subject: Clean  # normalised: content words in lower case
    tags: Sequence[str]
    links: Sequence[Link]
    points: Sequence[Point]
    score: float
    signals: Mapping[str, float]
    key: str  # equal for equal statements, whoever words them how
    withdrawn: Quote | None = None  # the words that took it back within the same session
    rank: int = CONVERSATION  # of its source
    scope: Clean = Clean("")  # the part of the project that it is limited to

    @property
    def statement(self) -> Clean:
        """What the draft says, in a sentence that stands alone."""
        return self.points[0].text

    @property
    def role(self) -> Role:
        """Who said it."""
        return self.points[0].role

    @property
    def said_at(self) -> Micros:
        """When it was said."""
        return self.points[0].said_at

    @property
    def value(self) -> Clean:
        """What was chosen, when the draft chooses something."""
        return self.points[0].value

    @property
    def replaces(self) -> Clean:
        """What it says it takes the place of."""
        return next((point.value for point in self.points if point.attribute == REPLACES), Clean(""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Yield:
    """The drafts of one session in the order they were said, and how many statements were refused, by reason."""

    drafts: Sequence[Draft]
    questions: Sequence[Draft] = ()  # what it leaves open; these state nothing
    rejected: Mapping[str, int] = field(default_factory=Counter)


def quote(message: Message, start: int, stop: int) -> Quote:
    """A span of a message without white space at its ends."""
    text = message.text
    while start < stop and text[start].isspace():
        start += 1
    while stop > start and text[stop - 1].isspace():
        stop -= 1
    return Quote(message_id=message.id, start=start, stop=stop, quote=span(text, start, stop))
