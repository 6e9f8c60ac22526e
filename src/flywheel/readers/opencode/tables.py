"""The questions to opencode's databases: SQL over two generations of tables, by the columns there are (FORMATS §4).

Nearly every row is updated in place while a session runs, and no table has an index over when it was. Sessions are few
and say when they were last worked in; what changed is looked for in those of the last hours, then only the keys of it
are sorted, then the rows are read. The mark is when a row came to say what it says, in milliseconds times 2**20, plus
its place in the table, so that it is unique and rows of the same millisecond need not come again.

A row also changes when its message is completed, when a later message shows that it will never be (its process was
killed), when a person goes back to before it, and when that is undone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from flywheel.readers.opencode.ledger import LIVE
from flywheel.readers.seam import RowQuery

_STEP: Final = 6 * 3_600_000  # milliseconds that one step of the model may take, with all its tools
_CLOCK: Final = "CAST(unixepoch('subsec') * 1000 AS INTEGER)"  # a row from the future must not hide later ones
_LATE: Final = 10_000  # milliseconds: another process may commit what it wrote before the last row that was read
_FRESH: Final = 60_000
_EDIT: Final = 500  # milliseconds after its last message from which a session's change is an edit by the person
_UNDONE: Final = 400  # messages that an undone revert may bring back
PLACES: Final = 24
"""Ordinals of a message of few parts: a part that comes later takes nobody's place."""

_LARGE: Final = 1 << 20  # bytes
_LARGEST: Final = 32 << 20
_HEAVY: Final = "'$.url', '$.state.attachments', '$.state.metadata.output', '$.state.metadata.diff', '$.summary.diffs'"
_COMPLETED: Final = "(m.data ->> '$.time.completed') IS NOT NULL"
_NO_TALK: Final = "('idle', 'agent-switched', 'model-switched', 'location-switched')"

_EDGE: Final = f"""
edge(mark, ms, now) AS MATERIALIZED (
  SELECT mark, mark >> 20, now FROM (
    SELECT now, CASE WHEN (:after >> 20) > now - {_FRESH} THEN :after - ({_LATE} << 20) ELSE :after END AS mark
    FROM (SELECT {_CLOCK} AS now)
  )
)"""


def queries(tables: Mapping[str, Sequence[str]]) -> Sequence[RowQuery]:
    """The questions to a database with these tables; () when it is none of opencode's."""
    first = {"session", "message", "part"} <= tables.keys() and _has(tables, "part", "message_id", "data")
    second = _has(tables, "session_message", "session_id", "type", "seq", "data")
    owner = "session_v2" if "session_v2" in tables else "session"
    second = second and _has(tables, owner, "directory", "time_created")
    asked: list[RowQuery] = []
    if second:
        asked.append(_messages(tables, owner, first=first))
    if first:
        asked.append(_parts(tables, copied=second and owner == "session_v2"))
    if second and (owner == "session_v2" or not first):
        asked.append(_sessions(tables, owner, "session_v2", "session_message", but=""))
    if first:
        but = "s.id NOT IN (SELECT session_id FROM session_message)" if second and owner == "session_v2" else ""
        asked.append(_sessions(tables, "session", "session", "message", but=but))
    return asked


def _has(tables: Mapping[str, Sequence[str]], table: str, *columns: str) -> bool:
    return set(columns) <= set(tables.get(table, ()))


def _column(tables: Mapping[str, Sequence[str]], table: str, name: str, alias: str = "s") -> str:
    """A column, or NULL where a version of the table does not have it."""
    return f'{alias}."{name}"' if name in tables[table] else "NULL"


def _about(tables: Mapping[str, Sequence[str]], owner: str) -> str:
    """What each row tells of its session."""
    names = (("parent", "parent_id"), ("title", "title"), ("directory", "directory"), ("version", "version"),
             ("forked", "fork_session_id"), ("began", "time_created"))  # fmt: skip
    return ", ".join(f"{_column(tables, owner, column)} AS {name}" for name, column in names)


def _facts(tables: Mapping[str, Sequence[str]], owner: str) -> str:
    """The same as one object, which is the same text for all rows of a session."""
    names = (column.split(" AS ") for column in _about(tables, owner).split(", "))
    return "json_object(" + ", ".join(f"'{name}', {column}" for column, name in names) + ") AS facts"


def _json(column: str) -> str:
    """A JSON column without its heaviest values where it is large; NULL where it is too large all the same."""
    return (
        f"CASE WHEN octet_length({column}) <= {_LARGE} THEN {column}"
        f" WHEN octet_length({column}) <= {_LARGEST} AND json_valid({column}) THEN json_remove({column}, {_HEAVY}) END"
    )


def _when(alias: str) -> str:
    return f"ifnull(CAST({alias}.time_updated AS INTEGER), 0)"


def _went_back(tables: Mapping[str, Sequence[str]], owner: str, key: str) -> str:
    """The message (or part) to which a person went back, as the session has it."""
    revert = _column(tables, owner, "revert")
    return f"CASE WHEN json_valid({revert}) THEN {revert} ->> '$.{key}' END"


