"""The questions to a ``store.db`` of Cursor's CLI: SQL over content-addressed blobs (FORMATS §5).

``meta`` holds the hex of a JSON object that names the latest root; a root is protobuf whose field 1 (each entry the
bytes 0A 20 and a digest of 32 bytes, all of them first) lists the messages that the model was given, and whose fields
11 and 13 (5A 20, 6A 20) name archives that list, in the same way, what a summary has replaced. Each step writes a new
root; what a person took back is in older roots only. Other JSON in the store belongs to subagents.
"""

from __future__ import annotations

from typing import Final

from flywheel.readers.seam import RowQuery

LARGEST: Final = 8_000_000
"""Bytes of a message; a larger one is counted, not read."""

_STATE: Final = """
WITH RECURSIVE
raw(v) AS (SELECT CAST(value AS TEXT) FROM meta),
plain(j) AS MATERIALIZED (
  SELECT CASE WHEN json_valid(v) THEN v WHEN json_valid(CAST(unhex(v) AS TEXT)) THEN CAST(unhex(v) AS TEXT) END
  FROM raw
),
said(j) AS MATERIALIZED (SELECT j FROM plain WHERE json_extract(j, '$.latestRootBlobId') <> '' LIMIT 1),
root(id, place, data) AS MATERIALIZED (
  SELECT id, rowid, data FROM blobs WHERE id = (SELECT json_extract(j, '$.latestRootBlobId') FROM said)
),
item(n, id) AS (
  SELECT 0, lower(hex(substr(data, 3, 32))) FROM root WHERE substr(data, 1, 2) = x'0A20'
  UNION ALL
  SELECT n + 1, lower(hex(substr(data, 37 + 34 * n, 32))) FROM item, root WHERE substr(data, 35 + 34 * n, 2) = x'0A20'
),
spot(place, tag) AS (
  SELECT instr(data, x'6A20'), x'6A20' FROM root
  UNION ALL SELECT instr(data, x'5A20'), x'5A20' FROM root
  UNION ALL
  SELECT spot.place + 1 + instr(substr(data, spot.place + 2), tag), tag FROM spot, root
  WHERE spot.place > 0 AND instr(substr(data, spot.place + 2), tag) > 0
),
archive(id, data) AS MATERIALIZED (
  SELECT DISTINCT a.id, a.data FROM spot, root
  JOIN blobs a ON a.id = lower(hex(substr(root.data, spot.place + 2, 32))) WHERE spot.place > 0
),
kept(n, id, data) AS (
  SELECT 0, lower(hex(substr(data, 3, 32))), data FROM archive WHERE substr(data, 1, 2) = x'0A20'
  UNION ALL
  SELECT n + 1, lower(hex(substr(data, 37 + 34 * n, 32))), data FROM kept WHERE substr(data, 35 + 34 * n, 2) = x'0A20'
),
member(id) AS MATERIALIZED (SELECT id FROM item UNION SELECT id FROM kept),
summed(id) AS MATERIALIZED (
  SELECT b.id FROM item JOIN blobs b ON b.id = item.id WHERE instr(b.data, CAST('"isSummary":true' AS BLOB)) > 0
)
"""

_VALUE: Final = f"CASE WHEN length(b.data) <= {LARGEST} THEN CAST(b.data AS TEXT) END AS value"

CHAT: Final = RowQuery(
    name="chat",
    sql=f"""{_STATE}
SELECT root.id AS root, said.j AS value,
  hex(substr(root.data, max(1, instr(root.data, CAST('file:///' AS BLOB)) - 3), 1100)) AS folder
FROM said LEFT JOIN root WHERE ifnull(root.id, ' ') <> :after
""",
    cursor="root",
    start="",
)
"""What the store says of itself, whenever the root changed: ``folder`` is what stands around the workspace's URI."""

MESSAGE: Final = RowQuery(
    name="message",
    sql=f"""{_STATE}
SELECT b.rowid AS place, b.id AS id, {_VALUE},
  b.id IN member OR (EXISTS (SELECT 1 FROM summed) AND NOT EXISTS (SELECT 1 FROM archive)) AS live
FROM blobs b
WHERE b.rowid > :after AND b.rowid < (SELECT place FROM root) AND substr(b.data, 1, 1) = x'7B'
  AND (b.id IN member OR instr((
    SELECT r.data FROM blobs r
    WHERE r.rowid > b.rowid AND substr(r.data, 1, 34) = (SELECT substr(data, 1, 34) FROM root) ORDER BY r.rowid LIMIT 1
  ), unhex(b.id)) > 0)
ORDER BY b.rowid
""",
    cursor="place",
)
"""Messages of this conversation in the order in which they were written, up to the root that holds the last of them."""

TURN: Final = RowQuery(
    name="turn",
    sql=f"""{_STATE},
former(place, data) AS MATERIALIZED (SELECT rowid, data FROM blobs WHERE id = :after),
was(n, id) AS (
  SELECT 0, lower(hex(substr(data, 3, 32))) FROM former WHERE substr(data, 1, 2) = x'0A20'
  UNION ALL
  SELECT n + 1, lower(hex(substr(data, 37 + 34 * n, 32))) FROM was, former WHERE substr(data, 35 + 34 * n, 2) = x'0A20'
),
before(id) AS MATERIALIZED (SELECT id FROM was)
SELECT * FROM (
  SELECT :after AS root, 'gone' AS what, b.id AS id, {_VALUE}
  FROM was JOIN blobs b ON b.id = was.id
  WHERE was.id NOT IN member AND substr(b.data, 1, 1) = x'7B'
    AND NOT EXISTS (SELECT 1 FROM summed WHERE id NOT IN before)
  UNION ALL
  SELECT :after, 'back', b.id, {_VALUE}
  FROM item JOIN blobs b ON b.id = item.id
  WHERE item.id NOT IN before AND b.rowid < (SELECT place FROM former) AND substr(b.data, 1, 1) = x'7B'
  UNION ALL
  SELECT root.id, 'root', root.id, NULL FROM root
) WHERE (SELECT id FROM root) <> :after
""",
    cursor="root",
    start="",
)
"""What left and what came back between the root that was read last and the one that holds now."""
