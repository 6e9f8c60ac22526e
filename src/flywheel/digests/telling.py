"""A digest as `show` prints it: each line with the short ids of what it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from flywheel.digests import LONG, SHORT
from flywheel.digests.kept import digests_of, lines_of
from flywheel.digests.picking import SPEAKERS
from flywheel.digests.words import LENGTH, kept_words
from flywheel.model import Digest, short_id
from flywheel.store import Tx

_NAMES: Final = {SHORT: "In short", LONG: "At more length", LENGTH: "In a model's words"}
_OWN: Final = ("task", "outcome", "open", "edited", "read")
"""Kinds of lines that the thing itself is the receipt of."""


def shown(tx: Tx, kind: str, id: str) -> list[str]:
    """The digests of a session, thread or project for a person, line by line; empty when there is none yet."""
    kept = {row.length: row for row in digests_of(tx, kind, [id])}
    told = [line for length in (SHORT, LONG) if length in kept for line in _told(kept[length])]
    words = kept_words(tx, kind, id) if kind != "session" and LENGTH in kept else None
    return told + (list(_told(words)) if words is not None and words.text else [])


def _told(kept: Digest) -> Sequence[str]:
    lines = ["", f"{_NAMES[kept.length]} (made by {kept.model}):"]
    for line in lines_of(kept):
        who = f"{SPEAKERS[line.kind]} " if line.kind in SPEAKERS else ""
        ids = "" if line.kind in _OWN else " ".join(f"[fw:{short_id(one.partition(':')[2])}]" for one in line.ids)
        lines.append(f"  {who}{line.text} {ids}".rstrip())
    return lines
