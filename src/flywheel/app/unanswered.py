"""Counting the questions that came back empty: beside the answers, never on their way."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable
from typing import Final

import structlog

from flywheel.errors import FlywheelError
from flywheel.knowledge.questions import keeping
from flywheel.knowledge.questions.rules import LONGEST
from flywheel.model import Clean, Micros, ProjectId
from flywheel.store import Db
from flywheel.text.redact import Redactor

HELD: Final = 200
"""Questions in memory; what comes beyond that before they are written is not counted."""

GATHER: Final = 2.0
"""Seconds from the first question to writing what came meanwhile."""

PATIENCE: Final = 5.0
"""Seconds that closing waits for what is being written."""

log = structlog.get_logger("unanswered")


class Unanswered:
    """Takes questions from any thread, and writes them from one of its own, which runs while there is something."""

    def __init__(self, db: Db, redact: Redactor, now: Callable[[], Micros], *, gather: float = GATHER) -> None:
        self._db = db
        self._redact = redact
        self._now = now
        self._gather = gather
        self._lock = threading.Lock()
        self._held: dict[tuple[ProjectId, str], int] = {}
        self._thread: threading.Thread | None = None
        self._closed = threading.Event()

    def note(self, project: ProjectId, text: str) -> None:
        """A question came back empty. Costs a dictionary entry; raises nothing."""
        key = (project, " ".join(text[:LONGEST].split()))
        with self._lock:
            if key[1] and (key in self._held or len(self._held) < HELD):
                self._held[key] = self._held.get(key, 0) + 1
            if self._held and self._thread is None and not self._closed.is_set():
                self._thread = threading.Thread(target=self._later, name="unanswered", daemon=True)
                self._thread.start()

    def flush(self) -> None:
        """Write what is held. Raises the store's errors."""
        with self._lock:
            held, self._held = self._held, {}
        by_project: dict[ProjectId, dict[Clean, int]] = defaultdict(dict)
        for (project, text), times in held.items():
            clean = self._redact.text(text)
            by_project[project][clean] = by_project[project].get(clean, 0) + times
        for project, counts in by_project.items():
            with self._db.write() as tx:
                keeping.count_empty(tx, project, counts, self._now())

    def close(self) -> None:
        """Write what is held, as far as the store takes it now."""
        self._closed.set()
        thread = self._thread
        if thread is not None:
            thread.join(PATIENCE)
        self._quietly()

    def _later(self) -> None:
        self._closed.wait(self._gather)
        with self._lock:
            self._thread = None
        self._quietly()

    def _quietly(self) -> None:
        try:
            self.flush()
        except FlywheelError as error:  # a count that is lost costs nobody anything
            log.info("questions without an answer were not counted", reason=error.message)
