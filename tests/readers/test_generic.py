"""Plain JSON: every shape of content, role and time, identity with and without ids, and what is wrong by its path."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.harvest.harvesting import NOW, everything, make_deps

from flywheel.errors import BadInput
from flywheel.harvest import worker
from flywheel.harvest.discover import locate
from flywheel.model import Job, Message, MessageKind, Micros, Retraction, Role, Session
from flywheel.readers import READERS, Parsed, Place, Retracted
from flywheel.readers.generic.parse import identity
from flywheel.store import Db, mapper

DOCUMENT, LINES = READERS["generic"], READERS["generic-lines"]


def read(*records: dict[str, Any], again: bool = False, lines: bool = False) -> Parsed:
    """Records of one file."""
    reader = LINES if lines else DOCUMENT
    return reader.parse(reader.start(Place(again=again), at=Micros(7)), records)


def talk(*messages: object, **more: object) -> dict[str, Any]:
    """A conversation."""
    return {"messages": list(messages), **more}


def user(text: object = "Use tabs.", **more: object) -> dict[str, Any]:
    """A message of a person."""
    return {"role": "user", "content": text, **more}


@pytest.mark.parametrize(
    ("names", "role", "kind"),
    [
        ("user human Human", Role.USER, MessageKind.PROMPT),
        ("assistant ai model bot ASSISTANT", Role.ASSISTANT, MessageKind.REPLY),
        ("system developer", Role.SYSTEM, MessageKind.NOTICE),
        ("tool function", Role.TOOL, MessageKind.TOOL_RESULT),
    ],
)
def test_roles_have_many_names(names: str, role: Role, kind: MessageKind) -> None:
    """Whatever a program calls them."""
    for name in names.split():
        (draft,) = read(talk({"role": name, "content": "x"})).drafts
        assert (draft.role, draft.kind) == (role, kind)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("one", "one"),
        (["one", "two"], "one\n\ntwo"),
        ([{"type": "text", "text": "one"}, {"type": "output_text", "text": "two"}], "one\n\ntwo"),
        ({"parts": ["one", {"text": "two"}]}, "one\n\ntwo"),
        ({"content_type": "text", "parts": ["one"]}, "one"),
        ({"text": "one"}, "one"),
        ([{"type": "image_url", "image_url": {"url": "data:"}}, "one"], "one"),
    ],
)
def test_content_has_many_shapes(content: object, text: str) -> None:
    """A text, a list of texts or parts, an object with parts."""
    assert [draft.text for draft in read(talk(user(content))).drafts] == [text]


def test_nothing_said_is_nothing() -> None:
    """null, an empty list, and an image alone."""
    assert read(talk(user(None), user([]), user(""), user([{"type": "image"}]))).drafts == ()


@pytest.mark.parametrize(
    ("time", "at"),
    [
        (1_772_355_600, 1_772_355_600_000_000),
        (1_772_355_600.25, 1_772_355_600_250_000),
        (1_772_355_600_250, 1_772_355_600_250_000),
        ("1772355600", 1_772_355_600_000_000),
        ("2026-03-01T09:00:00Z", 1_772_355_600_000_000),
        ("2026-03-01T10:00:00+01:00", 1_772_355_600_000_000),
        ("2026-03-01 09:00:00", 1_772_355_600_000_000),
        (None, 7),
        ("yesterday", 7),
        (True, 7),
    ],
)
def test_times_have_many_forms(time: object, at: int) -> None:
    """Seconds, milliseconds, ISO with a zone and without, and none: then it is when the file was written."""
    for key in ("timestamp", "created_at"):
        assert [draft.created_at for draft in read(talk(user(**{key: time}))).drafts] == [at]


def test_order_counts_where_no_time_is() -> None:
    """A message without a time has that of the one before it, and comes after it."""
    drafts = read(talk(user("a", timestamp=10), user("b"), user("c", timestamp=5))).drafts
    assert [(draft.ordinal, draft.created_at) for draft in drafts] == [(0, 10_000_000), (1, 10_000_000), (2, 5_000_000)]


@pytest.mark.parametrize("head", [{"id": "c-1"}, {"uuid": "c-1"}, {"metadata": {"id": "c-1"}}, {"id": 17}])
def test_a_conversation_has_an_id_of_its_own(head: dict[str, Any]) -> None:
    """``id``, ``uuid`` or ``metadata.id``; a number too."""
    assert list(read(talk(user(), **head)).sessions) == [str(head.get("id") or "c-1")]


def test_without_an_id_it_is_what_was_said() -> None:
    """SHA-256 of its canonical messages: the same in any spelling, as a document, a list, and lines."""
    messages = [user("a", name="Kim"), {"content": "b", "role": "assistant"}]
    swapped = [dict(reversed(message.items())) for message in messages]
    assert list(read(talk(*messages)).sessions) == list(read(*swapped).sessions) == [identity(messages)]
    assert list(read(talk(*messages), lines=True).sessions) == [identity(messages)]


def test_a_conversation_that_goes_on_keeps_its_messages() -> None:
    """Exported again with more in it and no ids at all, what was said before has the same key."""
    short, long = talk(user("a"), user("b")), talk(user("a"), user("b"), user("c"))
    before, after = ([draft.key for draft in read(one).drafts] for one in (short, long))
    assert after[:2] == before
    other = [draft.key for draft in read(talk(user("z"), user("b"))).drafts]
    assert not {*before} & {*other}


def test_an_edited_message_takes_the_place_of_the_former() -> None:
    """Of a conversation with an id that is read again, only what is in it now holds."""
    keys = [draft.key for draft in read(talk(user("a"), id="c")).drafts]
    parsed = read(talk(user("b"), id="c"), again=True)
    assert [draft.key for draft in parsed.drafts] != keys
    (gone, back) = parsed.retracted
    assert isinstance(gone, Retracted) and gone.keep == [draft.key for draft in parsed.drafts]
    assert back.keys == gone.keep


def test_the_same_conversation_twice_among_lines_is_the_later_one() -> None:
    """A log that writes a conversation down whenever it changed."""
    parsed = read(talk(user("a"), id="c"), talk(user("b"), id="d"), talk(user("a"), user("x"), id="c"), lines=True)
    assert [item.session for item in parsed.retracted] == ["c", "c"]
    assert parsed.sessions["c"].title == "a"


def test_tool_calls_of_every_shape() -> None:
    """OpenAI's, Anthropic's, the old function call, and a plain name with arguments; each result finds its call."""
    calls: list[dict[str, Any]] = [
        {
            "tool_calls": [
                {"id": "1", "type": "function", "function": {"name": "run", "arguments": '{"command": "ls"}'}}
            ]
        },
        {"tool_calls": [{"name": "run", "args": {"command": "ls"}}]},
        {"function_call": {"name": "run", "arguments": '{"command": "ls"}'}},
        {"content": [{"type": "tool_use", "id": "1", "name": "run", "input": {"command": "ls"}}]},
        {"content": [{"type": "tool-call", "toolCallId": "1", "toolName": "run", "args": {"command": "ls"}}]},
    ]
    for call in calls:
        (draft,) = read(talk({"role": "assistant", "content": None, **call})).drafts
        assert (draft.kind, draft.tool, draft.text, draft.meta) == (
            MessageKind.TOOL_CALL,
            "run",
            "ls",
            {"command": "ls"},
        )
    result = {"role": "tool", "tool_call_id": "1", "content": [{"type": "text", "text": "no"}], "is_error": True}
    (_, draft) = read(talk({"role": "assistant", **calls[0]}, result)).drafts
    assert (draft.tool, draft.call_id, draft.text, draft.is_error) == ("run", "1", "no", True)


def test_our_own_answers_do_not_come_back() -> None:
    """Results of our tools are left out, by name and by call."""
    call = {"role": "assistant", "tool_calls": [{"id": "1", "name": "mcp__flywheel__recall", "args": {}}]}
    results = (
        {"role": "tool", "tool_call_id": "1", "content": "moon"},
        {"role": "tool", "name": "mcp__flywheel__get", "content": "moon"},
    )
    assert not any("moon" in draft.text for draft in read(talk(call, *results)).drafts)


def test_what_is_not_known_is_kept() -> None:
    """Keys of messages in their meta, keys of conversations in the session's facts."""
    parsed = read(talk(user(mood="calm", name="Kim"), title="T", colour="red", metadata={"team": 4, "agent": "bot"}))
    assert parsed.drafts[0].meta == {"name": "Kim", "input": {"mood": "calm"}}
    (facts,) = parsed.sessions.values()
    assert facts.extra == {"colour": "red", "team": 4, "agent": "bot"}


