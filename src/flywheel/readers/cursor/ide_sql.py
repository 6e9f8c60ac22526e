"""The questions to the databases of Cursor's editor: JSON pieces out of a table of keys and values (FORMATS §5).

``cursorDiskKV`` holds ``composerData:<conversation>`` with the ids of its messages in order, and
``bubbleId:<conversation>:<message>``. Everything that is written again replaces its row, which so gets a new rowid; a
conversation's row is written after its messages. So its rowid is the cursor, and its latest messages come with it. A
database of several GB is read along its rows, and of each value only what memory needs leaves SQLite.
"""

from __future__ import annotations

from typing import Final

from flywheel.readers.seam import RowQuery

TAIL: Final = 32
"""Messages at the end of a conversation that come again whenever it changed: they may not have been listed before."""

CHARS: Final = 1_000_000
"""Characters of a tool's result that are looked at."""

_CONVERSATION: Final = "+c.key >= 'composerData:' AND +c.key < 'composerData;' AND c.rowid > CAST(:after AS INTEGER)"
_OBJECT: Final = "CASE WHEN json_valid(CAST(c.value AS TEXT)) THEN CAST(c.value AS TEXT) ELSE '{}' END"
_BUBBLE: Final = "CASE WHEN h.type = 'object' THEN CAST(json_extract(h.value, '$.bubbleId') AS TEXT) END"

_CHANGED: Final = f"""
changed(mark, before, id, began, open, headers) AS MATERIALIZED (
  SELECT mark, LAG(mark, 1, CAST(:after AS INTEGER)) OVER (ORDER BY mark), id, json_extract(v, '$.createdAt'),
    ifnull(json_extract(v, '$.status'), '') = 'generating',
    CASE WHEN json_type(v, '$.fullConversationHeadersOnly') = 'array'
    THEN json_extract(v, '$.fullConversationHeadersOnly') END
  FROM (SELECT c.rowid AS mark, substr(c.key, 14) AS id, {_OBJECT} AS v FROM cursorDiskKV c WHERE {_CONVERSATION})
  ORDER BY mark
)
"""
"""Conversations past the mark; a message of one has the mark ``before`` it, so that none is left half read."""

_PLACED: Final = f"""
placed(before, composer, position, bubble, total, began, open) AS MATERIALIZED (
  SELECT p.before, p.id, h.key, {_BUBBLE}, COUNT(*) OVER (PARTITION BY p.mark), p.began, p.open
  FROM changed p CROSS JOIN json_each(p.headers) h ORDER BY p.mark, h.key
)
"""

PIECES: Final = (
    "type", "text", "rawText", "createdAt", "timingInfo.clientStartTime", "thinking", "modelInfo.modelName",
    "toolFormerData.name", "toolFormerData.toolCallId", "toolFormerData.rawArgs", "toolFormerData.params",
    "toolFormerData.status", "toolFormerData.error", "workspaceProjectDir", "workspaceUris[0]", "isSummary",
)  # fmt: skip
"""What is taken of a message, in this order."""

ABOUT: Final = (
    "name", "createdAt", "lastUpdatedAt", "modelConfig.modelName", "workspaceIdentifier.uri.fsPath", "createdOnBranch",
    "subagentComposerIds", "subComposerIds", "subagentInfo.parentComposerId", "fullConversationHeadersOnly[0].type",
    "conversation[0].type",
)  # fmt: skip
"""What is taken of a conversation, in this order."""


def _taken(value: str, names: tuple[str, ...]) -> str:
    paths = ", ".join(f"'$.{name}'" for name in names)
    return f"CASE WHEN json_valid({value}) THEN json_extract({value}, {paths}) END AS value"


def _message(value: str) -> str:
    """The columns of a message."""
    result = f"json_extract({value}, '$.toolFormerData.result')"
    images = f"ifnull(json_array_length({value}, '$.images'), 0)"
    return f"""{_taken(value, PIECES)},
  CASE WHEN json_valid({value}) THEN substr(CAST({result} AS TEXT), 1, {CHARS}) END AS result,
  CASE WHEN json_valid({value}) THEN {images} END AS images"""


_DONE: Final = "UNION ALL SELECT max(mark), {} FROM changed HAVING max(mark) IS NOT NULL"
"""The last row: the mark is behind all conversations, also where none of them had a row of this query."""

_NO_MESSAGE: Final = ", ".join(["NULL"] * 9)

COMPOSER: Final = RowQuery(
    name="composer",
    sql=f"""
SELECT c.rowid AS mark, substr(c.key, 14) AS composer, {_taken("CAST(c.value AS TEXT)", ABOUT)}
FROM cursorDiskKV c WHERE {_CONVERSATION} ORDER BY c.rowid
""",
    cursor="mark",
)
"""What changed conversations say of themselves."""

