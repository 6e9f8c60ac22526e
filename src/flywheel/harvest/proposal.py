"""A proposed claim as the draft that extraction would make of it: where it belongs, what it may be called. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from flywheel.errors import BadInput
from flywheel.harvest.rules import Draft, Point, Quote
from flywheel.harvest.rules.drafting import draft_of
from flywheel.harvest.rules.statements import RULED, Speaker, Statement, statements
from flywheel.harvest.rules.topic import clause, key_of, links_of, merge_links, negative, stems, subject_of, title_of
from flywheel.harvest.rules.wording import shorten
from flywheel.knowledge.parts import STATES
from flywheel.model import (
    GLOBAL,
    Category,
    ClaimType,
    Clean,
    Message,
    MessageId,
    MessageKind,
    Micros,
    Role,
    SessionId,
    evidence_id,
)
from flywheel.text.compose import squeeze

LONGEST: Final = 600
"""Characters of a statement."""

TAG: Final = "proposed"
"""Marks what an agent put into words."""

SCORE: Final = 0.7
"""How strongly a proposal is held to be knowledge: somebody thought so, and the words are there."""

OWN_WORDS: Final = (ClaimType.HYPOTHESIS, ClaimType.JUDGMENT)
"""What an assistant may propose with its own words as evidence."""

KNOWN: Final = 0.6
"""The part of a statement's content words that stand in what is known already, from which on it adds nothing."""

_SHELVES: Final = {
    ClaimType.DECISION: Category.DECISIONS,
    ClaimType.HYPOTHESIS: Category.DEBUGGING,
}
_TAGS: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What a proposal rests on."""

    quote: Quote
    role: Role  # who said it; SYSTEM for a file
    said_at: Micros
    rank: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Twin:
    """An entry that says the same."""

    category: Category
    key: str


def keys(statement: Clean, scope: Clean) -> Mapping[str, Twin]:
    """What the statement would be filed under on every shelf: where it stands already, it stays."""
    text = squeeze(statement)
    found = ((category, _key(category, text, scope)) for category in Category)
    return {key: Twin(category=category, key=key) for category, key in found}


def adds_nothing(statement: str, known: str) -> bool:
    """Whether a statement only repeats, of the same words of the same source, what is known from them already."""
    mine = set(stems(statement))
    return (
        len(mine) > 1 and negative(statement) == negative(known) and len(mine & set(stems(known))) >= KNOWN * len(mine)
    )


def _key(category: Category, text: Clean, scope: Clean) -> str:
    key = key_of(category, text)
    return evidence_id("scoped", key, scope) if scope else key


def draft(statement: Clean, evidence: Evidence, *, type: str, scope: Clean, twin: Twin | None = None) -> Draft:
    """The draft of a proposal: category, title, subject and links as the rules find them in the statement.

    Where no cue marks the statement, the cited words say what sort of knowledge it is. ``twin`` is where it stands
    already.
    A wording of the agent's own has rank 0, whatever it cites: it never stands before what somebody really said.
    Raises BadInput for a type that there is not, or that an assistant's own words cannot carry.
    """
    text = squeeze(statement)
    own = _understood(text)
    found = own or (None if evidence.role is Role.ASSISTANT else _understood(squeeze(evidence.quote.quote)))
    type_ = _type(type, evidence.role, found.type if found else None)
    category = twin.category if twin else _category(type_, found.category if found else None)
    verbatim = text == squeeze(evidence.quote.quote)
    point = Point(
        attribute=STATES,
        type=type_,
        text=text,
        role=evidence.role,
        said_at=evidence.said_at,
        quotes=(evidence.quote,),
        value=found.value if found else Clean(""),
    )
    return Draft(
        type=type_,
        category=category,
        title=own.title if own else title_of(text),
        summary=shorten(text),
        subject=found.subject if found else subject_of(clause(text)),
        tags=(*(found.tags if found else ())[: _TAGS - 1], TAG),
        links=own.links if own else merge_links(links_of(text, text), found.links if found else ()),
        points=(point,),
        score=SCORE,
        signals={TAG: SCORE},
        key=twin.key if twin else _key(category, text, scope),
        rank=evidence.rank if verbatim else 0,
        scope=scope,
    )


def _understood(text: Clean) -> Draft | None:
    """What the rules make of the statement if a person had said it; None when no cue marks it."""
    message = Message(
        id=MessageId(TAG),
        project_id=GLOBAL,
        session_id=SessionId(TAG),
        ordinal=0,
        role=Role.USER,
        kind=MessageKind.PROMPT,
        text=text,
        created_at=Micros(0),
        sha256="",
    )
    heard = statements(message, Speaker(role=Role.USER), Counter())
    first = next((one for one in heard if isinstance(one, Statement)), None)
    return draft_of(first) if first is not None else None


def _type(wanted: str, role: Role, found: ClaimType | None) -> ClaimType:
    """Raises BadInput."""
    if wanted and wanted not in list(ClaimType):
        raise BadInput(f"the field 'type' must be one of {', '.join(ClaimType)}", field="type")
    if role is Role.TOOL:
        return ClaimType.EXTERNAL
    if role is Role.ASSISTANT:
        if wanted and wanted not in OWN_WORDS:
            raise BadInput(
                f"these are the assistant's own words, which prove no {wanted}: quote the user or a file (source), or"
                f" propose it as {' or '.join(OWN_WORDS)}",
                field="type",
            )
        return ClaimType(wanted) if wanted else ClaimType.HYPOTHESIS
    return ClaimType(wanted) if wanted else found or ClaimType.FACT


def _category(type_: ClaimType, found: Category | None) -> Category:
    if type_ is ClaimType.EXTERNAL:
        return Category.KNOWLEDGE
    if found is None or (type_ is ClaimType.DECISION and found not in RULED):
        return _SHELVES.get(type_, Category.KNOWLEDGE)
    return found
