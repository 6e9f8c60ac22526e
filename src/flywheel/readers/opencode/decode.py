"""The JSON columns of opencode's tables as objects, and texts without what we injected ourselves."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import orjson

from flywheel.readers.fields import mapping_of, unbriefed
from flywheel.text.compose import FENCE_OPEN

FENCE: Final = FENCE_OPEN.strip("<>").split()[0]
"""In every briefing of ours, however it was quoted."""

_DEEPEST: Final = 200  # of what is searched for text of ours


def decoded(column: object) -> Mapping[str, Any]:
    """The object that a column holds; an empty one for NULL, for broken JSON and for anything else than an object."""
    if not isinstance(column, str):
        return mapping_of(column)
    try:
        value = orjson.loads(column)
    except ValueError:
        value = _lenient(column)
    return mapping_of(value)


def bare(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """An object without injected text of ours anywhere in it."""
    return mapping_of(_bare(value, 0))


def _lenient(text: str) -> object:
    """What orjson refuses and Python's decoder reads: lone surrogates, NaN, raw control characters."""
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def _bare(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return unbriefed(value)
    if depth >= _DEEPEST:
        return None
    if isinstance(value, dict):
        return {key: _bare(inner, depth + 1) for key, inner in value.items()}
    if isinstance(value, list):
        return [_bare(inner, depth + 1) for inner in value]
    return value
