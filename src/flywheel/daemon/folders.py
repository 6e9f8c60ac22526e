"""Folders that are watched once they are there."""

from __future__ import annotations

import contextlib
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import structlog
from watchdog.events import FileSystemEventHandler

CUT: Final = "the system has no watches left for what is below it (fs.inotify.max_user_watches)"
"""Why a folder is watched in part only."""

log = structlog.get_logger("watch")


class Folders:
    """What a handler watches, by inode: a folder that was replaced is another one."""

    def __init__(self, observer: Any, handler: FileSystemEventHandler) -> None:
        self._observer = observer
        self._handler = handler
        self._met: dict[str, int] = {}  # folder → its inode
        self._watches: dict[str, Any] = {}  # folder → what the observer calls its watch
        self._refused: dict[str, str] = {}  # folder → why it is not watched; replaced whole, so any thread may read

    def meet(self, folder: str, *, deep: bool) -> bool:
        """Watch a folder (``deep``: all below it, too) that is there and was not met yet; whether it was not.

        One that cannot be watched is met all the same, and logged; `retry` has it met anew.
        """
        try:
            facts = Path(folder).stat()
        except OSError:
            return False
        if not stat.S_ISDIR(facts.st_mode) or self._met.get(folder) == facts.st_ino:
            return False
        self._let_go(folder)
        self._met[folder] = facts.st_ino
        refused = dict(self._refused)
        refused.pop(folder, None)
        try:
            self._watches[folder] = self._observer.schedule(self._handler, folder, recursive=deep)
        except OSError as error:
            log.warning("not_watched", folder=folder, error=str(error))
            refused[folder] = str(error)
        self._refused = refused
        return True

    def retry(self) -> None:
        """Take the folders that could not be watched for new ones: there may be room by now."""
        for folder in self.refused():
            self._met.pop(folder, None)

    def refused(self) -> Mapping[str, str]:
        """The folders that are not watched, or not all that is below them, and why. From any thread."""
        cut = getattr(self._observer, "cut", ())
        return {**{folder: CUT for folder in cut if folder in self._met}, **self._refused}

    def _let_go(self, folder: str) -> None:
        """End the watch of a folder that stood here before: the observer takes the path for watched otherwise."""
        watch = self._watches.pop(folder, None)
        if watch is not None:
            with contextlib.suppress(KeyError):
                self._observer.unschedule(watch)
