"""The socket that the daemon answers at: opened anew when somebody deletes it."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from types import TracebackType

import structlog

log = structlog.get_logger("daemon")


class Door:
    """What is served at a path. A context manager, for one thread.

    ``answering`` binds the path and serves it, until its end.
    """

    def __init__(self, path: Path, answering: Callable[[], AbstractContextManager[None]]) -> None:
        self._path = path
        self._answering = answering
        self._open = ExitStack()

    def __enter__(self) -> Door:
        self._open.enter_context(self._answering())
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._open.close()

    def heal(self) -> bool:
        """Open it anew when the socket's file is gone: nobody reaches us otherwise; whether that was so.

        Raises what binding raises; then the next call tries again.
        """
        if os.path.lexists(self._path):
            return False
        self._open.close()
        self._open.enter_context(self._answering())
        log.warning("socket_opened_anew", socket=str(self._path))
        return True
