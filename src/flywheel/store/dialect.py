"""One set of portable SQL: named parameters found once, then written as each driver wants them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import Enum
from functools import lru_cache
from typing import Final

from flywheel.errors import Defect
from flywheel.store.json import dump

_TOKEN: Final = re.compile(
    r"""
    (?P<quoted>'(?:[^']|'')*'|"(?:[^"]|"")*"|\$\$.*?\$\$|--[^\n]*|/\*.*?\*/)
    |(?P<cast>::)
    |(?P<collate>\s*\bCOLLATE\s+"C")
    |(?:(?P<not>\bNOT\s+)?\bIN\s+:(?P<set>[A-Za-z_]\w*))
    |:(?P<name>[A-Za-z_]\w*)
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)

_PLAIN: Final = frozenset({str, int, float, bytes, type(None)})

Params = Mapping[str, object]


@lru_cache(maxsize=4096)
def names(sql: str) -> tuple[str, ...]:
    """The parameters of ``sql`` in the order of their first appearance."""
    found = (match["name"] or match["set"] for match in _TOKEN.finditer(sql))
    return tuple(dict.fromkeys(name for name in found if name))


@lru_cache(maxsize=4096)
def _sqlite_pieces(sql: str) -> tuple[str, tuple[str, ...]]:
    """The text without ``COLLATE "C"`` (SQLite's BINARY is the same order), its sets marked as ``\\0name\\0``."""
    sets: list[str] = []

    def write(match: re.Match[str]) -> str:
        if match["collate"]:
            return ""
        if match["set"]:
            sets.append(match["set"])
            return f"{match['not'] or ''}IN (\0{match['set']}\0)"
        return match[0]

    return _TOKEN.sub(write, sql), tuple(sets)


def for_sqlite(sql: str, params: Params) -> tuple[str, Params]:
    """``sql`` and ``params`` as apsw takes them: sets become lists of placeholders.

    A set is padded with its last member to the next power of two, so that few different statements are prepared.
    """
    text, sets = _sqlite_pieces(sql)
    if not sets:
        return text, plain(params)
    bound = dict(params)
    for name in dict.fromkeys(sets):
        members = members_of(bound.pop(name, None), name)
        if members:
            members += [members[-1]] * ((1 << (len(members) - 1).bit_length()) - len(members))
        marks = [f"{name}__{number}" for number in range(len(members))]
        text = text.replace(f"\0{name}\0", ",".join(f":{mark}" for mark in marks))
        bound.update(zip(marks, members, strict=True))
    return text, plain(bound)


@lru_cache(maxsize=4096)
def postgres_sql(sql: str) -> str:
    """``:name`` as ``%(name)s``, ``IN :set`` as ``= ANY(%(set)s)``, ``%`` doubled; literals and casts left alone."""
    pieces: list[str] = []
    last = 0
    for match in _TOKEN.finditer(sql):
        pieces.append(sql[last : match.start()].replace("%", "%%"))
        last = match.end()
        if match["set"]:
            pieces.append(f"{'<> ALL' if match['not'] else '= ANY'}(%({match['set']})s)")
        elif match["name"]:
            pieces.append(f"%({match['name']})s")
        else:
            pieces.append(match[0].replace("%", "%%"))
    pieces.append(sql[last:].replace("%", "%%"))
    return "".join(pieces)


@lru_cache(maxsize=1024)
def postgres_positional(sql: str) -> str:
    """As `postgres_sql`, with ``%s`` for each parameter; every name must appear once."""
    found = [match["name"] for match in _TOKEN.finditer(sql) if match["name"]]
    if len(set(found)) != len(found) or len(found) != len(names(sql)):
        raise Defect("rows of values need each parameter exactly once and no sets", sql=sql)
    return re.sub(r"%\(\w+\)s", "%s", postgres_sql(sql))


def for_postgres(sql: str, params: Params) -> tuple[str, Params]:
    """``sql`` and ``params`` as psycopg takes them."""
    return postgres_sql(sql), plain(params)


def plain(params: Params) -> Params:
    """The same parameters with only values that both drivers bind alike."""
    for value in params.values():
        if value.__class__ not in _PLAIN:
            return {name: plain_value(item) for name, item in params.items()}
    return params


def plain_value(value: object) -> object:
    """A value as the database holds it: enums by value, booleans 0 and 1, mappings as JSON; lists stay lists."""
    if value.__class__ in _PLAIN:
        return value
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return dump(value)
    if isinstance(value, list | tuple | set | frozenset):
        return [plain_value(item) for item in value]
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    if isinstance(value, str | int | float):
        return value
    raise Defect(f"a {type(value).__name__} cannot be a parameter")


def members_of(value: object, name: str) -> list[object]:
    """The members of a set parameter; raises Defect when it is not a list, tuple or set."""
    if isinstance(value, list | tuple | set | frozenset):
        return [plain_value(item) for item in value]
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [plain_value(item) for item in value]
    raise Defect(f"parameter {name!r} stands behind IN and must be a list, not {type(value).__name__}")
