"""Extraction by a language model, on top of the rules': one pass says what carries, another edits, and code applies.

The router sees every message in few words and says which carry something durable, and which entries they touch. The
editor sees those messages and pages, and answers with operations. Code checks every quote against the store, judges by
who said it, and writes candidates through the door of all extraction (`harvest.entries`). Nothing that a model says
confirms, rejects or changes what a person decided.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from flywheel.model import Clean, DocumentId, EntryId, MessageId, Micros, Role

SESSION: Final = "session"
DOCUMENT: Final = "document"
"""What is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One message, or one section of a document: what a quote may stand in.

    ``role`` is who vouches for it: SYSTEM for a document, ASSISTANT for a subagent's prompts (an agent wrote them),
    TOOL for what came from outside.
    """

    mark: str  # its place: grows within a source
    role: Role
    said_at: Micros
    text: Clean  # all of it, as the store has it
    short: Clean  # what the router sees of it; "" is nothing
    tool: Clean = Clean("")
    weight: float = 0.0  # how much the rules make of it
    message_id: MessageId | None = None
    document_id: DocumentId | None = None
    offset: int = 0  # of ``text`` within the document
    rank: int = 1  # of its source


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """An entry that the models may speak of, as they see it."""

    id: EntryId
    short: str
    title: Clean
    text: Clean  # its page
    held: bool  # a person confirmed it


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """What the router picked: numbers of pieces, from 1, both included, and the entries that they touch."""

    first: int
    last: int
    kind: str = ""
    subjects: tuple[str, ...] = ()
    touches: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cite:
    """A quote of an operation: the number of a piece, and words that have to stand in it."""

    number: int
    quote: Clean


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One edit that the editor asks for; nothing of it is checked yet."""

    op: str  # create, update, supersede, link, question
    page: str = ""  # short id of what was offered, or "op:N": what the Nth operation of the same answer creates
    other: str = ""
    statement: Clean = Clean("")
    type: str = ""
    shelf: str = ""
    kind: str = ""  # of a link
    scope: Clean = Clean("")
    cites: tuple[Cite, ...] = ()
