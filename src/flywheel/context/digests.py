"""What digests give a briefing: the lower levels of past sessions, and one item for many of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from flywheel.context.allocator import Piece
from flywheel.context.ask import Ask
from flywheel.digests import LONG, SHORT
from flywheel.digests.kept import digests_of, lines_of
from flywheel.digests.picking import Line, told
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
            long, short = (_below(kept.get((session, length), ()), gone) for length in (LONG, SHORT))
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
        gone = _gone(tx, lines) | {f"session:{id}" for id in (*(piece.id for piece in beside), *ask.exclude)}
        left = [line for line in lines if not gone.intersection(line.ids)]
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


def _below(lines: Sequence[Line], gone: Collection[str]) -> str:
    """What is told below the heading, without what has ceased to hold."""
    left = [line for line in lines if line.kind not in _HEADED and not set(line.ids).intersection(gone)]
    return _indented(told(left).split("\n")) if left else ""


def _indented(lines: Sequence[str]) -> str:
    return "\n".join(f"    {line}" for line in lines)


def _gone(tx: Tx, lines: Sequence[Line]) -> set[str]:
    """What these lines rest on and that is not served any more: taken back, superseded, rejected."""
    named: dict[str, set[str]] = {"message": set(), "claim": set(), "entry": set()}
    for id in (id for line in lines for id in line.ids):
        kind, _, rest = id.partition(":")
        if kind in named:
            named[kind].add(rest)
    served = [status.value for status in SERVED]
    gone: set[str] = set()
    if named["message"]:
        rows = tx.all("SELECT message_id FROM retraction WHERE message_id IN :ids", ids=sorted(named["message"]))
        gone |= {f"message:{id}" for (id,) in rows}
    for kind in ("claim", "entry"):
        if named[kind]:
            sql = f"SELECT id FROM {kind} WHERE id IN :ids AND status IN :served"
            there = {id for (id,) in tx.all(sql, ids=sorted(named[kind]), served=served)}
            gone |= {f"{kind}:{id}" for id in named[kind] - there}
    return gone