def _touched(tables: Mapping[str, Sequence[str]], owner: str, talk: str, order: str, rest: str) -> str:
    """Sessions that were worked in lately, and how.

    ``idle`` says that the last message by ``order`` is complete (``rest``) and that the session was changed after it.
    """
    return f"""
touched AS MATERIALIZED (
  SELECT s.id, {_when("s")} AS edited,
    {_went_back(tables, owner, "messageID")} AS back, {_went_back(tables, owner, "partID")} AS back_part,
    {_when("s")} > {_EDIT} + (SELECT max(m.time_updated) FROM {talk} m WHERE m.session_id = s.id) AND (
      SELECT {rest} FROM {talk} m WHERE m.session_id = s.id ORDER BY {order} LIMIT 1
    ) AS idle
  FROM {owner} s, edge
  WHERE max({_when("s")}, ifnull((
      SELECT {_when("m")} FROM {talk} m WHERE m.session_id = s.id ORDER BY {order} LIMIT 1
    ), 0)) >= edge.ms - {_STEP}
)"""


def _told(talk: str, answer: str, reverted: str, only: str = "1") -> str:
    """Messages with ``stir``: when something other than the row itself last changed what it says.

    ``next`` is when the message after it was made: it shows that one which is not completed never will be.
    """
    edited = f"(t.back IS NULL AND t.idle AND t.from_end <= {_UNDONE})"
    return f"""
told AS MATERIALIZED (
  SELECT t.*, t.next IS NOT NULL AS later, ifnull({reverted}, 0) AS reverted,
    ifnull(edge.ms > 0 AND {edited}, 0) AS again,
    max({_when("t")}, CASE WHEN {edited} OR ifnull({reverted}, 0) THEN t.edited ELSE 0 END,
      CASE WHEN t.next >= edge.ms AND EXISTS (
        SELECT 1 FROM {talk} m WHERE m.rowid = t.row AND {answer}
          AND CASE WHEN json_valid(m.data) THEN (m.data ->> '$.time.completed') IS NULL ELSE 1 END
      ) THEN t.next ELSE 0 END) AS stir
  FROM placed t, edge WHERE {only}
)"""


def _keyed(source: str, row: str, changed: str, more: str = "") -> str:
    """Marks of the rows that changed since, and nothing else of them, in order."""
    mark = f"(changed << 20) | ({row} & 1048575)"
    return f"""
moved AS (SELECT {row} AS row, t.base, t.later, t.again{more}, min(edge.now, {changed}) AS changed FROM {source}),
keyed AS MATERIALIZED (
  SELECT {mark.replace(row, "row")} AS mark, m.* FROM moved m, edge
  WHERE changed >= edge.ms AND {mark.replace(row, "row")} >= edge.mark ORDER BY changed, row & 1048575
)"""


def _parts(tables: Mapping[str, Sequence[str]], *, copied: bool) -> RowQuery:
    """Parts of messages, and messages without any; not those that the second generation has taken over."""
    taken = "(SELECT max(x.time_created) FROM session_message x WHERE x.session_id = m.session_id) AS taken"
    answer = "CASE WHEN json_valid(m.data) THEN m.data ->> '$.role' = 'assistant' ELSE 1 END"
    rest = f"CASE WHEN json_valid(m.data) THEN m.data ->> '$.role' = 'assistant' AND {_COMPLETED} END"
    within = "(t.id = t.back AND p.id >= t.back_part)"
    told = _told(
        "message",
        answer,
        "(t.id > t.back OR (t.id = t.back AND t.back_part IS NULL))",
        "(t.taken IS NULL OR t.made > t.taken)" if copied else "1",
    )
    keyed = _keyed(
        "told t CROSS JOIN edge LEFT JOIN part p ON p.message_id = t.id",
        "ifnull(p.rowid, t.row)",
        f"max(t.stir, {_when('p')}, CASE WHEN {within} THEN t.edited ELSE 0 END)",
        f", t.row AS m_row, p.rowid AS p_row, t.reverted OR ifnull({within}, 0) AS reverted",
    )
    spoken = (
        "CASE WHEN json_valid(q.data) THEN q.data ->> '$.type' = 'text' AND NOT ifnull(q.data ->> '$.synthetic', 0)"
        " AND NOT ifnull(q.data ->> '$.ignored', 0) END"
    )
    return RowQuery(
        name="part",
        cursor="mark",
        sql=f"""
WITH {_EDGE},{_touched(tables, "session", "message", "m.time_created DESC, m.id DESC", rest)},
counted AS (
  SELECT m.rowid AS row, m.id, m.session_id, m.time_created AS made, m.time_updated, s.edited, s.back, s.back_part,
    s.idle, (SELECT count(*) FROM part q WHERE q.message_id = m.id) AS parts{f", {taken}" if copied else ""}
  FROM touched s CROSS JOIN message m ON m.session_id = s.id
),
placed AS (
  SELECT c.*, lead(made) OVER line AS next,
    ifnull(sum((2 * parts + {PLACES}) / {PLACES}) OVER (line ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)
      * {PLACES} AS base,
    row_number() OVER (PARTITION BY session_id ORDER BY made DESC, id DESC) AS from_end
  FROM counted c WINDOW line AS (PARTITION BY session_id ORDER BY made, id)
),{told},{keyed}
SELECT k.mark, m.session_id AS session, m.id AS message, p.id AS id, ifnull(p.time_created, m.time_created) AS made,
  k.base + 2 * (SELECT count(*) FROM part q WHERE q.message_id = m.id AND q.id < p.id) AS place,
  k.later, k.reverted, k.again, NOT EXISTS (SELECT 1 FROM part q WHERE q.message_id = m.id AND q.id > p.id) AS last,
  CASE WHEN json_valid(m.data) AND (m.data ->> '$.role' = 'user' OR m.data ->> '$.summary' = 1)
    THEN p.id = (SELECT min(q.id) FROM part q WHERE q.message_id = m.id AND {spoken}) END AS first,
  CASE WHEN json_valid(m.data) AND m.data ->> '$.role' = 'user'
    THEN (SELECT count(*) FROM part q WHERE q.message_id = m.id AND json_valid(q.data)
      AND q.data ->> '$.type' = 'file' AND q.data ->> '$.mime' LIKE 'image/%') END AS images,
  {_json("m.data")} AS about, {_json("p.data")} AS data, {_facts(tables, "session")}
FROM keyed k CROSS JOIN message m ON m.rowid = k.m_row LEFT JOIN part p ON p.rowid = k.p_row
  LEFT JOIN session s ON s.id = m.session_id
""",
    )


