"""Our tables in a TOML file (Codex's ``config.toml``): appended, each marked at its header, and taken out again.

Codex writes this file, too: it sorts tables and drops comments at headers. So a table of ours is known by its mark,
or by its name and what it holds, and never by what stands around it.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from flywheel.errors import BadInput, Conflict
from flywheel.text.blocks import without_gap

MARK: Final = "# flywheel"
SERVER: Final = ("mcp_servers", "flywheel")

_HEADER: Final = re.compile(r"^\[([^\[\]\r\n]+)\][ \t]*(#[^\r\n]*)?\r?$", re.MULTILINE)
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table: its path, and its values (texts, numbers, lists of texts)."""

    path: Sequence[str]
    values: Mapping[str, object]
    shared: bool = False  # another's table of this name is as good


def with_tables(text: str, tables: Sequence[Table], hashes: Collection[str] = ()) -> str:
    """The file with exactly these tables of ours; the same text when they are there already.

    ``hashes`` are the trusted hashes by which tables of ours are known whose mark was lost. Raises BadInput for what is
    no TOML or cannot be extended, Conflict when somebody else's table has the name.
    """
    found = _load(text)
    if all(_at(found, table.path) == table.values for table in tables) and not _stale(text, tables, hashes):
        return text
    bare = without_tables(text, hashes)
    rest = _load(bare)
    newline = "\r\n" if "\r\n" in text else "\n"
    parts = [bare]
    for table in tables:
        there = _at(rest, table.path)
        if there is not None and table.shared:
            continue
        if there is not None:
            raise Conflict(f"{'.'.join(table.path)} is there already and is not Flywheel's; rename or remove it first")
        lead = newline if any(parts) else ""
        parts.append(lead + newline.join(_lines(table)) + newline)
    after = "".join(parts)
    try:
        tomllib.loads(after)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"its tables cannot be extended ({error}); write them as [sections] first") from error
    return after


def without_tables(text: str, hashes: Collection[str] = ()) -> str:
    """The file without our tables. Raises BadInput when it is no TOML."""
    _load(text)
    for start, stop in reversed(list(_ours(text, hashes))):
        text = without_gap(text[:start], text[stop:])
    return text


def table_of(text: str, path: Sequence[str]) -> Mapping[str, object] | None:
    """A table's values; None when there is none. Raises BadInput."""
    return _at(_load(text), path)


def _ours(text: str, hashes: Collection[str]) -> Iterator[tuple[int, int]]:
    """Where our tables stand, each with its header's and its last value's line."""
    headers = list(_HEADER.finditer(text))
    for number, header in enumerate(headers):
        stop = headers[number + 1].start() if number + 1 < len(headers) else len(text)
        body = _body(text[header.end() : stop])
        if _is_ours(header, body, hashes):
            yield header.start(), header.end() + len(body)


def _body(text: str) -> str:
    """Up to the last line that holds a value: what comes behind belongs to the next table."""
    lines = text.splitlines(keepends=True)
    while len(lines) > 1 and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines.pop()
    return "".join(lines)


def _is_ours(header: re.Match[str], body: str, hashes: Collection[str]) -> bool:
    if (header.group(2) or "").strip() == MARK:
        return True
    try:
        path = _path(header.group(1))
        values = tomllib.loads(body)
    except tomllib.TOMLDecodeError:
        return False
    if tuple(path[:2]) == SERVER:
        return len(path) > 2 or "flywheel" in json.dumps(values, default=str)
    return path[:2] == ["hooks", "state"] and values.get("trusted_hash") in hashes


def _stale(text: str, tables: Sequence[Table], hashes: Collection[str]) -> bool:
    """Whether a table of ours is there that is not wanted."""
    wanted = {tuple(table.path) for table in tables}
    for start, _ in _ours(text, hashes):
        header = _HEADER.match(text, start)
        if header is not None and tuple(_path(header.group(1))) not in wanted:
            return True
    return False


def _path(inner: str) -> list[str]:
    """The parts of a header."""
    found: object = tomllib.loads(f"[{inner}]")
    path = []
    while isinstance(found, dict) and found:
        (key,) = found
        path.append(key)
        found = found[key]
    return path


def _lines(table: Table) -> Iterator[str]:
    yield f"[{'.'.join(map(_key, table.path))}] {MARK}"
    for key, value in table.values.items():
        yield f"{_key(key)} = {json.dumps(value, ensure_ascii=False)}"


def _key(part: str) -> str:
    return part if _BARE.fullmatch(part) else json.dumps(part, ensure_ascii=False)


def _at(found: Mapping[str, object], path: Sequence[str]) -> Mapping[str, object] | None:
    value: object = found
    for part in path:
        if not isinstance(value, Mapping) or part not in value:
            return None
        value = value[part]
    return {k: v for k, v in value.items() if not isinstance(v, Mapping)} if isinstance(value, Mapping) else {}


def _load(text: str) -> Mapping[str, object]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"not valid TOML: {error}") from error
