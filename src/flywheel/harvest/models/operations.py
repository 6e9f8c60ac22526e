"""What the models answered, read and checked: who really said what is cited, and whether it bears the words out. Pure.

Whoever vouches for the weakest quote vouches for all of it: with one quote from outside an operation is an external
claim, with one of an assistant's a hypothesis, unless a person said yes to just that. What came from outside changes no
page, and an assistant's words change none that a person confirmed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from flywheel.harvest.models import Cite, Offered, Operation, Piece, Span
from flywheel.harvest.models.packing import Chunk
from flywheel.harvest.proposal import OWN_WORDS
from flywheel.harvest.quoting import LONGEST, find, too_short
from flywheel.harvest.rules import Quote
from flywheel.harvest.rules.dialogue import says_yes
from flywheel.harvest.rules.topic import stems
from flywheel.model import ClaimType, Clean, MessageId, Micros, Role
from flywheel.text.bearing import bears_out
from flywheel.text.compose import is_injected, span, squeeze
from flywheel.text.quotations import is_quoted

AROUND: Final = 400
"""Characters on each side of a quote among which the words of a statement are looked for."""

Redact = Callable[[str], Clean]


class Dropped(StrEnum):
    """Why an operation is not applied."""

    CITATION = "not said word for word"
    BORNE = "not borne out by what is cited"
    PAGE = "names no page that was shown"
    OUTSIDE = "from outside, changes nothing"
    HELD = "an assistant's words, about what a person confirmed"
    EMPTY = "says nothing"
    SECRET = "holds something secret"
    OURS = "an answer of our own"
    REJECTED = "a person rejected or forgot it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What an operation rests on, as code found it."""

    quotes: Sequence[Quote]
    role: Role
    said_at: Micros
    rank: int
    texts: Sequence[str]  # around the quotes


def spans_of(value: Mapping[str, object], redact: Redact) -> list[Span]:
    """What the router picked."""
    return [
        Span(
            first=_number(one.get("first")),
            last=_number(one.get("last")),
            kind=_word(one.get("kind")),
            subjects=tuple(redact(text) for text in _texts(one.get("subjects"))),
            touches=tuple(_id(text) for text in _texts(one.get("touches"))),
        )
        for one in _objects(value.get("spans"))
    ]


def operations_of(value: Mapping[str, object], redact: Redact) -> list[Operation]:
    """What the editor asks for, in order."""
    return [
        Operation(
            op=_word(one.get("op")),
            page=_id(str(one.get("page") or "")),
            other=_id(str(one.get("other") or "")),
            statement=squeeze(redact(str(one.get("statement") or ""))),
            type=_word(one.get("type")),
            shelf=_word(one.get("shelf")),
            kind=_word(one.get("kind")),
            scope=squeeze(redact(str(one.get("scope") or ""))),
            cites=tuple(
                Cite(number=_number(cite.get("n")), quote=redact(str(cite.get("quote") or "")))
                for cite in _objects(one.get("cites"))
            ),
        )
        for one in _objects(value.get("operations"))
    ]


def ground_of(operation: Operation, chunk: Chunk) -> Ground | Dropped:
    """Where every quote of an operation stands, and who said it all; else why it is dropped."""
    if not operation.cites:
        return Dropped.CITATION
    found: list[tuple[int, Piece, int, int]] = []
    for cite in operation.cites:
        place = _place(cite, chunk)
        if isinstance(place, Dropped):
            return place
        found.append((cite.number, *place))
    yes = _assent(found, chunk)
    if yes is not None:
        found.insert(0, found.pop(yes))
    elif all(too_short(piece.text[start:stop]) for _, piece, start, stop in found):
        return Dropped.CITATION
    role = (
        Role.USER
        if yes is not None
        else min((_speaker(piece, at, stop) for _, piece, at, stop in found), key=_TRUST.index)
    )
    return Ground(
        quotes=[_quote(piece, start, stop) for _, piece, start, stop in found],
        role=role,
        said_at=max(piece.said_at for _, piece, _, _ in found),
        rank=min(piece.rank for _, piece, _, _ in found),
        texts=[piece.text[max(0, start - AROUND) : stop + AROUND] for _, piece, start, stop in found],
    )


