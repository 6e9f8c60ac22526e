"""What file events missed: transcripts, checkouts and memory trees are compared with the store now and then."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from datetime import datetime
from typing import Final

import structlog

from flywheel.app import App, Parts, catching_up, wall_clock
from flywheel.codemap.worker import enqueue_sync
from flywheel.harvest import discover
from flywheel.harvest.uploads.tidy import tidy
from flywheel.knowledge.linting.keeping import ALL, is_due, last
from flywheel.knowledge.linting.keeping import ask as ask_for_lint
from flywheel.model import ProjectId
from flywheel.store.feed import compact
from flywheel.tree.follow import ask
from flywheel.tree.record import SWEEP, projects_with_trees

RECENT_DAYS: Final = 14
"""Checkouts are swept while a session in them, or the last change that was indexed of them, is at most this old."""

MOST: Final = 20
"""Checkouts swept at a time, the most recent first."""

log = structlog.get_logger("sweep")


class Sweep:
    """Looks at the disk and enqueues what changed. Any thread; one look at a time."""

    def __init__(self, parts: Parts, api: App) -> None:
        self._parts = parts
        self._api = api
        self._lock = threading.Lock()

    def transcripts(self) -> None:
        """Every agent's transcripts: enqueue what changed, mark what vanished."""
        with self._lock:
            looked = discover.discover(self._parts.whereabouts())
            swept = discover.sweep(self._parts.db, looked, wall_clock())
        tidy(self._parts.db, wall_clock())
        if swept.enqueued or swept.gone:
            log.info("swept", seen=swept.seen, enqueued=swept.enqueued, gone=swept.gone)
            self._api.poke()

    def checkouts(self) -> None:
        """The checkouts that somebody works in: enqueue a comparison with the code index."""
        if not self._parts.config.harvest.sync_code:
            return
        now = self._parts.db.clock()
        for root, project in self.recent_checkouts():
            with self._parts.db.write() as tx:
                enqueue_sync(tx, checkout=root, project_id=project, now=now)
        self._api.poke()

    def trees(self, some: Sequence[ProjectId] | None = None) -> None:
        """Memory trees, all of them unless some are named: have their files compared with what was rendered."""
        now = self._parts.db.clock()
        projects = some
        if projects is None:
            with self._parts.db.read() as tx:
                projects = projects_with_trees(tx)
        for project in projects:
            with self._parts.db.write() as tx:
                ask(tx, project, SWEEP, [""], now)
        if projects:
            self._api.poke()

    def lint(self) -> None:
        """Have every project with a tree linted that was not linted today, from ``lint.hour`` on."""
        now, hour = datetime.now().astimezone(), self._parts.config.lint.hour
        with self._parts.db.read() as tx:
            due = [id for id in projects_with_trees(tx) if is_due(last(tx, id, ALL), now, hour)]
        for project in due:
            with self._parts.db.write() as tx:
                ask_for_lint(tx, project, self._parts.db.clock())
        if due:
            self._api.poke()

    def history(self) -> None:
        """Have sessions that an older version read looked back at and observed, as long as some are left."""
        if catching_up.ask(self._parts.db, wall_clock(), self._parts.config.behaviour.decay):
            log.info("catching_up")
            self._api.poke()

    def feed(self) -> None:
        """Drop from the change feed what later changes have overtaken."""
        if dropped := compact(self._parts.db):
            log.info("feed_compacted", changes=dropped)

    def recent_checkouts(self) -> list[tuple[str, ProjectId]]:
        """(folder, project) of checkouts with code in the index and a recent session, the latest first; after them
        those without one whose code was recently indexed, as somebody asked for it."""
        since = wall_clock() - RECENT_DAYS * 86_400_000_000
        with self._parts.db.read() as tx:
            rows = tx.all(
                "SELECT f.checkout, f.project_id, s.latest"
                " FROM (SELECT checkout, project_id, MAX(indexed_at) AS indexed FROM source_file"
                " GROUP BY checkout, project_id) f LEFT JOIN (SELECT project_id, MAX(last_at) AS latest"
                " FROM session WHERE last_at >= :since GROUP BY project_id) s ON s.project_id = f.project_id"
                " WHERE s.latest IS NOT NULL OR f.indexed >= :since"
                " ORDER BY CASE WHEN s.latest IS NULL THEN 1 ELSE 0 END, s.latest DESC, f.indexed DESC, f.checkout"
                " LIMIT :most",
                since=since,
                most=MOST,
            )
        return [(root, ProjectId(project)) for root, project, _ in rows if os.path.isdir(root)]
