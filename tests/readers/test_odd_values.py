"""Whatever stands in a field of a record, of whatever type: no reader fails, and the records stay as they were."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Final

import orjson
import pytest
from benchmarks.corpora import records_for
from tests.readers.specimens import lay_out, records_of, specimens

from flywheel.model import Micros
from flywheel.readers import READERS, Place, Record, SourceKind

ODD: Final[tuple[Any, ...]] = (None, True, -1, 2**70, 0.5, "", "\ud800", [], [None, {}], {}, {"text": []})
BY_NAME: Final = tuple(name for name, reader in READERS.items() if reader.source is not SourceKind.TEXT)
LONG: Final = 12_000
"""Characters of a record above which it is left out: a whole session in one, whose messages are in others too."""


def fields_of(value: object, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every field, those of columns that hold JSON too; of a list's items those of the first three."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        value = decoded(value)
    children = value.items() if isinstance(value, dict) else enumerate(value[:3]) if isinstance(value, list) else ()
    for key, inner in children:
        yield (*path, key)
        yield from fields_of(inner, (*path, key))


def decoded(text: str) -> object:
    """The JSON in a string; None when it is none."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def with_value(value: Any, path: tuple[Any, ...], odd: object) -> Any:
    """The same with another value in one place."""
    if not path:
        return odd
    if isinstance(value, str):
        if odd in ("\ud800", 2**70):
            return odd  # what JSON cannot hold stands in the place of the whole column
        return orjson.dumps(with_value(decoded(value), path, odd)).decode()
    changed = with_value(value[path[0]], path[1:], odd)
    if isinstance(value, dict):
        return {**value, path[0]: changed}
    return [changed if number == path[0] else one for number, one in enumerate(value)]


def shape_of(record: Mapping[str, Any], path: tuple[Any, ...]) -> tuple[Any, ...]:
    """What tells the field from others: its names, and what kinds of things hold it."""
    kinds: list[object] = []
    value: Any = record
    for key in path:
        value = decoded(value) if isinstance(value, str) else value
        kinds.append(value.get("type", "") if isinstance(value, dict) else "")
        value = value[key]
    return tuple(zip(map(str, path), map(str, kinds), strict=True))


@pytest.mark.parametrize("name", BY_NAME)
def test_a_field_may_hold_anything(name: str, tmp_path: Path) -> None:
    """A client that writes another type into one field costs that field, not the file."""
    reader, folder = READERS[name], lay_out(name, tmp_path)
    pool: list[Record] = [record for one in specimens([name]) for record in records_of(reader, folder / one.path)]
    pool += islice(records_for(name), 12)
    start = reader.start(Place(session="s"), at=Micros(1))
    later = reader.parse(start, pool).carry
    seen: set[tuple[Any, ...]] = set()
    for record in pool:
        if len(repr(record)) > LONG:
            continue
        for path in fields_of(record):
            shape = shape_of(record, path)
            if shape in seen:
                continue
            seen.add(shape)
            changed = [with_value(record, path, odd) for odd in ODD]
            before = repr(changed)
            for one in changed:
                reader.parse(later, [one])
            reader.parse(start, changed)
            assert repr(changed) == before
    assert len(seen) > 10


def test_a_record_without_a_version_brings_back_no_older_one() -> None:
    """What is carried from one read to the next is the same wherever the first read ended."""
    reader = READERS["claude"]
    start = reader.start(Place(session="s"), at=Micros(5))
    agent = {"type": "user", "isSidechain": True, "agentId": "a", "sessionId": "s", "message": {"content": "x"}}
    resumed = {"type": "user", "isSidechain": False, "sessionId": "r", "version": "1.0.80", "message": {"content": "y"}}
    records = [{**agent, "uuid": "1", "version": "2.1.300"}, {**resumed, "uuid": "2"}, {**agent, "uuid": "3"}]
    whole = reader.parse(start, records).carry
    assert whole["version"] == "1.0.80"
    assert reader.parse(reader.parse(start, records[:1]).carry, records[1:]).carry == whole
