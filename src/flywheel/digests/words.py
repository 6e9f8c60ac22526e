"""What a language model made of the rules' digest of a thread or a project: what it was made of, and what is kept.

Brings in none of the rules that digests are made by.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from flywheel.digests import LONG, SHORT
from flywheel.digests.kept import digests_of, lines_of
from flywheel.llm.sentences import Record, mark_of
from flywheel.model import Digest
from flywheel.store import Tx

LENGTH: Final = "model"
"""The length as which the sentences are kept."""

VERSION: Final = "1"
"""Of the words that the model is told."""

MOST: Final = 40
"""Records that the model is given."""

SESSIONS: Final = 12
"""Sessions whose own digests are among them."""


def records_of(tx: Tx, kind: str, id: str) -> list[Record]:
    """The lines of its long digest, and of the short ones of the sessions that those tell of."""
    own = [line for kept in digests_of(tx, kind, [id], LONG) for line in lines_of(kept)]
    named = dict.fromkeys(one for line in own for one in line.ids if one.startswith("session:"))
    sessions = [one.removeprefix("session:") for one in named][:SESSIONS]
    below = {kept.owner_id: lines_of(kept) for kept in digests_of(tx, "session", sessions, SHORT)}
    lines = [*own, *(line for session in sessions for line in below.get(session, ()))]
    return [Record(text=line.text, rests=line.ids) for line in lines if line.text][:MOST]


def kept_words(tx: Tx, kind: str, id: str) -> Digest | None:
    """What is kept; None where nothing is, or what it was made of has changed since."""
    found: Sequence[Digest] = digests_of(tx, kind, [id], LENGTH)
    fresh = [one for one in found if one.mark == mark_of(VERSION, records_of(tx, kind, id))]
    return fresh[0] if fresh else None