def _messages(tables: Mapping[str, Sequence[str]], owner: str, *, first: bool) -> RowQuery:
    """Messages of the second generation; what a fork copied has the id of what it was copied from.

    While both generations share one table of sessions, those that have messages of the first are told by these.
    """
    alone = "NOT EXISTS (SELECT 1 FROM message y WHERE y.session_id = s.id)" if first and owner == "session" else "1"
    rest = f"m.type = 'idle' OR CASE WHEN json_valid(m.data) THEN m.type = 'assistant' AND {_COMPLETED} END"
    since = "(t.seq >= (SELECT b.seq FROM session_message b WHERE b.id = t.back))"
    told = _told("session_message", "m.type IN ('assistant', 'shell')", since)
    forked = _column(tables, owner, "fork_session_id")
    return RowQuery(
        name="session_message",
        cursor="mark",
        sql=f"""
WITH {_EDGE},{_touched(tables, owner, "session_message", "m.seq DESC", rest)},
placed AS (
  SELECT m.rowid AS row, m.id, m.session_id, m.seq, m.time_updated, s.edited, s.back, s.idle,
    lead(m.time_created) OVER line AS next,
    (sum(m.type NOT IN {_NO_TALK}) OVER (line ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) - 1) * 48 AS base,
    row_number() OVER (PARTITION BY m.session_id ORDER BY m.seq DESC) AS from_end
  FROM touched s CROSS JOIN session_message m ON m.session_id = s.id
  WINDOW line AS (PARTITION BY m.session_id ORDER BY m.seq)
),{told},{_keyed("told t, edge", "t.row", "t.stir", ", t.reverted")}
SELECT k.mark, m.session_id AS session, ifnull((
    SELECT y.id FROM session_message y WHERE y.session_id = {forked} AND y.seq = m.seq
      AND length(m.id) > 31 AND m.id LIKE '%\\_' || m.seq ESCAPE '\\'
  ), m.id) AS message, m.id AS own, m.type, m.time_created AS made, k.base AS place, k.later, k.reverted, k.again,
  {_json("m.data")} AS data, {_facts(tables, owner)}
FROM keyed k CROSS JOIN session_message m ON m.rowid = k.row LEFT JOIN {owner} s ON s.id = m.session_id
WHERE {alone}
""",
    )


def _sessions(tables: Mapping[str, Sequence[str]], owner: str, name: str, talk: str, *, but: str) -> RowQuery:
    """Sessions, and the ids of their last messages."""
    names = ("model", "agent", "cost", "tokens_input", "tokens_output", "tokens_reasoning", "tokens_cache_read",
             "tokens_cache_write")  # fmt: skip
    more = ", ".join(f"{_column(tables, owner, column)} AS {column}" for column in names)
    order = "time_created DESC, id DESC" if talk == "message" else "seq DESC"
    return RowQuery(
        name=name,
        cursor="changed",
        sql=f"""
SELECT min({_when("s")}, {_CLOCK}) AS changed, s.id AS session, {_about(tables, owner)}, {more},
  {_column(tables, owner, "time_archived")} AS archived,
  (SELECT json_group_array(id) FROM (
    SELECT id FROM {talk} WHERE session_id = s.id ORDER BY {order} LIMIT {LIVE}
  )) AS live
FROM {owner} s WHERE changed >= :after - {_LATE} {f"AND {but}" if but else ""} ORDER BY changed, s.id
""",
    )
