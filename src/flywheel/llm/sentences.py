"""The form of an answer in sentences, each with what it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

CITES: Final = 8
"""Of one sentence."""


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
