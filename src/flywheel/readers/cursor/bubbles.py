"""The messages of Cursor's editor ("bubbles") and what its conversations ("composers") say of themselves.

A message is known by its conversation, a digest of its words, and which of the messages with these words it is; so it
has the key that the transcript of the same conversation gives it. A message whose words changed is another one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson

from flywheel.model import MessageKind, Micros, Role
from flywheel.readers.cursor.ide_sql import ABOUT, PIECES
from flywheel.readers.cursor.places import path_of
from flywheel.readers.cursor.shelf import FENCE, Shelf
from flywheel.readers.cursor.spoken import plain, said
from flywheel.readers.cursor.tools import call_of, former_of, tool_name
from flywheel.readers.fields import clip, kind_name, list_of, mapping_of, micros_of, native, text_of, true, whole
from flywheel.readers.seam import Record
from flywheel.text.compose import strip_injected

_STRAYS: Final = 2**32  # places of messages that no list holds
_LATEST: Final = 2**40
_AUTOMATIC: Final = "default"  # the model that the editor picks
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
    found = _pieces(record.get("value"), PIECES)
    if not found:
        on.count("bubble.unreadable")
        return
    _date(on, session, found, record)
    before = len(on.drafts)
    slot = 2 * _place(record) + (_STRAYS if record.get("table") == "orphan" else 0)
    if found["toolFormerData.name"] or found["toolFormerData.toolCallId"]:
        _tool(on, session, name, slot, found, record.get("result"))
    elif found["type"] == 1:
        _prompt(on, session, name, slot, text_of(found["text"]) or text_of(found["rawText"]), record.get("images"))
    elif found["type"] == 2:
        _reply(on, session, name, slot, found)
    else:
        on.count(f"bubble.{kind_name(str(found['type']))}")
    _learn(on, session, found)
    on.settle(session, name, [draft.key for draft in on.drafts[before:]], live=bool(record.get("live")))


def listed(on: Shelf, record: Record) -> None:
    """The messages that a conversation holds: others of its own were taken back."""
    session, value = native(record.get("composer")), record.get("value")
    try:
        names = orjson.loads(value) if isinstance(value, str) else None
    except orjson.JSONDecodeError:
        return
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


def _date(on: Shelf, session: str, found: Mapping[str, Any], record: Record) -> None:
    """When a message was written: it says so, or like the one before it, or when its conversation began."""
    at, clock = micros_of(found["createdAt"]), found["timingInfo.clientStartTime"]
    if at is None and isinstance(clock, (int, float)) and clock > 1e12:  # else it counts from the editor's start
        at = micros_of(clock)
    if at is None and on.current != session:
        at = micros_of(record.get("began"))
        at = Micros(on.fallback) if at is None else at
    on.at = on.at if at is None else at
    on.current = session


def _prompt(on: Shelf, session: str, name: str, slot: int, text: str, images: object) -> None:
    turn = said(strip_injected(text) if FENCE in text else text)
    count = whole(images) or 0
    if not turn.text and not count:
        return
    meta: dict[str, object] = {"images": count} if count else {}
    key = on.key(session, "p", turn.text, name)
    if session in on.parents:
        on.add(key, slot, Role.ASSISTANT, MessageKind.NOTICE, turn.text, meta={**meta, "notice": "task"})
    else:
        on.add(key, slot, Role.USER, MessageKind.PROMPT, turn.text, meta=meta, empty=count > 0)


def _reply(on: Shelf, session: str, name: str, slot: int, found: Mapping[str, Any]) -> None:
    thinking = found["thinking"]
    thought = text_of(thinking) or text_of(mapping_of(thinking).get("text"))
    if thought.strip():
        key = on.key(session, "t", thought, name)
        on.add(key, slot, Role.ASSISTANT, MessageKind.THINKING, thought)
    words = plain(text_of(found["text"]) or text_of(found["rawText"]))
    if words:
        kind, letter = (MessageKind.SUMMARY, "s") if true(found["isSummary"]) else (MessageKind.REPLY, "r")
        on.add(on.key(session, letter, words, name), slot + 1, Role.ASSISTANT, kind, words)


def _tool(on: Shelf, session: str, name: str, slot: int, found: Mapping[str, Any], result: object) -> None:
    tool, call_id = tool_name(found["toolFormerData.name"]), native(found["toolFormerData.toolCallId"]) or name
    params, raw = found["toolFormerData.params"], found["toolFormerData.rawArgs"]
    arguments = _decoded(params) if params == raw or not raw else {**_decoded(params), **_decoded(raw)}
    text, meta, gist, own = call_of(tool, arguments)
    key = on.key(session, "c", gist, name)
    kind = MessageKind.TOOL_CALL
    on.add(key, slot, Role.ASSISTANT, kind, text, tool=tool, call_id=call_id, meta=meta, empty=True)
    data = {"name": tool, "status": found["toolFormerData.status"], "error": found["toolFormerData.error"]}
    told = None if own else former_of({**data, "result": result})
    if told is None:
        return
    text, meta, failed = told
    key, kind = (session, "result", call_id), MessageKind.TOOL_RESULT
    on.add(key, slot + 1, Role.TOOL, kind, text, tool=tool, call_id=call_id, meta=meta, failed=failed, empty=True)


def _learn(on: Shelf, session: str, found: Mapping[str, Any]) -> None:
    """What a message tells of its conversation."""
    facts = on.facts(session)
    facts.parent = facts.parent or on.parents.get(session, "")
    facts.model = _model(found["modelInfo.modelName"]) or facts.model
    facts.span(on.at, on.at)
    folder, uri = text_of(found["workspaceProjectDir"]), text_of(found["workspaceUris[0]"])
    if not folder and not uri:
        return
    if "/.cursor/projects/" in folder:  # where Cursor keeps what belongs to the folder
        facts.extra["folder_slug"] = folder.rstrip("/").rpartition("/")[2][:1000]
        folder = ""
    facts.cwd = facts.cwd or path_of(uri) or path_of(folder)


def _place(record: Record) -> int:
    return min(max(whole(record.get("position")) or 0, 0), _LATEST)


def _line(value: object) -> str:
    return clip(" ".join(text_of(value).split()), 120)


def _model(value: object) -> str:
    name = text_of(value)[:120]
    return "" if name == _AUTOMATIC else name


def _pieces(value: object, names: Sequence[str]) -> dict[str, Any]:
    """The pieces by name; {} when the value was none, or broken."""
    if not isinstance(value, str):
        return {}
    try:
        pieces = orjson.loads(value)
    except orjson.JSONDecodeError:
        return {}
    return dict(zip(names, pieces, strict=True)) if isinstance(pieces, list) and len(pieces) == len(names) else {}


def _decoded(value: object) -> Mapping[str, Any]:
    if isinstance(value, str) and value:
        try:
            return mapping_of(orjson.loads(value))
        except orjson.JSONDecodeError:
            return {"input": value}
    return mapping_of(value)
