"""Rows of the session tables of both generations: titles, usage, archiving, and which messages are still there."""

from __future__ import annotations

from typing import Final

import orjson

from flywheel.model import Micros
from flywheel.readers.fields import micros_of, native, text_of, whole
from flywheel.readers.opencode.decode import decoded
from flywheel.readers.opencode.ledger import Ledger, kind_of, title_of
from flywheel.readers.seam import Record, SessionFacts

TABLES: Final = {"session": "part", "session_v2": "session_message"}
"""Record tables of sessions, and those of their messages."""

_USAGE: Final = (
    ("input", "tokens_input"),
    ("output", "tokens_output"),
    ("reasoning", "tokens_reasoning"),
    ("cache_read", "tokens_cache_read"),
    ("cache_write", "tokens_cache_write"),
)


def session(on: Ledger, row: Record) -> None:
    """What a session's row tells; one without messages has not begun."""
    name, table = native(row.get("session")), str(row.get("table"))
    if not name:
        on.count(kind_of(table, "stray"))
        return
    live = _live(row.get("live"))
    at = on.date(row.get("changed"))
    on.live(name, TABLES[table], live, at)
    if not live and not on.knows(name):
        return
    archived = micros_of(row.get("archived"))
    on.learn(
        SessionFacts(
            native_id=name,
            parent=native(row.get("parent")),
            title=title_of(row.get("title")),
            cwd=text_of(row.get("directory"))[:4096],
            model=text_of(decoded(row.get("model")).get("id"))[:120],
            version=text_of(row.get("version"))[:60],
            forked_from=native(row.get("forked")),
            started_at=micros_of(row.get("began")) or at,
            ended_at=archived,
            extra=_extra(row, archived),
        )
    )


def _live(column: object) -> list[object]:
    try:
        value = orjson.loads(column) if isinstance(column, str) else column
    except orjson.JSONDecodeError:
        value = None
    return value if isinstance(value, list) else []


def _extra(row: Record, archived: Micros | None) -> dict[str, object]:
    extra: dict[str, object] = {}
    usage = {name: count for name, column in _USAGE if (count := whole(row.get(column)))}
    if usage:
        extra["usage"] = usage
    cost = row.get("cost")
    if isinstance(cost, (int, float)) and not isinstance(cost, bool) and 0 < cost < 1e9:
        extra["cost"] = round(cost, 6)
    agent = native(row.get("agent"))
    if agent:
        extra["agent_type" if row.get("parent") else "mode"] = agent[:80]
    if archived is not None:
        extra["archived"] = True
    return extra
