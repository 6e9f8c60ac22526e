"""Plain create, read and update of the model's dataclasses: one small generic mapper.

A class's table is its name in snake case. Columns are the fields; mappings and sequences are JSON text, enums their
value, booleans 0 and 1. What needs a join or a condition is written by hand beside the feature.
"""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import Enum
from operator import attrgetter
from typing import Any, Final, Generic, TypeVar

from flywheel.errors import Defect
from flywheel.model import (
    Anchor,
    Attribution,
    Borrowed,
    BriefingRecord,
    Course,
    Digest,
    Discovery,
    DocumentHead,
    Edge,
    Embedding,
    EntryLink,
    FileNames,
    Injection,
    LlmDay,
    Met,
    ModelRead,
    ModuleEdge,
    Observed,
    ProjectPath,
    Reinforcement,
    Retraction,
    Retrospective,
    Setting,
    SymbolUse,
    Threaded,
    Tombstone,
    TranscriptFile,
    TreeDue,
    TreeFile,
    TreeLine,
    UploadPart,
    UploadRequest,
    UploadSession,
)
from flywheel.store import Row, Tx
from flywheel.store.json import dump, load

T = TypeVar("T")
Codec = Callable[[Any], Any]

TABLES: Final[Mapping[type, str]] = {BriefingRecord: "briefing"}
"""Tables that are not their class's name."""

KEYS: Final[Mapping[type, tuple[str, ...]]] = {
    Anchor: ("entry_id", "kind", "name"),
    Attribution: ("session_id", "item_id", "signal"),
    Borrowed: ("claim_id",),
    Course: ("session_id",),
    Digest: ("owner_kind", "owner_id", "length"),
    Discovery: ("session_id", "kind", "name"),
    DocumentHead: ("project_id", "path"),
    Edge: ("source_id", "target_id", "kind"),
    Embedding: ("kind", "id", "model"),
    EntryLink: ("entry_id", "kind", "name"),
    FileNames: ("file_id",),
    Injection: ("briefing_id", "item_kind", "item_id"),
    LlmDay: ("day", "project_id", "purpose"),
    Met: ("project_id", "kind", "name"),
    ModelRead: ("source_kind", "source_id", "part"),
    ModuleEdge: ("checkout", "source", "target"),
    Observed: ("session_id",),
    ProjectPath: ("path",),
    Reinforcement: ("belief_id", "native_session"),
    Retraction: ("message_id",),
    Retrospective: ("session_id",),
    Setting: ("name",),
    SymbolUse: ("checkout", "path", "name"),
    Threaded: ("session_id",),
    Tombstone: ("kind", "id"),
    TreeDue: ("project_id", "kind", "id"),
    TreeFile: ("project_id", "path"),
    TreeLine: ("project_id", "ordinal"),
    TranscriptFile: ("path",),
    UploadPart: ("upload_id", "ordinal"),
    UploadRequest: ("request_key",),
    UploadSession: ("upload_id", "session_id"),
}
"""Primary keys that are not ``id``."""

_MAPPED: Final[dict[type, Mapped[Any]]] = {}


@dataclass(frozen=True, slots=True)
class Mapped(Generic[T]):
    """How one class is stored; made once per class."""

    table: str
    names: tuple[str, ...]
    key: tuple[str, ...]
    values: Callable[[T], Sequence[object]]
    decode: Callable[[Sequence[Any]], T]
    insert: str
    ignore: str
    upsert: str


def insert(tx: Tx, obj: object) -> None:
    """Write one new row. Raises Conflict when its key is taken."""
    mapped = mapping_of(type(obj))
    tx.batch(mapped.insert, [mapped.values(obj)])


def insert_many(tx: Tx, objs: Iterable[T], *, ignore: bool = True) -> int:
    """Write rows of one class; how many were new. A row whose key is taken is left out, or raises Conflict."""
    items = list(objs)
    if not items:
        return 0
    mapped = mapping_of(type(items[0]))
    return tx.batch(mapped.ignore if ignore else mapped.insert, map(mapped.values, items))


def upsert(tx: Tx, obj: object) -> None:
    """Write one row, over the row that has its key."""
    mapped = mapping_of(type(obj))
    tx.batch(mapped.upsert, [mapped.values(obj)])


def upsert_many(tx: Tx, objs: Iterable[T]) -> int:
    """Write rows of one class over those that have their keys; how many were written."""
    items = list(objs)
    if not items:
        return 0
    mapped = mapping_of(type(items[0]))
    return tx.batch(mapped.upsert, map(mapped.values, items))


