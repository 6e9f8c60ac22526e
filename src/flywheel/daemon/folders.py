"""Folders that are watched once they are there."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import structlog
from watchdog.events import FileSystemEventHandler

log = structlog.get_logger("watch")


class Folders:
    """What a handler watches, by inode: a folder that was replaced is another one."""

    def __init__(self, observer: Any, handler: FileSystemEventHandler) -> None:
        self._observer = observer
        self._handler = handler
        self._met: dict[str, int] = {}  # folder → its inode

    def meet(self, folder: str, *, deep: bool) -> bool:
        """Watch a folder (``deep``: all below it, too) that is there and was not met yet; whether it was not.

        One that cannot be watched is met all the same, and logged.
        """
        try:
            facts = Path(folder).stat()
        except OSError:
            return False
        if not stat.S_ISDIR(facts.st_mode) or self._met.get(folder) == facts.st_ino:
            return False
        self._met[folder] = facts.st_ino
        try:
            self._observer.schedule(self._handler, folder, recursive=deep)
        except OSError as error:
            log.warning("not_watched", folder=folder, error=str(error))
        return True
