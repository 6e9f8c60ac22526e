"""A lane's process: claims jobs or follows the change feed until there is nothing left, and dies with the daemon."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import orjson
import structlog

from flywheel import app
from flywheel.children import die_with_parent, keep_small
from flywheel.config import Config, Places, parse_config
from flywheel.daemon.leases import owner_here
from flywheel.errors import FlywheelError
from flywheel.jobs import queue
from flywheel.jobs.worker import keep_lease, run_one

LISTEN: Final = 0.5
"""Seconds that the indexer listens to the store before it looks whether it is asked to stop."""


class Control:
    """What the daemon says through our standard input, and what we say through our standard output.

    The input's end means that the daemon is gone: the process ends at once, whatever it does.
    """

    def __init__(self) -> None:
        self.stopping = threading.Event()
        self._woken = threading.Event()
        self._lock = threading.Lock()
        self._said = 0.0

    def setup(self) -> Mapping[str, Any]:
        """The first line, then listen on."""
        self._input = os.fdopen(0, "rb", buffering=0, closefd=False)  # a buffer's lock would be held at our end
        first = self._input.readline()
        if not first:
            os._exit(0)
        found: Mapping[str, Any] = orjson.loads(first)
        threading.Thread(target=self._listen, daemon=True).start()
        return found

    def _listen(self) -> None:
        for line in self._input:
            if line.strip() == b"stop":
                self.stopping.set()
            self._woken.set()
        os._exit(0)

    def wait(self, seconds: float) -> bool:
        """Until woken, at most ``seconds``; whether woken."""
        return self._woken.wait(seconds)

    def awake(self) -> None:
        """Forget earlier wake-ups: what they were about is looked at next."""
        self._woken.clear()

    def say(self, **what: object) -> None:
        """One line to the daemon."""
        with self._lock:
            self._said = time.monotonic()
            sys.stdout.buffer.write(orjson.dumps(what, default=str) + b"\n")
            sys.stdout.buffer.flush()

    def beat(self, doing: str) -> None:
        """Alive; said at most four times a second."""
        if time.monotonic() - self._said > 0.25:
            self.say(poke=True, doing=doing)


def run_jobs(name: str, parts: app.Parts, control: Control) -> None:
    """Claim and run the lane's jobs until none is due for the idle time."""
    kinds = app.LANES[name]
    owner = owner_here(name)
    lease = float(parts.config.daemon.lease_seconds)
    handlers = {kind: app.handler_of(kind, parts) for kind in kinds}
    while not control.stopping.is_set():
        control.awake()
        job = queue.claim(parts.db, kinds=kinds, owner=owner, lease=lease)
        if job is None:
            control.say(job=None, waiting=True, poke=True)
            if not control.wait(parts.config.daemon.idle_seconds):
                return
            continue
        control.say(job={"kind": job.kind, "key": job.key, "attempt": job.attempts})
        beat = keep_lease(parts.db, job, lease, control.beat)
        run_one(job, handlers[job.kind], parts.deps(control.stopping.is_set, beat))
        control.say(job=None, poke=True)


def follow_feed(parts: app.Parts, control: Control) -> None:
    """Keep the indexes up with the change feed until nothing has changed for the idle time."""
    indexer = app.Indexer(parts, pace=app.PACE)
    worked = time.monotonic()
    told = False
    while not control.stopping.is_set():
        if indexer.step():
            worked, told = time.monotonic(), False
            control.beat("indexing")
            continue
        if not told:
            control.say(job=None, waiting=True, poke=True)
            told = True
        if time.monotonic() - worked > parts.config.daemon.idle_seconds:
            break
        if parts.db.wait(LISTEN):
            time.sleep(0.05)  # let a burst of small commits come together
    indexer.close()


def main() -> None:
    """``python -m flywheel.daemon.worker LANE``, started by the daemon only."""
    die_with_parent()
    keep_small()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    name = sys.argv[1]
    control = Control()
    setup = control.setup()
    config: Config = parse_config(setup["config"])
    os.nice(max(0, config.daemon.nice - os.nice(0)))
    places = Places(**{k: Path(v) for k, v in setup["places"].items()})
    try:
        parts = app.open_parts(config, places, setup["env"], Path(setup["home"]))
        try:
            if name == "index":
                follow_feed(parts, control)
            else:
                run_jobs(name, parts, control)
        finally:
            parts.close()
    except FlywheelError as error:  # what it was at is tried again; a full disk needs no traceback
        structlog.get_logger("lane").error("lane_failed", error=type(error).__name__, message=error.message)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