def get(tx: Tx, cls: type[T], **key: object) -> T | None:
    """The row whose columns equal ``key``, or None; the first one when several do."""
    where = " AND ".join(f'"{name}" = :{name}' for name in key)
    row = tx.one(f"SELECT {columns(cls)} FROM {table(cls)} WHERE {where}", **key)
    return None if row is None else decode(cls, row)


def find(tx: Tx, cls: type[T], tail: str = "", **params: object) -> list[T]:
    """Every row that the tail leaves: ``find(tx, Message, "WHERE session_id = :s ORDER BY ordinal", s=...)``."""
    rows = tx.all(f"SELECT {columns(cls)} FROM {table(cls)} {tail}", **params)
    return list(map(mapping_of(cls).decode, rows))


def table(cls: type) -> str:
    """The table of a class."""
    return mapping_of(cls).table


def columns(cls: type, alias: str = "") -> str:
    """The columns of a class for a SELECT, in the order `decode` takes; prefixed with ``alias`` when given."""
    prefix = f"{alias}." if alias else ""
    return ", ".join(f'{prefix}"{name}"' for name in mapping_of(cls).names)


def decode(cls: type[T], row: Row) -> T:
    """A row of `columns` as its object. Text of the store went through redaction, so this is one maker of Clean."""
    return mapping_of(cls).decode(row)


def mapping_of(cls: type[T]) -> Mapped[T]:
    """How ``cls`` is stored."""
    mapped = _MAPPED.get(cls)
    if mapped is None:
        mapped = _MAPPED[cls] = _map(cls)
    return mapped


def _map(cls: type[T]) -> Mapped[T]:
    hints = typing.get_type_hints(cls)
    names = tuple(field.name for field in fields(typing.cast(Any, cls)))
    codecs = [_codec(hints[name]) for name in names]
    name = TABLES.get(cls) or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()
    key = KEYS.get(cls, ("id",))
    quoted = ", ".join(f'"{column}"' for column in names)
    marks = ", ".join(f":{column}" for column in names)
    into = f"INSERT INTO {name} ({quoted}) VALUES ({marks})"
    target = ", ".join(f'"{column}"' for column in key)
    rest = ", ".join(f'"{column}" = excluded."{column}"' for column in names if column not in key)
    return Mapped(
        table=name,
        names=names,
        key=key,
        values=_encoder(names, [encode for encode, _ in codecs]),
        decode=_decoder(cls, names, [decoder for _, decoder in codecs]),
        insert=into,
        ignore=f"{into} ON CONFLICT DO NOTHING",
        upsert=f"{into} ON CONFLICT ({target}) DO {f'UPDATE SET {rest}' if rest else 'NOTHING'}",
    )


def _encoder(names: Sequence[str], codecs: Sequence[Codec | None]) -> Callable[[T], Sequence[object]]:
    read = attrgetter(*names)
    changes = [(number, codec) for number, codec in enumerate(codecs) if codec]
    if not changes:
        return typing.cast(Callable[[T], Sequence[object]], read)

    def values(obj: T) -> Sequence[object]:
        row = list(read(obj))
        for number, codec in changes:
            row[number] = codec(row[number])
        return row

    return values


def _decoder(cls: type[T], names: Sequence[str], codecs: Sequence[Codec | None]) -> Callable[[Sequence[Any]], T]:
    changes = [(number, codec) for number, codec in enumerate(codecs) if codec]

    def decoded(row: Sequence[Any]) -> T:
        values = list(row)
        for number, codec in changes:
            values[number] = codec(values[number])
        return cls(**dict(zip(names, values, strict=True)))

    return decoded


def _codec(hint: Any) -> tuple[Codec | None, Codec | None]:
    """(to the database, from the database); None where the value is stored as it is."""
    if typing.get_origin(hint) in (types.UnionType, typing.Union):
        (inner,) = (arm for arm in typing.get_args(hint) if arm is not type(None))
        encode, decoder = _codec(inner)
        return encode and _optional(encode), decoder and _optional(decoder)
    while hasattr(hint, "__supertype__"):
        hint = hint.__supertype__
    origin = typing.get_origin(hint) or hint
    if origin is bool:
        return int, bool
    if origin in (str, int, float, bytes):
        return None, None
    if isinstance(origin, type) and issubclass(origin, Enum):
        return attrgetter("value"), origin._value2member_map_.__getitem__
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _dump_mapping, load
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return dump, lambda text: tuple(load(text))
    raise Defect(f"no column can hold a {hint}")


def _dump_mapping(value: Mapping[str, object]) -> str:
    return dump(value) if value else "{}"


def _optional(codec: Codec) -> Codec:
    return lambda value: None if value is None else codec(value)
