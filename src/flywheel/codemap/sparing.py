"""An observer of file events that spends none of the system's watches on folders whose events mean nothing."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Final

from watchdog.observers.api import BaseObserver
from watchdog.observers.inotify import InotifyEmitter, InotifyObserver
from watchdog.observers.inotify_c import InotifyFD

from flywheel.codemap.skipping import PRIVATE

if TYPE_CHECKING:
    from collections.abc import Collection

    from watchdog.observers.inotify_c import CallbackId, Mask, WatchCallback, WatchDescriptor

SPARED: Final = PRIVATE | {"node_modules"}
"""Names of folders that are not watched, nor what is in them: git's own files change with every command, and what a
branch switch changes is seen where it lies."""

_SPARED: Final = frozenset(map(os.fsencode, SPARED))


class _Sparing(InotifyFD):
    """Takes spared folders for folders that are gone, which watchdog passes over."""

    def __init__(self) -> None:
        super().__init__()
        self.cut: set[str] = set()

    def add_callback(self, path: bytes, mask: Mask, callback: WatchCallback, id_: CallbackId) -> WatchDescriptor:
        """Raises FileNotFoundError for a spared folder below the one that is asked for."""
        root = getattr(callback, "path", b"")
        if path.startswith(root) and not _SPARED.isdisjoint(path[len(root) :].split(b"/")):
            raise FileNotFoundError(errno.ENOENT, "spared", path)
        if path == root:
            self.cut.discard(os.fsdecode(root))  # begun anew
        try:
            return super().add_callback(path, mask, callback, id_)
        except OSError as error:
            if error.errno == errno.ENOSPC and path != root:  # which watchdog passes over in silence
                self.cut.add(os.fsdecode(root))
            raise


class SparingObserver(InotifyObserver):
    """Like watchdog's own."""

    def __init__(self) -> None:
        self._sparing = self._inotify_fd = _Sparing()
        self._inotify_fd.start()
        BaseObserver.__init__(self, InotifyEmitter, inotify_fd=self._inotify_fd)

    @property
    def cut(self) -> Collection[str]:
        """The watched folders below which the system had no watch left for some folder. From any thread."""
        return self._sparing.cut.copy()
