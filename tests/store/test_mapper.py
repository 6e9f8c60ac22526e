"""The mapper: every dataclass and its table agree, and objects come back equal."""

from __future__ import annotations

import inspect
import types
import typing
from contextlib import closing
from dataclasses import fields, replace
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import Any

import apsw
import psycopg
import pytest
from tests.store.samples import NOW, PROJECT, citation, claim, document, entry, message, session

from flywheel import model
from flywheel.errors import Conflict, Defect
from flywheel.model import (
    BriefingRecord,
    Clean,
    Embedding,
    EntryLink,
    Feedback,
    FileState,
    Injection,
    Job,
    Kind,
    Message,
    MessageId,
    Micros,
    SessionId,
    Setting,
    TranscriptFile,
    Upload,
    UploadPart,
    UploadRequest,
    UploadSession,
)
from flywheel.store import Db, mapper
from flywheel.store.json import dump, load

CLASSES = [
    value
    for name, value in sorted(vars(model).items())
    if inspect.isclass(value) and not issubclass(value, Enum) and name != "NewType"
]


def nullable(cls: type, name: str) -> bool:
    """Whether the field may be None."""
    hint = typing.get_type_hints(cls)[name]
    return typing.get_origin(hint) in (types.UnionType, typing.Union) and type(None) in typing.get_args(hint)


def test_every_dataclass_is_looked_at() -> None:
    """The list below is the model's, not a selection."""
    assert len(CLASSES) >= 24 and {Message, Job, Embedding} <= set(CLASSES)


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_fields_are_the_columns_of_both_stores(
    cls: type, sqlite_db: Db, postgres_server: str, postgres_template: tuple[Any, str]
) -> None:
    """Names, order-free, nullability and primary key agree with the schema that the migrations make."""
    mapped: mapper.Mapped[Any] = mapper.mapping_of(cls)
    wanted = {field.name: nullable(cls, field.name) for field in fields(cls)}
    with sqlite_db.read() as tx:
        rows = tx.all(f'PRAGMA table_info("{mapped.table}")')
    assert {name: not notnull and not pk for _, name, _, notnull, _, pk in rows} == wanted
    keys = {name for _, name, _, _, _, pk in rows if pk}
    assert keys == ({"seq"} if mapped.table == "change" else set(mapped.key))
    columns, primary = postgres_columns(postgres_server, postgres_template[1], mapped.table)
    columns.pop("vec", None)  # what pgvector searches, written from ``vector``
    assert columns == wanted
    assert primary == keys


def postgres_columns(server: str, database: str, table: str) -> tuple[dict[str, bool], set[str]]:
    """Nullability by column, and the primary key."""
    with psycopg.connect(server, dbname=database) as connection:
        columns = connection.execute(
            "SELECT column_name, is_nullable = 'YES' FROM information_schema.columns WHERE table_name = %s", (table,)
        ).fetchall()
        key = connection.execute(
            "SELECT a.attname FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid"
            " AND a.attnum = ANY(i.indkey) WHERE i.indisprimary AND i.indrelid = %s::regclass",
            (table,),
        ).fetchall()
    return dict(columns), {column for (column,) in key}


OBJECTS = [
    message(1, "naïve 漢字 100% 'quoted'"),
    replace(message(2), is_error=True, meta={}, tool=Clean("Bash")),
    session("s2", parent="s1"),
    document(),
    entry(),
    claim("k1"),
    citation("c1", "k1", message(1)),
    TranscriptFile(
        path="/t/a.jsonl",
        agent="claude",
        reader="claude",
        state=FileState.PARSED,
        unknown={"progress": 3},
        carry={"n": [1]},
        updated_at=NOW,
    ),
    Upload(
        id="u1",
        project_id=PROJECT,
        forced=True,
        reader="generic",
        name=Clean("chat.json"),
        cwd=Clean("/w/app"),
        sha256="0" * 64,
        bytes=10,
        created_at=NOW,
    ),
    UploadRequest(request_key="key:1", upload_id="u1", project_id=PROJECT, content="0" * 64, created_at=NOW),
    UploadPart(upload_id="u1", ordinal=0, project_id=PROJECT, size=2, text=Clean("[]"), created_at=NOW),
    UploadSession(upload_id="u1", session_id=SessionId("s1"), project_id=PROJECT),
    Feedback(
        id="f1",
        project_id=PROJECT,
        kind="entry",
        target_id="e1",
        verdict="helped",
        note=Clean(""),
        agent="claude",
        native_session="s1",
        created_at=NOW,
    ),
    Embedding(kind=Kind.ENTRY, id="e", model="m", project_id=PROJECT, dim=3, vector=b"\x00\x81\xff", sha256="x"),
    EntryLink(project_id=PROJECT, entry_id=entry().id, kind="file", name=Clean("a.py")),
    Setting(name="x", value="y"),
    *[
        Injection(
            briefing_id=f"b{used}",
            project_id=PROJECT,
            session_id=None,
            native_session="n",
            agent="claude",
            event="SessionStart",
            source="entries",
            item_kind="entry",
            item_id="e1",
            tokens=7,
            used=used,
            created_at=NOW,
        )
        for used in (None, True, False)
    ],
    BriefingRecord(
        id="b",
        project_id=PROJECT,
        native_session="n",
        agent="claude",
        event="SessionStart",
        tokens=1,
        budget=2,
        micros=3,
        record={"slices": [{"source": "entries", "tokens": 1.5, "note": None}]},
        created_at=NOW,
    ),
    Job(id="j", kind="k", key="x", project_id=None, run_after=Micros(2**40), created_at=NOW, updated_at=NOW),
]


