"""Between the api's frozen dataclasses and JSON; what a verb takes and gives crosses every face through here."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, cast

import orjson

from flywheel.errors import BadInput, Defect

T = TypeVar("T")

OPTIONS = orjson.OPT_SERIALIZE_DATACLASS | orjson.OPT_NON_STR_KEYS


def encode(value: object) -> bytes:
    """A dataclass, mapping or scalar as UTF-8 JSON."""
    return orjson.dumps(value, default=_plain, option=OPTIONS)


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, tuple | set | frozenset):
        return list(value)
    raise TypeError(type(value).__name__)


def decode(kind: type[T], data: bytes) -> T:
    """The dataclass ``kind`` from its JSON. Unknown keys are dropped, so that an older client reads a newer daemon."""
    return cast("T", _build(kind, orjson.loads(data)))


@cache
def _hints(kind: type[Any]) -> Mapping[str, Any]:
    return typing.get_type_hints(kind)


def _build(hint: Any, value: Any) -> Any:
    """``value`` as the type hint says; only the shapes that `flywheel.api` uses."""
    if is_dataclass(hint) and isinstance(hint, type):
        hints = _hints(hint)
        return hint(**{f.name: _build(hints[f.name], value[f.name]) for f in fields(hint) if f.name in value})
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        inner = next(a for a in args if a is not type(None))
        return None if value is None else _build(inner, value)
    if origin is not None and isinstance(value, list) and issubclass(origin, Sequence):
        return tuple(_build(args[0], item) for item in value)
    if origin is not None and isinstance(value, dict) and issubclass(origin, Mapping):
        return {k: _build(args[1], v) for k, v in value.items()}
    return value


def result_type(verb: Callable[..., object]) -> type[Any]:
    """The dataclass that a verb of the `Api` protocol gives."""
    found = typing.get_type_hints(verb)["return"]
    if not isinstance(found, type):
        raise Defect(f"{verb.__name__} has no plain result type")
    return found


@cache
def _parameters(verb: Callable[..., object]) -> Mapping[str, tuple[Any, bool]]:
    hints = typing.get_type_hints(verb)
    return {
        name: (hints[name], p.default is inspect.Parameter.empty)
        for name, p in inspect.signature(verb).parameters.items()
        if name != "self"
    }


def arguments(verb: Callable[..., object], given: object) -> dict[str, Any]:
    """Keyword arguments for a verb from a JSON object.

    Raises BadInput that names the field: unknown, missing, or of the wrong type.
    """
    if not isinstance(given, Mapping):
        raise BadInput("the body must be one JSON object", field="")
    known = _parameters(verb)
    out: dict[str, Any] = {}
    for name, value in given.items():
        if name not in known:
            raise BadInput(f"no field {name!r}; known are: {', '.join(known) or 'none'}", field=str(name))
        out[name] = _coerce(name, known[name][0], value)
    for name, (_, required) in known.items():
        if required and name not in out:
            raise BadInput(f"the field {name!r} is missing", field=name)
    return out


def _coerce(name: str, hint: Any, value: Any) -> Any:
    """A JSON value as the parameter wants it; texts of a query string become numbers and booleans."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return None if value is None else _coerce(name, next(a for a in args if a is not type(None)), value)
    if origin is not None and issubclass(origin, Sequence):
        items = [v for v in value.split(",") if v] if isinstance(value, str) else value
        if not isinstance(items, list) or not all(isinstance(v, str) for v in items):
            raise BadInput(f"the field {name!r} must be a list of texts", field=name)
        return tuple(items)
    plain = getattr(hint, "__supertype__", hint)
    if plain is bool and isinstance(value, str) and value.lower() in ("true", "1", "false", "0"):
        return value.lower() in ("true", "1")
    if plain is int and isinstance(value, str) and value.lstrip("-").isdigit():
        return int(value)
    if type(value) is not plain:
        names = {str: "a text", int: "a whole number", bool: "true or false", bytes: "bytes"}
        raise BadInput(f"the field {name!r} must be {names.get(plain, plain)}", field=name)
    return value
