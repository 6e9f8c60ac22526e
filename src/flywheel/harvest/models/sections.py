"""A document as pieces: its sections by heading, each with a hash, so that only changed ones are read again. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from flywheel.harvest.models import Piece
from flywheel.harvest.models.pieces import clipped, shown
from flywheel.knowledge.documents import HEADED
from flywheel.model import Document, Micros, Role, digest
from flywheel.text.compose import span
from flywheel.text.tokens import count

LARGEST: Final = 6_000
"""Characters of one piece; a longer section is several."""

HEAD: Final = 90
"""Tokens of a section that the router sees."""

_HASH: Final = 16
_FENCES: Final = ("```", "~~~")


def sections_of(document: Document) -> Iterator[Piece]:
    """The sections in order; each has a mark of its place and its hash."""
    for start, stop in _places(document.text):
        text = span(document.text, start, stop)
        if text.strip():
            yield Piece(
                mark=f"{start:012d}:{hash_of(text)}",
                role=Role.SYSTEM,
                said_at=document.said_at or Micros(document.created_at),
                text=text,
                short=shown(clipped(text, HEAD)),
                weight=min(1.0, 0.5 + count(text) / 1000),
                document_id=document.id,
                offset=start,
                rank=document.rank,
            )


def hash_of(text: str) -> str:
    """A section's hash; white space does not count."""
    return digest(" ".join(text.split()))[:_HASH]


def _places(text: str) -> Iterator[tuple[int, int]]:
    """Where sections begin and end."""
    start = at = 0
    fenced = False
    for line in text.splitlines(keepends=True):
        head = not fenced and HEADED.match(line.rstrip("\n")) is not None
        full = at - start + len(line) > LARGEST and not line.strip()
        if at > start and (head or full or at - start > 2 * LARGEST):
            yield start, at
            start = at
        if line.lstrip().startswith(_FENCES):
            fenced = not fenced
        at += len(line)
    if at > start:
        yield start, at
