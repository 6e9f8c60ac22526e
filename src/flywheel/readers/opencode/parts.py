"""Rows of the first generation, one a part of a message: ``part``, ``message`` and ``session`` joined (FORMATS §4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from flywheel.readers.fields import mapping_of, micros_of, native, text_of, true, unbriefed
from flywheel.readers.opencode import said
from flywheel.readers.opencode.decode import bare, decoded
from flywheel.readers.opencode.ledger import Ledger, Turn, kind_of, title_of
from flywheel.readers.opencode.tools import call_and_result
from flywheel.readers.seam import Draft, Record, SessionFacts

TABLE: Final = "part"
_SHORT: Final = 600
ERROR_STEP: Final = 2  # places after the last part's first draft

QUIET: Final = frozenset({"step-start", "step-finish", "snapshot", "agent", "file", "compaction", "todo"})
"""Parts without anything to keep."""


class Message:
    """What a row tells of its message: the ``about`` column, decoded once for the rows that share it."""

    def __init__(self) -> None:
        self._text: object = None
        self._fields: Mapping[str, Any] = {}
        self.model = ""
        self.over = False  # completed, or broken off

    def of(self, row: Record) -> Mapping[str, Any]:
        """The message's own object."""
        text = row.get("about")
        if text is not self._text and text != self._text:
            fields = self._fields = decoded(text)
            self._text, self.model = text, text_of(fields.get("modelID"))[:120]
            self.over = "error" in fields or bool(mapping_of(fields.get("time")).get("completed"))
        return self._fields


def part(on: Ledger, row: Record, message: Message) -> None:
    """A part of a message, when it is finished; or a message that has none."""
    about, text = message.of(row), row.get("data")
    error = about.get("error")
    if isinstance(text, str) and len(text) < _SHORT and '"type":"step-' in text and not error:
        return  # every third part, and nothing in it
    turn = enter(on, row, TABLE, message.model)
    if turn is None:
        return
    data = decoded(text)
    kind = data.get("type")
    handler = _HANDLERS.get(kind) if isinstance(kind, str) else None
    if handler is not None:
        handler(on, turn, row, data, about, message.over or flag(row.get("later")))
    elif text is not None and (not isinstance(kind, str) or kind not in QUIET):
        on.count(kind_of(TABLE, kind))
    if error and row.get("last") != 0:
        on.put(turn, "error", [said.failure(error, ERROR_STEP)])


def enter(on: Ledger, row: Record, table: str, model: str) -> Turn | None:
    """The turn of a row, its session's facts taken in; None for a row that says not whose it is."""
    session, message = native(row.get("session")), native(row.get("message"))
    if not session or not message:
        on.count(kind_of(table, "stray"))
        return None
    at = on.date(row.get("made"))
    told = (session, model or (on.told[1] if session == on.told[0] else ""), row.get("facts"))
    if told != on.told:  # nearly every row says what the one before it said
        on.told = told
        on.child = _learn(on, *told)
    on.passed(session, at)
    reverted, again = flag(row.get("reverted")), flag(row.get("again"))
    return Turn(session, message, at, _count(row.get("place")), table, on.child, reverted, again)


def _learn(on: Ledger, session: str, model: str, column: object) -> bool:
    """Take in what a row tells of its session; whether another session started that one."""
    facts = decoded(column)
    parent = native(facts.get("parent"))
    on.learn(
        SessionFacts(
            native_id=session,
            parent=parent,
            title=title_of(facts.get("title")),
            cwd=text_of(facts.get("directory"))[:4096],
            version=text_of(facts.get("version"))[:60],
            forked_from=native(facts.get("forked")),
            model=model,
            started_at=micros_of(facts.get("began")),
        )
    )
    return parent != ""


def _count(value: object) -> int:
    return value if type(value) is int and value > 0 else 0


def flag(value: object) -> bool:
    """A truth value as SQLite gives it."""
    return value == 1 and isinstance(value, int)


def _text(on: Ledger, turn: Turn, row: Record, data: Mapping[str, Any], about: Mapping[str, Any], over: bool) -> None:
    text, name = unbriefed(text_of(data.get("text"))), native(row.get("id"))
    if true(data.get("synthetic")) or true(data.get("ignored")):
        return
    first = flag(row.get("first"))
    if about.get("role") == "user":
        suffix = "" if first else f"u{name}"
        on.put(turn, name, [said.prompt(text, child=turn.child, images=_count(row.get("images")), suffix=suffix)])
    elif over or mapping_of(data.get("time")).get("end"):
        if about.get("summary") is True:
            turn = replace(turn, message=native(about.get("parentID")) or turn.message)
            on.put(turn, name, [said.summary(text, "summary" if first else f"u{name}")])
        else:
            on.put(turn, name, [said.reply(text)])


def _thought(
    on: Ledger, turn: Turn, row: Record, data: Mapping[str, Any], about: Mapping[str, Any], over: bool
) -> None:
    if over or mapping_of(data.get("time")).get("end"):
        on.put(turn, native(row.get("id")), [said.thought(unbriefed(text_of(data.get("text"))))])


def _tool(on: Ledger, turn: Turn, row: Record, data: Mapping[str, Any], about: Mapping[str, Any], over: bool) -> None:
    name = native(row.get("id"))
    call_id = native(data.get("callID")) or name
    on.put(turn, name, call_and_result(native(data.get("tool")), call_id, mapping_of(data.get("state")), over=over))


def _other(make: Callable[[Mapping[str, Any]], Draft]) -> Callable[..., None]:
    def put(on: Ledger, turn: Turn, row: Record, data: Mapping[str, Any], about: Mapping[str, Any], over: bool) -> None:
        on.put(turn, native(row.get("id")), [make(bare(data))])

    return put


_HANDLERS: Final[Mapping[str, Callable[..., None]]] = {
    "text": _text,
    "reasoning": _thought,
    "tool": _tool,
    "retry": _other(said.retry),
    "subtask": _other(said.task),
    "patch": _other(lambda data: said.patch(data.get("files"))),
}