BUBBLE: Final = RowQuery(
    name="bubble",
    sql=f"""
WITH {_CHANGED}, {_PLACED}, floor(mark) AS (SELECT CAST(substr(:after, instr(:after, ':') + 1) AS INTEGER))
SELECT p.before || ':' || floor.mark AS mark, p.composer AS composer, p.bubble AS bubble, p.position AS position,
  1 AS live, p.began AS began, p.open AND p.position = p.total - 1 AS open, {_message("CAST(b.value AS TEXT)")}
FROM floor CROSS JOIN placed p CROSS JOIN cursorDiskKV b
  ON b.key = 'bubbleId:' || p.composer || ':' || p.bubble
WHERE b.rowid > floor.mark OR p.position >= p.total - {TAIL}
{_DONE.format(_NO_MESSAGE).replace("max(mark)", "max(mark) || ':' || max(mark)", 1)}
""",
    cursor="mark",
    start="0:0",
)
"""New messages of changed conversations, in their order; ``open`` while the last one is being written.

The mark has two parts: the last conversation that was read, and the one that was last when everything was read before.
"""

INLINE: Final = RowQuery(
    name="inline",
    sql=f"""
WITH {_CHANGED}
SELECT p.before AS mark, p.id AS composer,
  {_BUBBLE} AS bubble, h.key AS position, 1 AS live, p.began AS began, 0 AS open, {_message("h.value")}
FROM changed p CROSS JOIN cursorDiskKV c ON c.rowid = p.mark CROSS JOIN json_each({_OBJECT}, '$.conversation') h
WHERE h.type = 'object'
{_DONE.format(_NO_MESSAGE)}
""",
    cursor="mark",
)
"""Messages that an older editor kept within the conversation."""

ORPHAN: Final = RowQuery(
    name="orphan",
    sql=f"""
WITH {_CHANGED}, {_PLACED}
SELECT p.before AS mark, p.id AS composer, substr(b.key, length(p.id) + 11) AS bubble, b.rowid AS position,
  p.headers IS NULL AS live, p.began AS began, 0 AS open, {_message("CAST(b.value AS TEXT)")}
FROM changed p CROSS JOIN cursorDiskKV b
  ON b.key > 'bubbleId:' || p.id || ':' AND b.key < 'bubbleId:' || p.id || ';'
WHERE b.rowid < p.mark
  AND substr(b.key, 10) NOT IN (SELECT composer || ':' || bubble FROM placed WHERE bubble IS NOT NULL)
{_DONE.format(_NO_MESSAGE)}
""",
    cursor="mark",
)
"""Messages that a changed conversation does not list (any more); ``live`` where it lists none at all."""

LIST: Final = RowQuery(
    name="list",
    sql=f"""
WITH {_CHANGED}
SELECT p.mark AS mark, p.id AS composer, (SELECT json_group_array({_BUBBLE}) FROM json_each(p.headers) h) AS value
FROM changed p WHERE p.headers IS NOT NULL
{_DONE.format("NULL, NULL")}
""",
    cursor="mark",
)
"""The messages that changed conversations list."""

_CHATDATA: Final = "workbench.panel.aichat.view.aichat.chatdata"
_ITEM: Final = "CASE WHEN json_valid(CAST(i.value AS TEXT)) THEN CAST(i.value AS TEXT) ELSE '{}' END"

WORKSPACE: Final = RowQuery(
    name="workspace",
    sql=f"""
SELECT i.rowid AS mark, json_extract(h.value, '$.composerId') AS composer, json_extract(h.value, '$.name') AS name,
  json_extract(h.value, '$.createdAt') AS began
FROM ItemTable i CROSS JOIN json_each({_ITEM}, '$.allComposers') h
WHERE i.key = 'composer.composerData' AND i.rowid > :after AND h.type = 'object' ORDER BY i.rowid
""",
    cursor="mark",
)
"""Conversations that a workspace knows; what is said in them is in the global database."""

CHAT: Final = RowQuery(
    name="chat",
    sql=f"""
SELECT i.rowid AS mark, json_extract(t.value, '$.tabId') AS tab, json_extract(t.value, '$.chatTitle') AS title,
  json_extract(t.value, '$.lastSendTime') AS last, h.key AS position,
  json_extract(h.value, '$.type', '$.text', '$.rawText', '$.modelType', '$.id') AS value,
  json_extract(h.value, '$.image') IS NOT NULL AS images
FROM ItemTable i CROSS JOIN json_each({_ITEM}, '$.tabs') t
CROSS JOIN json_each(CASE WHEN t.type = 'object' THEN t.value ELSE '{{}}' END, '$.bubbles') h
WHERE i.key = '{_CHATDATA}' AND i.rowid > :after AND h.type = 'object' ORDER BY i.rowid
""",
    cursor="mark",
)
"""The chats of the oldest editors: all of a workspace in one value."""