_TRUST: Final = (Role.TOOL, Role.ASSISTANT, Role.SYSTEM, Role.USER)


def wrong_with(operation: Operation, ground: Ground, pages: Sequence[Offered | None]) -> Dropped | None:
    """Why an operation is not applied although its quotes stand; ``pages`` are those that it names."""
    if operation.op != "create":
        if not pages or any(page is None for page in pages):
            return Dropped.PAGE
        if ground.role is Role.TOOL:
            return Dropped.OUTSIDE
        held = any(page.held for page in pages if page is not None)
        if ground.role is Role.ASSISTANT and (held or operation.op == "supersede"):
            return Dropped.HELD
    if operation.op == "link":
        return None
    return _wrong_words(operation, ground, [page for page in pages if page is not None])


def _wrong_words(operation: Operation, ground: Ground, pages: Sequence[Offered]) -> Dropped | None:
    statement = operation.statement
    if too_short(statement):
        return Dropped.EMPTY
    if is_injected(statement):
        return Dropped.OURS
    if "[redacted:" in statement or "[fw:" in statement:
        return Dropped.SECRET if "[redacted:" in statement else Dropped.OURS
    grounds = [*ground.texts, *(f"{page.title} {page.text}" for page in pages if operation.op != "supersede")]
    return None if bears_out(statement, grounds, stems) else Dropped.BORNE


def type_of(operation: Operation, role: Role) -> str:
    """The type that such a speaker's words can carry; "" leaves it to the rules."""
    if role is Role.TOOL:
        return ClaimType.EXTERNAL.value
    wanted = operation.type if operation.type in list(ClaimType) else ""
    if role is Role.ASSISTANT and wanted and wanted not in OWN_WORDS:
        return ClaimType.HYPOTHESIS.value
    return wanted


def _place(cite: Cite, chunk: Chunk) -> tuple[Piece, int, int] | Dropped:
    """Where a quote stands."""
    if not 1 <= cite.number <= len(chunk.pieces) or len(cite.quote) > LONGEST:
        return Dropped.CITATION
    piece = chunk.pieces[cite.number - 1]
    place = find(piece.text, cite.quote)
    if place is None:
        return Dropped.CITATION
    if "[redacted:" in piece.text[place[0] : place[1]]:
        return Dropped.SECRET
    return piece, *place


def _assent(found: Sequence[tuple[int, Piece, int, int]], chunk: Chunk) -> int | None:
    """Which quote is a person's yes to all the others: those stand in the assistant's message right before it."""
    for at, (number, piece, start, stop) in enumerate(found):
        others = {other for other, *_ in found} - {number}
        if piece.role is not Role.USER or not others or piece.text[:start].strip():
            continue
        before = next((n for n in range(number - 1, 0, -1) if chunk.pieces[n - 1].role is not Role.TOOL), 0)
        last = before and chunk.pieces[before - 1].role is Role.ASSISTANT
        if last and others == {before} and says_yes(piece.text[start:stop]):
            return at
    return None


def _speaker(piece: Piece, start: int, stop: int) -> Role:
    """Who said what stands there: what a person pasted as a quotation or a block is somebody else's."""
    if piece.role is not Role.USER:
        return piece.role
    return Role.TOOL if is_quoted(piece.text, start, stop) else Role.USER


def _quote(piece: Piece, start: int, stop: int) -> Quote:
    text = span(piece.text, start, stop)
    if piece.document_id is not None:
        return Quote(document_id=piece.document_id, start=piece.offset + start, stop=piece.offset + stop, quote=text)
    return Quote(message_id=piece.message_id or MessageId(""), start=start, stop=stop, quote=text)


def _objects(value: object) -> Sequence[Mapping[str, Any]]:
    found = value if isinstance(value, Sequence) and not isinstance(value, str) else ()
    return [one for one in found if isinstance(one, Mapping)]


def _texts(value: object) -> Sequence[str]:
    found = value if isinstance(value, Sequence) and not isinstance(value, str) else ()
    return [str(one) for one in found]


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _word(value: object) -> str:
    return str(value or "").strip().lower()


def _id(text: str) -> str:
    """A short id however it is written: ``[fw:7f3a]``, ``fw:7f3a``, ``7f3a``."""
    return text.strip().strip("[]").removeprefix("fw:").lower()
