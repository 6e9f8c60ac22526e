"""What digests give a briefing: the lower levels of past sessions, and one item for many of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Final

from flywheel.context.allocator import Piece
from flywheel.context.ask import Ask
from flywheel.context.telling import Told, says
from flywheel.digests import LONG, SHORT
from flywheel.digests.kept import digests_of, lines_of
from flywheel.digests.picking import SPEAKERS, Line, told
from flywheel.model import SERVED, SessionId, short_id
from flywheel.store import Tx

KIND: Final = "digest"
"""The kind of the item that stands for many sessions; its id is the project's."""

AHEAD: Final = 3
"""Sessions that come before the item for all the earlier ones."""

NEARLY: Final = 1e-6
"""How much less relevant it is than the last of them."""

_HEADED: Final = ("task", "outcome")
"""Kinds of lines that a session's heading tells already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summed:
    """The lines of a session's digest, at both lengths, that may be told now."""

    long: Sequence[Line]
    short: Sequence[Line]


def sums_of(tx: Tx, sessions: Sequence[SessionId]) -> dict[SessionId, Summed]:
    """The digests of these sessions, as they may be told now."""
    kept = {(row.owner_id, row.length): lines_of(row) for row in digests_of(tx, "session", sessions)}
    gone = _gone(tx, [line for lines in kept.values() for line in lines])
    found: dict[SessionId, Summed] = {}
    for session in sessions:
        if (session, LONG) in kept:
            long, short = (gone.left(kept.get((session, length), ())) for length in (LONG, SHORT))
            found[session] = Summed(long=long, short=short)
    return found


def levels(head: str, summed: Summed, already: Told | None = None) -> Mapping[str, str]:
    """A session's levels: the long digest, the short one, its heading; without what is told ``already``."""
    long, short = (_below(lines, already) for lines in (summed.long, summed.short))
    return {
        "body": f"{head}\n{long}" if long else "",
        "summary": f"{head}\n{short}" if short else "",
        "title": head,
    }


def project_piece(tx: Tx, ask: Ask, *, beside: Sequence[Piece]) -> Piece | None:
    """The project's digest without the sessions that stand ``beside`` it, as one item; None where nothing is left."""
    found: dict[str, Sequence[Line]] = {}
    for row in digests_of(tx, "project", [ask.project]):
        lines = lines_of(row)
        told_already = {f"session:{id}" for id in (*(piece.id for piece in beside), *ask.exclude)}
        found[row.length] = [line for line in _gone(tx, lines).left(lines) if not told_already.intersection(line.ids)]
    return None if ask.project in ask.exclude else _whole(ask, found, _place(beside))


def _whole(ask: Ask, found: Mapping[str, Sequence[Line]], place: float, already: Told | None = None) -> Piece | None:
    left = {
        length: [line.text for line in lines if not (already and _decided_in(line, already))]
        for length, lines in found.items()
    }
    texts = {length: _indented(lines) for length, lines in left.items() if lines}
    if not texts:
        return None
    head = f"- [fw:{short_id(ask.project)}] From before:"
    named = {"body": LONG, "summary": SHORT}
    return ask.piece(
        kind=KIND,
        id=ask.project,
        short=short_id(ask.project),
        relevance=place,
        texts={name: f"{head}\n{texts[length]}" for name, length in named.items() if length in texts},
        less=None if already else lambda told: _whole(ask, found, place, told),
    )


def _decided_in(line: Line, already: Told) -> bool:
    """Whether it is a decision of the project that is told already."""
    return line.kind == "known" and already.repeats(line.text.partition(": ")[2])


def _place(beside: Sequence[Piece]) -> float:
    """Right after the most relevant sessions."""
    ranked = sorted((piece.relevance for piece in beside), reverse=True)[:AHEAD]
    return ranked[-1] - NEARLY if ranked else 0.0


def _below(lines: Sequence[Line], already: Told | None) -> str:
    """What is told below the heading, of what may be told; what was left open is said once, as that."""
    open_ends = [line.text for line in lines if line.kind == "open"]
    left = [
        line
        for line in lines
        if line.kind not in _HEADED
        and (line.kind not in SPEAKERS or (says(line.text) and not any(end.endswith(line.text) for end in open_ends)))
        and not (already and already.repeats(line.text))
    ]
    return _indented(told(left).split("\n")) if left else ""


def _indented(lines: Sequence[str]) -> str:
    return "\n".join(f"    {line}" for line in lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Gone:
    """What is not served any more: ids that lines rest on, and the words of messages that no longer hold."""

    ids: Set[str]
    quotes: Mapping[str, Sequence[str]]  # "message:ID" → words, white space squeezed

    def left(self, lines: Sequence[Line]) -> list[Line]:
        """The lines that may be told."""
        return [line for line in lines if not self._is_gone(line)]

    def _is_gone(self, line: Line) -> bool:
        if not self.ids.isdisjoint(line.ids):
            return True
        quotes = [quote for id in line.ids for quote in self.quotes.get(id, ())] if self.quotes else []
        said = " ".join(line.text.split()) if quotes else ""
        return any(quote in said or said in quote for quote in quotes)


def _gone(tx: Tx, lines: Sequence[Line]) -> _Gone:
    """What these lines rest on and that is not served any more: taken back, superseded, rejected."""
    named: dict[str, set[str]] = {"message": set(), "claim": set(), "entry": set()}
    for id in (id for line in lines for id in line.ids):
        kind, _, rest = id.partition(":")
        if kind in named:
            named[kind].add(rest)
    served = [status.value for status in SERVED]
    gone: set[str] = set()
    quotes: Mapping[str, Sequence[str]] = {}
    if named["message"]:
        messages = sorted(named["message"])
        rows = tx.all("SELECT message_id FROM retraction WHERE message_id IN :ids", ids=messages)
        gone |= {f"message:{id}" for (id,) in rows}
        quotes = {f"message:{id}": [" ".join(one.split()) for one in some] for id, some in lapsed(tx, messages).items()}
    for kind in ("claim", "entry"):
        if named[kind]:
            sql = f"SELECT id FROM {kind} WHERE id IN :ids AND status IN :served"
            there = {id for (id,) in tx.all(sql, ids=sorted(named[kind]), served=served)}
            gone |= {f"{kind}:{id}" for id in named[kind] - there}
    return _Gone(ids=gone, quotes=quotes)


def lapsed(tx: Tx, messages: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """Of these messages, the words on which nothing served rests any more, but something that fell does."""
    found: dict[str, list[str]] = {}
    if messages:
        for id, quote in tx.all(_LAPSED, ids=list(messages), served=[status.value for status in SERVED]):
            found.setdefault(id, []).append(quote)
    return found


_LAPSED: Final = """
SELECT c.message_id, c.quote FROM citation c JOIN claim k ON k.id = c.claim_id
WHERE c.message_id IN :ids AND k.status NOT IN :served AND NOT EXISTS (
  SELECT 1 FROM citation d JOIN claim j ON j.id = d.claim_id
  WHERE d.message_id = c.message_id AND d.start < c.stop AND c.start < d.stop AND j.status IN :served)
"""
"""Words of messages on which nothing served rests any more. A digest that was made since then names no such claim."""
