"""File events as hints: a changed transcript is read within a second, changed code is indexed soon after."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Final

import structlog
from watchdog.events import FileSystemEvent, FileSystemEventHandler

from flywheel.app import App, Parts
from flywheel.app.parts import HARVEST
from flywheel.codemap.sparing import SparingObserver
from flywheel.codemap.watch import CheckoutWatch, Debounce
from flywheel.codemap.worker import enqueue_sync
from flywheel.daemon.folders import Folders
from flywheel.daemon.sweep import Sweep
from flywheel.daemon.watch_trees import TreeWatch
from flywheel.harvest.discover import Root, find
from flywheel.jobs import queue
from flywheel.model import ProjectId
from flywheel.tree.follow import ask
from flywheel.tree.record import PATH

QUIET: Final = 0.3
"""Seconds that events are gathered for before they are acted on."""

LOOK: Final = 120.0
"""Seconds between two looks at which checkouts are worth watching."""

GLANCE: Final = 3.0
"""Seconds between two looks whether a transcript folder has come: an agent's first session makes it.

Where transcripts are is asked anew as often while somebody works: a session may be the first in its checkout, in which
another agent writes beside the code.
"""

AFTER_FAILURE: Final = 2.0
"""Seconds of rest after a failure: a store that is away is not asked, and not logged, several times a second."""

POLL: Final = 30.0
"""Seconds between two looks at a checkout that the system has no watches left for."""

log = structlog.get_logger("watch")


class _Changed(FileSystemEventHandler):
    """Remembers which files changed, and wakes the thread that acts on it."""

    def __init__(self) -> None:
        self.paths: set[str] = set()
        self.lock = threading.Lock()
        self.woken = threading.Event()

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Any thread of watchdog's."""
        if event.event_type in ("opened", "closed_no_write") or event.is_directory:
            return
        with self.lock:
            self.paths.update(os.fsdecode(p) for p in (event.src_path, event.dest_path) if p)
        self.woken.set()

    def take(self) -> set[str]:
        """The paths so far; forgotten afterwards."""
        self.woken.clear()
        with self.lock:
            paths, self.paths = self.paths, set()
        return paths

    def give_back(self, paths: set[str]) -> None:
        """What was taken in vain comes again with what is taken next."""
        with self.lock:
            self.paths |= paths