@pytest.mark.parametrize("obj", OBJECTS, ids=lambda obj: type(obj).__name__)
def test_an_object_comes_back_equal(db: Db, obj: Any) -> None:
    """Insert, get and find give the object that went in, with enums, booleans, tuples and mappings as they were."""
    cls = type(obj)
    key = {name: getattr(obj, name) for name in mapper.mapping_of(cls).key}
    with db.write() as tx:
        mapper.insert(tx, obj)
        assert mapper.get(tx, cls, **key) == obj
    with db.read() as tx:
        assert obj in mapper.find(tx, cls)
        assert mapper.get(tx, cls, **{name: 99 if value == 0 else "none" for name, value in key.items()}) is None
    with pytest.raises(Conflict), db.write() as tx:
        mapper.insert(tx, obj)


def test_types_come_back_too(db: Db) -> None:
    """A stored message has enums, a bool and a plain dict again, not their texts."""
    with db.write() as tx:
        mapper.insert(tx, replace(message(1), meta=MappingProxyType({"a": 1}), is_error=True))
    with db.read() as tx:
        (found,) = mapper.find(tx, Message)
    assert isinstance(found.role, model.Role) and isinstance(found.kind, model.MessageKind)
    assert found.is_error is True and found.meta == {"a": 1}


def test_insert_many_leaves_taken_keys_out(db: Db) -> None:
    """A second import counts only what is new and changes nothing; without ``ignore`` it is a conflict."""
    with db.write() as tx:
        assert mapper.insert_many(tx, [message(1), message(2)]) == 2
        assert mapper.insert_many(tx, [replace(message(1), text=Clean("other")), message(3), message(3)]) == 1
        assert mapper.insert_many(tx, []) == 0
        first = mapper.get(tx, Message, id=message(1).id)
        assert first == message(1)
    with pytest.raises(Conflict), db.write() as tx:
        mapper.insert_many(tx, [message(4), message(1)], ignore=False)


def test_upsert_overwrites(db: Db) -> None:
    """A row under a taken key is replaced, column by column; a row that is all key stays."""
    with db.write() as tx:
        mapper.upsert(tx, session("s1", title="old"))
        assert mapper.upsert_many(tx, [session("s1", title="new"), session("s2")]) == 2
        link = EntryLink(project_id=PROJECT, entry_id=entry().id, kind="file", name=Clean("a.py"))
        mapper.upsert(tx, link)
        mapper.upsert(tx, link)
        assert mapper.upsert_many(tx, []) == 0
    with db.read() as tx:
        assert [s.title for s in mapper.find(tx, model.Session, "ORDER BY id")] == ["new", ""]
        assert mapper.find(tx, EntryLink) == [link]


def test_find_takes_a_tail(db: Db) -> None:
    """Conditions, order and limit are the caller's SQL; columns can be prefixed for joins."""
    with db.write() as tx:
        mapper.insert_many(tx, [message(number) for number in range(6)])
        mapper.insert(tx, session())
    with db.read() as tx:
        tail = "WHERE ordinal IN :wanted ORDER BY ordinal DESC LIMIT 2"
        assert [m.ordinal for m in mapper.find(tx, Message, tail, wanted=[1, 3, 5])] == [5, 3]
        row = tx.one(
            f"SELECT {mapper.columns(Message, 'm')} FROM message m JOIN session s ON s.id = m.session_id"
            " WHERE m.ordinal = :n",
            n=4,
        )
        assert row is not None and mapper.decode(Message, row) == message(4)


def test_tables_are_named_after_classes() -> None:
    """Snake case, but for the briefing."""
    assert mapper.table(TranscriptFile) == "transcript_file"
    assert mapper.table(BriefingRecord) == "briefing"


def test_json_takes_what_orjson_refuses() -> None:
    """Integers past 64 bits and lone surrogates are written so that they can be read again."""
    assert load(dump({"n": 2**70, 1: "x"})) == {"n": pytest.approx(2**70), "1": "x"}
    assert load(dump({"s": "a\ud800b"})) == {"s": "a?b"}
    assert load(dump(("é", {"a"}))) == ["é", ["a"]]


def test_a_class_that_no_column_can_hold_is_a_defect() -> None:
    """An unknown type of field is noticed when the class is first used."""
    from dataclasses import dataclass

    @dataclass(frozen=True)
    class Odd:
        id: complex

    with pytest.raises(Defect):
        mapper.mapping_of(Odd)


def test_sqlite_keeps_the_types_that_it_was_given(data: Path, sqlite_db: Db) -> None:
    """Booleans are 0 and 1, mappings JSON text, vectors blobs: readable by any SQLite program."""
    with sqlite_db.write() as tx:
        mapper.insert(tx, replace(message(1), is_error=True))
    with closing(apsw.Connection(str(data / "flywheel.db"))) as other:
        row = other.execute("SELECT is_error, meta, role, typeof(created_at) FROM message").fetchone()
    assert row == (1, '{"files":["a.py"],"exit":1}', "user", "integer")
    assert MessageId(message(1).id) == message(1).id
