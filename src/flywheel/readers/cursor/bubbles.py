"""The messages of Cursor's editor ("bubbles") and what its conversations ("composers") say of themselves.

A message is known by its conversation, a digest of its words, and which of the messages with these words it is; so it
has the key that the transcript of the same conversation gives it. A message whose words changed is another one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson

from flywheel.model import MessageKind, Role
from flywheel.readers.cursor.ide_sql import ABOUT, PIECES
from flywheel.readers.cursor.places import path_of
from flywheel.readers.cursor.shelf import Shelf
from flywheel.readers.cursor.spoken import plain, said
from flywheel.readers.cursor.tools import call_of, former_of, tool_name
from flywheel.readers.fields import (
    clip,
    kind_name,
    list_of,
    mapping_of,
    micros_of,
    native,
    text_of,
    true,
    unbriefed,
    whole,
)
from flywheel.readers.seam import Record

_STRAYS: Final = 2**32  # places of messages that no list holds
_LATEST: Final = 2**40
_AUTOMATIC: Final = "default"  # the model that the editor picks
_ASSISTANT, _TOOL = Role.ASSISTANT, Role.TOOL  # looked up once: an enumeration's members are slow to get at
_REPLY, _TOOL_CALL, _TOOL_RESULT = MessageKind.REPLY, MessageKind.TOOL_CALL, MessageKind.TOOL_RESULT
_SPOKEN: Final = ("type", "text", "rawText", "modelType", "id")


def composer(on: Shelf, record: Record) -> None:
    """What a conversation says of itself."""
    session, about = native(record.get("composer")), _pieces(record.get("value"), ABOUT)
    if not session or not about:
        on.count("composer.unreadable")
        return
    children = [*list_of(about["subagentComposerIds"]), *list_of(about["subComposerIds"])]
    for child in filter(None, map(native, children)):
        on.descends(child, session)
        on.facts(child).parent = on.facts(child).parent or session
    if parent := native(about["subagentInfo.parentComposerId"]):
        on.descends(session, parent)
    facts = on.facts(session)
    facts.parent = facts.parent or parent or on.parents.get(session, "")
    facts.title = _line(about["name"]) or facts.title
    cwd = path_of(text_of(about["workspaceIdentifier.uri.fsPath"])) or on.folder
    facts.cwd = facts.cwd or cwd
    if not cwd and not facts.parent:
        facts.extra["folder_unknown"] = True  # it shares the file with conversations of other folders
    facts.branch = text_of(about["createdOnBranch"])[:250] or facts.branch
    facts.model = _model(about["modelConfig.modelName"]) or facts.model
    began, last = micros_of(about["createdAt"]), micros_of(about["lastUpdatedAt"])
    if about["fullConversationHeadersOnly[0].type"] is not None or about["conversation[0].type"] is not None:
        facts.span(began, began if last is None else last)


def bubble(on: Shelf, record: Record) -> None:
    """One message, or a call and what it gave."""
    session, name = native(record.get("composer")), native(record.get("bubble"))
    if not session or not name or record.get("open"):
        return  # what is still being written comes again
    pieces = _decoded(record.get("value"))
    if not isinstance(pieces, list) or len(pieces) != len(PIECES):
        on.count("bubble.unreadable")
        return
    kind, text, raw, created, clock, thinking, model, tool, call_id, *call, folder, uri, summary = pieces  # in order
    _date(on, session, created, clock, record)
    drafts = on.drafts
    before = len(drafts)
    slot = 2 * _place(record) + (_STRAYS if record.get("table") == "orphan" else 0)
    if tool or call_id:
        _tool(on, session, name, slot, tool_name(tool), native(call_id) or name, call, record.get("result"))
    elif kind == 1:
        _prompt(on, session, name, slot, text_of(text) or text_of(raw), record.get("images"))
    elif kind == 2:
        _reply(on, session, name, slot, text_of(text) or text_of(raw), thinking, summary)
    else:
        on.count(f"bubble.{kind_name(str(kind))}")
    _learn(on, session, model, folder, uri)
    on.settle(session, name, [draft.key for draft in drafts[before:]], live=bool(record.get("live")))


def listed(on: Shelf, record: Record) -> None:
    """The messages that a conversation holds: others of its own were taken back."""
    session, names = native(record.get("composer")), _decoded(record.get("value"))
    if session and isinstance(names, list):
        on.compare(session, {native(name) for name in names})


def workspace(on: Shelf, record: Record) -> None:
    """A conversation that this workspace knows: so its folder is known."""
    session, title = native(record.get("composer")), _line(record.get("name"))
    if session and on.folder and title:
        facts = on.facts(session)
        facts.title, facts.cwd = title, facts.cwd or on.folder
        facts.span(micros_of(record.get("began")), None)


def chat(on: Shelf, record: Record) -> None:
    """A message of the oldest editors."""
    session, parts = native(record.get("tab")), _pieces(record.get("value"), _SPOKEN)
    if not session or not parts:
        on.count("chat.unreadable")
        return
    last = micros_of(record.get("last"))
    on.at = on.fallback if last is None else last
    text, slot = text_of(parts["text"]) or text_of(parts["rawText"]), 2 * _place(record)
    name = native(parts["id"]) or str(slot)
    if parts["type"] == "user":
        _prompt(on, session, name, slot, text, record.get("images"))
    elif parts["type"] in ("ai", "assistant"):
        words = plain(text)
        on.add(on.key(session, "r", words, name), slot, Role.ASSISTANT, MessageKind.REPLY, words)
    else:
        on.count(f"chat.{kind_name(parts['type'])}")
        return
    facts = on.facts(session)
    facts.title = _line(record.get("title")) or facts.title
    facts.cwd = facts.cwd or on.folder
    facts.model = _model(parts["modelType"]) or facts.model
    facts.span(on.at, on.at)


def _date(on: Shelf, session: str, created: object, clock: object, record: Record) -> None:
    """When a message was written: it says so, or like the one before it, or when its conversation began."""
    at = micros_of(created)
    if at is None and isinstance(clock, (int, float)) and clock > 1e12:  # else it counts from the editor's start
        at = micros_of(clock)
    if at is None and on.current != session:
        at = micros_of(record.get("began"))
        at = on.fallback if at is None else at
    on.at = on.at if at is None else at
    on.current = session


def _prompt(on: Shelf, session: str, name: str, slot: int, text: str, images: object) -> None:
    turn = said(unbriefed(text))
    count = whole(images) or 0
    if not turn.text and not count:
        return
    meta: dict[str, object] = {"images": count} if count else {}
    key = on.key(session, "p", turn.text, name)
    if session in on.parents:
        on.add(key, slot, Role.ASSISTANT, MessageKind.NOTICE, turn.text, meta={**meta, "notice": "task"})
    else:
        on.add(key, slot, Role.USER, MessageKind.PROMPT, turn.text, meta=meta, empty=count > 0)


def _reply(on: Shelf, session: str, name: str, slot: int, text: str, thinking: object, summary: object) -> None:
    thought = text_of(thinking) or text_of(mapping_of(thinking).get("text"))
    if thought and not thought.isspace():
        key = on.key(session, "t", thought, name)
        on.add(key, slot, Role.ASSISTANT, MessageKind.THINKING, thought)
    words = plain(text)
    if words:
        kind, letter = (MessageKind.SUMMARY, "s") if true(summary) else (_REPLY, "r")
        on.add(on.key(session, letter, words, name), slot + 1, _ASSISTANT, kind, words)


def _tool(
    on: Shelf, session: str, name: str, slot: int, tool: str, call_id: str, call: Sequence[object], result: object
) -> None:
    """A call (raw arguments, parameters, status, error) and what it gave."""
    raw, params, status, error = call
    arguments = _object(params) if params == raw or not raw else {**_object(params), **_object(raw)}
    text, meta, gist, own = call_of(tool, arguments)
    key = on.key(session, "c", gist, name)
    on.add(key, slot, _ASSISTANT, _TOOL_CALL, text, tool=tool, call_id=call_id, meta=meta, empty=True)
    told = None if own else former_of({"name": tool, "status": status, "error": error, "result": result})
    if told is None:
        return
    text, meta, failed = told
    key, kind = (session, "result", call_id), _TOOL_RESULT
    on.add(key, slot + 1, _TOOL, kind, text, tool=tool, call_id=call_id, meta=meta, failed=failed, empty=True)


def _learn(on: Shelf, session: str, model: object, project: object, opened: object) -> None:
    """What a message tells of its conversation: its model, its folder's place among Cursor's own, and its folder."""
    facts = on.facts(session)
    if not facts.parent and on.parents:
        facts.parent = on.parents.get(session, "")
    if model:
        facts.model = _model(model) or facts.model
    facts.span(on.at, on.at)
    folder, uri = text_of(project), text_of(opened)
    if not folder and not uri:
        return
    if "/.cursor/projects/" in folder:  # where Cursor keeps what belongs to the folder
        facts.extra["folder_slug"] = folder.rstrip("/").rpartition("/")[2][:1000]
        folder = ""
    facts.cwd = facts.cwd or path_of(uri) or path_of(folder)


def _place(record: Record) -> int:
    place = record.get("position")
    return place if type(place) is int and 0 <= place <= _LATEST else min(max(whole(place) or 0, 0), _LATEST)


def _line(value: object) -> str:
    return clip(" ".join(text_of(value).split()), 120)


def _model(value: object) -> str:
    name = text_of(value)[:120]
    return "" if name == _AUTOMATIC else name


def _pieces(value: object, names: Sequence[str]) -> dict[str, Any]:
    """The pieces by name; {} when the value was none, or broken."""
    pieces = _decoded(value)
    return dict(zip(names, pieces, strict=True)) if isinstance(pieces, list) and len(pieces) == len(names) else {}


def _decoded(value: object) -> object:
    """What a column's JSON holds; None when it is none, or broken."""
    try:
        return orjson.loads(value) if isinstance(value, str) else None
    except orjson.JSONDecodeError:
        return None


def _object(value: object) -> Mapping[str, Any]:
    """An object, or its JSON as a string."""
    if isinstance(value, str) and value:
        try:
            return mapping_of(orjson.loads(value))
        except orjson.JSONDecodeError:
            return {"input": value}
    return mapping_of(value)