class Watch:
    """Watches the agents' transcript folders and the recent checkouts. A context manager; never fails the daemon."""

    def __init__(self, parts: Parts, api: App, sweep: Sweep) -> None:
        self._parts = parts
        self._api = api
        self._sweep = sweep
        self._changed = _Changed()
        self._observer = SparingObserver()
        self._ended = threading.Event()
        self._roots: Sequence[Root] = ()
        self._polled = time.monotonic()
        self._stale = time.monotonic() + GLANCE  # when to ask again where transcripts are
        self._worked = -math.inf  # when a transcript was last written
        self._folders = Folders(self._observer, self._changed)
        self._projects: dict[str, ProjectId] = {}
        self._code = CheckoutWatch(self._observer, self._code_changed)
        self._trees = TreeWatch(self._observer, parts, self._changed.woken.set)
        self._due = Debounce()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)

    def __enter__(self) -> Watch:
        self._roots = self._parts.whereabouts().roots()
        self._watch_roots()
        self._observer.start()
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._ended.set()
        self._changed.woken.set()
        self._thread.join(5)
        self._observer.stop()
        self._observer.join(5)

    def _watch_roots(self) -> bool:
        """Watch the transcript folders that are there by now; whether there was a new one."""
        new = [self._folders.meet(root.path, deep=root.depth > 0) for root in self._roots]
        return any(new)

    def _code_changed(self, root: str, path: str) -> None:
        with self._lock:
            self._due.add(root, path, time.monotonic())
        self._changed.woken.set()

    def _run(self) -> None:
        """Gather events for a moment, act on them, and now and then look which checkouts are worth watching."""
        looked = 0.0
        unseen: set[ProjectId] = set()  # trees in which something may have happened before they were watched
        while not self._ended.is_set():
            try:
                if time.monotonic() - looked > LOOK:
                    self._keep()
                    looked = time.monotonic()
                unseen |= set(self._trees.keep())
                self._sweep.trees(sorted(unseen))
                unseen.clear()
                self._poll()
                if (now := time.monotonic()) > self._stale:
                    self._stale = now + GLANCE if now < self._worked + LOOK else math.inf
                    self._roots = self._parts.whereabouts().roots()
                if self._watch_roots():
                    self._sweep.transcripts()  # what was written before the watch began
                    self._stale = time.monotonic() + GLANCE
                self._changed.woken.wait(self._pause(looked))
                time.sleep(self._moment())
                self._act()
            except Exception as error:
                log.exception("watch_failed", error=type(error).__name__)
                self._ended.wait(AFTER_FAILURE)

    def _moment(self) -> float:
        """Seconds that events are gathered for now: those of code have been waiting for quiet already."""
        if not self._changed.woken.is_set() or self._ended.is_set():
            return 0.0
        with self._lock:
            due = self._due.wait(time.monotonic())
        return QUIET if due is None else min(QUIET, due)

    def _poll(self) -> None:
        """Have the checkouts looked at that are not watched."""
        if time.monotonic() < self._polled + POLL:
            return
        self._polled = time.monotonic()
        for root, watched in self._code.standing().items():
            if not watched.events:
                self._code_changed(root, "")

    def _pause(self, looked: float) -> float:
        now = time.monotonic()
        with self._lock:
            due = self._due.wait(now)
        return max(0.0, min(looked + LOOK - now, GLANCE, LOOK if due is None else due))

    def _keep(self) -> None:
        """Watch the recent checkouts and no others, for code and for the agents that write beside it."""
        self._folders.retry()
        self._roots = self._parts.whereabouts().roots()
        if not self._parts.config.harvest.sync_code:
            return
        self._projects = dict(self._sweep.recent_checkouts())
        self._code.keep(list(self._projects))

    def standing(self) -> Sequence[str]:
        """What is not watched, and why, for ``status``."""
        seconds = self._parts.config.harvest.interval_seconds
        return [
            *(
                f"{root} is looked at every {POLL:.0f} s only: {watched.why}"
                for root, watched in self._code.standing().items()
                if not watched.events
            ),
            *(
                f"{folder} is looked at every {seconds} s only: {why}"
                for folder, why in self._folders.refused().items()
            ),
        ]

    def _act(self) -> None:
        """Ask for what the events are about. Raises the store's errors; the events are kept for the next time."""
        paths = self._changed.take()
        with self._lock:
            code = list(self._due.due(time.monotonic()))
        trees = self._trees.take()
        try:
            self._ask(paths, code, trees)
        except Exception:
            self._changed.give_back(paths)
            self._trees.give_back(trees)
            with self._lock:
                for root, changed in code:
                    for path in changed or [""]:
                        self._due.add(root, path, time.monotonic())
            raise

    def _ask(
        self, paths: set[str], code: Sequence[tuple[str, list[str]]], trees: Mapping[ProjectId, list[str]]
    ) -> None:
        found = (one for path in sorted(paths) if (one := find(path, self._roots)))
        due = {path: reader for path, reader in found if os.path.isfile(path)}
        if not due and not code and not trees:
            return
        if due:
            self._worked = time.monotonic()
            self._stale = min(self._stale, self._worked + GLANCE)
        now = self._parts.db.clock()
        with self._parts.db.write() as tx:
            for path, reader in due.items():
                payload = {"agent": reader.agent, "reader": reader.name}
                queue.enqueue(tx, kind=HARVEST, key=path, project_id=None, now=now, payload=payload)
            for project, touched in trees.items():
                ask(tx, project, PATH, touched, now)
            for root, changed in code:
                if root in self._projects:
                    enqueue_sync(tx, checkout=root, project_id=self._projects[root], now=now, paths=changed)
        self._api.poke()
