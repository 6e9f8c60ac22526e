"""From the change feed to what is due in which tree, and asking for a render."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from flywheel.errors import NotFound
from flywheel.jobs import queue
from flywheel.model import Change, Kind, Micros, Op, ProjectId, Seq
from flywheel.projects.queries import canonical
from flywheel.store import Db, Tx
from flywheel.store.json import load
from flywheel.tree import record

KIND: Final = "render"
"""Job kind of rendering; the key is the project's id."""

GATHER: Final = 1.0
"""Seconds from a change to its rendering, so that what changes together is rendered together."""

_MARK: Final = "tree_feed"
_SHOWN: Final = {Kind.ENTRY: record.ENTRY, Kind.DOCUMENT: record.DOCUMENT, Kind.TERM: record.TERM}


class TreeFollower:
    """Follows the change feed: notes what is due, and enqueues the projects' renders. Nothing is rendered here."""

    name = "tree"

    def __init__(self, db: Db) -> None:
        self._db = db

    def watermark(self) -> tuple[str, Seq]:
        """The feed that was followed, and how far; ("", 0) at first."""
        with self._db.read() as tx:
            row = tx.one("SELECT value FROM setting WHERE name = :name", name=_MARK)
        if row is None:
            return "", Seq(0)
        feed, seq = load(row[0])
        return feed, Seq(seq)

    def apply(self, db: Db, changes: Sequence[Change], feed: str, upto: Seq) -> None:
        """Note what these changes make due. Of a feed never followed everything is; it is joined at its end."""
        followed, _ = self.watermark()
        now = db.clock()
        if followed != feed:
            head = db.head()
            with db.write() as tx:
                for project in _with_knowledge(tx):
                    ask(tx, project, record.ALL, [""], now)
                record.put(tx, _MARK, [feed, head])
            return
        found: dict[tuple[ProjectId, str], dict[str, None]] = defaultdict(dict)
        for change in changes:
            if change.kind in _SHOWN:
                found[change.project_id, _SHOWN[change.kind]][change.id] = None
            if change.op is Op.DEL and change.kind is not Kind.SYMBOL:
                found[change.project_id, record.FORGET][""] = None
        with db.write() as tx:
            for (project, kind), ids in found.items():
                ask(tx, project, kind, list(ids), now)
            record.put(tx, _MARK, [feed, upto])

    def reset(self) -> None:
        """Begin anew."""
        with self._db.write() as tx:
            tx.run("DELETE FROM setting WHERE name = :name", name=_MARK)


def ask(tx: Tx, project: ProjectId, kind: str, ids: Sequence[str], now: Micros, delay: float = GATHER) -> None:
    """Note that something of a project, or of what it is an alias of, is due, and enqueue a render."""
    try:
        id = canonical(tx, project)
    except NotFound:
        return
    record.mark(tx, id, kind, ids)
    queue.enqueue(tx, kind=KIND, key=id, project_id=id, now=now, delay=delay)


def merged(tx: Tx, source: ProjectId, now: Micros) -> None:
    """A project became an alias: its own tree goes, that of the other one takes everything in."""
    queue.enqueue(tx, kind=KIND, key=source, project_id=source, now=now)
    ask(tx, source, record.ALL, [""], now)


def _with_knowledge(tx: Tx) -> list[ProjectId]:
    rows = tx.all("SELECT project_id FROM entry UNION SELECT project_id FROM document")
    return sorted({canonical(tx, ProjectId(id)) for (id,) in rows if _known(tx, id)})


def _known(tx: Tx, id: str) -> bool:
    return tx.one("SELECT 1 FROM project WHERE id = :id", id=id) is not None