@pytest.mark.parametrize("deep", [260, 900])
def test_a_deep_message_is_survived(deep: int) -> None:
    """Nesting that some encoders refuse costs nobody the rest."""
    odd = json.loads('{"a":' * deep + "1" + "}" * deep)
    assert [draft.text for draft in read(talk(user("a", odd=odd), user("b"))).drafts] == ["a", "b"]


def file(folder: Path, value: object, name: str = "talk.json") -> Path:
    """A file that nobody has touched for long."""
    path = folder / name
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    os.utime(path, (1_772_800_000, 1_772_800_000 + path.stat().st_size))
    return path


def imported(db: Db, data: Path, path: Path) -> None:
    """Import a file as a person does."""
    (found,) = locate(str(path)).found
    job = Job(
        id="j", kind="harvest", key=found.path, project_id=None, payload={"agent": found.agent, "reader": found.reader},
        run_after=NOW, created_at=NOW, updated_at=NOW, attempts=1,
    )  # fmt: skip
    worker.run(job, make_deps(db, data))


def rows(db: Db, cls: type[Any], tail: str = "") -> list[Any]:
    """Rows of a table."""
    with db.read() as tx:
        return mapper.find(tx, cls, tail)


def test_a_file_is_imported_once_whatever_it_is_called(sqlite_db: Db, data: Path, tmp_path: Path) -> None:
    """By its records alone, with a BOM, twice, and as a copy of another name."""
    value = "\ufeff" + json.dumps(talk(user("a"), user("b"), metadata={"cwd": str(tmp_path / "app")}), indent=2)
    imported(sqlite_db, data, file(tmp_path, value, "odd.name"))
    before = everything(sqlite_db)
    assert (len(before["message"]), len(before["session"])) == (2, 1)
    imported(sqlite_db, data, tmp_path / "odd.name")
    assert everything(sqlite_db) == before
    imported(sqlite_db, data, file(tmp_path, value, "copy.json"))
    assert everything(sqlite_db)["message"] == before["message"]
    (session,) = rows(sqlite_db, Session)
    assert session.cwd == str(tmp_path / "app")


