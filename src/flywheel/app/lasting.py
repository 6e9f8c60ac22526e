"""Always-on files in the daemon: looked at now and then, written when the knowledge of their project has changed."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import structlog

from flywheel.app.parts import Parts, wall_clock
from flywheel.context.lasting import Lasting
from flywheel.errors import FlywheelError
from flywheel.hooks.standing import Place, places, refresh

log = structlog.get_logger("standing")


class Standing:
    """Keeps the always-on files of this data folder. For any number of threads."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._lasting = Lasting(parts.db, parts.config, parts.redact)
        self._lock = threading.Lock()
        self._seen: dict[Path, tuple[object, ...]] = {}
        self._failed: dict[Path, str] = {}

    def keep(self, *, anyway: bool = False) -> Sequence[str]:
        """Bring every file up to date whose project has changed, or all; the paths that were written."""
        with self._lock:
            return [str(place.path) for place in places(self._parts.data) if self._keep(place, anyway)]

    def problems(self) -> Sequence[str]:
        """What keeps files from being kept, for ``status``."""
        return [f"{path} is not kept up to date: {why}" for path, why in dict(self._failed).items()]

    def _keep(self, place: Place, anyway: bool) -> bool:
        try:
            mark = self._lasting.generation(str(place.root), wall_clock())
            if self._seen.get(place.path) == mark and place.path.exists() and not anyway:
                return False
            done = refresh(place, self._parts.data, self._write)
        except (FlywheelError, OSError) as error:
            self._failed[place.path] = getattr(error, "message", None) or str(error)
            return False
        self._failed.pop(place.path, None)
        self._seen[place.path] = mark
        if done:
            log.info("standing_file", path=str(place.path), done=done)
        return done == "written"

    def _write(self, place: Place) -> str:
        return self._lasting.text(str(place.root), place.agent, wall_clock())
