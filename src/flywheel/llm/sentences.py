"""The form of an answer in sentences, each with what it rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from flywheel.model import Clean, digest

CITES: Final = 8
"""Of one sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One thing that the rules say, given to a model under a number, and the ids of what it rests on."""

    text: Clean
    rests: Sequence[str]


def mark_of(version: str, records: Sequence[Record]) -> str:
    """A digest of what sentences were made of, and by which words: while it is the same, nobody is asked again."""
    return digest("\n".join([version, *(record.text for record in records)]))[:32]


def cited_sentences(*, most: int, longest: int, cite: str) -> Mapping[str, object]:
    """JSON Schema of at most ``most`` sentences of ``longest`` characters; ``cite`` is the JSON type of a citation."""
    sentence = {
        "type": "object",
        "properties": {
            "text": {"type": "string", "minLength": 1, "maxLength": longest},
            "cites": {"type": "array", "items": {"type": cite}, "maxItems": CITES},
        },
        "required": ["text", "cites"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"sentences": {"type": "array", "maxItems": most, "items": sentence}},
        "required": ["sentences"],
        "additionalProperties": False,
    }