def test_a_document_that_is_edited_takes_back_what_it_said(sqlite_db: Db, data: Path, tmp_path: Path) -> None:
    """Only of a conversation with an id of its own is it known that it is the same one."""
    path = file(tmp_path, talk(user("a"), user("b"), id="c"))
    imported(sqlite_db, data, path)
    file(tmp_path, talk(user("a"), user("better"), id="c"))
    imported(sqlite_db, data, path)
    gone = {row.message_id for row in rows(sqlite_db, Retraction)}
    assert {row.text: row.id in gone for row in rows(sqlite_db, Message)} == {"a": False, "b": True, "better": False}


def test_lines_grow(sqlite_db: Db, data: Path, tmp_path: Path) -> None:
    """Messages that are appended belong to the conversation that the file began with."""
    lines = [json.dumps(user(text)) + "\n" for text in ("a", "b", "c")]
    path = file(tmp_path, "".join(lines[:2]), "log.jsonl")
    imported(sqlite_db, data, path)
    file(tmp_path, "".join(lines), "log.jsonl")
    imported(sqlite_db, data, path)
    (session,) = rows(sqlite_db, Session)
    assert [row.text for row in rows(sqlite_db, Message, "ORDER BY ordinal")] == ["a", "b", "c"]
    assert session.messages == 3


@pytest.mark.parametrize(
    ("value", "field"),
    [
        (talk(user(), {"role": "wizard", "content": "x"}), "messages[1].role"),
        (talk(user(), {"content": "x"}), "messages[1].role"),
        (talk(user(5)), "messages[0].content"),
        (talk({"role": "user"}), "messages[0].content"),
        (talk(user(["a", 5])), "messages[0].content[1]"),
        (talk(user({"parts": [None]})), "messages[0].content.parts[0]"),
        (talk(user([{"type": "text"}])), "messages[0].content[0].text"),
        (talk(user(), "x"), "messages[1]"),
        (talk(user(timestamp="soon")), "messages[0].timestamp"),
        (talk(user(tool_calls={})), "messages[0].tool_calls"),
        (talk(user(name=5)), "messages[0].name"),
        (talk(user(), title=5), "title"),
        (talk(user(), metadata=[]), "metadata"),
        (talk(user(), metadata={"cwd": 5}), "metadata.cwd"),
        (talk(user(), id=[]), "id"),
        (talk(), "messages"),
        ({"messages": {"a": 1}}, "messages"),
        ([user(), user(5)], "[1].content"),
        ([talk(user()), talk(user(5))], "[1].messages[0].content"),
    ],
)
def test_what_is_almost_a_transcript_is_told_what_is_wrong(tmp_path: Path, value: object, field: str) -> None:
    """Whoever names a file hears the path of the field."""
    with pytest.raises(BadInput) as caught:
        locate(str(file(tmp_path, value)))
    assert caught.value.details["field"] == field
    assert f": {field} " in caught.value.message


def test_of_lines_the_line_is_named(tmp_path: Path) -> None:
    """The line, then the field."""
    text = "".join(json.dumps(one) + "\n" for one in (user(), user(), {"role": "elf", "content": "x"}))
    with pytest.raises(BadInput, match=r"line 3: role must be user"):
        locate(str(file(tmp_path, text, "log.jsonl")))


@pytest.mark.parametrize("value", [{"name": "app", "version": 1}, [1, 2], "words", {"rows": [{"a": 1}]}])
def test_other_json_is_no_transcript(tmp_path: Path, value: object) -> None:
    """A manifest is not almost a conversation."""
    with pytest.raises(BadInput, match="is not a transcript of"):
        locate(str(file(tmp_path, value)))


def test_a_large_document_is_one(tmp_path: Path) -> None:
    """One line of several megabytes; the beginning alone would be no JSON."""
    (found,) = locate(str(file(tmp_path, talk(*[user("word " * 200)] * 6000)))).found
    assert found.reader == "generic"
