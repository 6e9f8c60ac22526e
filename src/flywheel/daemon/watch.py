"""File events as hints: a changed transcript is read within a second, changed code is indexed soon after."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Final

import structlog
from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer

from flywheel.app import App, Parts
from flywheel.app.parts import HARVEST
from flywheel.codemap.watch import CheckoutWatch, Debounce
from flywheel.codemap.worker import enqueue_sync
from flywheel.daemon.sweep import Sweep
from flywheel.jobs import queue
from flywheel.model import ProjectId
from flywheel.readers import READERS

QUIET: Final = 0.3
"""Seconds that events are gathered for before they are acted on."""

LOOK: Final = 120.0
"""Seconds between two looks at what is worth watching."""

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


class Watch:
    """Watches the agents' transcript folders and the recent checkouts. A context manager; never fails the daemon."""

    def __init__(self, parts: Parts, api: App, sweep: Sweep) -> None:
        self._parts = parts
        self._api = api
        self._sweep = sweep
        self._changed = _Changed()
        self._observer = Observer()
        self._stopping = False
        self._watched: set[Path] = set()
        self._projects: dict[str, ProjectId] = {}
        self._code = CheckoutWatch(self._observer, self._code_changed)
        self._due = Debounce()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)

    def __enter__(self) -> Watch:
        self._watch_roots()
        self._observer.start()
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stopping = True
        self._changed.woken.set()
        self._thread.join(5)
        self._observer.stop()
        self._observer.join(5)

    def _watch_roots(self) -> None:
        """Watch the transcript folders that are there by now."""
        for root in self._roots():
            if root in self._watched:
                continue
            try:
                self._observer.schedule(self._changed, str(root), recursive=True)
                self._watched.add(root)
            except OSError as error:
                log.warning("not_watched", folder=str(root), error=str(error))

    def _roots(self) -> Sequence[Path]:
        parts = self._parts
        own = [root for reader in READERS.values() for root in reader.roots(str(parts.home), parts.env)]
        return [Path(root) for root in (*own, *parts.config.harvest.roots) if Path(root).is_dir()]

    def _code_changed(self, root: str, path: str) -> None:
        with self._lock:
            self._due.add(root, path, time.monotonic())
        self._changed.woken.set()

    def _run(self) -> None:
        """Gather events for a moment, act on them, and now and then look which checkouts are worth watching."""
        looked = 0.0
        while not self._stopping:
            try:
                if time.monotonic() - looked > LOOK:
                    looked = time.monotonic()
                    self._keep()
                self._changed.woken.wait(self._pause(looked))
                time.sleep(QUIET if self._changed.woken.is_set() and not self._stopping else 0)
                self._act()
            except Exception as error:
                log.exception("watch_failed", error=type(error).__name__)
                time.sleep(QUIET)

    def _pause(self, looked: float) -> float:
        now = time.monotonic()
        with self._lock:
            due = self._due.wait(now)
        return max(0.0, min(looked + LOOK - now, LOOK if due is None else due))

    def _keep(self) -> None:
        """Watch the recent checkouts and no others, and transcript folders that came later."""
        self._watch_roots()
        if not self._parts.config.harvest.sync_code:
            return
        self._projects = dict(self._sweep.recent_checkouts())
        self._code.keep(list(self._projects))

    def standing(self) -> Sequence[str]:
        """The checkouts that are not watched, and why, for ``status``."""
        return [
            f"{root} is looked at every {self._parts.config.code.sweep_seconds} s only: {watched.why}"
            for root, watched in self._code.standing().items()
            if not watched.events
        ]

    def _act(self) -> None:
        due = [(path, agent) for path in sorted(self._changed.take()) if (agent := self._agent_of(path))]
        with self._lock:
            code = list(self._due.due(time.monotonic()))
        if not due and not code:
            return
        now = self._parts.db.clock()
        with self._parts.db.write() as tx:
            for path, agent in due:
                payload = {"agent": agent}
                queue.enqueue(tx, kind=HARVEST, key=path, project_id=None, now=now, payload=payload)
            for root, paths in code:
                if root in self._projects:
                    enqueue_sync(tx, checkout=root, project_id=self._projects[root], now=now, paths=paths)
        self._api.poke()

    def _agent_of(self, path: str) -> str:
        """The agent whose transcript this is; "" for any other file."""
        parts = self._parts
        for reader in READERS.values():
            for root in (*reader.roots(str(parts.home), parts.env), *parts.config.harvest.roots):
                real = os.path.realpath(root)
                if path.startswith(real + os.sep):
                    below = (Path(real).name, *Path(path).relative_to(real).parts)
                    if reader.place(below) is not None and Path(path).is_file():
                        return reader.agent
        return ""
