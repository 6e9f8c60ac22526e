"""File events of memory trees: what somebody edits, deletes or drops is looked at soon; our own writes are left out."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from watchdog.events import FileSystemEvent, FileSystemEventHandler

from flywheel.app import Parts
from flywheel.daemon.folders import Folders
from flywheel.model import Project, ProjectId
from flywheel.store.mapper import get
from flywheel.tree.naming import RAW, SCRATCH, WIKI
from flywheel.tree.record import projects_with_trees
from flywheel.tree.tree import TREES, place

_WATCHED: Final = (("", False), (WIKI, True), (RAW, True))
"""Folders of a tree, and whether all that is below them is watched: not the history, which is full of files."""


class TreeWatch(FileSystemEventHandler):
    """Watches every tree. ``woken`` is called, from watchdog's threads, when there is something to `take`."""

    def __init__(self, observer: Any, parts: Parts, woken: Callable[[], None]) -> None:
        self._parts = parts
        self._woken = woken
        self._home = parts.data / TREES
        self._folders = Folders(observer, self)
        self._seen: set[str] = set()  # names of trees
        self._projects: dict[str, ProjectId] = {}
        self._paths: set[str] = set()
        self._lock = threading.Lock()

    def keep(self) -> Sequence[ProjectId]:
        """Watch the trees that have come; those in which something may have happened before they were watched."""
        try:
            names = set(os.listdir(self._home))  # noqa: PTH208 - plain names
        except OSError:
            return ()
        if names != self._seen:
            self._projects = self._named()  # may fail; then the names are as new as before
            self._seen = names
        new: dict[ProjectId, None] = {}
        for name, project in self._projects.items():
            for part, deep in _WATCHED:
                if self._folders.meet(str(self._home / name / part), deep=deep):
                    new[project] = None
        return tuple(new)

    def _named(self) -> dict[str, ProjectId]:
        with self._parts.db.read() as tx:
            found = [get(tx, Project, id=id) for id in projects_with_trees(tx)]
        return {place(self._parts.data, one).name: one.id for one in found if one is not None}

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Any thread of watchdog's."""
        if event.event_type in ("opened", "closed_no_write") or event.is_directory:
            return
        paths = [os.fsdecode(path) for path in (event.src_path, event.dest_path) if path]
        if any(path.rpartition("/")[2].startswith(SCRATCH) for path in paths):
            return
        with self._lock:
            self._paths.update(paths)
        self._woken()

    def take(self) -> Mapping[ProjectId, list[str]]:
        """What was touched since the last time, by project, within its tree."""
        with self._lock:
            paths, self._paths = self._paths, set()
        found: dict[ProjectId, list[str]] = {}
        head = f"{self._home}/"
        for path in sorted(paths):
            name, _, rest = path.removeprefix(head).partition("/")
            project = self._projects.get(name)
            if path.startswith(head) and project is not None and rest and not rest.startswith(".git"):
                found.setdefault(project, []).append(rest)
        return found

    def give_back(self, found: Mapping[ProjectId, list[str]]) -> None:
        """What was taken in vain comes again with what is taken next."""
        names = {project: name for name, project in self._projects.items()}
        with self._lock:
            self._paths.update(f"{self._home}/{names[project]}/{rest}" for project in found for rest in found[project])
