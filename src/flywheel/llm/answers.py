"""What every provider's answer is read with. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from flywheel.llm import Cause, Failure


def object_of(raw: bytes, most: int | None = None) -> dict[str, Any]:
    """The JSON object that an answer is, of at most ``most`` bytes. Raises Failure (garbled)."""
    if most is not None and len(raw) > most:
        raise Failure(Cause.GARBLED, f"an answer of more than {most >> 20} MB")
    try:
        found = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise Failure(Cause.GARBLED, f"an answer that is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise Failure(Cause.GARBLED, "an answer that is no object")
    return found


def count_of(usage: Mapping[str, Any], name: str) -> int:
    """Tokens of one sort; 0 where the answer does not count them."""
    value = usage.get(name)
    return value if isinstance(value, int) and value > 0 else 0
