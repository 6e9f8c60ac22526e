"""Mappings and sequences as JSON text, the way the store keeps them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import orjson


def _known(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Iterable):
        return list(value)
    return str(value)


def dump(value: object) -> str:
    """JSON text. What orjson refuses (integers past 64 bits, lone surrogates) is written as well as it can be."""
    try:
        return orjson.dumps(value, _known, orjson.OPT_NON_STR_KEYS).decode()
    except TypeError:
        text = json.dumps(value, default=_known, ensure_ascii=False)
        return text.encode("utf-8", "replace").decode()


def load(text: str | bytes) -> Any:
    """The value of JSON text."""
    return orjson.loads(text)
