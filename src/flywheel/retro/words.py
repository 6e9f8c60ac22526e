"""What a language model made of what the rules say of a session: what it was made of, and the sentences that are kept.

Brings in none of the rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from flywheel.api.retro import RetroCite, RetroLine
from flywheel.llm.sentences import Record, mark_of
from flywheel.model import Digest, RetroPoint, Session, short_id
from flywheel.store import Tx
from flywheel.store.mapper import find, get
from flywheel.text.compose import join, reworded

LENGTH: Final = "model"
"""The length of the session's digest as which the sentences are kept."""

SECTION: Final = "words"
"""The section of a retrospective in which they are told."""

VERSION: Final = "1"
"""Of the words that the model is told."""

MOST: Final = 40
"""Records that the model is given."""


def records_of(tx: Tx, session: Session) -> list[Record]:
    """What the rules say of a session: the points of its retrospective, then the lines of its digest."""
    points = find(tx, RetroPoint, "WHERE session_id = :id ORDER BY ordinal", id=session.id)
    found = [
        Record(
            text=join([reworded(f"{point.section}:", point.text), point.text]),
            rests=list(dict.fromkeys(str(cite["message"]) for cite in point.cites)),
        )
        for point in points
        if point.text
    ]
    long = get(tx, Digest, owner_kind="session", owner_id=session.id, length="long")
    if long is not None:
        for line, source in zip(long.text.split("\n"), long.sources, strict=False):
            ids = source.get("ids")
            told = [str(id) for id in ids] if isinstance(ids, (list, tuple)) else []
            messages = [id.removeprefix("message:") for id in told if id.startswith("message:")]
            found.append(Record(text=reworded(line, long.text), rests=messages))
    return found[:MOST]


def sentences_in(tx: Tx, session: Session, points: Sequence[RetroPoint]) -> list[RetroLine]:
    """What is kept, as lines of the retrospective; [] where what it was made of has changed since."""
    kept = get(tx, Digest, owner_kind="session", owner_id=session.id, length=LENGTH)
    if kept is None or not kept.text or kept.mark != mark_of(VERSION, records_of(tx, session)):
        return []
    quotes = {str(cite["message"]): str(cite["quote"]) for point in points for cite in point.cites}
    lines: list[RetroLine] = []
    for text, source in zip(kept.text.split("\n"), kept.sources, strict=False):
        ids = source.get("ids")
        messages = [str(id).removeprefix("message:") for id in ids] if isinstance(ids, (list, tuple)) else []
        cites = [RetroCite(short=short_id(id), id=id, quote=quotes.get(id, "")) for id in messages]
        lines.append(RetroLine(section=SECTION, kind=kept.model, text=text, cites=cites))
    return lines
