"""What digests give a briefing: the lower levels of past sessions, and one item for many of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from flywheel.context.allocator import Piece
from flywheel.context.ask import Ask
from flywheel.digests import LONG, SHORT
from flywheel.digests.kept import digests_of, lines_of
from flywheel.digests.picking import SPEAKERS, Line, told
from flywheel.model import SERVED, SessionId, short_id
from flywheel.store import Tx

KIND: Final = "digest"
"""The kind of the item that stands for many sessions; its id is the project's."""

AHEAD: Final = 3
"""Sessions that come before the item for all the earlier ones."""

_HEADED: Final = ("task", "outcome")
"""Kinds of lines that a session's heading tells already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summed:
    """A session's digest below its heading, at both lengths; "" where nothing is left."""

    long: str
    short: str


def sums_of(tx: Tx, sessions: Sequence[SessionId]) -> dict[SessionId, Summed]:
    """The digests of these sessions, as they may be told now."""
    kept = {(row.owner_id, row.length): lines_of(row) for row in digests_of(tx, "session", sessions)}
    gone = _gone(tx, [line for lines in kept.values() for line in lines])
    found: dict[SessionId, Summed] = {}
    for session in sessions:
        if (session, LONG) in kept:
            long, short = (_below(gone.left(kept.get((session, length), ()))) for length in (LONG, SHORT))
            found[session] = Summed(long=long, short=short)
    return found


def levels(head: str, summed: Summed) -> Mapping[str, str]:
    """A session's levels: the long digest, the short one, its heading."""
    return {
        "body": f"{head}\n{summed.long}" if summed.long else "",
        "summary": f"{head}\n{summed.short}" if summed.short else "",
        "title": head,
    }


def project_piece(tx: Tx, ask: Ask, *, beside: Sequence[Piece]) -> Piece | None:
    """The project's digest without the sessions that stand ``beside`` it, as one item; None where nothing is left."""
    texts: dict[str, str] = {}
    for row in digests_of(tx, "project", [ask.project]):
        lines = lines_of(row)
        told_already = {f"session:{id}" for id in (*(piece.id for piece in beside), *ask.exclude)}
        left = [line for line in _gone(tx, lines).left(lines) if not told_already.intersection(line.ids)]
        if left:
            texts[row.length] = _indented([line.text for line in left])
    if not texts or ask.project in ask.exclude:
        return None
    head = f"- [fw:{short_id(ask.project)}] Before that:"
    named = {"body": LONG, "summary": SHORT}
    return ask.piece(
        kind=KIND,
        id=ask.project,
        short=short_id(ask.project),
        relevance=_place(beside),
        texts={name: f"{head}\n{texts[length]}" for name, length in named.items() if length in texts},
    )


def _place(beside: Sequence[Piece]) -> float:
    """Right after the most relevant sessions."""
    ranked = sorted((piece.relevance for piece in beside), reverse=True)[:AHEAD]
    return ranked[-1] if ranked else 0.0


def _below(lines: Sequence[Line]) -> str:
    """What is told below the heading, of what may be told; what was left open is said once, as that."""
    open_ends = [line.text for line in lines if line.kind == "open"]
    left = [
        line
        for line in lines
        if line.kind not in _HEADED
        and (line.kind not in SPEAKERS or not any(end.endswith(line.text) for end in open_ends))
    ]
    return _indented(told(left).split("\n")) if left else ""


def _indented(lines: Sequence[str]) -> str:
    return "\n".join(f"    {line}" for line in lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Gone:
    """What is not served any more: ids that lines rest on, and the words of messages that no longer hold."""

    ids: Collection[str]
    quotes: Mapping[str, Sequence[str]]  # "message:ID" → words, white space squeezed

    def left(self, lines: Sequence[Line]) -> list[Line]:
        """The lines that may be told."""
        return [line for line in lines if not self._is_gone(line)]

    def _is_gone(self, line: Line) -> bool:
        said = " ".join(line.text.split())
        quotes = [quote for id in line.ids for quote in self.quotes.get(id, ())]
        return any(id in self.ids for id in line.ids) or any(quote in said or said in quote for quote in quotes)


def _gone(tx: Tx, lines: Sequence[Line]) -> _Gone:
    """What these lines rest on and that is not served any more: taken back, superseded, rejected."""
    named: dict[str, set[str]] = {"message": set(), "claim": set(), "entry": set()}
    for id in (id for line in lines for id in line.ids):
        kind, _, rest = id.partition(":")
        if kind in named:
            named[kind].add(rest)
    served = [status.value for status in SERVED]
    gone: set[str] = set()
    quotes: dict[str, list[str]] = {}
    if named["message"]:
        messages = sorted(named["message"])
        rows = tx.all("SELECT message_id FROM retraction WHERE message_id IN :ids", ids=messages)
        gone |= {f"message:{id}" for (id,) in rows}
        for id, quote in tx.all(_LAPSED, ids=messages, served=served):
            quotes.setdefault(f"message:{id}", []).append(" ".join(quote.split()))
    for kind in ("claim", "entry"):
        if named[kind]:
            sql = f"SELECT id FROM {kind} WHERE id IN :ids AND status IN :served"
            there = {id for (id,) in tx.all(sql, ids=sorted(named[kind]), served=served)}
            gone |= {f"{kind}:{id}" for id in named[kind] - there}
    return _Gone(ids=gone, quotes=quotes)


_LAPSED: Final = """
SELECT c.message_id, c.quote FROM citation c JOIN claim k ON k.id = c.claim_id
WHERE c.message_id IN :ids AND k.status NOT IN :served AND NOT EXISTS (
  SELECT 1 FROM citation d JOIN claim j ON j.id = d.claim_id
  WHERE d.message_id = c.message_id AND d.start < c.stop AND c.start < d.stop AND j.status IN :served)
"""
"""Words of messages on which nothing served rests any more. A digest that was made since then names no such claim."""
